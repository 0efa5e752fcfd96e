"""Which program of the agent runs: the one that was installed (base), or one of an update.

A new program is on trial until the server has accepted its hello. If it does not start, or does not
connect, the agent rolls back to the previous program.
"""

import hashlib
import json
import os
import stat
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from belvedere.agent.setup.enrolment import UPDATE_RECORD
from belvedere.agent.state_folder import StateFolder

FOLDER = "program"
# Starts of a program that never connects.
MAX_STARTS = 3
# No version is accepted for this time after a failure.
PAUSE_S = 3_600.0
MAX_RECORD, MAX_TEXT = 64 * 1024, 500


@dataclass(slots=True)
class Program:
    name: str
    sha256: str
    version: str


@dataclass(slots=True)
class UpdateRecord:
    # SHA-256 of the base: a manual installation makes the rest void.
    base: str = ""
    # None: the base.
    current: Program | None = None
    previous: Program | None = None
    is_trial: bool = False
    starts: int = 0
    # Why the last update failed, and when; empty after one that succeeded.
    error: str = ""
    failed_at: float = 0.0
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def is_paused(self) -> bool:
        """Whether an update failed a short time ago; not for a clock that was set back."""
        return bool(self.error) and 0 <= time.time() - self.failed_at < PAUSE_S

    def fail(self, message: str) -> None:
        self.error, self.failed_at = message[:MAX_TEXT], time.time()

    def go_back(self, message: str) -> None:
        self.fail(message)
        self.current, self.previous = self.previous, None
        self.is_trial, self.starts = False, 0


def load(folder: StateFolder) -> UpdateRecord:
    """An empty record if there is none, or if it cannot be read."""
    try:
        fd = os.open(_path(folder), os.O_RDONLY | os.O_NOFOLLOW)
        with open(fd) as file:
            raw = json.loads(file.read(MAX_RECORD))
        programs = {
            name: Program(**raw[name]) if raw[name] else None for name in ("current", "previous")
        }
        return UpdateRecord(**{**raw, **programs})
    except (OSError, ValueError, TypeError, KeyError):
        return UpdateRecord()


def save(folder: StateFolder, record: UpdateRecord) -> None:
    write_private(_path(folder), json.dumps(asdict(record)).encode(), 0o600)


def _path(folder: StateFolder) -> Path:
    return Path(folder.root) / FOLDER / UPDATE_RECORD


def program_path(folder: StateFolder, program: Program) -> Path:
    return Path(folder.root) / FOLDER / Path(program.name).name


def write_private(path: Path, content: bytes, mode: int) -> None:
    """Atomically and durably; never through a link that somebody put there."""
    path.parent.mkdir(mode=0o755, exist_ok=True)
    draft = path.with_name(f"{path.name}.new")
    draft.unlink(missing_ok=True)
    fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode)
    try:
        with open(fd, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        draft.rename(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def digest_of(path: Path) -> str:
    """The hash of a regular file that nobody else can change; empty for anything else."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return ""
    with open(fd, "rb") as file:
        status = os.fstat(file.fileno())
        is_own = status.st_uid == os.geteuid() and not status.st_mode & 0o022
        if not stat.S_ISREG(status.st_mode) or not is_own:
            return ""
        return hashlib.file_digest(file, "sha256").hexdigest()
