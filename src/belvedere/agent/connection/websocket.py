"""The agent's WebSocket: `websockets` opens it (TLS, proxies, handshake), this module runs it."""

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable, Sequence
from time import monotonic
from typing import Any

from websockets.asyncio.client import ClientConnection
from websockets.asyncio.client import connect as dial
from websockets.exceptions import ConnectionClosed, ConnectionClosedError, ConnectionClosedOK
from websockets.frames import Close
from websockets.protocol import State

from belvedere.agent import messages as agent_messages
from belvedere.base import websocket_frames
from belvedere.protocol import FromAgent

# Parts of the interval. A PING is sent with the next messages when it is due soon, so that the
# server wakes up once for a heartbeat and a PING; alone only if there were no messages.
SOON, OVERDUE = 0.9, 1.5


class AgentSocket(asyncio.Protocol):
    """Sends and receives frames. Every call after the end raises ConnectionClosed."""

    # The transport is that of the event loop (asyncio or uvloop), or one of a test.
    def __init__(self, transport: Any, options: dict[str, Any]) -> None:
        self._loop = asyncio.get_running_loop()
        self._transport = transport
        self._reader = websocket_frames.Reader(masked=False, max_size=options["max_size"])
        self._ping_interval: float = options["ping_interval"]
        self._ping_timeout: float = options["ping_timeout"]
        self._inbox: deque[str | bytes] = deque()
        # The receiver of messages: the inbox until `listen` is called.
        self._take: Callable[[str | bytes], None] = self._enqueue
        self._waiter: asyncio.Future[None] | None = None
        # Pending while the server does not read.
        self._full: asyncio.Future[None] | None = None
        self._heard_at = self._pinged_at = monotonic()
        self._ping_due = self._loop.call_later(self._ping_interval, self._ping)
        # The close frame of the server, and the end of the connection.
        self._close_frame: Close | None = None
        self.lost: asyncio.Future[None] = self._loop.create_future()
        self.local_address = transport.get_extra_info("sockname")
        transport.set_protocol(self)

    # Transport level

    def connection_lost(self, exc: Exception | None) -> None:
        self._ping_due.cancel()
        if not self.lost.done():
            self.lost.set_result(None)
        self.resume_writing()
        self._wake()

    def pause_writing(self) -> None:
        self._full = self._loop.create_future()

    def resume_writing(self) -> None:
        if self._full is not None and not self._full.done():
            self._full.set_result(None)
        self._full = None

    def data_received(self, data: bytes) -> None:
        self._heard_at = monotonic()
        try:
            for opcode, payload in self._reader.feed(data):
                self._handle_frame(opcode, payload)
        except websocket_frames.FrameError as fault:
            self._transport.write(
                websocket_frames.pack_close(fault.code, fault.reason, masked=True)
            )
            self._transport.close()
        except Exception as fault:
            # The receiver failed; the exception is raised in `listen`.
            if self._waiter is None or self._waiter.done():
                raise
            self._take = self._enqueue
            self._waiter.set_exception(fault)

    def _handle_frame(self, opcode: int, payload: bytes) -> None:
        if opcode == websocket_frames.TEXT:
            self._take(websocket_frames.decode(payload))
        elif opcode == websocket_frames.BINARY:
            self._take(payload)
        elif opcode == websocket_frames.PING:
            self._transport.write(
                websocket_frames.pack(websocket_frames.PONG, payload, masked=True)
            )
        elif opcode == websocket_frames.CLOSE and self._close_frame is None:
            code, reason = websocket_frames.unpack_close(payload)
            self._close_frame = Close(code or 1005, reason)
            self._transport.write(
                websocket_frames.pack(websocket_frames.CLOSE, payload[:2], masked=True)
            )
            self._transport.close()
            self._wake()

    def _enqueue(self, message: str | bytes) -> None:
        self._inbox.append(message)
        self._wake()

    def _ping(self) -> None:
        """Send a ping if one is overdue, or abort if the server has sent nothing for too long."""
        if monotonic() - self._heard_at > self._ping_interval + self._ping_timeout:
            self._transport.abort()
            return
        if ping := self._ping_after(OVERDUE):
            self._transport.write(ping)
        self._ping_due = self._loop.call_later(self._ping_interval, self._ping)

    def _ping_after(self, intervals: float) -> bytes:
        """A PING, if the last one was sent this long ago."""
        now = monotonic()
        if now - self._pinged_at < intervals * self._ping_interval:
            return b""
        self._pinged_at = now
        return websocket_frames.pack(websocket_frames.PING, b"", masked=True)

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    # Message level

    def is_over(self) -> bool:
        return self._close_frame is not None or self.lost.done()

    def has_room(self) -> bool:
        return self._full is None and self._close_frame is None and not self.lost.done()

    async def room(self) -> None:
        """Wait until the server reads again."""
        while self._full is not None:
            await self._full
        if self.is_over():
            raise self._closed_error()

    def send_messages(self, messages: Sequence[FromAgent]) -> None:
        """Call it only while the send buffer has space, like `send`."""
        text = agent_messages.frame(messages).encode()
        frame = websocket_frames.pack(websocket_frames.TEXT, text, masked=True)
        self._transport.write(frame + self._ping_after(SOON))

    def send(self, frame: bytes) -> None:
        self._transport.write(websocket_frames.pack(websocket_frames.BINARY, frame, masked=True))

    async def recv(self) -> str | bytes:
        while not self._inbox:
            if self.is_over():
                raise self._closed_error()
            self._waiter = self._loop.create_future()
            await self._waiter
        return self._inbox.popleft()

    async def listen(self, receive: Callable[[str | bytes], None]) -> None:
        """Pass every message to `receive` directly, without waking a task, until the server closes
        the connection. Raises the error of the connection, or of `receive`."""
        while self._inbox:
            receive(self._inbox.popleft())
        if not self.is_over():
            self._waiter = self._loop.create_future()
            self._take = receive
            try:
                await self._waiter
            finally:
                self._take = self._enqueue
        end = self._closed_error()
        if not isinstance(end, ConnectionClosedOK):
            raise end

    def _closed_error(self) -> ConnectionClosed:
        return closed_error(self._close_frame)

    async def close(self, timeout_s: float) -> None:
        """Send a close frame, and wait a moment for the server to close."""
        if not self.is_over():
            self._transport.write(
                websocket_frames.pack_close(websocket_frames.NORMAL, "", masked=True)
            )
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(asyncio.shield(self.lost), timeout_s)
        self._transport.abort()


def closed_error(close_frame: Close | None) -> ConnectionClosed:
    """The exception after the end, with the close frame of the server or without one."""
    code = None if close_frame is None else close_frame.code
    kind = ConnectionClosedOK if code in (1000, 1001) else ConnectionClosedError
    return kind(close_frame, None)


class _HandshakeConnection(ClientConnection):
    """The library's connection until the end of the handshake, and not a byte further: otherwise it
    would consume a close frame in the same packet."""

    beyond = b""

    def data_received(self, data: bytes) -> None:
        while data and self.protocol.state is not State.OPEN:
            # The handshake response ends with a newline.
            line, end, data = data.partition(b"\n")
            super().data_received(line + end)
        self.beyond += data

    def eof_received(self) -> None:
        """The transport closes itself; the library would close it for writing at once."""
        if self.protocol.state is not State.OPEN:
            super().eof_received()


class connect:  # noqa: N801  (used like the library's own, in whose place it stands)
    """`async with connect(address, ...) as socket`, with the options of websockets' connect."""

    # Options of the library, which gives each its own type.
    def __init__(self, address: str, **options: Any) -> None:
        self._address = address
        self._options = options
        self._socket: AgentSocket | None = None

    async def __aenter__(self) -> AgentSocket:
        options = {
            **self._options,
            "ping_interval": None,
            "create_connection": _HandshakeConnection,
        }
        opened = await dial(self._address, **options)
        assert isinstance(opened, _HandshakeConnection)
        self._socket = AgentSocket(opened.transport, self._options)
        if opened.state is State.CLOSED:
            # The connection was lost before this object existed.
            self._socket.connection_lost(None)
        if opened.beyond:
            self._socket.data_received(opened.beyond)
        return self._socket

    async def __aexit__(self, *_: object) -> None:
        assert self._socket is not None
        await self._socket.close(self._options["close_timeout"])
