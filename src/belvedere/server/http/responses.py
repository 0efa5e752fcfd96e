"""Sends streams part by part. Complete responses are written by `transport`."""

import asyncio
from collections.abc import AsyncGenerator

from belvedere.base.errors import Refused, Unavailable
from belvedere.rest.request import Receive, Send

EVENT_STREAM = "text/event-stream"
# The last part of an endless stream when the server stops. The reader continues on another server,
# with the last id that it has received, after this many milliseconds.
STOPS = b": the server stops; continue with the last id\nretry: 1000\n\n"


async def stream(
    parts: AsyncGenerator[bytes, None],
    receive: Receive,
    send: Send,
    stopping: asyncio.Event | None = None,
) -> None:
    """Send parts until the last one or until the client disconnects; an endless stream until the
    server stops, too.

    uvicorn ignores what is sent to a closed connection, so an endless stream would never notice.
    """
    sending = asyncio.create_task(_send_all(parts, send, is_endless=stopping is not None))
    others = {asyncio.create_task(_disconnected(receive))}
    if stopping is not None:
        others.add(asyncio.create_task(_set(stopping)))
    try:
        await asyncio.wait({sending, *others}, return_when=asyncio.FIRST_COMPLETED)
        if sending.done():
            sending.result()
    finally:
        for task in (sending, *others):
            task.cancel()
        await asyncio.gather(sending, *others, return_exceptions=True)
    if stopping is not None and stopping.is_set() and sending.cancelled():
        # The client sees a clean end and reconnects.
        await send({"type": "http.response.body", "body": STOPS, "more_body": True})
        await send({"type": "http.response.body", "body": b""})


async def _set(event: asyncio.Event) -> None:
    await event.wait()


async def _send_all(parts: AsyncGenerator[bytes, None], send: Send, *, is_endless: bool) -> None:
    try:
        async for part in parts:
            await send({"type": "http.response.body", "body": part, "more_body": True})
    except Refused as refusal:
        # The object was deleted or access was lost; the status has been sent already.
        if isinstance(refusal, Unavailable) and not is_endless:
            # The connection is aborted: the reader must not take the parts before for everything.
            raise
    finally:
        await parts.aclose()
    await send({"type": "http.response.body", "body": b""})


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
