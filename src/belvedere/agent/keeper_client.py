"""The agent's connection to the keeper: find or start it, send and receive messages."""

import asyncio
import contextlib
import os
import socket
import subprocess
from collections.abc import Callable
from typing import Any, cast

from belvedere.agent import wire
from belvedere.agent.boot import command
from belvedere.agent.isolation import run_detached
from belvedere.agent.state_folder import StateFolder
from belvedere.base.failpoints import VARIABLE as FAILPOINT
from belvedere.base.unix_sockets import short_path

Message = dict[str, Any]
# The keeper logs only problems; a longer log is deleted at its next start.
MAX_LOG = 256 * 1024


class KeeperFailed(Exception):
    """The keeper did not start; the text says why."""


class KeeperClient(asyncio.Protocol):
    """One connection to the keeper. Messages of one frame of the server leave in one write."""

    def __init__(self) -> None:
        self.lost = asyncio.Event()
        self.listener: Callable[[Message], None] | None = None
        # Called after all messages that arrived together were handled.
        self.pause_listener: Callable[[], None] | None = None
        # Results of checks also arrive without a session.
        self.check_listener: Callable[[Message], None] | None = None
        self._lines = wire.JsonLines()
        self._out: list[bytes] = []
        self._transport: asyncio.Transport | None = None
        # The keeper's process, if this agent started it.
        self.process: subprocess.Popen[bytes] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self.lost.set()

    def data_received(self, data: bytes) -> None:
        for message in self._lines.feed(data):
            is_check = message["say"] == "checked"
            listener = self.check_listener if is_check else self.listener
            if listener is not None:
                listener(message)
        if self.pause_listener is not None:
            self.pause_listener()

    def send(self, *messages: Message) -> None:
        """Queue messages; they are sent with the next `flush`."""
        self._out.extend(map(wire.pack, messages))

    def flush(self) -> None:
        """Send what is queued; nothing if the connection is closing, where uvloop would raise."""
        out, self._out = self._out, []
        transport = self._transport
        if out and transport is not None and not transport.is_closing():
            transport.write(b"".join(out))

    def close(self) -> None:
        if self._transport is not None:
            self.flush()
            self._transport.close()

    async def collect(self) -> None:
        """Reap the keeper's process after its end."""
        if self.process is not None:
            await run_detached(_collect, self.process)


async def connect_keeper(folder: StateFolder) -> KeeperClient:
    """Connect to the running keeper, or start a new one."""
    connection, process = await run_detached(_connect_or_start, folder)
    loop = asyncio.get_running_loop()
    _, client = await loop.create_unix_connection(KeeperClient, sock=connection)
    client.process = process
    return client


def _connect_or_start(
    folder: StateFolder,
) -> tuple[socket.socket, "subprocess.Popen[bytes] | None"]:
    """A connection, and the process if it is a new one. Runs in a thread, because it may take
    long."""
    try:
        return _connect(folder), None
    except OSError:
        process = _start(folder)
        return _connect(folder), process


def _collect(process: "subprocess.Popen[bytes]") -> None:
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(timeout=1)


def _connect(folder: StateFolder) -> socket.socket:
    path, fd = short_path(folder.root, "keeper.sock")
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.connect(path)
    except OSError:
        connection.close()
        raise
    finally:
        if fd >= 0:
            os.close(fd)
    connection.setblocking(False)
    return connection


def _start(folder: StateFolder) -> subprocess.Popen[bytes]:
    """Start the keeper and wait until it listens, about 60 ms."""
    path = f"{folder.root}/keeper.log"
    if os.path.exists(path) and os.path.getsize(path) > MAX_LOG:
        os.unlink(path)
    with open(path, "ab", opener=_private) as log:
        process = subprocess.Popen(
            [*command("belvedere.agent.keeper.program"), "--state", folder.root],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            cwd="/",
            env=_environment(),
            start_new_session=True,
        )
    assert process.stdout is not None
    with process.stdout as output:
        word = output.readline().decode().strip()
    if word != "ready":
        process.wait()
        raise KeeperFailed(word or f"The keeper did not start; see {folder.root}/keeper.log.")
    return process


def _private(path: str, flags: int) -> int:
    """Other users can pass through the state folder if scripts run as other users."""
    return os.open(path, flags | os.O_NOFOLLOW, 0o600)


def _environment() -> dict[str, str]:
    """The keeper's environment; a fail point of a test is meant for one keeper only."""
    names = ("PATH", "TZ", "BELVEDERE_FAILPOINT")
    environment = {name: os.environ[name] for name in names if name in os.environ}
    if os.environ.get(FAILPOINT, "").startswith("keeper."):
        del os.environ[FAILPOINT]
    return environment
