"""A link without a network: both of its ends in one process, for the agent that `up` brings along.

What one side says the other hears at once, as what JSON would have made of it: nothing is shared.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import msgspec
from websockets.frames import Close

from belvedere.agent.connection.websocket import closed
from belvedere.server.agents.endpoint import PATH
from belvedere.server.agents.websocket import GONE, Disconnected, encode

# The server has this long to note that the agent left.
FAREWELL_S = 2.0
HERE = ("127.0.0.1", 0)

# Text, bytes, or messages as JSON has them.
Frame = Any
Take = Callable[[Frame], None]


@asynccontextmanager
async def call(app: Any, token: str) -> AsyncIterator["AgentEnd"]:
    """The agent's connection, through the same door and with the same credential as any other."""
    server = ServerEnd()
    agent = server.agent
    scope = {
        "type": "websocket",
        "client": HERE,
        "raw_path": PATH,
        "headers": [(b"authorization", b"Bearer " + token.encode())],
        "extensions": {"wire": server},
    }
    served = asyncio.create_task(app(scope, server.receive, server.send))
    served.add_done_callback(lambda _: agent.end(None))
    try:
        yield agent
    finally:
        agent.end(None)
        server.put(GONE)
        await asyncio.wait([served], timeout=FAREWELL_S)


class AgentEnd:
    """As agent/connection/websocket.py is elsewhere."""

    local_address = HERE

    def __init__(self, server: "ServerEnd") -> None:
        self._server = server
        self._inbox: asyncio.Queue[Frame] = asyncio.Queue()
        # Who takes a frame at once.
        self._take: Take = self._inbox.put_nowait
        self._listening: asyncio.Future[None] | None = None
        self.is_over = False
        # What the server closed with.
        self._goodbye: Close | None = None

    def end(self, goodbye: Close | None) -> None:
        if self.is_over:
            return
        self.is_over = True
        self._goodbye = goodbye
        # For whoever waits for the next frame.
        self._inbox.put_nowait(None)
        if self._listening is not None and not self._listening.done():
            self._listening.set_result(None)

    def hear(self, frame: Frame) -> None:
        try:
            self._take(frame)
        except Exception as fault:
            # Not the server's affair: the agent learns it where it listens.
            self._take = self._inbox.put_nowait
            if self._listening is not None and not self._listening.done():
                self._listening.set_exception(fault)

    def has_room(self) -> bool:
        return not self.is_over

    async def room(self) -> None:
        """The server takes whatever its credit allows; meanwhile others get their turn."""
        await asyncio.sleep(0)
        if self.is_over:
            raise closed(self._goodbye)

    def say(self, messages: Any) -> None:
        self._server.hear(msgspec.to_builtins(messages))

    def send(self, frame: bytes) -> None:
        self._server.hear(frame)

    async def recv(self) -> Frame:
        frame = None
        if not self.is_over or not self._inbox.empty():
            frame = await self._inbox.get()
        if frame is None:
            raise closed(self._goodbye)
        return frame

    async def listen(self, hear: Take) -> None:
        while (frame := None if self._inbox.empty() else self._inbox.get_nowait()) is not None:
            hear(frame)
        if not self.is_over:
            self._listening = asyncio.get_running_loop().create_future()
            self._take = hear
            try:
                await self._listening
            finally:
                self._take = self._inbox.put_nowait
        if self._goodbye is None or self._goodbye.code not in (1000, 1001):
            raise closed(self._goodbye)


class ServerEnd:
    """As server/agents/websocket.py is elsewhere: ASGI, and what that has beside it."""

    def __init__(self) -> None:
        self.agent = AgentEnd(self)
        self._inbox: asyncio.Queue[dict[str, Any] | Exception] = asyncio.Queue()
        self._take: Take | None = None
        self.put({"type": "websocket.connect"})

    def put(self, message: dict[str, Any] | Exception) -> None:
        self._inbox.put_nowait(message)

    def hear(self, frame: Frame) -> None:
        if self._take is None or not self._inbox.empty():
            is_bytes = isinstance(frame, bytes)
            said = {"bytes": frame} if is_bytes else {"text": encode(frame).decode()}
            self.put({"type": "websocket.receive", **said})
            return
        try:
            self._take(frame)
        except Exception as fault:
            # For whoever receives, as if the frame had been read there.
            self._take = None
            self.put(fault)

    async def receive(self) -> dict[str, Any]:
        message = await self._inbox.get()
        if isinstance(message, Exception):
            raise message
        return message

    async def send(self, message: dict[str, Any]) -> None:
        if self.agent.is_over:
            raise Disconnected("the agent hung up")
        match message["type"]:
            case "websocket.send":
                text = message.get("text")
                self.agent.hear(message["bytes"] if text is None else text)
                # Large scripts come in many frames.
                await asyncio.sleep(0)
            case "websocket.close":
                self.agent.end(Close(message["code"], message.get("reason", "")))

    def say(self, messages: Any) -> bool:
        """They arrive at once; False where nobody hears them any more."""
        if self.agent.is_over:
            return False
        self.agent.hear(msgspec.to_builtins(messages))
        return True

    def hand_to(self, take: Take | None) -> None:
        self._take = take
