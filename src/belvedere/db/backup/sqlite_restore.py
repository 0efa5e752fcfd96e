"""Restores the files of SQLite.

A restore that is repeated after it was killed continues, if the backup is the same: files that are
complete are not extracted again. One that is not complete is: a compressed part can only be read
from its beginning.
"""

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

from belvedere.base import failpoints
from belvedere.base.clock import wall
from belvedere.base.errors import Conflict
from belvedere.db.backup import restore_marker
from belvedere.db.backup.archive import BLOCK, BackupPart, BackupReader, Report, sync_folder
from belvedere.db.backup.restore_marker import FileIdentity, RestoreMarker, identify
from belvedere.db.backup.sqlite_files import LOGS, check_unused, report_errors
from belvedere.db.interface import Tx
from belvedere.db.sqlite.connection import connect, lock_file
from belvedere.db.sqlite.transaction import SqliteTx

COMPANIONS = (*LOGS, "-shm")
UNFINISHED = ".restoring"


def check_targets(targets: Mapping[str, Path], marker: Path) -> None:
    """Refuse files with data, except those that a restore has written that was interrupted."""
    state = restore_marker.read(marker)
    paths = [str(path) for path in targets.values()]
    if state.targets and state.targets != paths:
        raise Conflict(
            f"An earlier restore into {marker.parent} was interrupted. It wrote to"
            f" {state.targets[0]}: repeat it with the same --database, or remove its files and then"
            f" {marker}."
        )
    for path in targets.values():
        if str(path) not in state.files or identify(path) != state.files[str(path)]:
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


def restore_files(
    reader: BackupReader,
    targets: Mapping[str, Path],
    marker: Path,
    finish: Callable[[Tx], int],
    report: Report,
) -> int:
    """Write the files. While the marker exists, no server starts, and another restore continues: a
    restore that is killed leaves nothing that could be taken for a complete database."""
    with _locked(next(iter(targets.values()))):
        check_targets(targets, marker)
        restore = _Restore(reader, targets, marker, report)
        try:
            restore.write(finish)
        except BaseException:
            restore.clean_up()
            raise
        marker.unlink()
        sync_folder(marker.parent)
        return restore.state.epoch


class _Restore:
    def __init__(
        self, reader: BackupReader, targets: Mapping[str, Path], marker: Path, report: Report
    ) -> None:
        self._reader, self._targets, self._marker = reader, targets, marker
        self._report = report
        self.state = restore_marker.read(marker)
        if not self.state.fits(reader) or not self._has_files():
            self._start_over()

    def _has_files(self) -> bool:
        """Those that are complete exist, with their names or without."""
        return all(
            identity in (identify(Path(name)), identify(_draft(Path(name))))
            for name, identity in self.state.files.items()
        )

    def _start_over(self) -> None:
        paths = [str(path) for path in self._targets.values()]
        self.state = RestoreMarker(
            paths, backup=identify(self._reader.path), manifest=self._reader.seal.sha256
        )
        _remove_files(self._targets)

    def write(self, finish: Callable[[Tx], int]) -> None:
        if not self.state.files:
            self._write_drafts(finish)
        for path in reversed(list(self._targets.values())):
            if identify(_draft(path)) == self.state.files[str(path)]:
                _draft(path).rename(path)
            failpoints.reach("restore renamed")
            sync_folder(path.parent)

    def _write_drafts(self, finish: Callable[[Tx], int]) -> None:
        restore_marker.write(self._marker, self.state)
        for part in self._reader.manifest.parts:
            if part.name in self._targets and not self._is_extracted(part):
                self._extract(part)
        failpoints.reach("restore extracted")
        self.state.epoch = _run(_draft(next(iter(self._targets.values()))), finish)
        failpoints.reach("restore finished")
        self.state.files = {str(path): _identity(_draft(path)) for path in self._targets.values()}
        restore_marker.write(self._marker, self.state)

    def _is_extracted(self, part: BackupPart) -> bool:
        """Whether the file has the content of the part. Its write-ahead log has the last operation,
        which is repeated."""
        draft = _draft(self._targets[part.name])
        _remove_companions(draft)
        identity = self.state.extracted.get(str(draft))
        if identity is None or identity != identify(draft):
            return False
        return _has_content(draft, part, self._report)

    def _extract(self, part: BackupPart) -> None:
        draft = _draft(self._targets[part.name])
        _remove(draft)
        _write_blocks(self._reader.blocks(part, self._report), draft)
        self.state.extracted[str(draft)] = _identity(draft)
        restore_marker.write(self._marker, self.state)
        failpoints.reach("restore part")

    def clean_up(self) -> None:
        for path in self._targets.values():
            _remove(_draft(path))
            if str(path) in self.state.files and identify(path) == self.state.files[str(path)]:
                _remove(path)
        restore_marker.remove(self._marker)


def _identity(path: Path) -> FileIdentity:
    identity = identify(path)
    assert identity is not None
    return identity


def _has_content(path: Path, part: BackupPart, report: Report) -> bool:
    digest, size = hashlib.sha256(), 0
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            digest.update(block)
            size += len(block)
            report(f"check {part.name}", min(size, part.size), part.size)
    return size == part.size and digest.hexdigest() == part.sha256


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
    for path in targets.values():
        _remove(_draft(path))
        _remove(path)


def _remove(path: Path) -> None:
    path.unlink(missing_ok=True)
    _remove_companions(path)


def _remove_companions(path: Path) -> None:
    for suffix in COMPANIONS:
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def _write_blocks(blocks: Iterator[bytes], path: Path) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(fd, "wb") as file:
        for block in blocks:
            file.write(block)
            failpoints.reach("restore block")
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
        failpoints.reach("restore committed")
        # The file is renamed without its write-ahead log.
        connection.execute("pragma wal_checkpoint(truncate)")
    return result
