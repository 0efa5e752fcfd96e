"""A reader of a live stream that never reads costs bounded memory and is disconnected."""

import asyncio
import logging
from collections.abc import Iterator

import pytest

from belvedere.events import Event
from belvedere.server.api import event_stream
from belvedere.server.api.event_backlog import MAX_BACKLOG, Backlog
from belvedere.server.transport import http_protocol
from contract.client import Client
from contract.world import World
from security.serving import Site, request, serving
from server.listening import PATIENCE_S

# The events come from the test, not from the engine.
pytestmark = pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
BATCH = 500
DATA = '{"user_id":"%s"}' % ("u" * 4_000)


@pytest.fixture
def backlogs(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Backlog]]:
    """Those of the streams that are open."""
    made: list[Backlog] = []

    def make() -> Backlog:
        made.append(Backlog())
        return made[-1]

    monkeypatch.setattr(event_stream, "Backlog", make)
    yield made


async def open_stream(site: Site, ada: Client) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    reader, writer = await site.open()
    writer.write(request("GET", "/-/events", {"authorization": f"Bearer {ada.token}"}))
    async with asyncio.timeout(PATIENCE_S):
        await reader.readuntil(b": welcome")
    return reader, writer


async def flood(world: World, backlog: Backlog, customer_id: str) -> int:
    """Events until the reader is too far behind; the most that waited for it."""
    number, most = 1 << 40, 0
    async with asyncio.timeout(PATIENCE_S):
        while not backlog.is_over:
            batch = [
                Event(number + n, 1 << 40, 0, customer_id, "host.created", "host", "0" * 24, DATA)
                for n in range(BATCH)
            ]
            number += BATCH
            for listener in tuple(world.house.feed._listeners):
                listener(batch)
            most = max(most, len(backlog))
            await asyncio.sleep(0)
    return most


async def test_a_reader_that_never_reads_is_disconnected_with_a_reason(
    world: World, ada: Client, backlogs: list[Backlog], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    async with serving(world.app) as site:
        _, writer = await open_stream(site, ada)
        writer.transport.pause_reading()  # type: ignore[attr-defined]
        [backlog] = backlogs
        most = await flood(world, backlog, await customer_of(world))
        assert most <= MAX_BACKLOG and len(backlog) == 0
        assert "event stream reader too slow; disconnecting address=127.0.0.1" in caplog.text
        assert len(site.connections) == 1
        site.sweep()
        site.sweep(http_protocol.WRITE_S + 1)
        assert len(site.connections) == 0
        assert "connection closed address=127.0.0.1 reason=not_reading" in caplog.text
        async with asyncio.timeout(PATIENCE_S):
            while world.house.feed._listeners:
                await asyncio.sleep(0.01)
        writer.transport.abort()


async def test_a_reader_that_was_too_slow_gets_a_final_event(
    world: World, ada: Client, backlogs: list[Backlog]
) -> None:
    async with serving(world.app) as site:
        reader, writer = await open_stream(site, ada)
        writer.transport.pause_reading()  # type: ignore[attr-defined]
        await flood(world, backlogs[0], await customer_of(world))
        writer.transport.resume_reading()  # type: ignore[attr-defined]
        end = b""
        async with asyncio.timeout(PATIENCE_S):
            while part := await reader.read(1 << 20):
                end = (end + part)[-200:]
                if end.endswith(b"0\r\n\r\n"):
                    break
        assert b"event: resync" in end
        writer.transport.abort()


async def customer_of(world: World) -> str:
    found: str = await world.house.db.read(
        lambda tx: tx.value("select id from customers where name = 'acme'")
    )
    return found
