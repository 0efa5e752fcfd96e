"""A small HTTP client with limits and without a library."""

import asyncio
import re
import ssl
import zlib
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from urllib.parse import SplitResult, urlsplit

from belvedere.agent.checks.connect import connect
from belvedere.agent.checks.plain_socket import SocketReader, connect_socket

MAX_BODY = 1 << 20
# A longer request may not fit into the buffer of a socket, and a server may respond before it has
# read all of it.
MAX_SINGLE_WRITE = 16 * 1024
# The headers that are used; a response may have dozens of others. Spaces around the value are not
# part of the pattern: it would take quadratic time for many of them.
_HEADER = re.compile(
    r"\r\n[ \t]*(location|content-length|content-encoding|transfer-encoding)[ \t]*:([^\r\n]*)",
    re.IGNORECASE | re.ASCII,
)
Reader = asyncio.StreamReader | SocketReader


class BadAnswer(Exception):
    """The response is not valid HTTP."""


@dataclass(slots=True)
class Answer:
    status: int
    # Those of `_HEADER`, by name in lower case.
    headers: dict[str, str]
    body: bytes
    # Whether the body was longer than the limit.
    is_cut: bool = False


@lru_cache(maxsize=1)
def trust() -> ssl.SSLContext:
    """The system's certificate authorities, cached: loading takes tens of milliseconds."""
    return ssl.create_default_context()


@dataclass(slots=True, frozen=True)
class WebRequest:
    """A request that can be sent again for every check of a monitor."""

    host: str
    port: int
    is_tls: bool
    method: str
    data: bytes


def prepare(
    url: str, method: str, headers: dict[str, str], body: bytes, *, gzip: bool
) -> WebRequest:
    """ValueError for a URL with an invalid port."""
    parts = urlsplit(url)
    is_tls = parts.scheme == "https"
    port = parts.port or (443 if is_tls else 80)
    data = _request(parts, method, headers, body, gzip=gzip)
    return WebRequest(parts.hostname or "", port, is_tls, method, data)


async def fetch(config: dict[str, Any], request: WebRequest) -> Answer:
    """The response of the server; the caller enforces the timeout."""
    if request.is_tls or len(request.data) > MAX_SINGLE_WRITE:
        return await _fetch_by_stream(config, request)
    sock = await connect_socket(config, request.host, request.port)
    try:
        await asyncio.get_running_loop().sock_sendall(sock, request.data)
        return await _read(SocketReader(sock), request.method)
    finally:
        sock.close()


async def _fetch_by_stream(config: dict[str, Any], request: WebRequest) -> Answer:
    reader, writer = await connect(
        config, request.host, request.port, trust() if request.is_tls else None
    )
    try:
        writer.write(request.data)
        return await _read(reader, request.method)
    finally:
        # Do not wait for a peer that does not close the connection.
        writer.transport.abort()


def _request(
    parts: SplitResult, method: str, headers: dict[str, str], body: bytes, *, gzip: bool
) -> bytes:
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    host = parts.netloc.rpartition("@")[2]
    lines = {
        "Host": host,
        "User-Agent": "Belvedere",
        "Accept": "*/*",
        "Accept-Encoding": "gzip" if gzip else "identity",
        "Connection": "close",
    }
    if body or method in ("POST", "PUT", "PATCH"):
        lines["Content-Length"] = str(len(body))
    custom = {name.title(): value for name, value in headers.items()}
    text = "".join(f"{name}: {value}\r\n" for name, value in {**lines, **custom}.items())
    quoted = path.encode("utf-8", "replace").decode("latin-1")
    return f"{method} {quoted} HTTP/1.1\r\n{text}\r\n".encode("latin-1", "replace") + body


async def _read(reader: Reader, method: str) -> Answer:
    status, headers = await _head(reader)
    # Skip interim responses before the final one.
    while 100 <= status < 200 and status != 101:
        status, headers = await _head(reader)
    if method == "HEAD" or status in (101, 204, 304):
        return Answer(status, headers, b"")
    body, is_cut = await _body(reader, headers)
    if headers.get("content-encoding", "").lower() in ("gzip", "deflate"):
        body, is_cut = _decompress(body, is_cut)
    return Answer(status, headers, body, is_cut)


async def _head(reader: Reader) -> tuple[int, dict[str, str]]:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError as cut:
        raise BadAnswer("The connection was closed before a response arrived.") from cut
    except asyncio.LimitOverrunError as fault:
        raise BadAnswer("The headers of the response are too long.") from fault
    text = head.decode("latin-1")
    words = text.partition("\r\n")[0].split(" ", 2)
    if len(words) < 2 or not words[0].startswith("HTTP/") or not words[1].isdecimal():
        raise BadAnswer("The response is not HTTP.")
    return int(words[1]), {name.lower(): value.strip() for name, value in _HEADER.findall(text)}


async def _body(reader: Reader, headers: dict[str, str]) -> tuple[bytes, bool]:
    if headers.get("transfer-encoding", "").lower().endswith("chunked"):
        return await _chunks(reader)
    length = headers.get("content-length", "")
    if not length.isdecimal():
        data = await _read_at_most(reader, MAX_BODY + 1)
        return data[:MAX_BODY], len(data) > MAX_BODY
    expected_size = min(int(length), MAX_BODY)
    data = await _read_at_most(reader, expected_size)
    if len(data) < expected_size:
        raise BadAnswer("The connection was closed in the middle of the response.")
    return data, int(length) > MAX_BODY


async def _read_at_most(reader: Reader, count: int) -> bytes:
    parts: list[bytes] = []
    while count > 0 and (part := await reader.read(min(count, 65_536))):
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


async def _chunks(reader: Reader) -> tuple[bytes, bool]:
    data = bytearray()
    try:
        while True:
            size = int((await reader.readuntil(b"\r\n")).partition(b";")[0], 16)
            if size == 0:
                return bytes(data), False
            room = MAX_BODY - len(data)
            if size < 0 or size > room:
                data += await _read_at_most(reader, room)
                return bytes(data), True
            data += await reader.readexactly(size)
            await reader.readexactly(2)
    except (ValueError, asyncio.IncompleteReadError, asyncio.LimitOverrunError) as fault:
        raise BadAnswer("The connection was closed in the middle of the response.") from fault


def _decompress(body: bytes, is_cut: bool) -> tuple[bytes, bool]:
    """At most MAX_BODY bytes: a few compressed bytes can expand to gigabytes."""
    unpacker = zlib.decompressobj(wbits=47)
    try:
        data = unpacker.decompress(body, MAX_BODY)
    except zlib.error as fault:
        raise BadAnswer("The response cannot be decompressed.") from fault
    return data, is_cut or bool(unpacker.unconsumed_tail)
