"""The agent's side of the keeper: find it or start it, hand it messages, hear what it says."""

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
# The keeper writes only when something is wrong; an old complaint is not kept for ever.
MAX_LOG = 256 * 1024


class KeeperFailed(Exception):
    """The keeper would not start; the text says why."""


class KeeperClient(asyncio.Protocol):
    """One connection to the keeper. What one frame of the server gives it leaves in one write."""

    def __init__(self) -> None:
        self.lost = asyncio.Event()
        self.listener: Callable[[Message], None] | None = None
        # Called when all that the keeper said at once was handed over.
        self.pause_listener: Callable[[], None] | None = None
        # Checks go on while there is no session.
        self.check_listener: Callable[[Message], None] | None = None
        self._lines = wire.JsonLines()
        self._out: list[bytes] = []
        self._transport: asyncio.Transport | None = None
        # The keeper's process, when it was we who started it.
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
        """Leaves with the next `flush`."""
        self._out.extend(map(wire.pack, messages))

    def flush(self) -> None:
        """Nothing where the keeper is gone: uvloop would not take it silently."""
        out, self._out = self._out, []
        transport = self._transport
        if out and transport is not None and not transport.is_closing():
            transport.write(b"".join(out))

    def close(self) -> None:
        if self._transport is not None:
            self.flush()
            self._transport.close()

    async def collect(self) -> None:
        """After the keeper's end: leave no zombie of it."""
        if self.process is not None:
            await run_detached(_collect, self.process)


async def connect_keeper(folder: StateFolder) -> KeeperClient:
    """The running keeper, or a new one."""
    connection, process = await run_detached(_connect_or_start, folder)
    loop = asyncio.get_running_loop()
    _, client = await loop.create_unix_connection(KeeperClient, sock=connection)
    client.process = process
    return client


def _connect_or_start(
    folder: StateFolder,
) -> tuple[socket.socket, "subprocess.Popen[bytes] | None"]:
    """A connection, and the process where it is a new one; not on the loop, since it may take its
    time."""
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
    """Returns once it listens, after some 60 ms."""
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
        raise KeeperFailed(word or f"The keeper did not start; {folder.root}/keeper.log says why.")
    return process


def _private(path: str, flags: int) -> int:
    """Others can walk through the state folder where scripts run as other users."""
    return os.open(path, flags | os.O_NOFOLLOW, 0o600)


def _environment() -> dict[str, str]:
    """What the keeper needs; a point at which it shall die in a test is meant for one keeper."""
    names = ("PATH", "TZ", "BELVEDERE_FAILPOINT")
    environment = {name: os.environ[name] for name in names if name in os.environ}
    if os.environ.get(FAILPOINT, "").startswith("keeper."):
        del os.environ[FAILPOINT]
    return environment
