"""Consumers of the event log: what counts as a failed attempt, and what does not."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from belvedere import events
from belvedere.base.errors import Unavailable
from belvedere.db import Tx
from belvedere.db.signals import event_recorded
from belvedere.events import Event
from belvedere.server.background import consumers
from belvedere.server.background.consumers import MAX_TRIES, EventConsumer
from contract.world import World

KIND = "host.changed"


class Outage:
    """The database of a world that fails a number of calls, and is back whenever a consumer
    would set an event aside."""

    def __init__(self, db: Any, calls: int) -> None:
        self._db = db
        self.left = calls

    def _pass(self, verb: Any) -> None:
        if self.left and verb is not consumers.set_aside_first:
            self.left -= 1
            raise Unavailable("The database does not answer; try again shortly.")

    async def read(self, verb: Any, *args: Any) -> Any:
        self._pass(verb)
        return await self._db.read(verb, *args)

    async def write(self, verb: Any, *args: Any) -> Any:
        self._pass(verb)
        return await self._db.write(verb, *args)


async def _run(world: World, verb: Callable[[Tx, Any, Event], object], until: Any) -> None:
    reaction = EventConsumer("consumer of this test", frozenset({KIND}), verb)
    running = asyncio.create_task(consumers.run(reaction, world.runtime))
    async with asyncio.timeout(30):
        while not await until():
            # Each ring is one more attempt, without waiting for the poll.
            world.runtime.signals.emit((event_recorded(KIND),))
            await asyncio.sleep(0)
    running.cancel()


def _list_parked(tx: Tx) -> list[str]:
    return [row[0] for row in tx.rows("select fault from parked")]


async def test_a_database_outage_is_no_failed_attempt(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    db = world.runtime.db
    await db.write(events.append, world.actors.acme.id, KIND, "h1", {"hostname": "h1"})
    outage = Outage(db, calls=MAX_TRIES * 3)
    monkeypatch.setattr(world.runtime, "db", outage)
    processed: list[str] = []

    async def is_done() -> bool:
        return "h1" in processed

    await _run(world, lambda tx, runtime, event: processed.append(event.object_id), is_done)
    assert outage.left == 0
    assert await db.read(_list_parked) == []


async def test_an_event_that_fails_every_time_is_set_aside(world: World) -> None:
    db = world.runtime.db
    await db.write(events.append, world.actors.acme.id, KIND, "h1", {"hostname": "h1"})
    attempts: list[str] = []

    def fail(tx: Tx, runtime: Any, event: Event) -> None:
        attempts.append(event.object_id)
        raise ValueError("cannot be processed")

    async def is_done() -> bool:
        return bool(await db.read(_list_parked))

    await _run(world, fail, is_done)
    # Each attempt tries the batch, then the event alone.
    assert len(attempts) == 2 * MAX_TRIES
