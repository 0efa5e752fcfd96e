"""The handshake of a WebSocket: from the request to ASGI's scope, and the answers."""

import asyncio
import base64
import binascii
import hashlib
from typing import Any
from urllib.parse import unquote

import msgspec

encode = msgspec.json.Encoder().encode

GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
REFUSALS = {
    400: b"HTTP/1.1 400 Bad Request",
    401: b"HTTP/1.1 401 Unauthorized\r\nwww-authenticate: Bearer",
    403: b"HTTP/1.1 403 Forbidden",
    426: b"HTTP/1.1 426 Upgrade Required\r\nsec-websocket-version: 13",
    429: b"HTTP/1.1 429 Too Many Requests",
    500: b"HTTP/1.1 500 Internal Server Error",
    503: b"HTTP/1.1 503 Service Unavailable",
}


def scope_of(request: bytes, transport: asyncio.Transport) -> dict[str, Any]:
    line, *lines = request.partition(b"\r\n\r\n")[0].split(b"\r\n")
    headers = [(name.lower(), value.strip()) for name, _, value in map(_split, lines)]
    raw_path, _, query = line.split(b" ")[1].partition(b"?")
    is_tls = transport.get_extra_info("sslcontext") is not None
    return {
        "type": "websocket",
        "scheme": "wss" if is_tls else "ws",
        "client": _address(transport.get_extra_info("peername")),
        "path": unquote(raw_path.decode("latin-1")),
        "raw_path": raw_path,
        "query_string": query,
        "headers": headers,
    }


def error_in(headers: dict[bytes, bytes]) -> int:
    """The status that refuses the request; 0 if it is valid."""
    if headers.get(b"sec-websocket-version") != b"13":
        return 426
    try:
        is_key = len(base64.b64decode(_key(headers), validate=True)) == 16
    except binascii.Error:
        is_key = False
    return 0 if is_key else 400


def accept_value(headers: dict[bytes, bytes]) -> bytes:
    """The answer to the key."""
    digest = hashlib.sha1(_key(headers) + GUID).digest()  # noqa: S324 (the RFC's)
    return base64.b64encode(digest)


def acceptance(value: bytes) -> bytes:
    return (
        b"HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\n"
        b"connection: Upgrade\r\nsec-websocket-accept: %s\r\n\r\n" % value
    )


def refusal(status: int, reason: str) -> bytes:
    body = encode({"message": reason}) if reason else b""
    kind = b"\r\ncontent-type: application/json" if reason else b""
    length = b"\r\ncontent-length: %d\r\nconnection: close\r\n\r\n" % len(body)
    return REFUSALS[status] + kind + length + body


def _key(headers: dict[bytes, bytes]) -> bytes:
    return headers.get(b"sec-websocket-key", b"")


def _split(line: bytes) -> tuple[bytes, bytes, bytes]:
    return line.partition(b":")


def _address(peer: object) -> tuple[str, int] | None:
    return (str(peer[0]), int(peer[1])) if isinstance(peer, tuple) else None
