"""HTTP over a real socket, with connections that stay open."""

import asyncio
import contextlib
import json
import socket
from collections.abc import AsyncIterator, Mapping
from typing import Any

from belvedere.server.main import build_server
from belvedere.server.runtime import ServerRuntime
from contract.client import NOTHING, Response


@contextlib.asynccontextmanager
async def run_server(runtime: ServerRuntime) -> AsyncIterator[int]:
    """The server as `belvedere server` runs it, on a port that the system chose."""
    listener = socket.create_server(("127.0.0.1", 0))
    listener.setblocking(False)
    _, server = build_server(runtime)
    serving = asyncio.create_task(server.serve([listener]))
    try:
        await server.until_started(serving)
        yield listener.getsockname()[1]
    finally:
        runtime.stopping.set()
        server.stop_within(2)
        await serving
        listener.close()


class Socket:
    """One client with a few connections, each used again and again."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._idle: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []
        self.opened = 0

    async def request(
        self,
        method: str,
        target: str,
        body: Any = NOTHING,
        *,
        headers: Mapping[str, str] | None = None,
        pieces: list[bytes] | None = None,
    ) -> Response:
        """`body` as JSON; `pieces` are sent one by one, chunked, as by a client that does not know
        the length."""
        sent_body = {"host": f"127.0.0.1:{self._port}", **(headers or {})}
        raw = b""
        if body is not NOTHING:
            raw = json.dumps(body).encode()
            sent_body |= {"content-type": "application/json", "content-length": str(len(raw))}
        if pieces is not None:
            sent_body["transfer-encoding"] = "chunked"
            raw = b"".join(b"%x\r\n%s\r\n" % (len(item), item) for item in [*pieces, b""])
        head = "".join(f"{name}: {value}\r\n" for name, value in sent_body.items())
        reader, writer = await self._connection()
        writer.write(f"{method} {target} HTTP/1.1\r\n{head}\r\n".encode() + raw)
        await writer.drain()
        answer = await _answer(reader)
        self._idle.append((reader, writer))
        return answer

    async def _connection(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if self._idle:
            return self._idle.pop()
        self.opened += 1
        return await asyncio.open_connection("127.0.0.1", self._port)

    async def hang_up(self) -> None:
        for _, writer in self._idle:
            writer.close()
        self._idle.clear()


async def _answer(reader: asyncio.StreamReader) -> Response:
    first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
    pairs = (line.partition(":") for line in lines if line)
    headers = {name.lower(): value.strip() for name, _, value in pairs}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Response(int(first.split()[1]), headers, body)
