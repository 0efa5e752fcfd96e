"""Starting a script: its command line, its environment, its process.

`os.posix_spawn` costs 90 µs of CPU time instead of 150 with subprocess.Popen and needs 2 MB less.
What it cannot do (change folder, set limits) the keeper does to itself just before: it has one
thread and the child inherits both. Every descriptor of the keeper closes on exec.
"""

from __future__ import annotations

import errno
import os
import resource
import signal
import sys

from belvedere.agent.workdir.accounts import ScriptAccount, environment
from belvedere.agent.workdir.workdirs import Workdir

TYPE_CHECKING = False
if TYPE_CHECKING:
    from belvedere.agent.journal.state import Message
    from belvedere.agent.output.capture import OutputCapture

# A harmless limit whose exact value every descendant inherits, whatever it does to its session,
# environment and folder: it marks the processes of a fence.
MARK_LIMIT = getattr(resource, "RLIMIT_MSGQUEUE", None)
MARKS = 8_191
# Scripts start with default actions for all signals, also for those that the keeper ignores or
# inherited as ignored. For signals that are not listed, the C library makes 60 system calls.
DEFAULTS = signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}

REASONS = {
    errno.ENOENT: ("no_interpreter", "Interpreter not found"),
    errno.EACCES: ("not_executable", "The agent has no permission to execute"),
    errno.E2BIG: ("arguments_too_long", "Arguments and environment together are too long for"),
}


class CannotStart(Exception):
    """Nothing was started; `reason` is a code, the text a sentence."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class PreparedScript:
    """A script that can start: its command line, environment, folder and mark."""

    __slots__ = ("account", "command", "env", "mark", "order", "output", "place", "source")

    def __init__(
        self,
        order: Message,
        account: ScriptAccount,
        place: Workdir,
        output: OutputCapture,
        command: list[str],
        env: dict[str, str],
        source: str,
        mark: int,
    ) -> None:
        self.order = order
        self.account = account
        self.place = place
        self.output = output
        self.command = command
        self.env = env
        # The file that it runs, if the first word of the command is the script itself.
        self.source = source
        self.mark = mark


def command_line(order: Message, script: str) -> list[str]:
    """The command line: runas with the script in its place, then the arguments."""
    command: list[str] = []
    is_named = False
    for word in order["runas"]:
        is_named = is_named or "%script%" in word
        # %python% is the interpreter of the agent, which always exists.
        command.append(sys.executable if word == "%python%" else word.replace("%script%", script))
    if not is_named:
        command.append(script)
    return [*command, *order["arguments"]]


def find(program: str, env: dict[str, str]) -> str:
    """The path of a program, by the PATH of the script."""
    if "/" in program:
        return program
    for folder in env["PATH"].split(":"):
        path = f"{folder}/{program}"
        if os.access(path, os.X_OK) and os.path.isfile(path):
            return path
    raise CannotStart("no_interpreter", f"The program {program!r} was not found in {env['PATH']}.")


def base_limit() -> tuple[int, int]:
    """The limit before any mark, read once at the keeper's start."""
    if MARK_LIMIT is None:
        return 0, 0
    soft, hard = resource.getrlimit(MARK_LIMIT)
    if soft < 2 * MARKS:
        # Unlimited, or too small to count down from: use a fixed value below the hard limit.
        soft = 819_200 if hard == resource.RLIM_INFINITY or hard >= 819_200 else 0
    return soft, hard


class Spawner:
    __slots__ = ("_base", "_cookie", "_hard", "_last", "_null", "_pipe", "_used")

    def __init__(self, cookie: str, limit: tuple[int, int]) -> None:
        self._cookie = cookie
        self._base, self._hard = limit
        self._null = os.open(os.devnull, os.O_RDWR)
        # The pipe for the output of the next script, if it exists already.
        self._pipe: tuple[int, int] | None = None
        # Marks that processes may still have, and the last one that was assigned.
        self._used: set[int] = set()
        self._last = 0

    def cookie(self, fence: int) -> str:
        return f"{self._cookie}.{fence}"

    def mark(self) -> int:
        """A limit that no process of another script has; zero if there is none."""
        if not self._base or len(self._used) == MARKS:
            return 0
        self._last = self._last % MARKS + 1
        while self._base - self._last in self._used:
            self._last = self._last % MARKS + 1
        self._used.add(self._base - self._last)
        return self._base - self._last

    def release(self, mark: int) -> None:
        """No process has this mark any more."""
        self._used.discard(mark)

    def create_pipe(self) -> None:
        """Create the pipe of the next script while nothing waits for it."""
        try:
            self._pipe = self._pipe or _new_pipe()
        except OSError:
            # No free descriptor: the start of the next script reports that.
            return

    def prepare(
        self,
        order: Message,
        account: ScriptAccount,
        place: Workdir,
        output: OutputCapture,
        script: str,
    ) -> PreparedScript:
        """What `start` needs, with a mark that is to be released; nothing runs yet."""
        fence: int = order["fence"]
        env = {
            **environment(account),
            **order["env"],
            "BELVEDERE_FENCE": str(fence),
            "BELVEDERE_COOKIE": self.cookie(fence),
            "BELVEDERE_FILES": place.files,
        }
        command = command_line(order, script)
        # Another user can replace the copy of the script; the cache belongs to the agent.
        source = order["script"] if command[0] == script else ""
        return PreparedScript(order, account, place, output, command, env, source, self.mark())

    def start(self, script: PreparedScript) -> tuple[int, int]:
        """The pid and the reading end of the output; CannotStart if nothing was started."""
        (reader, writer), self._pipe = self._pipe or _new_pipe(), None
        try:
            os.chdir(script.place.path)
            self._set_mark(script.mark)
            return self._launch(script, writer), reader
        except (OSError, ValueError, TypeError) as fault:
            os.close(reader)
            raise _explain(fault, script.command[0], script.source) from None
        except CannotStart:
            os.close(reader)
            raise
        finally:
            os.close(writer)

    def _set_mark(self, mark: int) -> None:
        if MARK_LIMIT is not None and mark:
            resource.setrlimit(MARK_LIMIT, (mark, self._hard))

    def _launch(self, script: PreparedScript, out: int) -> int:
        command, env, account = script.command, script.env, script.account
        try:
            return self._exec(find(command[0], env), command, env, out, account)
        except OSError as fault:
            if fault.errno != errno.ENOEXEC:
                raise
            # Neither a binary nor a script with an interpreter in its first line.
            return self._exec(find("bash", env), ["bash", *command], env, out, account)

    def _exec(
        self, path: str, command: list[str], env: dict[str, str], out: int, account: ScriptAccount
    ) -> int:
        if account.switch:
            return _popen(path, command, env, (self._null, out), account)
        try:
            return os.posix_spawn(
                path,
                command,
                env,
                file_actions=(
                    (os.POSIX_SPAWN_DUP2, self._null, 0),
                    (os.POSIX_SPAWN_DUP2, out, 1),
                    (os.POSIX_SPAWN_DUP2, out, 2),
                ),
                setsid=True,
                setsigmask=(),
                setsigdef=DEFAULTS,
            )
        except NotImplementedError:
            return _popen(path, command, env, (self._null, out), account)


def _new_pipe() -> tuple[int, int]:
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    return reader, writer


def _popen(
    path: str,
    command: list[str],
    env: dict[str, str],
    files: tuple[int, int],
    account: ScriptAccount,
) -> int:
    """The slower way, for scripts of other users and systems whose spawn cannot set sessions."""
    import subprocess

    null, out = files
    process = subprocess.Popen(
        command,
        executable=path,
        env=env,
        stdin=null,
        stdout=out,
        stderr=out,
        start_new_session=True,
        user=account.uid if account.switch else None,
        group=account.gid if account.switch else None,
        extra_groups=account.groups if account.switch else None,
        # Safe here: the keeper has one thread.
        preexec_fn=_reset_signals,
    )
    # The keeper reaps all of its children itself; without this Popen would warn about it.
    process.returncode = 0
    return process.pid


def _reset_signals() -> None:
    for number in DEFAULTS:
        signal.signal(number, signal.SIG_DFL)


def _explain(fault: OSError | ValueError | TypeError, program: str, source: str) -> CannotStart:
    code = fault.errno if isinstance(fault, OSError) else None
    reason, text = REASONS.get(
        code or 0, ("cannot_start", f"The script could not be started ({fault})")
    )
    return CannotStart(reason, f"{text}: {_first_line(source) or program}")


def _first_line(source: str) -> str:
    """The line with the interpreter of the script, which is what is missing if the script exists.
    Never of another program: the agent may read files that its user may not."""
    try:
        with open(source, "rb") as file:
            return file.readline(200).decode("utf-8", "replace").rstrip("\n")
    except OSError:
        return ""
