"""Repeated backups: each has its time in its name, and old ones are deleted."""

import fcntl
import os
import re
import stat
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from time import sleep

from belvedere.base.errors import Refused
from belvedere.db.backup.archive import open_backup
from belvedere.server.backup.create import PARTIAL, BackupRecord, remove_drafts

STAMP = "%Y%m%dT%H%M%SZ"
_STAMP = r"\d{8}T\d{6}Z"
# After an error, unless the interval is shorter.
RETRY_S = 300.0


def add_time(target: Path, now: datetime) -> Path:
    """`backup/belvedere.zip` becomes `backup/belvedere-20261117T030000Z.zip`."""
    return target.with_name(f"{target.stem}-{now.strftime(STAMP)}{target.suffix}")


def list_backups(target: Path) -> list[Path]:
    """Files whose names this target gives, oldest first."""
    return sorted(path for path in target.parent.iterdir() if _time_of(path, target) is not None)


def _time_of(path: Path, target: Path) -> datetime | None:
    """The time in the name; None if the file has another name."""
    pattern = re.escape(target.stem) + f"-({_STAMP})" + re.escape(target.suffix)
    match = re.fullmatch(pattern, path.name)
    try:
        return match and datetime.strptime(match[1], STAMP).replace(tzinfo=UTC)
    except ValueError:
        return None


def remove_old(target: Path, count: int) -> list[str]:
    """Delete all backups but the newest ones. Only files that are complete backups are counted and
    deleted: a file of somebody else with such a name is kept, and a damaged one is not a backup."""
    backups = [path for path in list_backups(target) if _is_backup(path)]
    old = backups[:-count] if count else []
    for path in old:
        path.unlink(missing_ok=True)
    return [str(path) for path in old]


def _is_backup(path: Path) -> bool:
    try:
        with open_backup(path):
            return True
    except (Refused, OSError):
        return False


def remove_interrupted(target: Path) -> None:
    """Remove the files of interrupted backups; a later backup has another name."""
    pattern = re.compile(re.escape(target.stem) + "-" + _STAMP + re.escape(target.suffix + PARTIAL))
    for path in list(target.parent.iterdir()):
        if pattern.fullmatch(path.name) and not _is_locked(path):
            remove_drafts(target.parent, path.name)


def _is_locked(path: Path) -> bool:
    """Whether another backup is writing it, or it is not a file of a backup."""
    # Opening a FIFO would wait for a writer.
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            return True
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(fd)
    return False


def repeat(
    target: Path,
    interval_s: float,
    back_up: Callable[[Path], BackupRecord],
) -> Iterator[BackupRecord | Refused | OSError]:
    """A backup in every interval, counted from the newest one, until the caller stops. An error is
    yielded, and the backup is tried again."""
    while True:
        sleep(_remaining(target, interval_s))
        try:
            yield back_up(add_time(target, datetime.now(UTC)))
        except (Refused, OSError) as fault:
            yield fault
            sleep(min(RETRY_S, interval_s))


def _remaining(target: Path, interval_s: float) -> float:
    backups = list_backups(target) if target.parent.is_dir() else []
    newest = _time_of(backups[-1], target) if backups else None
    if newest is None:
        return 0.0
    age_s = time.time() - newest.timestamp()
    # The newest one may be from before the clock was set back.
    return min(interval_s, max(0.0, interval_s - age_s))
