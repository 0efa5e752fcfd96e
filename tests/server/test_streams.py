"""Streams end when their reader disconnects, also if an event arrives at the same time."""

import asyncio
from collections.abc import AsyncGenerator, MutableMapping
from typing import Any

import pytest

from belvedere.base.errors import NotFound, Unavailable
from belvedere.events import Event
from belvedere.server.api import event_stream
from belvedere.server.api.event_backlog import MAX_CHARACTERS, Backlog
from belvedere.server.http import responses

Parts = AsyncGenerator[bytes, None]

only_sqlite = pytest.mark.parametrize("engine", ["sqlite"], indirect=True)


class Socket:
    """The interface of the server below: it accepts everything and reports when the reader has
    disconnected."""

    def __init__(self) -> None:
        self.sent: list[bytes] = []
        self.is_ended = False
        self.gone = asyncio.Event()

    async def receive(self) -> dict[str, str]:
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: MutableMapping[str, Any]) -> None:
        body = message["body"]
        assert isinstance(body, bytes)
        self.sent.append(body)
        self.is_ended = not message.get("more_body")


async def pour(socket: Socket, parts: Parts) -> None:
    async with asyncio.timeout(5):
        await responses.stream(parts, socket.receive, socket.send, asyncio.Event())


async def test_parts_are_sent_in_order() -> None:
    async def parts() -> Parts:
        yield b"one"
        yield b"two"

    socket = Socket()
    await pour(socket, parts())
    assert (b"".join(socket.sent), socket.is_ended) == (b"onetwo", True)


async def test_an_endless_stream_ends_when_the_reader_hangs_up() -> None:
    is_closed = False

    async def parts() -> Parts:
        nonlocal is_closed
        try:
            while True:
                yield b"."
                await asyncio.sleep(0)
        finally:
            is_closed = True

    socket = Socket()
    asyncio.get_running_loop().call_later(0.01, socket.gone.set)
    await pour(socket, parts())
    assert is_closed and not socket.is_ended


async def test_a_part_that_the_database_does_not_return_is_no_end() -> None:
    async def parts() -> Parts:
        yield b"one"
        raise Unavailable("The database does not respond; try again shortly.")

    socket = Socket()
    with pytest.raises(Unavailable):
        await responses.stream(parts(), socket.receive, socket.send)
    assert (socket.sent, socket.is_ended) == ([b"one"], False)


async def test_a_deleted_middle_part_ends_the_stream() -> None:
    async def parts() -> Parts:
        yield b"one"
        raise NotFound("There is no such job.")

    socket = Socket()
    await pour(socket, parts())
    assert (b"".join(socket.sent), socket.is_ended) == (b"one", True)


async def test_a_cancellation_at_the_time_of_an_event_is_not_lost() -> None:
    """asyncio.wait_for of Python 3.11 would return the event and forget the cancel."""
    backlog = Backlog()
    waits = asyncio.ensure_future(event_stream._next_batch(backlog))
    for _ in range(5):
        await asyncio.sleep(0)
    backlog.put([])
    waits.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waits


def test_large_events_are_limited_by_their_size() -> None:
    backlog = Backlog()
    event = Event(1, 1, 0, "c1", "host.created", "host", "0" * 24, "x" * (1 << 20))
    for _ in range(MAX_CHARACTERS >> 20):
        backlog.put([event])
    assert not backlog.is_over
    backlog.put([event])
    assert backlog.is_over and len(backlog) == 0
