"""The product's programs as a test starts them: real processes in folders of the test."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from e2e import process_leaks
from e2e.wait_until import until

BELVEDERE = (sys.executable, "-m", "belvedere.cli.main")
START_S = 60.0
STOP_S = 15.0
TOKEN = "bvt_" + "0123456789" * 4
PASSWORD = "correct horse battery"
CUSTOMER = "main"
EMAIL = "admin@localhost"
# Without the demo: its schedule runs a task every morning at 07:00 UTC, and a long test that counts
# jobs would find one that it did not request.
UNATTENDED = {
    "BELVEDERE_ADMIN_PASSWORD": PASSWORD,
    "BELVEDERE_ACCESS_TOKEN": TOKEN,
    "BELVEDERE_DEMO": "0",
}


def environment(**more: str) -> dict[str, str]:
    """The person's own settings do not reach a program under test."""
    bare = {k: v for k, v in os.environ.items() if not k.startswith("BELVEDERE_")}
    return {**bare, "NO_PROXY": "*", "PYTHONFAULTHANDLER": "1", **more}


class Program:
    """One process that is started again and again; its output is appended to one file."""

    def __init__(self, words: tuple[str, ...], log: Path, **env: str) -> None:
        self.command: tuple[str, ...] = BELVEDERE
        self.words = words
        self.env = env
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None

    def launch(self, *words: str, stdin: str = "", **env: str) -> None:
        """Start it with these arguments and variables, and this standard input."""
        assert not self.is_running, "it runs already"
        with self._log.open("ab") as log, tempfile.TemporaryFile() as stream:
            stream.write(stdin.encode())
            stream.seek(0)
            self._process = subprocess.Popen(
                [*self.command, *self.words, *words],
                stdin=stream,
                stdout=log,
                stderr=log,
                env=environment(**{**self.env, **env}),
                # Ctrl-C in the terminal is for the tests, which then end what they started.
                start_new_session=True,
            )

    @property
    def process(self) -> "subprocess.Popen[bytes]":
        assert self._process is not None
        return self._process

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def read_log(self) -> str:
        return self._log.read_text(errors="replace") if self._log.exists() else ""

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def stop(self, how: signal.Signals = signal.SIGTERM) -> int:
        self.process.send_signal(how)
        return self.process.wait(STOP_S)

    def dies(self, within_s: float) -> bool:
        """Whether it ends by itself in this time."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(within_s)
            return True
        return False


class Server(Program):
    """`belvedere server`, or `belvedere up`, in its data folder."""

    def __init__(self, data: Path, database: str = "", verb: str = "server", **env: str) -> None:
        words = (verb, "--data", str(data), "--host", "127.0.0.1")
        record = {"BELVEDERE_DATABASE": database} if database else {}
        settings = {**UNATTENDED, **record, **env}
        super().__init__(words, data.with_name(f"{data.name}.log"), **settings)
        self.data = data
        self.url = ""

    def start(self, *words: str, **env: str) -> bool:
        """Wait until it prints its address, on a port that the system chose; false if it ended
        before."""
        before = len(self.read_log())
        self.launch("--port", "0", *words, **env)
        give_up_at = time.monotonic() + START_S
        while self.is_running and time.monotonic() < give_up_at:
            match = re.search(r"ready at (\S+)\n", self.read_log()[before:])
            if match is not None:
                self.url = match[1]
                return True
            time.sleep(0.01)
        if self.is_running:
            # Python's fault handler then shows where it hangs.
            self.stop(signal.SIGABRT)
            raise AssertionError(f"no address within {START_S} s:\n{self.read_log()[before:]}")
        return False


class Agent(Program):
    """`belvedere agent` with a state folder and therefore a keeper of its own."""

    def __init__(self, state: Path, hostname: str, **env: str) -> None:
        words = ("agent", "--state", str(state), "--hostname", hostname)
        super().__init__(words, state.with_name(f"{state.name}.log"), **env)
        self.state = state
        self.hostname = hostname

    def start(self, url: str, *words: str, stdin: str = "", **env: str) -> None:
        self.launch("--server", url, *words, stdin=stdin, **env)

    def keeper(self) -> int:
        """The one keeper of this agent, which may not have started yet."""
        return until(lambda: process_leaks.keepers(self.state), START_S, self.read_log)[0]

    def scripts(self) -> list[int]:
        return process_leaks.scripts(self.state)

    def end(self) -> None:
        """Agent, keeper and scripts, in any state."""
        self.kill()
        for pid in (*process_leaks.keepers(self.state), *self.scripts()):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def retire(self) -> None:
        """As a person would end it for good: the agent stops, and its idle keeper too."""
        if self.is_running:
            self.stop()
        for pid in process_leaks.keepers(self.state):
            os.kill(pid, signal.SIGTERM)


def run(*words: str, stdin: str = "", **env: str) -> "subprocess.CompletedProcess[str]":
    """Run one command to its end."""
    return subprocess.run(
        [*BELVEDERE, *words],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=40,
        env=environment(**env),
    )
