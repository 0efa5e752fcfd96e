"""Connections without TLS on bare sockets. The streams of asyncio, with a transport, a protocol and
more wake-ups of the event loop for each connection, take half as much CPU time again."""

import asyncio
import socket
from typing import Any

from belvedere.agent.checks.connect import resolve_endpoints

# As in asyncio: the longest text that `readuntil` returns.
LIMIT = 64 * 1024
PIECE = 64 * 1024


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
        await asyncio.get_running_loop().sock_connect(sock, endpoint)
    except BaseException:
        # Also if the check is canceled at its time limit.
        sock.close()
        raise
    return sock


class SocketReader:
    """The methods of `asyncio.StreamReader` with which a response is read."""

    __slots__ = ("_data", "_loop", "_sock")

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
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
        piece = await self._loop.sock_recv(self._sock, PIECE)
        self._data += piece
        return bool(piece)

    def _take(self, count: int) -> bytes:
        piece = bytes(self._data[:count])
        del self._data[:count]
        return piece
