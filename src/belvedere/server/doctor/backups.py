"""The age of the last backup, as `belvedere backup` records it in the data folder."""

import logging
import os
from collections.abc import Iterable
from pathlib import Path

import msgspec

from belvedere.base.clock import DAY, MINUTE, Millis, iso
from belvedere.server.doctor.model import Finding, Installation, notice, ok, problem

log = logging.getLogger("belvedere.backup")
FILE = "last-backup.json"
MAX_AGE: Millis = 2 * DAY
# Two clocks may differ a little.
MAX_LEAD: Millis = 5 * MINUTE
ADVICE = "Back up every day: belvedere backup FILE --every 1d --keep 7."


class LastBackup(msgspec.Struct):
    at: Millis
    file: str
    size: int


def record(folder: Path, backup: LastBackup) -> None:
    """Remember a complete backup, which is valid even if this fails."""
    path = folder / FILE
    draft = path.with_suffix(".partial")
    try:
        fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(fd, "wb") as file:
            file.write(msgspec.json.encode(backup))
        draft.rename(path)
    except OSError as fault:
        log.warning("time of the backup could not be recorded path=%s error=%s", path, fault)


def read(folder: Path) -> LastBackup | None:
    """None if no backup was made, or if the file was changed."""
    try:
        return msgspec.json.decode((folder / FILE).read_bytes(), type=LastBackup)
    except (OSError, msgspec.MsgspecError):
        return None


def last_backup(installation: Installation) -> Iterable[Finding]:
    backup = read(installation.settings.folder)
    if backup is None:
        yield notice(
            "backup",
            "No backup by `belvedere backup` is recorded.",
            f"If you back up in another way, ignore this. Otherwise: {ADVICE}",
        )
        return
    text = f"The last backup is from {iso(backup.at)}: {backup.file}, {backup.size} bytes."
    if installation.now - backup.at > MAX_AGE:
        yield problem("backup", text, f"It is older than two days. {ADVICE}")
    elif backup.at - installation.now > MAX_LEAD:
        yield problem("backup", text, f"This is in the future: was the clock set? {ADVICE}")
    elif _is_deleted(Path(backup.file)):
        yield notice(
            "backup",
            f"{text} It is no longer there.",
            f"If you have moved it to another machine, ignore this. Otherwise: {ADVICE}",
        )
    else:
        yield ok("backup", text)


def _is_deleted(path: Path) -> bool:
    """The user may have no access to the folder."""
    try:
        path.stat()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return False
