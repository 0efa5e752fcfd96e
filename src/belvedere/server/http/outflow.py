"""Sending an answer that comes piece by piece, for as long as somebody reads it."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

from belvedere.base.errors import Refused


async def stream_out(
    parts: AsyncGenerator[bytes, None], receive: Any, send: Any, stopping: asyncio.Event
) -> None:
    """Until the last part, until the reader hangs up, or until the server stops: the server below
    swallows what is sent to nobody, so that an endless stream would never learn of it."""
    sending = asyncio.create_task(_send_all(parts, send))
    others = {asyncio.create_task(_gone(receive)), asyncio.create_task(stopping.wait())}
    try:
        await asyncio.wait({sending, *others}, return_when=asyncio.FIRST_COMPLETED)
        if sending.done():
            sending.result()
    finally:
        for task in (sending, *others):
            task.cancel()
        await asyncio.gather(sending, *others, return_exceptions=True)
    if stopping.is_set() and sending.cancelled():
        # The reader sees a clean end and comes back to whoever answers then.
        await send({"type": "http.response.body", "body": b""})


async def _send_all(parts: AsyncGenerator[bytes, None], send: Any) -> None:
    try:
        async for part in parts:
            await send({"type": "http.response.body", "body": part, "more_body": True})
    except Refused:
        # What was followed is gone, or no longer for these eyes; the status is long sent.
        pass
    finally:
        await parts.aclose()
    await send({"type": "http.response.body", "body": b""})


async def _gone(receive: Any) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
