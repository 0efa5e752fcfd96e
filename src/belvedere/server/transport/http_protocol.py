"""uvicorn's HTTP protocol with limits that apply while a request arrives.

uvicorn limits neither the request line nor the headers, and has no deadline before the first
response. The deadlines are not timers: `Connections.sweep` checks once a second the times that are
recorded here, so that a request costs a few assignments.
"""

import asyncio
import fcntl
import sys
import termios
from typing import Any

import httptools
import msgspec
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from belvedere.base.errors import AddressTooLong, HeadersTooLarge, Invalid, Refused, TooMany
from belvedere.rest import error_format
from belvedere.server.transport import direct_response
from belvedere.server.transport.connections import Connections

encode = msgspec.json.Encoder().encode

# httptools cannot read an address of 64 KiB or more.
MAX_URL = 65_000
# The part of the address before the query: names and ids, whose escapes are decoded.
MAX_PATH = 8 * 1024
MAX_HEADER = 16 * 1024
MAX_HEADERS_SIZE = 64 * 1024
MAX_HEADERS = 100
# Bytes that may arrive without completing a head or adding to a body: trailers and chunk
# extensions count too.
MAX_HEAD = MAX_URL + MAX_HEADERS_SIZE
# Bytes that the parser gets at once; limits are checked in between.
SLICE = 16 * 1024
# Requests that a client may send before the first of them is answered.
MAX_PIPELINED = 64
# A chunked body of very small chunks costs the parser a call each.
FREE_CHUNKS, MIN_CHUNK = 4_096, 16
# Deadlines, in seconds.
HEAD_S = 15.0
KEEP_ALIVE_S = 75.0
PRESSURE_S = 5.0
BODY_GRACE_S = 20.0
WRITE_S = 30.0
LINGER_S = 5.0
# When the server stops, a request that is on its way has this long to arrive; one whose head has
# begun has longer.
LAST_REQUEST_S, LAST_HEAD_S = 0.1, 1.0
# A body must arrive at this rate, in bytes per second, after the grace.
MIN_BODY_RATE = 1024
# A reader must take this much within WRITE_S.
MIN_READ = 16 * 1024
# Bytes that are read and dropped after a refusal, so that the client sees the response.
MAX_LINGER = 1 << 20


class HttpProtocol(HttpToolsProtocol):
    """One connection. The sweep of `registry` reads the state below."""

    # Arguments of uvicorn, which are passed on.
    def __init__(self, registry: Connections, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.registry = registry
        self.address = "local"
        # When the current phase began: connection, head, body, or waiting for the next request.
        self.since = 0.0
        self.in_head = False
        self.in_message = False
        self.is_refused = False
        # Bytes since the last progress (a head, a piece of a body, an end).
        self.unread = 0
        self.header_bytes = 0
        self.body_bytes = 0
        self.chunks = 0
        self.dropped = 0
        self.refusal: Refused | None = None
        # The request that is being answered; `cycle` is the newest that was read.
        self.running: RequestResponseCycle | None = None
        # What the client had not read at the last progress, and when that was.
        self.write_mark: tuple[int, float] | None = None

    # Called by asyncio

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.since = self.loop.time()
        if self.client is not None:
            self.address = self.client[0]
        if not self.registry.enter(self, len(self.connections) - 1):
            self._refuse(TooMany("Too many connections are open; close some.", retry_after_s=5))
            transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        self.registry.leave(self)
        running = self.running
        super().connection_lost(exc)
        if running is not None and running is not self.cycle and not running.response_complete:
            # uvicorn informs only the newest of several pipelined requests.
            running.disconnected = True
            running.message_event.set()
        self.pipeline.clear()

    def data_received(self, data: bytes) -> None:
        if self.is_refused:
            self._drop(len(data))
        elif len(data) <= SLICE:
            self._feed(data)
        else:
            view = memoryview(data)
            for at in range(0, len(data), SLICE):
                if not self._feed(view[at : at + SLICE]):
                    return

    def _feed(self, data: bytes | memoryview) -> bool:
        """False when nothing more may be fed: refused, or a WebSocket from now on."""
        self.unread += len(data)
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            if self._should_upgrade():
                self.registry.leave(self)
                self.handle_websocket_upgrade()
                # It refers to this object: without the garbage collector, neither would be freed.
                del self.parser
            return False
        except httptools.HttpParserError:
            fault = Invalid("This is not a valid HTTP/1.1 request.", code="malformed_request")
            self._refuse(self.refusal or fault)
            return False
        if self.unread > MAX_HEAD:
            self._refuse(_head_too_large())
        return not self.is_refused

    def pause_writing(self) -> None:
        super().pause_writing()
        self.write_mark = None

    # Called by the parser

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self.in_head = self.in_message = True
        self.header_bytes = 0
        if self.cycle is None or self.cycle.response_complete:
            self.since = self.loop.time()

    def on_url(self, url: bytes) -> None:
        self.url += url
        if len(self.url) > MAX_URL:
            self._stop(AddressTooLong(f"The address has more than {MAX_URL} bytes; shorten it."))

    def on_header(self, name: bytes, value: bytes) -> None:
        size = len(name) + len(value)
        self.header_bytes += size
        if (
            size > MAX_HEADER
            or self.header_bytes > MAX_HEADERS_SIZE
            or len(self.headers) >= MAX_HEADERS
        ):
            self._stop(_head_too_large())
        if not self.in_head:
            # Trailers: nothing here uses them.
            return
        name = name.lower()
        if name == b"expect" and value.lower() == b"100-continue":
            self.expect_100_continue = True
        self.headers.append((name, value))

    def on_headers_complete(self) -> None:
        self.in_head = False
        self.unread = self.body_bytes = self.chunks = 0
        self.since = self.loop.time()
        self._check_path()
        super().on_headers_complete()
        if len(self.pipeline) > MAX_PIPELINED:
            self._stop(
                Invalid(
                    f"More than {MAX_PIPELINED} requests wait on this connection;"
                    " read the responses first.",
                    code="too_many_pipelined",
                )
            )

    def _check_path(self) -> None:
        if len(self.url) > MAX_PATH and len(self.url.partition(b"?")[0]) > MAX_PATH:
            self._stop(AddressTooLong(f"The path has more than {MAX_PATH} bytes; shorten it."))

    def on_body(self, body: bytes) -> None:
        self.unread = 0
        self.body_bytes += len(body)
        self.chunks += 1
        if self.chunks > FREE_CHUNKS and self.body_bytes < self.chunks * MIN_CHUNK:
            self._stop(
                Invalid(
                    f"The chunks of the body have less than {MIN_CHUNK} bytes on average.",
                    code="chunks_too_small",
                )
            )
        super().on_body(body)

    def on_message_complete(self) -> None:
        self.unread = 0
        self.in_message = False
        super().on_message_complete()

    # Called by a response

    def on_response_complete(self) -> None:
        self.server_state.total_requests += 1
        if self.transport.is_closing():
            return
        self.since = self.loop.time()
        self.flow.resume_reading()
        if self.pipeline:
            cycle, app = self.pipeline.pop()
            self._start_asgi_task(cycle, app)

    # uvicorn's type of an application has no public name.
    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self.running = cycle
        super()._start_asgi_task(cycle, app)

    def shutdown(self) -> None:
        """The server stops. On an idle connection a request may be on its way: closing at once
        would lose it."""
        delay_s = LAST_HEAD_S if self.in_head else LAST_REQUEST_S
        self.loop.call_later(delay_s, super().shutdown)

    # Refusing

    def _stop(self, refusal: Refused) -> None:
        """End parsing; `_feed` sends the response."""
        self.refusal = refusal
        raise refusal

    def _refuse(self, refusal: Refused) -> None:
        """Respond and close. What the client still sends is read for a moment and dropped, because
        closing at once would reset the connection and discard the response."""
        self.is_refused = True
        self.since = self.loop.time()
        if self.cycle is not None and not self.cycle.response_complete:
            # The response to an earlier request is being sent; a second one would corrupt it.
            self.transport.abort()
            return
        self.transport.write(_answer(refusal))
        if self.transport.can_write_eof():
            self.transport.write_eof()

    def _drop(self, size: int) -> None:
        self.dropped += size
        if self.dropped > MAX_LINGER:
            self.transport.abort()

    # Called by the registry

    def abort(self) -> None:
        self.transport.abort()

    def rank(self) -> tuple[int, float] | None:
        cycle = self.cycle
        if cycle is not None and not cycle.response_complete:
            return (2, self.since) if cycle is self.running and cycle.more_body else None
        return (0 if cycle is None or self.in_head or self.is_refused else 1, self.since)

    def overdue(self, now: float, *, pressure: bool) -> str | None:
        if self._is_stuck(now):
            return "not_reading"
        if self.write_mark is not None:
            # The client is reading; what follows is counted from the end of that.
            self.since = now
            return None
        waited = now - self.since
        if self.is_refused or self.transport.is_closing():
            return "refused" if waited > LINGER_S else None
        cycle = self.cycle
        if cycle is not None and not cycle.response_complete:
            return "body" if cycle is self.running and self._is_late_body(waited) else None
        if cycle is None or self.in_head:
            return "head" if waited > (PRESSURE_S if pressure else HEAD_S) else None
        if self.in_message:
            return "unread_body" if waited > LINGER_S else None
        return "idle" if waited > (PRESSURE_S if pressure else KEEP_ALIVE_S) else None

    def _is_late_body(self, waited: float) -> bool:
        is_awaited = self.running is not None and self.running.more_body
        if not is_awaited or self.flow.read_paused:
            return False
        return waited > BODY_GRACE_S + self.body_bytes / MIN_BODY_RATE

    def _is_stuck(self, now: float) -> bool:
        size = self._unsent_bytes()
        if not size:
            self.write_mark = None
        elif self.write_mark is None or size <= self.write_mark[0] - MIN_READ:
            self.write_mark = (size, now)
        return self.write_mark is not None and now - self.write_mark[1] > WRITE_S

    def _unsent_bytes(self) -> int:
        """Bytes in our buffer and in the kernel's, which accepts more only after the client has
        read a third of it."""
        size = self.transport.get_write_buffer_size()
        if not size:
            return 0
        try:
            buffer = fcntl.ioctl(
                self.transport.get_extra_info("socket"), termios.TIOCOUTQ, b"\0" * 4
            )
        except (OSError, ValueError):
            return size
        return size + int.from_bytes(buffer, sys.byteorder)

    def unsent(self, now: float) -> tuple[int, float]:
        if self.write_mark is None:
            return 0, 0.0
        return self.write_mark[0], now - self.write_mark[1]


def _head_too_large() -> HeadersTooLarge:
    return HeadersTooLarge(
        f"A request has at most {MAX_HEADERS} headers of {MAX_HEADER} bytes each,"
        f" {MAX_HEADERS_SIZE} bytes together."
    )


def _answer(refusal: Refused) -> bytes:
    body = encode(error_format.body_of(refusal, ""))
    head = {b"content-type": b"application/json", b"cache-control": b"no-store"}
    head |= {
        name.encode(): value.encode() for name, value in error_format.headers_of(refusal).items()
    }
    head[b"content-length"] = str(len(body)).encode()
    return direct_response.head_of(error_format.status_of(refusal), head, closes=True) + body
