"""Sending an answer that comes piece by piece, for as long as somebody reads it."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

from belvedere.base.errors import Refused


async def stream_out(parts: AsyncGenerator[bytes, None], receive: Any, send: Any) -> None:
    """Until the last part, or until the reader hangs up: the server below swallows what is sent
    to nobody, so that an endless stream would never learn of it."""
    sending = asyncio.create_task(_send_all(parts, send))
    leaving = asyncio.create_task(_gone(receive))
    try:
        await asyncio.wait({sending, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if sending.done():
            sending.result()
    finally:
        for task in (sending, leaving):
            task.cancel()
        await asyncio.gather(sending, leaving, return_exceptions=True)


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
