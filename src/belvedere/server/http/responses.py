"""Writes responses: complete ones in one write, streams part by part.

uvicorn takes a complete response in two messages and runs two regular expressions over each header,
which is a tenth of the server's time under load. Everything else is left to uvicorn.
"""

import asyncio
import re
from collections.abc import AsyncGenerator
from typing import Any

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, RequestResponseCycle

from belvedere.base.errors import Refused

# Characters that a header must not contain: line ends and control characters.
_INVALID = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")


def cycle_of(send: Any) -> RequestResponseCycle | None:
    """The request of this `send`, if it is uvicorn's own."""
    owner = getattr(send, "__self__", None)
    return owner if isinstance(owner, RequestResponseCycle) else None


async def write_at_once(
    cycle: RequestResponseCycle, status: int, head: dict[bytes, bytes], body: bytes
) -> None:
    """Write status, headers (with the length, unless there is no body) and body."""
    if cycle.flow.write_paused and not cycle.disconnected:
        await cycle.flow.drain()
    if cycle.disconnected:
        return
    lines = head_of(status, head, closes=not cycle.keep_alive)
    cycle.response_started = True
    cycle.waiting_for_100_continue = False
    cycle.transport.write(lines if cycle.scope["method"] == "HEAD" else lines + body)
    cycle.response_complete = True
    cycle.message_event.set()
    if not cycle.keep_alive:
        cycle.transport.close()
    cycle.on_response()


def head_of(status: int, head: dict[bytes, bytes], *, closes: bool) -> bytes:
    if _INVALID.search(b"".join((*head, *head.values()))):
        raise ValueError("a header contains a line end or a control character")
    parts = [STATUS_LINE[status]]
    for name, value in head.items():
        parts += (name, b": ", value, b"\r\n")
    parts += (b"connection: close\r\n\r\n" if closes else b"\r\n",)
    return b"".join(parts)


async def stream(
    parts: AsyncGenerator[bytes, None], receive: Any, send: Any, stopping: asyncio.Event
) -> None:
    """Send parts until the last one, until the client disconnects or until the server stops.

    uvicorn ignores what is sent to a closed connection, so an endless stream would never notice.
    """
    sending = asyncio.create_task(_send_all(parts, send))
    others = {asyncio.create_task(_disconnected(receive)), asyncio.create_task(stopping.wait())}
    try:
        await asyncio.wait({sending, *others}, return_when=asyncio.FIRST_COMPLETED)
        if sending.done():
            sending.result()
    finally:
        for task in (sending, *others):
            task.cancel()
        await asyncio.gather(sending, *others, return_exceptions=True)
    if stopping.is_set() and sending.cancelled():
        # The client sees a clean end and reconnects.
        await send({"type": "http.response.body", "body": b""})


async def _send_all(parts: AsyncGenerator[bytes, None], send: Any) -> None:
    try:
        async for part in parts:
            await send({"type": "http.response.body", "body": part, "more_body": True})
    except Refused:
        # The object was deleted or access was lost; the status has been sent already.
        pass
    finally:
        await parts.aclose()
    await send({"type": "http.response.body", "body": b""})


async def _disconnected(receive: Any) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
