"""A keeper of its own for a test, which sends it the messages of an agent, without a server."""

import contextlib
import hashlib
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from agent.processes import descendants, read, with_cookie
from belvedere.agent import wire
from belvedere.agent.output.spool import HEAD
from belvedere.agent.state_folder import StateFolder, prepare
from belvedere.base.unix_sockets import short_path
from belvedere.protocol import INLINE_LOG

Message = dict[str, Any]

PATIENCE_S = 30.0


class KeeperHarness:
    """Starts the keeper, sends it orders, collects its messages."""

    def __init__(self, state: Path) -> None:
        self.folder: StateFolder = prepare(str(state))
        self.heard: list[Message] = []
        self.state: Message = {}
        self._next_fence = 100
        self._socket: socket.socket | None = None
        self.start()

    def start(self, altered: str = "", **environment: str) -> None:
        """With `altered`, lines of Python that change a constant of the keeper first."""
        words = ["-m", "belvedere.agent.keeper.program"]
        if altered:
            code = (
                f"import sys\n{altered}\nfrom belvedere.agent.keeper import program\nprogram.main()"
            )
            words = ["-c", code]
        self.process = subprocess.Popen(
            [sys.executable, *words, "--state", self.folder.root],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            start_new_session=True,
            env={**os.environ, **environment},
        )
        assert self.process.stdout is not None
        with self.process.stdout as stream:
            assert stream.readline() == b"ready\n"

    @property
    def pid(self) -> int:
        return self.process.pid

    def connect(self, session: int = 1, owner: str = "host") -> Message:
        """Say hello as a new agent would; the keeper's state."""
        path, fd = short_path(self.folder.root, "keeper.sock")
        former, self._socket = self._socket, socket.socket(socket.AF_UNIX)
        self._socket.connect(path)
        if fd >= 0:
            os.close(fd)
        if former is not None:
            former.close()
        self._lines = wire.JsonLines()
        self.heard.clear()
        return self.hello(session, owner)

    def hello(self, session: int = 1, owner: str = "host") -> Message:
        self.heard = [message for message in self.heard if message["say"] != "state"]
        self.send_messages(do="hello", owner=owner, inline=INLINE_LOG)
        self.state = self.wait(lambda m: m["say"] == "state")
        self.send_messages(do="open", session=session)
        return self.state

    def hang_up(self) -> None:
        assert self._socket is not None
        self._socket.close()

    def send_messages(self, **message: Any) -> None:
        self.say_bytes(wire.pack(message))

    def say_bytes(self, data: bytes) -> None:
        assert self._socket is not None
        self._socket.sendall(data)

    def order(self, source: str, *arguments: str, **fields: Any) -> int:
        """Send an order for this script; its fence."""
        self._next_fence += 1
        fence = self._next_fence
        path = self.script(source)
        message = {
            "session": 1,
            "fence": fence,
            "job_id": f"job{fence}",
            "runas": [],
            "arguments": list(arguments),
            "env": {},
            "timeout_ms": 60_000,
            "grace_ms": 5_000,
            "daemonize": False,
            "os_user": "",
            "blobs": [],
            "script": str(path),
        }
        self.send_messages(do="order", **{**message, **fields})
        return int(fields.get("fence", fence))

    def order_ready(self, source: str, *arguments: str, **fields: Any) -> int:
        """Hand over an order, and wait until its script has passed the line `ready`."""
        fifo = Path(self.folder.root) / "ready"
        os.mkfifo(fifo)
        end = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
        fence = self.order(source.replace("\nready\n", f"\n: > {fifo}\n"), *arguments, **fields)
        # Readable as soon as the script has opened and closed the other end.
        is_ready, _, _ = select.select([end], [], [], PATIENCE_S)
        os.close(end)
        fifo.unlink()
        assert is_ready, "the script did not reach the line `ready`"
        return fence

    def script(self, source: str, name: str = "test.sh") -> Path:
        folder = Path(self.folder.cache) / hashlib.sha256(source.encode()).hexdigest()
        folder.mkdir(exist_ok=True)
        path = folder / name
        if not path.exists():
            path.write_text(source)
            path.chmod(0o755)
        return path

    def wait(self, expected: Callable[[Message], bool]) -> Message:
        """The first such message, received before or within the time limit of a test."""
        for message in self._hear():
            if expected(message):
                return message
        raise AssertionError(f"not heard among {self.heard}")

    def _hear(self) -> Iterator[Message]:
        yield from list(self.heard)
        give_up_at = time.monotonic() + PATIENCE_S
        while time.monotonic() < give_up_at:
            yield from self.hear_once()

    def hear_once(self) -> list[Message]:
        """The next message."""
        assert self._socket is not None
        self._socket.settimeout(PATIENCE_S)
        data = self._socket.recv(1 << 20)
        assert data, "the keeper hung up"
        fresh = self._lines.feed(data)
        self.heard += fresh
        return fresh

    def report(self, fence: int) -> Message:
        record = self.wait(lambda m: m["say"] == "ended" and m["fence"] == fence)
        return dict(record["report"])

    def run(self, source: str, *arguments: str, **fields: Any) -> Message:
        """Order it, wait for its end, acknowledge it; the report."""
        fence = self.order(source, *arguments, **fields)
        report = self.report(fence)
        # On a busy machine even a short script may be slow enough for its output to be spooled.
        if report.get("bytes_total", 0) <= INLINE_LOG:
            report.setdefault("log", self.spool_bytes(fence).decode(errors="replace"))
        self.send_messages(do="ack", fences=[fence])
        return report

    def spool_bytes(self, fence: int) -> bytes:
        path = Path(self.folder.spool) / str(fence) / "0.seg"
        return path.read_bytes()[HEAD:] if path.exists() else b""

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)
        self.process.wait()

    def leftover_pids(self) -> list[int]:
        """Processes of any script that still exist, below the keeper or anywhere else."""
        numbers = {*descendants(self.pid), *with_cookie(self.folder.root)}
        # A process of the keeper may still be removing a working folder, or have ended just now:
        # then it has no command line any more.
        lines = {pid: read(pid, "cmdline") for pid in numbers}
        return sorted(pid for pid, line in lines.items() if line and b"workdir.removal" not in line)

    def end(self) -> None:
        """End every process of this test."""
        if self._socket is not None:
            self._socket.close()
        doomed = [self.pid, *self.leftover_pids()]
        for pid in doomed:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()

    def resident_kib(self) -> int:
        status = Path(f"/proc/{self.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0])
