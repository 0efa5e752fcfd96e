"""The age of the last backup, as `belvedere backup` records it in the data folder."""

import logging
import os
from collections.abc import Iterable
from pathlib import Path

import msgspec

from belvedere.base.clock import DAY, Millis, iso
from belvedere.server.doctor.model import Finding, Installation, notice, ok, problem

log = logging.getLogger("belvedere.backup")
FILE = "last-backup.json"
MAX_AGE: Millis = 2 * DAY
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
    else:
        yield ok("backup", text)
