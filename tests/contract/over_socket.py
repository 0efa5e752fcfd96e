"""The server behind a real socket, for tests that are written for the application itself: each
request of a client and each agent goes through uvicorn, with our own classes or its own."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

import h11
import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from belvedere.rest.request import Receive, Scope, Send
from belvedere.server.agents.endpoint import serve
from belvedere.server.http.app import App
from belvedere.server.runtime import ServerRuntime
from belvedere.server.transport import listener, plain
from belvedere.server.transport.interface import AsgiServer, Transport

IN_PROCESS, OWN, LIBRARY = "in process", "own classes", "library classes"
every_transport = pytest.mark.parametrize(
    "http_transport", [IN_PROCESS, OWN, LIBRARY], indirect=True
)
real_transports = pytest.mark.parametrize("http_transport", [OWN, LIBRARY], indirect=True)


class SocketApp(App):
    """Sends each call to the same application behind a listening socket, in the same event loop.
    The server is started by the first call."""

    def __init__(self, runtime: ServerRuntime, name: str) -> None:
        transport = _transport(runtime, name)
        super().__init__(runtime, runtime.router, serve, transport.respond)
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self.listening.getsockname()[1]
        self._transport = transport
        self._server: AsgiServer | None = None

    async def start(self) -> None:
        if self._server is None:
            app = App(self.runtime, self.runtime.router, serve, self._transport.respond)
            self._server = self._transport.server(app)
            # It ends with the event loop of the test.
            self._serving = asyncio.create_task(self._server.serve([self.listening]))
            await self._server.until_started(self._serving)

    def close(self) -> None:
        self.listening.close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.start()
        if scope["type"] == "websocket":
            await self._websocket(scope, receive, send)
        else:
            await self._request(scope, receive, send)

    async def _request(self, scope: Scope, receive: Receive, send: Send) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        parser = h11.Connection(h11.CLIENT)
        try:
            writer.write(await _encode(parser, scope, receive))
            response = asyncio.create_task(_forward(parser, reader, send))
            hang_up = asyncio.create_task(_wait_disconnected(receive))
            await asyncio.wait((response, hang_up), return_when=asyncio.FIRST_COMPLETED)
            hang_up.cancel()
            if response.done():
                response.result()
            response.cancel()
        finally:
            writer.transport.abort()

    async def _websocket(self, scope: Scope, receive: Receive, send: Send) -> None:
        assert (await receive())["type"] == "websocket.connect"
        address = f"ws://127.0.0.1:{self.port}{scope['raw_path'].decode()}"
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        options: dict[str, Any] = {"compression": None, "ping_interval": None, "max_size": None}
        async with connect(address, additional_headers=headers, **options) as connection:
            uploads = asyncio.create_task(_upload(connection, receive))
            try:
                async for frame in connection:
                    field = "text" if isinstance(frame, str) else "bytes"
                    await send({"type": "websocket.send", field: frame})
            except ConnectionClosed:
                pass
            uploads.cancel()
            code, reason = connection.close_code, connection.close_reason
        await send({"type": "websocket.close", "code": code, "reason": reason})


def _transport(runtime: ServerRuntime, name: str) -> Transport:
    if name == LIBRARY:
        return plain.transport(runtime.settings)
    return listener.transport(runtime.settings, runtime.connections)


async def _encode(parser: h11.Connection, scope: Scope, receive: Receive) -> bytes:
    # A reader of a stream sends nothing.
    body: bytes = b"" if scope["method"] == "GET" else (await receive())["body"]
    target = scope["raw_path"] + (b"?" + scope["query_string"] if scope["query_string"] else b"")
    headers = list(scope["headers"])
    if not any(name in (b"content-length", b"transfer-encoding") for name, _ in headers):
        headers.append((b"content-length", str(len(body)).encode()))
    parts = [parser.send(h11.Request(method=scope["method"], target=target, headers=headers))]
    if body:
        parts.append(parser.send(h11.Data(data=body)))
    parts.append(parser.send(h11.EndOfMessage()))
    return b"".join(part for part in parts if part)


async def _forward(parser: h11.Connection, reader: asyncio.StreamReader, send: Send) -> None:
    async for event in _events(parser, reader):
        if isinstance(event, h11.Response):
            headers = [(bytes(name), bytes(value)) for name, value in event.headers]
            start = {"type": "http.response.start", "status": event.status_code}
            await send({**start, "headers": headers})
        elif isinstance(event, h11.Data):
            await send({"type": "http.response.body", "body": bytes(event.data), "more_body": True})
    await send({"type": "http.response.body", "body": b""})


async def _events(parser: h11.Connection, reader: asyncio.StreamReader) -> AsyncIterator[object]:
    """Everything until the end of the response."""
    while True:
        event = parser.next_event()
        if event is h11.NEED_DATA:
            parser.receive_data(await reader.read(65_536))
            continue
        if isinstance(event, h11.EndOfMessage):
            return
        assert isinstance(event, h11.Response | h11.InformationalResponse | h11.Data), event
        yield event


async def _wait_disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _upload(connection: ClientConnection, receive: Receive) -> None:
    while (message := await receive())["type"] != "websocket.disconnect":
        frame = message.get("text")
        with suppress(ConnectionClosed):
            await connection.send(message["bytes"] if frame is None else frame)
    connection.transport.abort()
