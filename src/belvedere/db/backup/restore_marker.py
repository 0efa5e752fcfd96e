"""The marker of a restore into SQLite: a file in the data folder that exists while it runs.

It names the files that are restored, so that a restore that is repeated after it was killed
replaces these and no others, and how far it has come, so that it continues there.
"""

import os
from pathlib import Path

import msgspec

from belvedere.db.backup.archive import BackupReader, sync_folder


class FileIdentity(msgspec.Struct):
    """One file with one content: a file that replaced it, or whose content was replaced, differs
    in at least one field."""

    device: int
    inode: int
    size: int
    modified_ns: int


class RestoreMarker(msgspec.Struct):
    # Paths of the files that are restored.
    targets: list[str] = []
    # By path, as soon as the files are complete and get their names.
    files: dict[str, FileIdentity] = {}
    # The backup, which was checked, and the SHA-256 of its manifest.
    backup: FileIdentity | None = None
    manifest: str = ""
    # By path, the unfinished files that have the whole content of their part.
    extracted: dict[str, FileIdentity] = {}
    # The epoch, as soon as `files` are complete.
    epoch: int = 0

    def fits(self, reader: BackupReader) -> bool:
        """Whether it was written by a restore of the same, unchanged file."""
        return (
            self.manifest == reader.seal.sha256
            and self.backup is not None
            and self.backup == identify(reader.path)
        )


def identify(path: Path) -> FileIdentity | None:
    try:
        status = path.lstat()
    except FileNotFoundError:
        return None
    return FileIdentity(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)


def read(marker: Path) -> RestoreMarker:
    """An older version wrote an empty file."""
    try:
        return msgspec.json.decode(marker.read_bytes(), type=RestoreMarker)
    except (FileNotFoundError, msgspec.DecodeError):
        return RestoreMarker()


def write(marker: Path, state: RestoreMarker) -> None:
    draft = _draft(marker)
    fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    with os.fdopen(fd, "wb") as file:
        file.write(msgspec.json.encode(state))
        file.flush()
        os.fsync(fd)
    draft.rename(marker)
    sync_folder(marker.parent)


def _draft(marker: Path) -> Path:
    return marker.with_name(f"{marker.name}.new")


def remove(marker: Path) -> None:
    _draft(marker).unlink(missing_ok=True)
    marker.unlink(missing_ok=True)
