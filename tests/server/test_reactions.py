"""Consumers of the event log: what counts as a failed attempt, and what does not."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any
from unittest import mock

import apsw
import psycopg
import pytest

from belvedere import events
from belvedere.base.errors import StatementTimeout, Unavailable
from belvedere.db import Tx
from belvedere.db.signals import event_recorded
from belvedere.events import Event, cursors
from belvedere.server.background import consumers
from belvedere.server.background.consumers import MAX_TRIES, EventConsumer
from contract.world import World

KIND = "host.changed"


class Outage:
    """A database that fails a number of calls, and works again whenever a consumer would set an
    event aside."""

    def __init__(self, db: Any, calls: int, fault: Exception | None = None) -> None:
        self._db = db
        self.left = calls
        self._fault = fault or Unavailable("The database does not answer; try again shortly.")

    def _pass(self, verb: Any) -> None:
        if self.left and verb is not consumers.set_aside_first:
            self.left -= 1
            raise self._fault

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
            # Each signal causes one more attempt, without waiting for the poll.
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


@pytest.mark.parametrize(
    ("engine", "fault"),
    [
        ("sqlite", apsw.IOError("disk I/O error")),
        ("sqlite", apsw.BusyError("database is locked")),
        ("postgres", psycopg.OperationalError("the connection was lost")),
        ("postgres", psycopg.errors.DeadlockDetected("deadlock detected")),
        ("postgres", psycopg.errors.LockNotAvailable("canceling statement due to lock timeout")),
    ],
    indirect=["engine"],
)
async def test_a_fault_of_the_database_is_no_failed_attempt(
    world: World, fault: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consumers, "MAX_TIMEOUTS", MAX_TRIES)
    db = world.runtime.db
    await db.write(events.append, world.actors.acme.id, KIND, "h1", {"hostname": "h1"})
    # Each attempt runs four times on PostgreSQL, for the batch and for the event alone.
    faults = iter([fault] * (MAX_TRIES * 3 * 8))
    processed: list[str] = []

    def consume(tx: Tx, runtime: Any, event: Event) -> None:
        if (next_fault := next(faults, None)) is not None:
            raise next_fault
        processed.append(event.object_id)

    async def is_done() -> bool:
        return bool(processed or await db.read(_list_parked))

    await _run(world, consume, is_done)
    assert (processed, await db.read(_list_parked)) == (["h1"], [])


TIMEOUTS = {
    "sqlite": StatementTimeout("too slow"),
    "postgres": psycopg.errors.QueryCanceled("canceling statement due to statement timeout"),
}


async def test_an_event_that_always_takes_too_long_is_set_aside(
    world: World, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    db = world.runtime.db
    monkeypatch.setattr(consumers, "MAX_TIMEOUTS", 7)
    for host in ("h1", "h2"):
        await db.write(events.append, world.actors.acme.id, KIND, host, {"hostname": host})
    attempts: list[str] = []
    processed: list[str] = []

    def consume(tx: Tx, runtime: Any, event: Event) -> None:
        if event.object_id == "h1":
            attempts.append(event.object_id)
            raise TIMEOUTS[engine]
        processed.append(event.object_id)

    async def is_done() -> bool:
        return bool(processed)

    await _run(world, consume, is_done)
    assert len(await db.read(_list_parked)) == 1
    assert len(attempts) == 2 * 7
    copy = await db.read(lambda tx: tx.rows("select kind, object_id, data from parked"))
    assert copy == [(KIND, "h1", '{"hostname":"h1"}')]


async def test_a_timeout_of_a_database_that_does_not_work_is_no_failed_attempt(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    db = world.runtime.db
    monkeypatch.setattr(consumers, "MAX_TIMEOUTS", 1)
    await db.write(events.append, world.actors.acme.id, KIND, "h1", {"hostname": "h1"})
    outage = Outage(db, calls=20, fault=StatementTimeout("too slow"))
    monkeypatch.setattr(world.runtime, "db", outage)
    processed: list[str] = []

    async def is_done() -> bool:
        return bool(processed or await db.read(_list_parked))

    await _run(world, lambda tx, runtime, event: processed.append(event.object_id), is_done)
    assert (processed, outage.left) == (["h1"], 0)


class SlowToSetAside:
    """A database in which several consumers have failed before the first sets an event aside."""

    def __init__(self, db: Any, consumers_count: int) -> None:
        self._db = db
        self._barrier = asyncio.Barrier(consumers_count)
        self.read = db.read

    async def write(self, verb: Any, *args: Any) -> Any:
        if verb is consumers.set_aside_first:
            await self._barrier.wait()
        return await self._db.write(verb, *args)


async def test_two_servers_set_one_failing_event_aside(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both have counted five failures of the first event; the second one is valid."""
    db = world.runtime.db
    for host in ("h1", "h2"):
        await db.write(events.append, world.actors.acme.id, KIND, host, {"hostname": host})
    monkeypatch.setattr(world.runtime, "db", SlowToSetAside(db, 2))
    processed: list[str] = []

    def consume(tx: Tx, runtime: Any, event: Event) -> None:
        if event.object_id == "h1":
            raise ValueError("cannot be processed")
        processed.append(event.object_id)

    async def is_done() -> bool:
        return bool(processed) or len(await db.read(_list_parked)) == 2

    await asyncio.gather(*(_run(world, consume, is_done) for _ in range(2)))
    assert await db.read(lambda tx: tx.rows("select object_id from parked")) == [("h1",)]
    assert "h2" in processed


async def test_failures_of_one_event_do_not_count_for_the_next(world: World) -> None:
    db = world.runtime.db
    for host in ("h1", "h2"):
        await db.write(events.append, world.actors.acme.id, KIND, host, {"hostname": host})
    # An attempt is the batch, then the event alone. The first event fails once less than allowed;
    # the second one fails in the batch with the first, in its own batch, and alone.
    failures_left = {"h1": 2 * (MAX_TRIES - 1), "h2": 3}

    def fail_at_first(tx: Tx, runtime: Any, event: Event) -> None:
        if failures_left[event.object_id]:
            failures_left[event.object_id] -= 1
            raise ValueError("cannot be processed yet")

    async def is_done() -> bool:
        backlog = await db.read(cursors.backlog, "consumer of this test", frozenset({KIND}))
        return not backlog[0]

    await _run(world, fail_at_first, is_done)
    assert await db.read(_list_parked) == []


@asynccontextmanager
async def polling(
    world: World, monkeypatch: pytest.MonkeyPatch, consumer: EventConsumer
) -> AsyncIterator[None]:
    """A consumer that gets no signals but those of the poll."""
    monkeypatch.setattr(consumers, "POLL_S", 0.0)
    monkeypatch.setattr(world.runtime.db, "on_signals", None)
    tasks = [
        asyncio.create_task(consumers.run(consumer, world.runtime)),
        asyncio.create_task(consumers.poll(world.runtime, [consumer])),
    ]
    try:
        async with asyncio.timeout(30):
            yield
    finally:
        for task in tasks:
            task.cancel()


@pytest.mark.parametrize("fails", [False, True])
async def test_an_event_whose_signal_was_lost_is_still_processed(
    world: World, monkeypatch: pytest.MonkeyPatch, fails: bool
) -> None:
    """Also if the events of some other consumer cannot be read."""
    if fails:
        fault = mock.Mock(side_effect=StatementTimeout("too slow"))
        monkeypatch.setattr(consumers, "_find_waiting", fault)
    processed: asyncio.Queue[str] = asyncio.Queue()
    consumer = EventConsumer(
        "consumer of this test",
        frozenset({KIND}),
        lambda tx, runtime, event: processed.put_nowait(event.object_id),
    )
    async with polling(world, monkeypatch, consumer):
        for host in ("h1", "h2", "h3"):
            await world.runtime.db.write(events.append, world.actors.acme.id, KIND, host, {})
            assert await processed.get() == host


async def test_events_that_a_failover_has_made_new_are_processed_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    db = world.runtime.db
    processed: asyncio.Queue[str] = asyncio.Queue()
    consumer = EventConsumer(
        "consumer of this test",
        frozenset({KIND}),
        lambda tx, runtime, event: processed.put_nowait(event.object_id),
    )
    polls = mock.Mock(side_effect=consumers._find_waiting)
    monkeypatch.setattr(consumers, "_find_waiting", polls)
    async with polling(world, monkeypatch, consumer):
        await db.write(events.append, world.actors.acme.id, KIND, "h1", {})
        assert await processed.get() == "h1"
        before = polls.call_count
        while polls.call_count < before + 2 * consumers.COMPLETE_POLL:
            await asyncio.sleep(0)
        await db.write(cursors.save, consumer.name, cursors.BEGINNING)
        assert await processed.get() == "h1"


async def test_consumers_are_only_asked_if_there_is_a_newer_event(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    db = world.runtime.db
    table = consumers.active(has_redis=False)
    for consumer in table:
        await consumers.catch_up(consumer, world.runtime)
    reads: list[str] = []
    backlog = cursors.backlog

    def count(tx: Tx, name: str, kinds: frozenset[str]) -> tuple[bool, bool]:
        reads.append(name)
        return backlog(tx, name, kinds)

    monkeypatch.setattr(cursors, "backlog", count)
    end, waiting = await db.read(consumers._find_waiting, table, None)
    assert (waiting, len(reads)) == ([], len(table))
    assert await db.read(consumers._find_waiting, table, end) == (end, [])
    assert len(reads) == len(table)
    await db.write(events.append, world.actors.acme.id, KIND, "h1", {"hostname": "h1"})
    _, waiting = await db.read(consumers._find_waiting, table, end)
    assert {consumer.name for consumer in waiting} == {
        consumer.name for consumer in table if KIND in consumer.kinds
    }
