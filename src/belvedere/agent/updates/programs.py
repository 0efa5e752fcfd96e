"""Starts the program that the record names, stores a new one, and returns to the one before."""

import contextlib
import hashlib
import logging
import os
import subprocess
import sys
import time
from pathlib import Path

import belvedere
from belvedere import __version__
from belvedere.agent.state_folder import StateFolder
from belvedere.agent.updates import record as records
from belvedere.agent.updates.record import FOLDER, Program
from belvedere.protocol import UpdateOffer

log = logging.getLogger("belvedere.agent")
NAME = "belvedere-agent"
# The path of the installed program, for the program that it starts.
BASE_VARIABLE = "BELVEDERE_AGENT_BASE"
CHECK_S = 30.0
# Programs that stay, beside those that a process uses: a keeper reads modules from the program that
# started it, as long as its scripts run. Where there is no /proc, this number is all that is known.
KEEP = 6


class UpdateFailed(Exception):
    """The new program cannot be used; the text says why."""


class Programs:
    """The programs of one agent. An agent that is not a single file cannot be updated."""

    def __init__(self, folder: StateFolder, archive: Path | None, base: Path | None) -> None:
        self._folder = folder
        # The file that this process runs, and the one that was installed.
        self.archive = archive
        self.base = base or archive
        # Whether this process has given up its trial.
        self.has_returned = False
        # What this process knows even if the disk is full: that it has connected, and a failure.
        self._is_confirmed = False
        self._failure = ""
        self._failed_at = 0.0

    def select(self) -> Path | None:
        """The program that must run instead of this one, which is the base; None: this one."""
        if self.archive is None or self.archive != self.base:
            return None
        record = records.load(self._folder)
        if record.base and record.base != _sha256(self.archive):
            # Installed by hand since: that is the newer decision.
            record = records.UpdateRecord()
            self._save(record)
        if record.current is None:
            return None
        if record.is_trial and record.starts >= records.MAX_STARTS:
            text = f"Version {record.current.version} was started {record.starts} times"
            record.go_back(f"{text} and did not connect to the server.")
        elif records.digest_of(self._path(record.current)) != record.current.sha256:
            record.go_back(f"The program of version {record.current.version} was changed.")
        else:
            record.starts += record.is_trial
            # Without it a program that does not start would be started forever.
            is_counted = not record.is_trial or self._save(record)
            return self._path(record.current) if is_counted else None
        log.error("update failed; rolling back to the previous version reason=%s", record.error)
        return self.select() if self._save(record) else None

    def _save(self, record: records.UpdateRecord) -> bool:
        """A full disk must not keep the agent from running."""
        try:
            records.save(self._folder, record)
        except OSError as fault:
            log.error("state of the update could not be stored error=%s", fault)
            return False
        return True

    def _path(self, program: Program) -> Path:
        return records.program_path(self._folder, program)

    @property
    def is_on_trial(self) -> bool:
        """Whether this process runs a program that has not connected yet."""
        if self._is_confirmed:
            return False
        record = records.load(self._folder)
        is_current = record.current is not None and self._path(record.current) == self.archive
        return record.is_trial and is_current

    def install(self, offer: UpdateOffer, content: bytes) -> Path:
        """Store and try the offered program; it runs after the next start."""
        assert self.archive is not None and self.base is not None
        try:
            if offer.sha256 == _sha256(self.base):
                return self._return_to_base()
        except OSError as fault:
            raise UpdateFailed(f"It cannot be stored: {fault.strerror or fault}.") from fault
        path = Path(self._folder.root) / FOLDER / f"{NAME}-{offer.sha256[:12]}.pyz"
        try:
            records.write_private(path, content, 0o700)
            _check(path, offer.version)
            record = records.load(self._folder)
            record.base = _sha256(self.base)
            own = Program(self.archive.name, _sha256(self.archive), __version__)
            record.previous = None if self.archive == self.base else own
            record.current = Program(path.name, offer.sha256, offer.version)
            record.is_trial, record.starts = True, 1
            records.save(self._folder, record)
        except OSError as fault:
            raise UpdateFailed(f"It cannot be stored: {fault.strerror or fault}.") from fault
        return path

    def _return_to_base(self) -> Path:
        """The offered program is the installed one, which is started without a trial."""
        assert self.base is not None
        records.save(self._folder, records.UpdateRecord(base=_sha256(self.base)))
        return self.base

    def confirm(self) -> None:
        """The server has accepted the hello of this program."""
        if self.is_on_trial:
            self._is_confirmed = True
            record = records.load(self._folder)
            record.is_trial, record.starts, record.error = False, 0, ""
            self._save(record)
            log.info("update finished version=%s", __version__)
            self._remove_old(record)

    def go_back(self, message: str) -> None:
        self.has_returned = True
        record = records.load(self._folder)
        record.go_back(message)
        self._save(record)

    def fail(self, message: str) -> None:
        self._failure, self._failed_at = message[: records.MAX_TEXT], time.monotonic()
        record = records.load(self._folder)
        record.fail(message)
        # The file of an agent that runs may have been deleted.
        with contextlib.suppress(OSError):
            record.base = "" if self.base is None else _sha256(self.base)
        self._save(record)

    @property
    def error(self) -> str:
        """Why the last update failed."""
        return records.load(self._folder).error or self._failure

    @property
    def is_paused(self) -> bool:
        """Whether an update failed a short time ago."""
        has_failed = bool(self._failure) and time.monotonic() - self._failed_at < records.PAUSE_S
        return has_failed or records.load(self._folder).is_paused

    def _remove_old(self, record: records.UpdateRecord) -> None:
        names = {program.name for program in (record.current, record.previous) if program}
        paths = sorted(
            (Path(self._folder.root) / FOLDER).glob(f"{NAME}-*.pyz"),
            key=lambda path: path.lstat().st_mtime,
        )
        if len(paths) > KEEP:
            names |= _names_in_use()
        for path in paths[:-KEEP]:
            if path.name not in names and path not in (self.base, self.archive):
                path.unlink(missing_ok=True)

    def execute(self, path: Path) -> None:
        """Replace this process; returns only if that is not possible."""
        environment = {k: v for k, v in os.environ.items() if k != BASE_VARIABLE}
        if path != self.base:
            environment[BASE_VARIABLE] = str(self.base)
        words = [sys.executable, "-I", str(path), *_arguments(sys.argv[1:])]
        try:
            os.execve(sys.executable, words, environment)
        except OSError as fault:
            log.error("program cannot be started path=%s error=%s", path, fault)


def find(folder: StateFolder) -> Programs:
    """The programs of this process. The variable is not for its children."""
    archive = Path(belvedere.__file__).parent.parent
    base = os.environ.pop(BASE_VARIABLE, "")
    is_file = archive.is_file()
    return Programs(
        folder,
        archive.absolute() if is_file else None,
        Path(base) if is_file and base else None,
    )


def _names_in_use() -> set[str]:
    """Names of files in the command lines of all processes."""
    names: set[str] = set()
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            names.update(os.path.basename(os.fsdecode(w)) for w in path.read_bytes().split(b"\0"))
    return names


def _arguments(words: list[str]) -> list[str]:
    """Without reading the token again: its file may be deleted, or be a terminal. The agent has
    enrolled, and the last file is the one that counts."""
    again = ["--token-file", os.devnull]
    names_file = any(word.split("=")[0] == again[0] for word in words)
    return [*words, *again] if names_file and words[-2:] != again else words


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _check(path: Path, version: str) -> None:
    """Start the program once: a Python of this machine may be too old for it."""
    words = [sys.executable, "-I", str(path), "--version"]
    try:
        process = subprocess.run(
            words, capture_output=True, timeout=CHECK_S, stdin=subprocess.DEVNULL, cwd="/"
        )
    except subprocess.TimeoutExpired:
        raise UpdateFailed(f"Version {version} did not start within {CHECK_S:.0f} s.") from None
    if process.returncode != 0 or process.stdout.decode(errors="replace").split() != [
        NAME,
        version,
    ]:
        error = process.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        raise UpdateFailed(f"Version {version} does not start: {error or 'wrong version'}")
