"""When hosts count as unreachable and jobs as lost: two clocks must agree, and one of them cannot
be set."""

import asyncio

import pytest

from belvedere.base.clock import SYNC_INTERVAL, ObservedDurations, SharedClock, wall
from belvedere.db import Database
from belvedere.server.background import loops
from contract.fakeagent import FakeAgent
from contract.running import create, show
from contract.world import World
from manual_clock import ManualClock


class ManualMonotonic:
    """The clock that cannot be set, controlled by a test; the loops run whenever it moves."""

    def __init__(self, world: World) -> None:
        self.runtime, self.seconds = world.runtime, 0.0
        world.runtime.silent, world.runtime.overdue = (
            ObservedDurations(self.time),
            ObservedDurations(self.time),
        )

    def time(self) -> float:
        return self.seconds

    async def move(self, seconds: float) -> None:
        """So much time passes, with a run of the loops every five seconds."""
        for _ in range(round(seconds / 5)):
            self.seconds += 5
            await loops.record_seen(self.runtime)
            await loops.mark_silent(self.runtime)
            await loops.mark_overdue_lost(self.runtime)


@pytest.fixture
def watch(world: World) -> ManualMonotonic:
    return ManualMonotonic(world)


async def both(clock: ManualClock, watch: ManualMonotonic, seconds: int) -> None:
    """Time goes by as it does."""
    for _ in range(seconds // 5):
        clock.move(5)
        await watch.move(5)


async def state(world: World) -> str:
    hosts = (await world.client("ada").get("/acme/host?where[hostname]=web-1")).json
    return str(hosts[0]["state"])


async def send_heartbeat(agent: FakeAgent, world: World) -> None:
    """A heartbeat that the server has received."""
    await agent.beat()
    async with asyncio.timeout(30):
        while not any(agent.is_heard for agent in world.runtime.agents.connections()):
            await asyncio.sleep(0)


async def test_the_job_of_a_silent_host_is_lost(
    world: World, clock: ManualClock, watch: ManualMonotonic
) -> None:
    """A silent host is unreachable after half a minute, its job lost a minute after its
    deadline."""
    ada, task = world.client("ada"), await world.task(timeout=60_000)
    async with world.agent() as agent:
        job = await create(ada, task)
        await agent.order()
        await both(clock, watch, 25)
        assert await state(world) == "online"
        await both(clock, watch, 15)
        assert await state(world) == "unreachable"
        await both(clock, watch, 60)
        assert (await show(ada, job["id"]))["lifecycle"] == "assigned"
        await both(clock, watch, 40)
    assert (await show(ada, job["id"]))["state"] == "lost"


async def test_a_clock_set_forward_marks_no_host(
    world: World, clock: ManualClock, watch: ManualMonotonic
) -> None:
    ada, task = world.client("ada"), await world.task(timeout=60_000)
    async with world.agent() as agent:
        job = await create(ada, task)
        order = await agent.order()
        clock.move(3 * 3_600)
        await watch.move(10)
        assert await state(world) == "online"
        for _ in range(12):
            await send_heartbeat(agent, world)
            await both(clock, watch, 10)
        record = await show(ada, job["id"])
        assert (record["lifecycle"], record["waiting_reason"]) == ("assigned", None)
        await agent.end(order)
    assert (await show(ada, job["id"]))["state"] == "normal"
    assert await state(world) in ("online", "offline")


async def test_a_silent_host_is_unreachable_although_the_clock_was_set_back(
    world: World, clock: ManualClock, watch: ManualMonotonic
) -> None:
    async with world.agent():
        await both(clock, watch, 10)
        clock.move(-20)
        await both(clock, watch, 65)
        assert await state(world) == "unreachable"


def test_the_shared_clock_continues_without_readings() -> None:
    clock = SharedClock()
    assert clock.is_due()
    assert abs(clock() - wall()) < 60_000
    clock.synchronize(1_000_000)
    assert 1_000_000 <= clock() < 1_060_000
    assert not clock.is_due()
    assert SYNC_INTERVAL == 10_000


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
async def test_servers_on_one_database_use_its_time(db: Database) -> None:
    """However wrong the clock of the machine is."""
    clock = SharedClock()
    db.clock = clock
    clock.synchronize(5)
    clock._synced_at = None
    await db.read(lambda tx: tx.value("select 1"))
    theirs = await db.read(
        lambda tx: tx.value("select (extract(epoch from clock_timestamp()) * 1000)::bigint")
    )
    assert abs(clock() - theirs) < 10_000
