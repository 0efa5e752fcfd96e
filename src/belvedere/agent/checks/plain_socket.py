"""Connections without TLS on bare sockets. The streams of asyncio, with a transport, a protocol and
more wake-ups of the event loop for each connection, take about 50 % more CPU time."""

import asyncio
import errno
import os
import socket
from collections.abc import Callable
from typing import Any

from belvedere.agent.checks.connect import resolve_endpoints

# As in asyncio: the longest text that `readuntil` returns.
LIMIT = 64 * 1024
PIECE = 64 * 1024
# Pieces that are received without waiting before other checks continue, and the time limit of this
# check can end it.
MAX_PIECES_PER_TURN = 4


async def connect_socket(config: dict[str, Any], host: str, port: int) -> socket.socket:
    """Open a connection to the first address that accepts it; OSError if none does."""
    faults: list[OSError] = []
    for family, endpoint in await resolve_endpoints(config, host, port):
        try:
            return await _connect(family, endpoint)
        except OSError as fault:
            faults.append(fault)
    raise faults[0]


async def _connect(family: int, endpoint: tuple[Any, ...]) -> socket.socket:
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.setblocking(False)
        code = sock.connect_ex(endpoint)
        if code == errno.EINPROGRESS:
            code = await _connected(sock, endpoint)
        if code not in (0, errno.EISCONN):
            raise OSError(code, f"{os.strerror(code)}: {endpoint[0]} port {endpoint[1]}")
    except BaseException:
        # Also if the check is canceled at its time limit.
        sock.close()
        raise
    return sock


async def _connected(sock: socket.socket, endpoint: tuple[Any, ...]) -> int:
    """The error number of a connection that was begun; 0 once it is established."""
    # A connection within the host is established at once: there is nothing to wait for.
    code = sock.connect_ex(endpoint)
    if code != errno.EALREADY:
        return code
    loop = asyncio.get_running_loop()
    await _until_ready(sock, loop.add_writer, loop.remove_writer)
    return sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)


async def _until_ready(
    sock: socket.socket, add: Callable[..., None], remove: Callable[[int], bool]
) -> None:
    """Wait until the socket can be read or written."""
    ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    # The number, because asyncio builds the repr of an unknown file object, with its addresses.
    number = sock.fileno()
    add(number, _finish, ready)
    try:
        await ready
    finally:
        remove(number)


def _finish(ready: asyncio.Future[None]) -> None:
    if not ready.done():
        ready.set_result(None)


class SocketReader:
    """The methods of `asyncio.StreamReader` with which a response is read."""

    __slots__ = ("_data", "_loop", "_pieces", "_sock")

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        # Pieces received since the last wait.
        self._pieces = 0
        self._loop = asyncio.get_running_loop()
        self._data = bytearray()

    async def readuntil(self, separator: bytes) -> bytes:
        while (at := self._data.find(separator)) < 0:
            if len(self._data) > LIMIT:
                raise asyncio.LimitOverrunError("no separator", len(self._data))
            if not await self._receive():
                raise asyncio.IncompleteReadError(bytes(self._data), None)
        if at > LIMIT:
            raise asyncio.LimitOverrunError("the separator is too far away", at)
        return self._take(at + len(separator))

    async def readexactly(self, count: int) -> bytes:
        while len(self._data) < count:
            if not await self._receive():
                raise asyncio.IncompleteReadError(bytes(self._data), count)
        return self._take(count)

    async def read(self, count: int) -> bytes:
        """At most this many bytes; empty at the end."""
        if not self._data:
            await self._receive()
        return self._take(count)

    async def _receive(self) -> bool:
        if self._pieces == MAX_PIECES_PER_TURN:
            self._pieces = 0
            await asyncio.sleep(0)
        while (piece := self._received()) is None:
            self._pieces = 0
            await _until_ready(self._sock, self._loop.add_reader, self._loop.remove_reader)
        self._pieces += 1
        self._data += piece
        return bool(piece)

    def _received(self) -> bytes | None:
        """What has arrived, empty at the end; None if nothing has."""
        try:
            return self._sock.recv(PIECE)
        except BlockingIOError:
            return None

    def _take(self, count: int) -> bytes:
        piece = bytes(self._data[:count])
        del self._data[:count]
        return piece
