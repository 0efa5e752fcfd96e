"""A separate listener for `/-/metrics` (`BELVEDERE_METRICS_LISTEN`), for a network that clients
cannot reach. One short HTTP request per connection."""

import asyncio
import contextlib

from belvedere.base.errors import Refused
from belvedere.server.http.authentication import bearer
from belvedere.server.metrics.api import is_token
from belvedere.server.metrics.collect import Metrics
from belvedere.server.metrics.text_format import MEDIA_TYPE
from belvedere.server.runtime import ServerRuntime

PATHS = (b"/-/metrics", b"/metrics")
MAX_HEAD = 16 * 1024
REQUEST_S = 10.0
MAX_CONNECTIONS = 32


class MetricsListener:
    def __init__(self, runtime: ServerRuntime) -> None:
        self._runtime = runtime
        self._open = 0

    async def listen(self) -> asyncio.AbstractServer:
        host, port = _address(self._runtime.settings.metrics_listen)
        try:
            return await asyncio.start_server(self._serve, host, port, limit=MAX_HEAD)
        except OSError as fault:
            raise Refused(
                f"Cannot listen on {host}:{port} for metrics ({fault.strerror}); choose another"
                " BELVEDERE_METRICS_LISTEN."
            ) from None

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open += 1
        try:
            # A client may send anything, or nothing.
            with contextlib.suppress(EOFError, OSError, ValueError, TimeoutError):
                async with asyncio.timeout(REQUEST_S):
                    if self._open <= MAX_CONNECTIONS:
                        await self._answer(reader, writer)
        finally:
            self._open -= 1
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await _read_head(reader)
        status, body = await self._reply(head)
        writer.write(
            f"HTTP/1.1 {status}\r\ncontent-type: {MEDIA_TYPE}\r\ncontent-length: {len(body)}\r\n"
            "cache-control: no-store\r\nconnection: close\r\n\r\n".encode()
            + body
        )
        await writer.drain()

    async def _reply(self, head: bytes) -> tuple[str, bytes]:
        method, target, *_ = [*head.split(b" ", 2), b"", b""]
        if method != b"GET" or target.partition(b"?")[0] not in PATHS:
            return "404 Not Found", b"Use GET /-/metrics.\n"
        settings = self._runtime.settings
        if settings.metrics_token and not is_token(settings, bearer(_headers(head))):
            return "401 Unauthorized", b"Send the metrics token.\n"
        return "200 OK", (await self._runtime.of(Metrics).text()).encode()


async def _read_head(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.readuntil(b"\r\n\r\n")
    except asyncio.LimitOverrunError:
        raise ValueError("the head of the request is too large") from None


def _headers(head: bytes) -> dict[bytes, bytes]:
    lines = [line.partition(b":") for line in head.split(b"\r\n")[1:]]
    return {name.strip().lower(): value.strip() for name, _, value in lines}


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not host or not port.isdigit():
        raise Refused(
            f"BELVEDERE_METRICS_LISTEN must be address:port, such as 127.0.0.1:9420, not {text!r}."
        )
    return host.strip("[]"), int(port)
