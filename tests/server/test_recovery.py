"""What a server does before agents connect, after its database has lost commits."""

import asyncio
from typing import Any

import pytest

from belvedere.base.errors import StatementTimeout
from belvedere.db import Tx, installation
from belvedere.jobs.recovery import restore
from belvedere.server import restored
from belvedere.server.background import consumers, loops, trigger_starts
from belvedere.server.background.consumers import MAX_TRIES
from belvedere.server.runtime import ServerRuntime
from contract.client import Client
from contract.fakeagent import hello
from contract.world import World

TRIGGERED = "trigger_by"


async def pending_trigger(world: World, ada: Client) -> None:
    """An event that starts a task; at the time of the backup it was not processed yet."""
    indicator = (await ada.post("/acme/indicator", {"title": "Queue", "type": "progress"})).json
    await world.task(triggers=[f"indicator:{indicator['id']}:failure"])
    await ada.patch(f"/acme/indicator/{indicator['id']}", {"state": "failure"})
    assert await triggered_jobs(ada) == []


async def triggered_jobs(client: Client) -> list[dict[str, Any]]:
    return [job for job in (await client.get("/acme/job")).json if job["origin"] == TRIGGERED]


async def consume(world: World) -> None:
    for consumer in consumers.CONSUMERS:
        await consumers.catch_up(consumer, world.runtime)


def load_dump(tx: Tx) -> None:
    """Into a younger PostgreSQL cluster. SQLite has no numbers of transactions."""
    if tx.dialect.name == "postgres":
        tx.execute("update events set xid = xid + 1000000000")
        tx.execute("update cursors set xid = xid + 1000000000")


def mark_restored(tx: Tx) -> None:
    restore.was_restored(tx)
    installation.raise_epoch(tx)


async def test_an_event_of_before_a_restore_starts_one_job_which_is_held(
    world: World, ada: Client
) -> None:
    await pending_trigger(world, ada)
    await world.runtime.db.write(load_dump)
    await world.runtime.db.write(mark_restored)
    await restored.hold_jobs(world.runtime)
    await consume(world)
    # After the backup the same event may have started the same job, under another id.
    [job] = await triggered_jobs(ada)
    assert (job["lifecycle"], job["waiting_reason"]) == ("onhold", "restored")
    await restored.hold_jobs(world.runtime)
    await consume(world)
    assert len(await triggered_jobs(ada)) == 1


async def test_an_event_of_before_a_failover_starts_one_job_before_agents_connect(
    world: World, ada: Client
) -> None:
    await pending_trigger(world, ada)
    restored.recover(world.runtime)
    assert not world.runtime.admits_agents
    assert world.runtime.recovery is not None
    async with asyncio.timeout(30):
        await world.runtime.recovery
    assert world.runtime.admits_agents
    [job] = await triggered_jobs(ada)
    await consume(world)
    assert [triggered_job["id"] for triggered_job in await triggered_jobs(ada)] == [job["id"]]


async def test_a_failover_while_a_hello_waits_opens_no_session(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its journal would be compared before the jobs of lost events exist: none would be held."""
    write = world.runtime.db.write

    async def fail_over_and_write(*a: Any, **k: Any) -> Any:
        world.runtime.admits_agents = False
        return await write(*a, **k)

    agent = world.agent()
    await agent.connect()
    monkeypatch.setattr(world.runtime.db, "write", fail_over_and_write)
    await agent.send_messages(hello())
    assert await agent.hangs_up() == 4503
    assert await world.runtime.db.read(lambda tx: tx.value("select max(session) from hosts")) == 0


async def test_an_error_does_not_keep_agents_out_forever(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    attempts: list[ServerRuntime] = []

    async def fail_once(runtime: ServerRuntime) -> None:
        attempts.append(runtime)
        if len(attempts) == 1:
            raise ValueError("planted")

    monkeypatch.setattr(loops, "fire_schedules", fail_once)
    monkeypatch.setattr(restored, "RETRY_S", 0.0)
    restored.recover(world.runtime)
    assert world.runtime.recovery is not None
    async with asyncio.timeout(30):
        await world.runtime.recovery
    assert (len(attempts), world.runtime.admits_agents) == (2, True)


async def test_a_failing_event_does_not_keep_agents_out(
    world: World, ada: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    await pending_trigger(world, ada)

    def fail(*_: object) -> None:
        raise ValueError("planted")

    monkeypatch.setattr("belvedere.server.background.trigger_starts.start", fail)
    restored.recover(world.runtime)
    assert world.runtime.recovery is not None
    async with asyncio.timeout(30):
        await world.runtime.recovery
    assert world.runtime.admits_agents
    # The consumer itself tries again: the event is not skipped.
    monkeypatch.undo()
    await consume(world)
    assert len(await triggered_jobs(ada)) == 1


async def test_a_slow_event_keeps_agents_out_until_its_job_exists(
    world: World, ada: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its job may have run before the failover. If the event is too slow every time, its consumer
    sets it aside (`MAX_TIMEOUTS`)."""
    await pending_trigger(world, ada)
    start, attempts = trigger_starts.start, 0

    def exceed_the_limit(*a: Any) -> None:
        nonlocal attempts
        attempts += 1
        assert not world.runtime.admits_agents
        if attempts <= 2 * MAX_TRIES:
            raise StatementTimeout("too slow")
        start(*a)

    monkeypatch.setattr(trigger_starts, "start", exceed_the_limit)
    monkeypatch.setattr(restored, "RETRY_S", 0.0)
    restored.recover(world.runtime)
    assert world.runtime.recovery is not None
    async with asyncio.timeout(30):
        await world.runtime.recovery
    assert world.runtime.admits_agents
    assert len(await triggered_jobs(ada)) == 1
