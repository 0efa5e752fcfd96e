"""A connection without a network: both ends in one process, for the agent of `belvedere up`.

A message is delivered at once, converted as JSON would convert it: the ends share no object.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from typing import Any

import msgspec
from websockets.frames import Close

from belvedere.agent.connection.websocket import closed_error
from belvedere.protocol import FromAgent
from belvedere.rest.request import Receive, Scope, Send
from belvedere.server.agents.endpoint import PATH
from belvedere.server.transport.interface import DISCONNECT, Disconnected, OnEnd

encode = msgspec.json.Encoder().encode
# The server has this long to record that the agent disconnected.
DISCONNECT_S = 2.0
HERE = ("127.0.0.1", 0)

AsgiApp = Callable[[Scope, Receive, Send], Coroutine[Any, Any, None]]
# Text, bytes, or messages as plain JSON values.
Frame = Any
FrameHandler = Callable[[Frame], None]


@asynccontextmanager
async def connect(app: AsgiApp, token: str) -> AsyncIterator["InProcessAgentSocket"]:
    """The agent's connection, by the same endpoint and with the same credential as any other."""
    server = InProcessServerSocket()
    agent = server.agent
    scope = {
        "type": "websocket",
        "client": HERE,
        "raw_path": PATH,
        "headers": [(b"authorization", b"Bearer " + token.encode())],
        "extensions": {"agent_socket": server},
    }
    server_task = asyncio.create_task(app(scope, server.receive, server.send))
    server_task.add_done_callback(lambda _: agent.end(None))
    try:
        yield agent
    finally:
        agent.end(None)
        server.put(DISCONNECT)
        await asyncio.wait([server_task], timeout=DISCONNECT_S)


class InProcessAgentSocket:
    """In place of agent/connection/websocket.py."""

    local_address = HERE

    def __init__(self, server: "InProcessServerSocket") -> None:
        self._server = server
        self._inbox: asyncio.Queue[Frame] = asyncio.Queue()
        # Handles a frame at once.
        self._handler: FrameHandler = self._inbox.put_nowait
        self._listening: asyncio.Future[None] | None = None
        self.is_over = False
        # The close frame of the server.
        self._close_frame: Close | None = None

    def end(self, close_frame: Close | None) -> None:
        if self.is_over:
            return
        self.is_over = True
        self._close_frame = close_frame
        # Wakes `recv`.
        self._inbox.put_nowait(None)
        if self._listening is not None and not self._listening.done():
            self._listening.set_result(None)

    def deliver(self, frame: Frame) -> None:
        try:
            self._handler(frame)
        except Exception as fault:
            # Not raised in the server's code: `listen` raises it in the agent's.
            self._handler = self._inbox.put_nowait
            if self._listening is not None and not self._listening.done():
                self._listening.set_exception(fault)

    def has_room(self) -> bool:
        return not self.is_over

    async def room(self) -> None:
        """The server accepts whatever its credit allows; let other tasks run."""
        await asyncio.sleep(0)
        if self.is_over:
            raise closed_error(self._close_frame)

    def send_messages(self, messages: Sequence[FromAgent]) -> None:
        self._server.deliver(msgspec.to_builtins(messages))

    def send(self, frame: bytes) -> None:
        self._server.deliver(frame)

    async def recv(self) -> Frame:
        frame = None
        if not self.is_over or not self._inbox.empty():
            frame = await self._inbox.get()
        if frame is None:
            raise closed_error(self._close_frame)
        return frame

    async def listen(self, hear: FrameHandler) -> None:
        while (frame := None if self._inbox.empty() else self._inbox.get_nowait()) is not None:
            hear(frame)
        if not self.is_over:
            self._listening = asyncio.get_running_loop().create_future()
            self._handler = hear
            try:
                await self._listening
            finally:
                self._handler = self._inbox.put_nowait
        if self._close_frame is None or self._close_frame.code not in (1000, 1001):
            raise closed_error(self._close_frame)


class InProcessServerSocket:
    """In place of server/transport/agent_websocket.py: ASGI and its extensions."""

    def __init__(self) -> None:
        self.agent = InProcessAgentSocket(self)
        self._inbox: asyncio.Queue[dict[str, Any] | Exception] = asyncio.Queue()
        self._handler: FrameHandler | None = None
        self.put({"type": "websocket.connect"})

    def put(self, message: dict[str, Any] | Exception) -> None:
        self._inbox.put_nowait(message)

    def deliver(self, frame: Frame) -> None:
        if self._handler is None or not self._inbox.empty():
            is_bytes = isinstance(frame, bytes)
            content = {"bytes": frame} if is_bytes else {"text": encode(frame).decode()}
            self.put({"type": "websocket.receive", **content})
            return
        try:
            self._handler(frame)
        except Exception as fault:
            # `receive` raises it, as if the frame had been handled there.
            self._handler = None
            self.put(fault)

    async def receive(self) -> dict[str, Any]:
        message = await self._inbox.get()
        if isinstance(message, Exception):
            raise message
        return message

    async def send(self, message: dict[str, Any]) -> None:
        if self.agent.is_over:
            raise Disconnected("the agent disconnected")
        match message["type"]:
            case "websocket.send":
                text = message.get("text")
                self.agent.deliver(message["bytes"] if text is None else text)
                # Large scripts come in many frames.
                await asyncio.sleep(0)
            case "websocket.close":
                self.agent.end(Close(message["code"], message.get("reason", "")))

    @property
    def is_gone(self) -> bool:
        return self.agent.is_over

    def send_now(self, messages: Sequence[object]) -> bool:
        """Deliver the messages at once; False when the agent has disconnected."""
        if self.agent.is_over:
            return False
        self.agent.deliver(msgspec.to_builtins(messages))
        return True

    def deliver_to(
        self, handler: FrameHandler | None, _: Callable[[bytes], bool] | None = None
    ) -> None:
        self._handler = handler

    def keep(self, _: OnEnd) -> bool:
        """The application stays in its task: there is one such connection."""
        return False

    def end(self, fault: Exception | None) -> None:
        """Nothing is kept."""
