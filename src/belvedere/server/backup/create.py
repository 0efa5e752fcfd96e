"""Creates a backup file: under a temporary name, on disk before it is renamed."""

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import msgspec

from belvedere.access.crypto import key_file
from belvedere.access.crypto.key_file import KeyFile
from belvedere.access.crypto.keyring import KEY_CHECK, SECRET_FILE
from belvedere.base import failpoints
from belvedere.base.clock import parse_iso
from belvedere.base.errors import Conflict, Unavailable
from belvedere.db import Tx
from belvedere.db.backup import copy
from belvedere.db.backup.archive import BackupWriter, Report, Sign, sync_folder
from belvedere.db.backup.copy import BackupSource, Location
from belvedere.db.transfer import marks
from belvedere.server.backup import key_part
from belvedere.server.doctor import backups
from belvedere.server.doctor.backups import LastBackup
from belvedere.settings import Settings

PARTIAL = ".partial"
# An example of a file name.
FILE = "belvedere.zip"


class BackupRecord(msgspec.Struct):
    """What was written, for the command line."""

    file: str
    size: int
    engine: str
    version: str
    created_at: str
    epoch: int
    tables: int
    rows: int
    sha256: str
    # Where the key is; empty if it is in the backup.
    key: str
    removed: list[str] = []


def location_of(settings: Settings) -> Location:
    return Location(settings.database_url, settings.folder)


def back_up(
    settings: Settings, target: Path, report: Report, *, force: bool = False, passphrase: str = ""
) -> BackupRecord:
    """With a passphrase, the backup contains the key, encrypted with it."""
    if passphrase:
        key_part.check_passphrase(passphrase)
    _check_target(target, force=force)
    with _draft(target) as (draft, fd), full_disk(target.parent):
        with open(fd, "wb", closefd=False) as file:
            record = _write(settings, file, draft, passphrase, report)
            file.flush()
            os.fsync(fd)
        failpoints.reach("backup written")
        _check_target(target, force=force)
        draft.rename(target)
        sync_folder(target.parent)
    record.file, record.size = str(target), target.stat().st_size
    last_backup = LastBackup(parse_iso(record.created_at), record.file, record.size)
    backups.record(settings.folder, last_backup)
    return record


def _check_target(target: Path, *, force: bool) -> None:
    if target.is_dir():
        raise Conflict(f"{target} is a folder; name a file in it, such as {target / FILE}.")
    if target.exists() and not force:
        raise Conflict(f"{target} already exists; choose another name or use --force.")
    if not target.parent.is_dir():
        raise Unavailable(f"There is no folder {target.parent}.")


@contextmanager
def _draft(target: Path) -> Iterator[tuple[Path, int]]:
    """An empty private file beside the target, which no other backup writes to. It is deleted, with
    all copies beside it, if it was not renamed."""
    draft = target.with_name(target.name + PARTIAL)
    fd = _open_private(draft)
    try:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise _busy(target) from None
        if not _is_at(fd, draft):
            # The other backup has renamed or deleted the file since it was opened.
            raise _busy(target)
        os.ftruncate(fd, 0)
        try:
            yield draft, fd
        finally:
            # After the rename, the name may belong to the next backup.
            if _is_at(fd, draft):
                remove_drafts(draft.parent, draft.name)
    finally:
        os.close(fd)


def _is_at(fd: int, path: Path) -> bool:
    """Whether the open file still has this name."""
    try:
        return os.path.samestat(os.fstat(fd), path.lstat())
    except FileNotFoundError:
        return False


def _busy(target: Path) -> Conflict:
    return Conflict(f"Another backup is writing {target}.")


def _open_private(path: Path) -> int:
    """Other users may be able to write to the folder: their links and files are refused, because
    they could read what is written."""
    try:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as fault:
        if fault.errno != errno.ELOOP:
            raise
        raise Conflict(f"{path} is a link. Remove it and try again.") from None
    status = os.fstat(fd)
    if status.st_uid != os.geteuid() or status.st_nlink != 1:
        os.close(fd)
        raise Conflict(f"{path} belongs to another user. Remove it and try again.")
    os.fchmod(fd, 0o600)
    return fd


@contextmanager
def full_disk(folder: Path) -> Iterator[None]:
    """The error of the system names neither the disk nor what became of the file."""
    try:
        yield
    except OSError as fault:
        if fault.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        problem = "is full" if fault.errno == errno.ENOSPC else "is full for this user (quota)"
        raise Unavailable(
            f"The disk of {folder} {problem}. The unfinished files were removed."
            " Free some space, and run the command again."
        ) from fault


def remove_drafts(folder: Path, prefix: str) -> None:
    for path in list(folder.iterdir()):
        if path.name.startswith(prefix):
            path.unlink(missing_ok=True)


def _write(
    settings: Settings, file: IO[bytes], draft: Path, passphrase: str, report: Report
) -> BackupRecord:
    writer = BackupWriter(file)
    try:
        return _write_parts(settings, writer, draft, passphrase, report)
    finally:
        writer.discard()


def _write_parts(
    settings: Settings, writer: BackupWriter, draft: Path, passphrase: str, report: Report
) -> BackupRecord:
    source = BackupSource(location_of(settings), KEY_CHECK, _check_usable)
    manifest = copy.write_backup(source, writer, draft, report)
    keys = load_keys(settings)
    where = "BELVEDERE_SECRET_KEY" if settings.secret_key else str(settings.folder / SECRET_FILE)
    if passphrase:
        if keys is None:
            raise Unavailable(f"The key cannot be included: there is no {where}.")
        with writer.part(key_part.NAME) as append:
            append(key_part.seal(keys.text(), passphrase))
    if keys is not None:
        manifest.key = f"{key_part.NAME} in this file" if passphrase else where
    seal = writer.finish(manifest, None if keys is None else signer(keys))
    return BackupRecord(
        "",
        0,
        *manifest.origin,
        manifest.epoch,
        len(manifest.tables),
        sum(manifest.tables.values()),
        seal.sha256,
        "" if passphrase else where,
    )


def _check_usable(tx: Tx) -> None:
    """An incomplete database, or one that was moved, must not be taken for a backup."""
    refusal = marks.explain(tx)
    if refusal is not None:
        raise Unavailable(f"{' '.join(refusal)} Back up the database of the servers (--database).")


def load_keys(settings: Settings) -> KeyFile | None:
    """The keys of this installation; None if they are not on this machine. Nothing is created."""
    path = settings.folder / SECRET_FILE
    if not settings.secret_key and not os.access(path, os.R_OK):
        return None
    return key_file.load(settings.folder, settings.secret_key)


def signer(keys: KeyFile) -> Sign:
    return lambda sha256: keys.keys.digest(f"backup {sha256}")
