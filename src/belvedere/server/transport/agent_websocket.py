"""The WebSocket protocol of `endpoint.py`, which uvicorn uses for upgrade requests.

It offers ASGI to the application, like uvicorn's own class. That one costs more for a small frame
than this one for a complete message: it pauses and resumes the socket for each frame, and parses
it with a general library. In addition, `send_now` and `deliver_to` save an iteration of the event
loop; the application finds this object in the extensions of the scope.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import msgspec
import uvicorn
from uvicorn.server import ServerState

from belvedere.base import websocket_frames
from belvedere.base.websocket_frames import BINARY, TEXT
from belvedere.server.transport import upgrade
from belvedere.server.transport.interface import DISCONNECT, Disconnected, OnEnd
from belvedere.server.transport.plain import STATUSES

log = logging.getLogger("belvedere.agents")
encode = msgspec.json.Encoder().encode

# With more unread frames than the first number, reading pauses until the second is reached.
MAX_WAITING, RESUME_WAITING = 64, 16
# The same for bytes: a few long frames must not take more memory than many short ones.
MAX_WAITING_BYTES = 1 << 20
# Frames of one connection that are handled before other connections are served.
MAX_FRAMES_PER_TURN = 256
# After our close frame the peer has this long for its own; then the connection is aborted.
CLOSE_S = 10.0
# A peer that takes nothing of a full send buffer is disconnected after this time, plus the time
# that the buffer needs at the lowest rate (bytes per second).
STALL_S, MIN_RATE = 30.0, 4096
# One object: each result of a difference would take 200 bytes, also an empty one.
NO_PAUSES: frozenset[str] = frozenset()


class AgentWebSocket(asyncio.Protocol):
    # A server has one for each of ten thousand agents.
    __slots__ = (
        *("_app", "_max_size", "_connections", "_tasks", "_loop", "_transport", "_is_started"),
        *("_accept", "_reader", "_inbox", "_handler", "_skip", "_inbox_bytes", "_waiter"),
        *("_pauses", "_next", "_full", "_stalled", "_ping", "_is_gone", "_closing", "_on_end"),
        "__weakref__",
    )

    def __init__(
        self,
        config: uvicorn.Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        self._app = config.loaded_app
        self._max_size: int = config.ws_max_size
        # uvicorn counts the sockets of its own classes.
        self._connections: set[Any] = server_state.connections
        self._tasks = server_state.tasks
        self._loop = asyncio.get_running_loop()
        # Set by `connection_made`, before any other call.
        self._transport: asyncio.Transport
        self._is_started = False
        self._accept = b""
        # Set once the handshake is answered.
        self._reader: websocket_frames.Reader | None = None
        # Received messages, and the exception of a frame handler.
        self._inbox: list[dict[str, Any] | Exception] = []
        self._handler: Callable[[str | bytes], None] | None = None
        # Whether a text frame need not be handled.
        self._skip: Callable[[bytes], bool] | None = None
        self._inbox_bytes = 0
        self._waiter: asyncio.Future[None] | None = None
        # Why nothing is read at the moment: handshake, inbox, turn.
        self._pauses = NO_PAUSES
        # Frames that wait for the next iteration of the event loop.
        self._next: list[websocket_frames.FrameMessage] = []
        # Pending while the send buffer is full, and the deadline for that.
        self._full: asyncio.Future[None] | None = None
        self._stalled: asyncio.TimerHandle | None = None
        # The last PING that was received while the send buffer was full.
        self._ping: bytes | None = None
        self._is_gone = False
        # Set when this side closes: from then on nothing is sent, and this timer aborts.
        self._closing: asyncio.TimerHandle | None = None
        # Runs at the end of a connection that the application keeps without a task.
        self._on_end: OnEnd | None = None

    # asyncio.Protocol

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self._transport = transport
        self._connections.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._connections.discard(self)
        self._is_gone = True
        self.resume_writing()
        self._next = []
        if self._closing is not None:
            self._closing.cancel()
        self._put(DISCONNECT)

    def pause_writing(self) -> None:
        self._full = self._loop.create_future()
        timeout_s = STALL_S + self._transport.get_write_buffer_size() / MIN_RATE
        self._stalled = self._loop.call_later(timeout_s, self._transport.abort)

    def resume_writing(self) -> None:
        if self._full is not None and not self._full.done():
            self._full.set_result(None)
        self._full = None
        if self._stalled is not None:
            self._stalled.cancel()
            self._stalled = None
        if self._ping is not None and not self._is_gone and self._closing is None:
            ping, self._ping = self._ping, None
            self._transport.write(websocket_frames.pong(ping))

    def data_received(self, data: bytes) -> None:
        if not self._is_started:
            self._is_started = True
            self._start_handshake(data)
        elif self._reader is not None and not self._skips(data):
            try:
                frames = self._reader.feed(data)
            except websocket_frames.FrameError as fault:
                self._fail(fault)
                return
            self._handle_frames(frames if not self._next else self._next + frames)

    def _skips(self, data: bytes) -> bool:
        """Whether this is a frame that the application need not read, alone or with a PING. Almost
        everything that idle agents send is."""
        if self._skip is None or self._inbox or self._next or self._full or self._closing:
            return False
        if self._reader is None or not self._reader.is_between:
            return False
        payload, has_ping = websocket_frames.short_text(data)
        if payload is None or not self._skip(payload):
            return False
        if has_ping:
            self._transport.write(websocket_frames.EMPTY_PONG)
        return True

    def _handle_frames(self, frames: list[websocket_frames.FrameMessage]) -> None:
        self._next = []
        if len(frames) > MAX_FRAMES_PER_TURN:
            frames, self._next = frames[:MAX_FRAMES_PER_TURN], frames[MAX_FRAMES_PER_TURN:]
            self._pause("turn")
            self._loop.call_soon(self._handle_waiting)
        try:
            for opcode, payload in frames:
                self._handle_frame(opcode, payload)
        except websocket_frames.FrameError as fault:
            self._fail(fault)

    def _handle_waiting(self) -> None:
        """Handle the frames that were left over, after other connections were served."""
        if self._is_inbox_full() and self._closing is None:
            # The application does not read the inbox; `_receive` continues from here.
            return
        self._resume("turn")
        self._handle_frames(self._next)

    def _fail(self, fault: websocket_frames.FrameError) -> None:
        self._begin_close(fault.code, fault.reason)
        self._close_transport()

    def _handle_frame(self, opcode: int, payload: bytes) -> None:
        if opcode == websocket_frames.CLOSE:
            if self._closing is None:
                code, _ = websocket_frames.unpack_close(payload)
                self._begin_close(code or websocket_frames.NORMAL, "")
            self._close_transport()
        elif self._closing is not None:
            return
        elif opcode == websocket_frames.PING:
            self._answer_ping(payload)
        elif opcode == TEXT:
            self._deliver("text", websocket_frames.decode(payload))
        elif opcode == BINARY:
            self._deliver("bytes", payload)

    def _answer_ping(self, payload: bytes) -> None:
        """While the send buffer is full only the last PING is kept: its PONG answers them all."""
        if self._full is None:
            self._transport.write(websocket_frames.pong(payload))
        else:
            self._ping = payload

    def _pause(self, reason: str) -> None:
        if not self._pauses and not self._transport.is_closing():
            self._transport.pause_reading()
        self._pauses |= {reason}

    def _resume(self, reason: str) -> None:
        self._pauses = self._pauses - {reason} or NO_PAUSES
        if not self._pauses and not self._transport.is_closing():
            self._transport.resume_reading()

    def _deliver(self, kind: str, frame: str | bytes) -> None:
        if self._handler is None or self._inbox:
            self._put({"type": "websocket.receive", kind: frame})
            return
        try:
            self._handler(frame)
        except Exception as fault:
            # `_receive` raises it, as if the frame had been handled there.
            self._handler = self._skip = None
            self._put(fault)

    def shutdown(self) -> None:
        """The server stops."""
        if self._reader is not None:
            self._begin_close(websocket_frames.RESTART, "the server stops")
        self._close_transport()

    def _close_transport(self) -> None:
        """Close the socket, and abort it when the peer does not read the rest in time."""
        if self._closing is None:
            self._closing = self._loop.call_later(CLOSE_S, self._transport.abort)
        self._transport.close()

    # The handshake

    def _start_handshake(self, request: bytes) -> None:
        """uvicorn has read the request and passes all of it."""
        scope = upgrade.scope_of(request, self._transport)
        scope["extensions"] = {"agent_socket": self}
        headers = dict(scope["headers"])
        if status := upgrade.error_in(headers):
            self._refuse(status)
            return
        self._accept = upgrade.accept_value(headers)
        # Nothing is read before the application has accepted the connection.
        self._pause("handshake")
        self._put({"type": "websocket.connect"})
        self._start(self._app(scope, self._receive, self._send))

    def _refuse(self, status: int, reason: str = "") -> None:
        self._transport.write(upgrade.refusal(status, reason))
        self._close_transport()

    # ASGI

    def _start(self, work: Awaitable[None]) -> None:
        task = self._loop.create_task(self._run(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _run(self, work: Awaitable[None]) -> None:
        try:
            await work
        except Disconnected:
            pass
        except Exception:
            log.exception("agent connection failed")
        if self._closing is not None or self._on_end is not None:
            return
        if self._reader is None and not self._is_gone:
            self._refuse(500)
        self._close_transport()

    def _put(self, message: dict[str, Any] | Exception) -> None:
        self._inbox.append(message)
        self._inbox_bytes += _size(message)
        if self._on_end is not None:
            self._loop.call_soon(self._handle_inbox)
        elif self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)
        if self._is_inbox_full() and not self._is_gone:
            self._pause("inbox")

    def _is_inbox_full(self) -> bool:
        return len(self._inbox) > MAX_WAITING or self._inbox_bytes > MAX_WAITING_BYTES

    async def _receive(self) -> dict[str, Any]:
        while not self._inbox:
            self._waiter = self._loop.create_future()
            await self._waiter
            self._waiter = None
        message = self._take()
        if isinstance(message, Exception):
            raise message
        return message

    def _take(self) -> dict[str, Any] | Exception:
        """The next message of the inbox."""
        message = self._inbox.pop(0)
        self._inbox_bytes -= _size(message)
        if "inbox" in self._pauses and len(self._inbox) <= RESUME_WAITING:
            self._resume("inbox")
            if self._next:
                self._loop.call_soon(self._handle_waiting)
        return message

    def _handle_inbox(self) -> None:
        """In place of an application that has no task."""
        while self._inbox and self._on_end is not None:
            message = self._take()
            if isinstance(message, Exception):
                self.end(message)
            elif message is DISCONNECT:
                self.end(None)
            else:
                self._handle_message(message)

    def _handle_message(self, message: dict[str, Any]) -> None:
        text = message.get("text")
        try:
            if self._handler is not None:
                self._handler(message["bytes"] if text is None else text)
        except Exception as fault:
            self.end(fault)

    async def _send(self, message: dict[str, Any]) -> None:
        if message["type"] == "websocket.close":
            # Never waits: a peer that does not read is aborted after a deadline.
            self._close(message["code"], message.get("reason", ""))
            return
        while self._full is not None:
            # Several tasks may wait for it; cancelling one must not cancel it for the others.
            await asyncio.shield(self._full)
        if self._is_gone:
            raise Disconnected("the agent disconnected")
        if message["type"] == "websocket.send":
            text = message.get("text")
            opcode, data = (BINARY, message["bytes"]) if text is None else (TEXT, text.encode())
            if self._closing is None:
                self._transport.write(websocket_frames.pack(opcode, data, masked=False))
        else:
            self._reader = websocket_frames.Reader(masked=True, max_size=self._max_size)
            self._transport.write(upgrade.acceptance(self._accept))
            self._resume("handshake")

    def _close(self, code: int, reason: str) -> None:
        if self._is_gone:
            return
        self._begin_close(code, reason)
        if self._reader is None:
            self._refuse(STATUSES.get(code, 403), reason)

    def _begin_close(self, code: int, reason: str) -> None:
        """Send our close frame and ignore what is received from now on. The socket stays open for
        the peer's close frame: closing it at once could discard our last messages."""
        if self._closing is None:
            if self._reader is not None:
                self._transport.write(websocket_frames.pack_close(code, reason, masked=False))
            self._closing = self._loop.call_later(CLOSE_S, self._transport.abort)
            self._put(DISCONNECT)

    # Extensions of ASGI

    @property
    def is_gone(self) -> bool:
        """Whether the peer has disconnected or closes the connection."""
        return self._is_gone or self._closing is not None

    def send_now(self, messages: Sequence[object]) -> bool:
        """Send a frame without waiting; False where it would have to wait."""
        if self._full is not None or self._closing is not None or self._transport.is_closing():
            return False
        self._transport.write(websocket_frames.pack(TEXT, encode(messages), masked=False))
        return True

    def deliver_to(
        self,
        handler: Callable[[str | bytes], None] | None,
        skip: Callable[[bytes], bool] | None = None,
    ) -> None:
        """Call the handler for each further frame, unless others wait to be received. If `skip`
        returns True for the bytes of a short text, there is nothing to handle."""
        self._handler, self._skip = handler, skip

    def keep(self, on_end: OnEnd) -> bool:
        """The application returns now, and the connection stays open, with the handler for its
        frames: the task of an application would be a fifth of the memory of an idle connection.
        `on_end` runs in a task when a handler fails, the agent disconnects or `end` is called."""
        self._on_end = on_end
        if self._inbox:
            self._loop.call_soon(self._handle_inbox)
        return True

    def end(self, fault: Exception | None) -> None:
        """End a connection that is kept, once."""
        if self._on_end is not None:
            work = self._on_end(fault)
            self._on_end = self._handler = self._skip = None
            self._start(work)


def _size(message: dict[str, Any] | Exception) -> int:
    if isinstance(message, Exception):
        return 0
    return len(message.get("text") or message.get("bytes") or b"")
