"""Writes a complete response in one write, into the request of uvicorn.

uvicorn takes a complete response in two messages and runs two regular expressions over each header,
which is a tenth of the server's time under load. Streams are left to uvicorn.
"""

import re

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, RequestResponseCycle

from belvedere.rest.request import Send
from belvedere.server.transport import plain

# Characters that a header must not contain: line ends and control characters.
_INVALID = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")


async def respond(send: Send, status: int, head: dict[bytes, bytes], body: bytes) -> None:
    """Write status, headers (with the length, unless there is no body) and body."""
    cycle = _cycle_of(send)
    if cycle is None:
        await plain.respond(send, status, head, body)
        return
    if cycle.flow.write_paused and not cycle.disconnected:
        await cycle.flow.drain()
    if cycle.disconnected:
        return
    if b"connection" in head:
        # The application sets it to `close` while the server stops.
        cycle.keep_alive = False
    lines = head_of(status, head, closes=not cycle.keep_alive and b"connection" not in head)
    cycle.response_started = True
    cycle.waiting_for_100_continue = False
    cycle.transport.write(lines if cycle.scope["method"] == "HEAD" else lines + body)
    cycle.response_complete = True
    cycle.message_event.set()
    if not cycle.keep_alive:
        cycle.transport.close()
    cycle.on_response()


def _cycle_of(send: Send) -> RequestResponseCycle | None:
    """The request of this `send`, if it is uvicorn's own."""
    owner = getattr(send, "__self__", None)
    return owner if isinstance(owner, RequestResponseCycle) else None


def head_of(status: int, head: dict[bytes, bytes], *, closes: bool) -> bytes:
    if _INVALID.search(b"".join((*head, *head.values()))):
        raise ValueError("a header contains a line end or a control character")
    parts = [STATUS_LINE[status]]
    for name, value in head.items():
        parts += (name, b": ", value, b"\r\n")
    parts += (b"connection: close\r\n\r\n" if closes else b"\r\n",)
    return b"".join(parts)
