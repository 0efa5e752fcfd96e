"""The library path, chosen by `BELVEDERE_PLAIN_HTTP=1`: uvicorn's protocol classes and plain ASGI.

It uses only documented parts of uvicorn, so that a release of uvicorn or websockets that breaks our
own classes cannot stop a server. The limits of `connections.py` and `http_protocol.py` do not
apply: put a proxy in front that has its own.
"""

from functools import partial
from typing import Any

import msgspec

from belvedere.rest.request import Receive, Scope, Send
from belvedere.server.transport.interface import AsgiApp, AsgiServer, Transport, config
from belvedere.settings import Settings

# uvicorn closes an idle connection after five seconds; TheEye's agents use it every ten.
KEEP_ALIVE_S = 75
# The status that refuses a handshake, by the code that the application closes with; else 403.
STATUSES = {1000: 503, 4401: 401, 4403: 403, 4429: 429, 4503: 503, 1011: 500}


def transport(settings: Settings) -> Transport:
    return Transport(respond, partial(_server, settings))


def _server(settings: Settings, app: AsgiApp) -> AsgiServer:
    options = {"timeout_keep_alive": KEEP_ALIVE_S, "ws_per_message_deflate": False}
    return AsgiServer(config(with_statuses(app), settings, **options))


async def respond(send: Send, status: int, head: dict[bytes, bytes], body: bytes) -> None:
    """A complete response in the two messages of ASGI."""
    await send({"type": "http.response.start", "status": status, "headers": list(head.items())})
    await send({"type": "http.response.body", "body": body})


def with_statuses(app: AsgiApp) -> AsgiApp:
    """Refuse handshakes with a status that fits, like our own class. uvicorn answers each with 403,
    which an agent understands as the end of its credential."""

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        await app(scope, receive, _Handshake(send) if scope["type"] == "websocket" else send)

    return serve


class _Handshake:
    """`send` of a WebSocket: a close before the handshake is answered becomes a response."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._is_answered = False

    async def __call__(self, message: dict[str, Any]) -> None:
        is_refusal = message["type"] == "websocket.close" and not self._is_answered
        self._is_answered = True
        if is_refusal:
            await self._refuse(message["code"], message.get("reason", ""))
        else:
            await self._send(message)

    async def _refuse(self, code: int, reason: str) -> None:
        status = STATUSES.get(code, 403)
        body = msgspec.json.encode({"message": reason}) if reason else b""
        head = {b"content-length": str(len(body)).encode()}
        if body:
            head[b"content-type"] = b"application/json"
        if status == 401:
            head[b"www-authenticate"] = b"Bearer"
        start = {"type": "websocket.http.response.start", "status": status}
        await self._send({**start, "headers": list(head.items())})
        await self._send({"type": "websocket.http.response.body", "body": body})
