"""Two servers on one PostgreSQL: work, waiting and revocation pass from one to the other."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest

import engines
from belvedere.access import Keyring
from belvedere.db import Database
from belvedere.db.migrate import open_database
from belvedere.db.postgres.notify import PostgresNotifier
from belvedere.db.signals import (
    ACCESS_CHANGED,
    ANY_EVENT,
    Topic,
    event_recorded,
    host_ready,
    log_written,
)
from belvedere.jobs.api import wait
from belvedere.jobs.lifecycle import claim
from belvedere.protocol import Cancel
from belvedere.server.background import loops
from belvedere.server.runtime import ServerRuntime
from belvedere.server.wiring import build_runtime, connect_notifier, signals_for_others
from belvedere.settings import Settings
from contract.client import Client
from contract.running import create, show
from contract.sse import Stream
from contract.world import World
from manual_clock import ManualClock

pytestmark = pytest.mark.parametrize("engine", ["postgres"], indirect=True)


@pytest.fixture
def other_db(database_url: str, clock: ManualClock) -> Iterator[Database]:
    opened = open_database(database_url)
    opened.clock = clock
    yield opened
    engines.close(opened)


@pytest.fixture
def other_world(
    world: World, other_db: Database, keys: Keyring, settings: Settings, clock: ManualClock
) -> World:
    """The same people at the other server."""
    return world.beside(build_runtime(settings, other_db, other_db, keys, clock))


@asynccontextmanager
async def notifiers(*runtimes: ServerRuntime) -> AsyncIterator[None]:
    connected = [connect_notifier(runtime) for runtime in runtimes]
    try:
        async with asyncio.timeout(30):
            for notifier, other in zip(connected, reversed(runtimes), strict=True):
                task = asyncio.create_task(other.signals.wait(log_written("test"), 30))
                while not (await asyncio.wait([task], timeout=0.01))[0]:
                    # It is lost as long as the other server does not listen.
                    assert notifier is not None
                    notifier.notify({log_written("test")})
        yield
    finally:
        await asyncio.gather(
            *(asyncio.to_thread(notifier.stop) for notifier in connected if notifier is not None)
        )


@asynccontextmanager
async def polling(runtime: ServerRuntime) -> AsyncIterator[None]:
    """The loops that replace lost notifications, as the server runs them."""
    expected = (loops.signal_waiting_hosts, loops.send_cancels)
    tasks = [
        asyncio.create_task(loops.run(loop, runtime))
        for loop in loops.LOOPS
        if loop.work in expected
    ]
    assert len(tasks) == len(expected)
    yield
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def test_a_job_of_one_server_runs_at_the_agent_of_another(
    world: World, other_world: World
) -> None:
    """A job created on one server runs through an agent on the other, woken by a notification."""
    ada, task = world.client("ada"), await world.task()
    async with notifiers(world.runtime, other_world.runtime), other_world.agent() as agent:
        job = await create(ada, task)
        order = await agent.order()
        assert order.job_id == job["id"]
        await agent.end(order, log="over there\n")
        record = await show(ada, job["id"])
    assert (record["state"], record["result"]["log"]) == ("normal", "over there\n")


async def test_other_servers_get_only_signals_that_they_act_on(
    world: World, other_world: World
) -> None:
    signals = {host_ready("elsewhere"), event_recorded("job.created"), event_recorded("job.ended")}
    async with world.agent():
        [connection] = world.runtime.agents.connections()
        here = host_ready(connection.host_id)
        assert signals_for_others(world.runtime.agents, {*signals, here, log_written("job")}) == {
            host_ready("elsewhere"),
            ANY_EVENT,
            log_written("job"),
        }
        assert here in signals_for_others(other_world.runtime.agents, {here})


async def test_without_notifications_work_starts_by_polling(
    world: World, other_world: World
) -> None:
    ada, task = world.client("ada"), await world.task()
    async with other_world.agent() as agent, polling(other_world.runtime):
        job = await create(ada, task)
        assert (await agent.order()).job_id == job["id"]


@pytest.mark.parametrize("notifies", [True, False], ids=["notify", "polling"])
async def test_waiting_for_a_result_crosses_servers(
    world: World, other_world: World, notifies: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada, task = world.client("ada"), await world.task()
    if notifies:
        monkeypatch.setattr(wait, "POLL_S", 3_600.0)
    either = (
        notifiers(world.runtime, other_world.runtime) if notifies else polling(other_world.runtime)
    )
    async with other_world.agent() as agent, either:
        target = "/acme/job?wait_result=true&wait_timeout=60"
        waits = asyncio.create_task(ada.post(target, {"task": task}))
        await agent.end(await agent.order(), code=4)
        async with asyncio.timeout(30):
            done = await waits
    assert (done.status, done.json["result"]["code"]) == (200, 4)


async def test_ends_are_requested_from_other_servers_only_if_they_report_them(
    world: World, other_world: World
) -> None:
    ada, task = world.client("ada"), await world.task()
    target = "/acme/job?wait_result=true&wait_timeout=60"
    for agent_world, topics in ((world, []), (other_world, [Topic.JOB])):
        async with agent_world.agent() as agent, polling(agent_world.runtime):
            waits = asyncio.create_task(ada.post(target, {"task": task}))
            order = await agent.order()
            assert world.runtime.signals.requested_topics() == topics
            await agent.end(order)
            assert (await waits).status == 200
        assert world.runtime.signals.requested_topics() == []
    assert other_world.runtime.signals.requested_topics() == []


async def test_a_new_job_for_an_agent_requests_ends_from_its_server(
    world: World, other_world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The request itself may arrive after the end. Other signals of hosts request nothing."""
    requests: list[tuple[PostgresNotifier, Topic]] = []
    monkeypatch.setattr(
        PostgresNotifier,
        "note_requests",
        lambda notifier, topics: requests.extend((notifier, topic) for topic in topics),
    )
    ada, task = world.client("ada"), await world.task()
    async with notifiers(world.runtime, other_world.runtime), other_world.agent() as agent:
        await world.runtime.db.write_batched(claim.signal_hosts, "unknown")
        assert requests == []
        await create(ada, task)
        await agent.order()
    assert [topic for _, topic in requests] == [Topic.JOB]


async def test_events_are_requested_while_a_stream_is_open(world: World) -> None:
    signals = world.runtime.signals
    assert signals.requested_topics() == []
    async with Stream(world.client("ada"), "/-/events") as stream:
        await create(world.client("ada"), await world.task())
        await stream.until("job.created")
        assert signals.requested_topics() == [Topic.EVENTS]


@pytest.mark.parametrize("notifies", [True, False], ids=["notify", "polling"])
async def test_a_cancel_crosses_servers(world: World, other_world: World, notifies: bool) -> None:
    ada, task = world.client("ada"), await world.task()
    either = (
        notifiers(world.runtime, other_world.runtime) if notifies else polling(other_world.runtime)
    )
    async with other_world.agent() as agent, either:
        job = await create(ada, task)
        order = await agent.order()
        await ada.put(f"/acme/job/{job['id']}/cancel")
        assert (await agent.hear(Cancel)).fence == order.fence


async def test_events_cross_servers(world: World, other_world: World) -> None:
    ada, task = world.client("ada"), await world.task()
    async with (
        notifiers(world.runtime, other_world.runtime),
        Stream(other_world.client("ada"), "/-/events") as far,
    ):
        job = await create(ada, task)
        assert (await far.until("job.created")).data["object_id"] == job["id"]


async def test_a_log_is_followed_across_servers(world: World, other_world: World) -> None:
    ada, task = world.client("ada"), await world.task()
    async with notifiers(world.runtime, other_world.runtime), other_world.agent() as agent:
        job = await create(ada, task)
        order = await agent.order()
        async with Stream(ada, f"/acme/job/{job['id']}/log?follow=true") as stream:
            await agent.write(order.fence, 0, 0, b"far away\n")
            assert (await stream.until("output")).data == "far away\n"
            await agent.end(order, log=None, bytes_total=9, lines_total=1, sha256="ab" * 32)
            assert (await stream.until("end")).data["bytes"] == 9


async def test_a_revoked_token_is_invalid_on_both_servers_at_once(
    world: World, other_world: World
) -> None:
    ada = world.client("ada")
    token = (await ada.post("/api/token", {"name": "doomed"})).json
    here = Client(world.app, token["token"], check=world.conformity)
    far = Client(other_world.app, token["token"], check=world.conformity)
    async with notifiers(world.runtime, other_world.runtime):
        assert [(await item.get("/acme/task")).status for item in (here, far)] == [200, 200]
        rang = asyncio.create_task(other_world.runtime.signals.wait(ACCESS_CHANGED, 5))
        await asyncio.sleep(0)
        await ada.delete(f"/api/token/{token['id']}")
        assert (await here.get("/acme/task")).status == 401
        assert await rang
        assert (await far.get("/acme/task")).status == 401


async def test_a_revoked_token_is_refused_within_a_second_without_notify(
    world: World, other_world: World, clock: ManualClock
) -> None:
    ada = world.client("ada")
    token = (await ada.post("/api/token", {"name": "doomed"})).json
    far = Client(other_world.app, token["token"], check=world.conformity)
    assert (await far.get("/acme/task")).status == 200
    await ada.delete(f"/api/token/{token['id']}")
    clock.move(1.001)
    assert (await far.get("/acme/task")).status == 401


async def test_one_key_on_two_servers_creates_one_job(world: World, other_world: World) -> None:
    task, key = await world.task(), {"idempotency-key": "k"}
    clients = (world.client("uma"), other_world.client("uma"))
    answers = await asyncio.gather(
        *(answer.post("/acme/job", {"task": task}, headers=key) for answer in clients * 10)
    )
    assert {answer.status for answer in answers} == {200}
    assert len({answer.json["id"] for answer in answers}) == 1
    assert len((await clients[0].get("/acme/job")).json) == 1


async def test_an_agent_that_moves_leaves_its_old_server_without_orders(
    world: World, other_world: World
) -> None:
    ada, task = world.client("ada"), await world.task()
    async with world.agent() as old, other_world.agent() as new:
        job = await create(ada, task)
        # The old server may not assign it: the session there is no longer the host's.
        assert (await show(ada, job["id"]))["lifecycle"] == "ready"
        async with polling(other_world.runtime):
            order = await new.order()
        assert order.job_id == job["id"] and new.welcome is not None
        assert order.session == new.welcome.session
        # A response means that it was received.
        assert await old.fetch("0" * 64) is None
        await loops.record_seen(world.runtime)
        assert await old.hangs_up() == 4409
