"""The server's own HTTP protocol on a loopback port, and raw requests to it."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import uvicorn

from belvedere.server.transport.agent_websocket import AgentWebSocket
from belvedere.server.transport.connections import Connections
from belvedere.server.transport.http_protocol import HttpProtocol
from server.listening import PATIENCE_S, run_uvicorn


@dataclass
class Site:
    port: int
    server: uvicorn.Server
    connections: Connections

    async def open(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection("127.0.0.1", self.port)

    async def answer(self, request: bytes, *more: bytes) -> "RawResponse":
        """The response to one request, which may be sent in pieces."""
        reader, writer = await self.open()
        try:
            async with asyncio.timeout(PATIENCE_S):
                await asyncio.gather(_send(writer, request, *more), waiting := _read(reader))
                return await waiting
        finally:
            writer.transport.abort()

    def sweep(self, later_s: float = 0.0) -> None:
        """As the server does once a second, at a later time."""
        now = asyncio.get_running_loop().time()
        self.connections.sweep(now + later_s, len(self.server.server_state.connections))


@dataclass(frozen=True)
class RawResponse:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def code(self) -> str:
        word: str = json.loads(self.body)["code"]
        return word


def _read(reader: asyncio.StreamReader) -> "asyncio.Task[RawResponse]":
    return asyncio.create_task(read_answer(reader))


async def read_answer(reader: asyncio.StreamReader) -> RawResponse:
    head = await reader.readuntil(b"\r\n\r\n")
    lines = head.decode("latin-1").split("\r\n")
    pairs = (line.partition(": ") for line in lines[1:] if line)
    headers = {name: value for name, _, value in pairs}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return RawResponse(int(lines[0].split(" ")[1]), headers, body)


async def _send(writer: asyncio.StreamWriter, *parts: bytes) -> None:
    try:
        for part in parts:
            writer.write(part)
            await writer.drain()
    except ConnectionError:
        # The server has refused the rest; the response says why.
        pass


def request(
    method: str, target: str, headers: dict[str, str] | None = None, body: bytes = b""
) -> bytes:
    input_body = {"host": "belvedere.test", **(headers or {})}
    if body or method != "GET":
        input_body.setdefault("content-length", str(len(body)))
    lines = [
        f"{method} {target} HTTP/1.1",
        *(f"{name}: {value}" for name, value in input_body.items()),
    ]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


@asynccontextmanager
async def serving(app: Any, per_address: int = 1_000, capacity: int = 2_000) -> AsyncIterator[Site]:
    connections = Connections(per_address, capacity)
    options = {
        "http": partial(HttpProtocol, connections),
        "ws": AgentWebSocket,
        "server_header": False,
        "date_header": False,
    }
    async with run_uvicorn(app, **options) as (port, server):
        yield Site(port, server, connections)
