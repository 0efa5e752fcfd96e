"""The WebSocket protocol of `endpoint.py`, which uvicorn uses for upgrade requests.

It offers ASGI to the application, like uvicorn's own class. That one costs more for a small frame
than this one for a complete message: it pauses and resumes the socket for each frame, and parses
it with a general library. In addition, `send_now` and `deliver_to` save an iteration of the event
loop; the application finds this object in the extensions of the scope.
"""

import asyncio
import base64
import binascii
import hashlib
import logging
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import unquote

import msgspec
import uvicorn
from uvicorn.server import ServerState

from belvedere.base import websocket_frames
from belvedere.server.transport.interface import DISCONNECT, Disconnected
from belvedere.server.transport.plain import STATUSES

log = logging.getLogger("belvedere.agents")
encode = msgspec.json.Encoder().encode

GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
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
REFUSALS = {
    400: b"HTTP/1.1 400 Bad Request",
    401: b"HTTP/1.1 401 Unauthorized\r\nwww-authenticate: Bearer",
    403: b"HTTP/1.1 403 Forbidden",
    426: b"HTTP/1.1 426 Upgrade Required\r\nsec-websocket-version: 13",
    429: b"HTTP/1.1 429 Too Many Requests",
    500: b"HTTP/1.1 500 Internal Server Error",
    503: b"HTTP/1.1 503 Service Unavailable",
}


class AgentWebSocket(asyncio.Protocol):
    # A server has one for each of ten thousand agents.
    __slots__ = (
        *("_app", "_max_size", "_connections", "_tasks", "_loop", "_transport", "_is_started"),
        *("_scope", "_accept", "_reader", "_inbox", "_handler", "_inbox_bytes", "_waiter"),
        *("_pauses", "_next", "_full", "_stalled", "_ping", "_is_gone", "_closing", "__weakref__"),
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
        # The request, until the handshake is answered.
        self._scope: dict[str, Any] = {}
        self._is_started = False
        self._accept = b""
        # Set once the handshake is answered.
        self._reader: websocket_frames.Reader | None = None
        # Received messages, and the exception of a frame handler.
        self._inbox: list[dict[str, Any] | Exception] = []
        self._handler: Callable[[str | bytes], None] | None = None
        self._inbox_bytes = 0
        self._waiter: asyncio.Future[None] | None = None
        # Why nothing is read at the moment: handshake, inbox, turn.
        self._pauses: frozenset[str] = frozenset()
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
            self._transport.write(websocket_frames.pack(websocket_frames.PONG, ping, masked=False))

    def data_received(self, data: bytes) -> None:
        if not self._is_started:
            self._is_started = True
            self._start_handshake(data)
        elif self._reader is not None:
            try:
                frames = self._reader.feed(data)
            except websocket_frames.FrameError as fault:
                self._fail(fault)
                return
            self._handle_frames(frames if not self._next else self._next + frames)

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
        elif opcode == websocket_frames.TEXT:
            self._deliver("text", websocket_frames.decode(payload))
        elif opcode == websocket_frames.BINARY:
            self._deliver("bytes", payload)

    def _answer_ping(self, payload: bytes) -> None:
        """While the send buffer is full only the last PING is kept: its PONG answers them all."""
        if self._full is None:
            self._transport.write(
                websocket_frames.pack(websocket_frames.PONG, payload, masked=False)
            )
        else:
            self._ping = payload

    def _pause(self, reason: str) -> None:
        if not self._pauses and not self._transport.is_closing():
            self._transport.pause_reading()
        self._pauses |= {reason}

    def _resume(self, reason: str) -> None:
        self._pauses -= {reason}
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
            self._handler = None
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
        line, *lines = request.partition(b"\r\n\r\n")[0].split(b"\r\n")
        headers = [(name.lower(), value.strip()) for name, _, value in map(_split, lines)]
        raw_path, _, query = line.split(b" ")[1].partition(b"?")
        is_tls = self._transport.get_extra_info("sslcontext") is not None
        self._scope = {
            "type": "websocket",
            "scheme": "wss" if is_tls else "ws",
            "client": _address(self._transport.get_extra_info("peername")),
            "path": unquote(raw_path.decode("latin-1")),
            "raw_path": raw_path,
            "query_string": query,
            "headers": headers,
            "extensions": {"agent_socket": self},
        }
        status = self._handshake_error(dict(headers))
        if status:
            self._refuse(status)
            return
        # Nothing is read before the application has accepted the connection.
        self._pause("handshake")
        self._put({"type": "websocket.connect"})
        task = self._loop.create_task(self._run())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _handshake_error(self, headers: dict[bytes, bytes]) -> int:
        if headers.get(b"sec-websocket-version") != b"13":
            return 426
        key = headers.get(b"sec-websocket-key", b"")
        try:
            is_key = len(base64.b64decode(key, validate=True)) == 16
        except binascii.Error:
            is_key = False
        self._accept = base64.b64encode(hashlib.sha1(key + GUID).digest())  # noqa: S324 (the RFC's)
        return 0 if is_key else 400

    def _refuse(self, status: int, reason: str = "") -> None:
        body = encode({"message": reason}) if reason else b""
        kind = b"\r\ncontent-type: application/json" if reason else b""
        self._transport.write(
            REFUSALS[status]
            + b"%s\r\ncontent-length: %d\r\nconnection: close\r\n\r\n" % (kind, len(body))
            + body
        )
        self._close_transport()

    # ASGI

    async def _run(self) -> None:
        scope, self._scope = self._scope, {}
        try:
            await self._app(scope, self._receive, self._send)
        except Disconnected:
            pass
        except Exception:
            log.exception("agent connection failed")
        if self._closing is not None:
            return
        if self._reader is None and not self._is_gone:
            self._refuse(500)
        self._close_transport()

    def _put(self, message: dict[str, Any] | Exception) -> None:
        self._inbox.append(message)
        self._inbox_bytes += _size(message)
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)
        if self._is_inbox_full() and not self._is_gone:
            self._pause("inbox")

    def _is_inbox_full(self) -> bool:
        return len(self._inbox) > MAX_WAITING or self._inbox_bytes > MAX_WAITING_BYTES

    async def _receive(self) -> dict[str, Any]:
        while not self._inbox:
            self._waiter = self._loop.create_future()
            await self._waiter
        message = self._inbox.pop(0)
        self._inbox_bytes -= _size(message)
        if "inbox" in self._pauses and len(self._inbox) <= RESUME_WAITING:
            self._resume("inbox")
            if self._next:
                self._loop.call_soon(self._handle_waiting)
        if isinstance(message, Exception):
            raise message
        return message

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
            self._write_frame(message)
        else:
            self._reader = websocket_frames.Reader(masked=True, max_size=self._max_size)
            self._transport.write(
                b"HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\n"
                b"connection: Upgrade\r\nsec-websocket-accept: %s\r\n\r\n" % self._accept
            )
            self._resume("handshake")

    def _close(self, code: int, reason: str) -> None:
        if self._is_gone:
            return
        if self._reader is None:
            self._begin_close(code, reason)
            self._refuse(STATUSES.get(code, 403), reason)
        else:
            self._begin_close(code, reason)

    def _write_frame(self, message: dict[str, Any]) -> None:
        text = message.get("text")
        opcode, data = (
            (websocket_frames.BINARY, message["bytes"])
            if text is None
            else (websocket_frames.TEXT, text.encode())
        )
        if self._closing is None:
            self._transport.write(websocket_frames.pack(opcode, data, masked=False))

    def _begin_close(self, code: int, reason: str) -> None:
        """Send our close frame and ignore what is received from now on. The socket stays open for
        the peer's close frame: closing it at once could discard our last messages."""
        if self._closing is None:
            if self._reader is not None:
                self._transport.write(websocket_frames.pack_close(code, reason, masked=False))
            self._closing = self._loop.call_later(CLOSE_S, self._transport.abort)
            self._put(DISCONNECT)

    # Extensions of ASGI

    def send_now(self, messages: Sequence[object]) -> bool:
        """Send a frame without waiting; False where it would have to wait."""
        if self._full is not None or self._closing is not None or self._transport.is_closing():
            return False
        self._transport.write(
            websocket_frames.pack(websocket_frames.TEXT, encode(messages), masked=False)
        )
        return True

    def deliver_to(self, handler: Callable[[str | bytes], None] | None) -> None:
        """Call the handler for each further frame, unless others wait to be received."""
        self._handler = handler


def _size(message: dict[str, Any] | Exception) -> int:
    if isinstance(message, Exception):
        return 0
    return len(message.get("text") or message.get("bytes") or b"")


def _split(line: bytes) -> tuple[bytes, bytes, bytes]:
    return line.partition(b":")


def _address(peer: object) -> tuple[str, int] | None:
    return (str(peer[0]), int(peer[1])) if isinstance(peer, tuple) else None
