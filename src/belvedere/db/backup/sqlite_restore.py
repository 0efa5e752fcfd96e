"""Restores the files of SQLite.

A marker in the data folder exists while they are written. It names the files, so that a restore
that is repeated after it was killed replaces these and no others.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

import msgspec

from belvedere.base import failpoints
from belvedere.base.clock import wall
from belvedere.base.errors import Conflict
from belvedere.db.backup.archive import BackupReader, Report, sync_folder
from belvedere.db.backup.sqlite_files import LOGS, check_unused, report_errors
from belvedere.db.interface import Tx
from belvedere.db.sqlite.database import connect, lock_file
from belvedere.db.sqlite.transaction import SqliteTx

COMPANIONS = (*LOGS, "-shm")
UNFINISHED = ".restoring"


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


def check_targets(targets: Mapping[str, Path], marker: Path) -> None:
    """Refuse files with data, except those that a restore has written that was interrupted."""
    state = _read_marker(marker)
    paths = [str(path) for path in targets.values()]
    if state.targets and state.targets != paths:
        raise Conflict(
            f"An earlier restore into {marker.parent} was interrupted. It wrote to"
            f" {state.targets[0]}: repeat it with the same --database, or remove its files and then"
            f" {marker}."
        )
    for path in targets.values():
        if str(path) not in state.files or _identify(path) != state.files[str(path)]:
            _check_unused(path, marker)


def _check_unused(path: Path, marker: Path) -> None:
    try:
        check_unused(path)
    except Conflict as fault:
        if not marker.exists():
            raise
        raise Conflict(
            f"{fault.message} The restore that was interrupted did not write it. If it is the"
            f" database that you want to use, do not restore: remove {marker}."
        ) from None


def _read_marker(marker: Path) -> RestoreMarker:
    """An older version wrote an empty file."""
    try:
        return msgspec.json.decode(marker.read_bytes(), type=RestoreMarker)
    except (FileNotFoundError, msgspec.DecodeError):
        return RestoreMarker()


def _write_marker(marker: Path, state: RestoreMarker) -> None:
    draft = _marker_draft(marker)
    fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    with os.fdopen(fd, "wb") as file:
        file.write(msgspec.json.encode(state))
        file.flush()
        os.fsync(fd)
    draft.rename(marker)
    sync_folder(marker.parent)


def _marker_draft(marker: Path) -> Path:
    return marker.with_name(f"{marker.name}.new")


def _identify(path: Path) -> FileIdentity | None:
    try:
        status = path.lstat()
    except FileNotFoundError:
        return None
    return FileIdentity(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)


def restore_files(
    reader: BackupReader,
    targets: Mapping[str, Path],
    marker: Path,
    finish: Callable[[Tx], int],
    report: Report,
) -> int:
    """Write the files. While the marker exists, no server starts, and another restore begins again:
    a restore that is killed leaves nothing that could be taken for a complete database."""
    with _locked(next(iter(targets.values()))):
        check_targets(targets, marker)
        state = RestoreMarker([str(path) for path in targets.values()])
        _remove_files(targets)
        try:
            _write_marker(marker, state)
            result = _write_files(reader, targets, finish, report, marker, state)
        except BaseException:
            _remove_drafts(targets)
            _remove_written(targets, state)
            _marker_draft(marker).unlink(missing_ok=True)
            marker.unlink(missing_ok=True)
            raise
        marker.unlink()
        sync_folder(marker.parent)
        return result


def _write_files(
    reader: BackupReader,
    targets: Mapping[str, Path],
    finish: Callable[[Tx], int],
    report: Report,
    marker: Path,
    state: RestoreMarker,
) -> int:
    for part in reader.manifest.parts:
        if part.name in targets:
            _extract(reader.blocks(part, report), _draft(targets[part.name]))
    failpoints.reach("restore extracted")
    result = _run(_draft(next(iter(targets.values()))), finish)
    for path in targets.values():
        identity = _identify(_draft(path))
        assert identity is not None
        state.files[str(path)] = identity
    _write_marker(marker, state)
    for path in reversed(list(targets.values())):
        _draft(path).rename(path)
        failpoints.reach("restore renamed")
        sync_folder(path.parent)
    return result


def _draft(path: Path) -> Path:
    return path.with_name(path.name + UNFINISHED)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """A server that starts meanwhile is refused, and so is another restore."""
    fd = lock_file(str(path))
    try:
        yield
    finally:
        if fd is not None:
            os.close(fd)


def _remove_files(targets: Mapping[str, Path]) -> None:
    """Empty files, and those that `check_targets` knows."""
    _remove_drafts(targets)
    for path in targets.values():
        _remove(path)


def _remove_drafts(targets: Mapping[str, Path]) -> None:
    for path in targets.values():
        _remove(_draft(path))


def _remove_written(targets: Mapping[str, Path], state: RestoreMarker) -> None:
    for path in targets.values():
        if str(path) in state.files and _identify(path) == state.files[str(path)]:
            _remove(path)


def _remove(path: Path) -> None:
    for suffix in ("", *COMPANIONS):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def _extract(blocks: Iterator[bytes], path: Path) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(fd, "wb") as file:
        for block in blocks:
            file.write(block)
        file.flush()
        os.fsync(file.fileno())


def _run(path: Path, operation: Callable[[Tx], int]) -> int:
    """One transaction on a database that nobody else uses."""
    with (
        report_errors("The database in the backup cannot be used"),
        closing(connect(str(path))) as connection,
    ):
        connection.execute("begin immediate")
        result = operation(SqliteTx(connection, wall()))
        connection.execute("commit")
        # The file is renamed without its write-ahead log.
        connection.execute("pragma wal_checkpoint(truncate)")
    return result
