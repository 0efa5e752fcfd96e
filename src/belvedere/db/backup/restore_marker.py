"""The marker of a restore, which exists while it runs: no server starts, and a restore that is
repeated after it was killed continues.

For SQLite it is a file in the data folder. It names the files that are restored, so that these are
replaced and no others. For PostgreSQL it is a table of the database.
"""

import os
from pathlib import Path

import msgspec

from belvedere.base.errors import Unavailable
from belvedere.db.backup.archive import BackupReader, sync_folder
from belvedere.db.interface import Tx
from belvedere.db.migrate import table_exists

# In PostgreSQL: the steps that are done, and one row with what the restore began with.
TABLE = "restore_progress"
SOURCE = "source"
RECORD = f"insert into {TABLE} (step, detail) select unnest(%s::text[]), ''"


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


class RestoreSource(msgspec.Struct):
    """What a restore into PostgreSQL began with."""

    backup: FileIdentity | None
    manifest: str
    # The schema without what is created after the rows: statements by table, and the others.
    indexes: list[tuple[str, str]]
    keys: list[str]

    def fits(self, reader: BackupReader) -> bool:
        return self.manifest == reader.seal.sha256

    def is_checked(self, reader: BackupReader) -> bool:
        """Whether it was this file, unchanged since it was checked."""
        return self.fits(reader) and self.backup == identify(reader.path)


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


def create_table(tx: Tx) -> None:
    tx.execute(f"create table {TABLE} (step text primary key, detail text not null)")


def read_source(tx: Tx) -> RestoreSource | None:
    """None if no restore into this database was interrupted."""
    if not tx.dialect.is_shared or not table_exists(tx, TABLE):
        return None
    text = tx.value(f"select detail from {TABLE} where step = ?", SOURCE)
    return msgspec.json.decode(text, type=RestoreSource)


def write_source(tx: Tx, source: RestoreSource) -> None:
    tx.execute(
        f"insert into {TABLE} (step, detail) values (?, ?)"
        " on conflict (step) do update set detail = excluded.detail",
        SOURCE,
        msgspec.json.encode(source).decode(),
    )


def list_done(tx: Tx) -> set[str]:
    """The steps of the restore that are done."""
    return {step for (step,) in tx.rows(f"select step from {TABLE}")}


def explain(tx: Tx) -> tuple[str, str] | None:
    """Why no server may use a PostgreSQL database, and what to do."""
    if read_source(tx) is None:
        return None
    return (
        "A restore into this database was interrupted; it is not complete.",
        "Run `belvedere restore` again: it continues.",
    )


def check_complete(tx: Tx) -> None:
    refusal = explain(tx)
    if refusal is not None:
        raise Unavailable(" ".join(refusal))
