"""The agent's side of the keeper: find it or start it, hand it messages, hear what it says."""

import asyncio
import contextlib
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import belvedere
from belvedere.agent import wire
from belvedere.agent.folder import Folder
from belvedere.base.failpoint import VARIABLE as FAILPOINT
from belvedere.base.unix import short_path

Message = dict[str, Any]
# Without site packages and the user's settings: a smaller process that nothing else gets into.
BOOT = (
    "import sys; sys.path.insert(0, sys.argv.pop(1)); "
    "from belvedere.agent.keeper import main; sys.exit(main())"
)


# The keeper writes only when something is wrong; an old complaint is not kept for ever.
LONGEST_LOG = 256 * 1024


class KeeperFailed(Exception):
    """The keeper would not start; the text says why."""


class Attachment(asyncio.Protocol):
    """One connection to the keeper. What one frame of the server gives it leaves in one write."""

    def __init__(self) -> None:
        self.lost = asyncio.Event()
        self.listener: Callable[[Message], None] | None = None
        # Called when all that the keeper said at once was handed over.
        self.pause_listener: Callable[[], None] | None = None
        # Checks go on while there is no session.
        self.check_listener: Callable[[Message], None] | None = None
        self._lines = wire.Lines()
        self._out: list[bytes] = []
        self._transport: asyncio.Transport | None = None
        # The keeper's process, when it was we who started it.
        self.process: subprocess.Popen[bytes] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

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

    def say(self, *messages: Message) -> None:
        """Leaves with the next `flush`."""
        self._out.extend(map(wire.pack, messages))

    def flush(self) -> None:
        if self._out and self._transport is not None:
            self._transport.write(b"".join(self._out))
        self._out = []

    def close(self) -> None:
        if self._transport is not None:
            self.flush()
            self._transport.close()

    def collect(self) -> None:
        """After the keeper's end: leave no zombie of it."""
        if self.process is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(timeout=1)


async def attach(folder: Folder) -> Attachment:
    """The running keeper, or a new one."""
    process = None
    try:
        connection = _dial(folder)
    except OSError:
        process = _start(folder)
        connection = _dial(folder)
    loop = asyncio.get_running_loop()
    _, attachment = await loop.create_unix_connection(Attachment, sock=connection)
    attachment.process = process
    return attachment


def _dial(folder: Folder) -> socket.socket:
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


def _start(folder: Folder) -> subprocess.Popen[bytes]:
    """Returns once it listens. It takes some 60 ms, during which this process has no other work."""
    package = str(Path(belvedere.__file__).parent.parent)
    path = f"{folder.root}/keeper.log"
    if os.path.exists(path) and os.path.getsize(path) > LONGEST_LOG:
        os.unlink(path)
    with open(path, "ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-X", "utf8", "-c", BOOT, package]
            + ["--state", folder.root],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            cwd="/",
            env=_environment(),
            start_new_session=True,
        )
    assert process.stdout is not None
    with process.stdout as said:
        word = said.readline().decode().strip()
    if word != "ready":
        process.wait()
        raise KeeperFailed(word or f"The keeper did not start; {folder.root}/keeper.log says why.")
    return process


def _environment() -> dict[str, str]:
    """What the keeper needs; a point at which it shall die in a test is meant for one keeper."""
    names = ("PATH", "TZ", "BELVEDERE_FAILPOINT")
    found = {name: os.environ[name] for name in names if name in os.environ}
    if os.environ.get(FAILPOINT, "").startswith("keeper."):
        del os.environ[FAILPOINT]
    return found
