"""A copy of a SQLite database before migrations change it, for going back to the old version.

A copy is a folder with the files of the database. It is written under another name and renamed when
it is durable: a process that is killed leaves nothing that could be taken for a copy.
"""

import errno
import logging
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

from belvedere import __version__
from belvedere.base import failpoints
from belvedere.base.errors import Unavailable
from belvedere.db import installation
from belvedere.db.backup.archive import sync_folder
from belvedere.db.backup.copy import Location
from belvedere.db.backup.sqlite_files import copy_database, open_snapshot
from belvedere.db.interface import Database, Tx
from belvedere.db.migrate import check_known, list_applied, pending_names
from belvedere.db.migration_plan import size_of
from belvedere.db.sqlite.connection import connect
from belvedere.db.sqlite.transaction import SqliteTx

log = logging.getLogger("belvedere.db")
FOLDER = "upgrade-copies"
KEEP = 2
MAIN, LOGS = "belvedere.db", "logs.db"
PARTIAL = ".partial"
# In the database: the name of the copy, until all migrations are applied.
UNDER_WAY = "upgrade_copy"
# Free space beside the copy, for the migrations themselves.
MARGIN = 64 << 20
SWITCH_OFF = "BELVEDERE_UPGRADE_COPY=0"
_NAME = re.compile(r"[\w.+]+-to-[\w.+]+-(\d{8}T\d{9}Z)")


def copy_if_pending(db: Database, logs: Database, location: Location) -> Path | None:
    """Copy the files if migrations are pending; nothing was changed when this raises an error. An
    upgrade that was interrupted continues with its copy: a second one would contain what the first
    migrations have changed."""
    db.write_blocking(check_known, "migrations")
    logs.write_blocking(check_known, "logs")
    files = _files_to_copy(db, logs, location)
    if not files:
        return None
    folder = location.folder / FOLDER
    name = db.write_blocking(installation.read, UNDER_WAY) or ""
    if _NAME.fullmatch(name) and (
        _is_begun(db, folder / name / MAIN)
        or _is_begun(logs, folder / name / LOGS)
        or _is_unchanged(files, folder / name)
    ):
        log.warning("upgrade continues copy=%s", folder / name)
        return folder / name
    name = _new_name(db)
    # Before the copy, which then has everything that is in the database.
    db.write_blocking(installation.write, UNDER_WAY, name)
    copy = _copy(files, folder, name)
    _remove_old(folder)
    return copy


def _is_begun(db: Database, copy: Path) -> bool:
    """Whether migrations were applied since the copy. If not, an older version may have run with
    the database, and the copy does not have what it stored."""
    if not copy.is_file():
        return False
    with closing(connect(str(copy), readonly=True)) as connection:
        applied = list_applied(SqliteTx(connection, db.clock()))
    return applied != db.write_blocking(list_applied)


def _is_unchanged(files: Mapping[str, Path], copy: Path) -> bool:
    """Whether the copy has the size and the time of the files: a first migration that fails at
    every start must not copy the database each time."""
    for part, path in files.items():
        identity = _checkpoint(path)
        if identity is None or not (copy / part).is_file():
            return False
        status = (copy / part).stat()
        if (status.st_size, status.st_mtime_ns) != identity:
            return False
    return True


def _checkpoint(path: Path) -> tuple[int, int] | None:
    """Size and time of the file with everything that was committed; None if a reader prevents that
    the write-ahead log is written to it."""
    with closing(connect(str(path))) as connection:
        [(is_busy, _, _)] = connection.execute("pragma wal_checkpoint(truncate)")
        status = path.stat()
        return None if is_busy else (status.st_size, status.st_mtime_ns)


def finish(db: Database) -> None:
    """All migrations are applied."""
    db.write_blocking(_finish)


def _finish(tx: Tx) -> None:
    installation.record_version(tx)
    if installation.read(tx, UNDER_WAY) is not None:
        installation.delete(tx, UNDER_WAY)


def check_space(files: Mapping[str, Path], folder: Path) -> tuple[int, int]:
    """The bytes that a copy needs, and those that are free."""
    return size_of(files.values()) + MARGIN, shutil.disk_usage(folder).free


def list_copies(folder: Path) -> list[Path]:
    """Complete copies, oldest first."""
    names = [(match[1], path) for path in folder.iterdir() if (match := _NAME.fullmatch(path.name))]
    return [path for _, path in sorted(names) if path.is_dir() and not path.is_symlink()]


def _files_to_copy(db: Database, logs: Database, location: Location) -> dict[str, Path]:
    """The log store only if it changes as well: it is much larger than the database."""
    is_new = not db.write_blocking(list_applied)
    logs_change = bool(logs.write_blocking(pending_names, "logs"))
    if is_new or not (logs_change or db.write_blocking(pending_names, "migrations")):
        return {}
    files = dict(location.files)
    if not logs_change or not logs.write_blocking(list_applied):
        del files[LOGS]
    return files


def _new_name(db: Database) -> str:
    old = db.write_blocking(installation.read, installation.PROGRAM_VERSION) or "older"
    now = datetime.fromtimestamp(db.clock() / 1_000, UTC)
    stamp = f"{now:%Y%m%dT%H%M%S}{now.microsecond // 1_000:03d}Z"
    return f"{re.sub(r'[^A-Za-z0-9.+_]', '_', old)}-to-{__version__}-{stamp}"


def _copy(files: Mapping[str, Path], folder: Path, name: str) -> Path:
    folder.mkdir(mode=0o700, exist_ok=True)
    _remove_interrupted(folder)
    need, free = check_space(files, folder)
    if free < need:
        raise _no_space(folder, f"{need / 1e6:.0f} MB are needed, {free / 1e6:.0f} MB are free")
    log.info("copying the database before migrations copy=%s", folder / name)
    with _draft(folder, name) as draft:
        identities = {part: _checkpoint(path) for part, path in files.items()}
        with open_snapshot(files) as snapshot:
            for part, tx in snapshot.items():
                copy_database(tx, draft / part, lambda *_: None)
                _set_time(draft / part, identities[part])
                _sync(draft / part)
        sync_folder(draft)
        failpoints.reach("upgrade copy written")
        draft.rename(folder / name)
        sync_folder(folder)
    return folder / name


@contextmanager
def _draft(folder: Path, name: str) -> Iterator[Path]:
    """A folder that is removed if it was not renamed."""
    draft = folder / (name + PARTIAL)
    try:
        draft.mkdir(mode=0o700)
        yield draft
    except OSError as fault:
        if fault.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise _no_space(folder, os.strerror(fault.errno)) from fault
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _set_time(path: Path, identity: tuple[int, int] | None) -> None:
    if identity is not None:
        os.utime(path, ns=(identity[1], identity[1]))


def _no_space(folder: Path, reason: str) -> Unavailable:
    return Unavailable(
        f"The database cannot be copied to {folder} before the upgrade: {reason}. Nothing was"
        f" changed. Free some space, or back up in another way and start with {SWITCH_OFF}."
    )


def _sync(path: Path) -> None:
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _remove_interrupted(folder: Path) -> None:
    """What was left by copies that were killed."""
    for path in list(folder.iterdir()):
        if _NAME.fullmatch(path.name.removesuffix(PARTIAL)) and path.name.endswith(PARTIAL):
            _remove(path)


def _remove_old(folder: Path) -> None:
    for path in list_copies(folder)[:-KEEP]:
        _remove(path)


def _remove(path: Path) -> None:
    """A link is removed, not what it refers to."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
