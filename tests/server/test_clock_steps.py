"""The server's clock is set: no schedule, deadline or connection stops, ends or starts because of
it."""

from collections.abc import Iterator
from typing import Any

import pytest

import engines
from belvedere import hosts
from belvedere.access import Keyring
from belvedere.access.limits.rate_limits import RateWindow
from belvedere.base.clock import HOUR, MINUTE, SECOND, SharedClock, parse_iso
from belvedere.db import clock_steps
from belvedere.db.migrate import open_database
from belvedere.indicators.store import has_newly_stale
from belvedere.schedules import store as schedules
from belvedere.server import clock as server_clock
from belvedere.server.background import loops
from belvedere.server.runtime import ServerRuntime
from belvedere.server.wiring import build_runtime
from belvedere.settings import Settings
from contract.running import create, show
from contract.world import World
from manual_clock import ManualClock

BEGIN = parse_iso("2027-03-02T09:00:30Z")


class Server:
    """A server whose clock follows a source that a test sets."""

    def __init__(self, runtime: ServerRuntime, source: ManualClock) -> None:
        self.runtime, self.source = runtime, source
        runtime.db.clock = runtime.clock = SharedClock(source, source.steady)

    async def follow(self) -> None:
        await server_clock.follow(self.runtime)

    async def fire(self) -> None:
        """What is due now; the loop itself would wait for what is due soon."""
        for schedule_id in await self.runtime.db.read(schedules.due_ids, 100):
            await loops._fire(self.runtime, schedule_id)

    async def run(self, seconds: int, every: int = 10) -> None:
        """Time passes; the loops run from time to time."""
        for _ in range(0, seconds, every):
            self.source.move(every)
            await self.follow()
            await self.fire()

    async def set_clock(self, seconds: float) -> None:
        self.source.set_by(seconds)
        await self.follow()
        await self.fire()


@pytest.fixture
def server(world: World, clock: ManualClock) -> Server:
    clock.now = BEGIN
    return Server(world.runtime, clock)


async def schedule(world: World, **fields: Any) -> Any:
    task = await world.task()
    token = world.client("token")
    answer = await token.post(f"/acme/task/{task}/schedule", {"overlap": "queue", **fields})
    assert answer.status == 200, answer.body
    return answer.json


async def runs(world: World, item: Any) -> list[Any]:
    """The run history in the order of decisions."""
    records = (await world.client("token").get(f"/acme/schedule/{item['id']}/run?limit=1000")).json
    return sorted(records, key=lambda run: (run["date"], run["nominal"]))


async def read_schedule(world: World, item: Any) -> Any:
    return (await world.client("token").get(f"/acme/schedule/{item['id']}")).json


def times(items: list[Any]) -> list[str]:
    return [run["nominal"][11:19] for run in items]


async def test_an_interval_continues_over_clock_steps(world: World, server: Server) -> None:
    """An interval continues every ten seconds, an hour forward and back again."""
    await server.follow()
    new_schedule = await schedule(world, repeatEvery="every 10 seconds")
    await server.run(60)
    await server.set_clock(3_600)
    await server.run(60)
    await server.set_clock(-3_600)
    await server.run(60)
    actual_runs = await runs(world, new_schedule)
    assert [(run["state"], run["reason"]) for run in actual_runs] == [("started", None)] * len(
        actual_runs
    )
    assert len(actual_runs) in (17, 18)
    assert len({run["job_id"] for run in actual_runs}) == len(actual_runs)


async def test_a_long_interval_keeps_its_remaining_time(world: World, server: Server) -> None:
    await server.follow()
    new_schedule = await schedule(world, repeatEvery="1d")
    await server.run(10)
    await server.set_clock(-3_600)
    next_at = parse_iso((await read_schedule(world, new_schedule))["nextRunAt"])
    assert next_at - server.source.now == 24 * HOUR - 10 * SECOND
    await server.set_clock(7_200)
    next_at = parse_iso((await read_schedule(world, new_schedule))["nextRunAt"])
    assert next_at - server.source.now == 24 * HOUR - 10 * SECOND
    assert await runs(world, new_schedule) == []


async def test_an_interval_with_a_date_continues_after_its_first_run(
    world: World, server: Server
) -> None:
    await server.follow()
    new_schedule = await schedule(
        world, repeatEvery="every 10 seconds", runDate="2027-03-02T09:01:00Z"
    )
    await server.run(60)
    assert len(await runs(world, new_schedule)) == 4
    # The date is in the future again.
    await server.set_clock(-3_600)
    await server.run(60)
    actual_runs = await runs(world, new_schedule)
    assert len(actual_runs) in (9, 10) and {run["state"] for run in actual_runs} == {"started"}


async def test_a_future_date_stays_unchanged(world: World, server: Server) -> None:
    await server.follow()
    new_schedule = await schedule(world, repeatEvery="1h", runDate="2027-03-02T12:00:00Z")
    await server.set_clock(-3_600)
    assert (await read_schedule(world, new_schedule))["nextRunAt"] == "2027-03-02T12:00:00.000Z"
    await server.set_clock(2 * 3_600)
    assert (await read_schedule(world, new_schedule))["nextRunAt"] == "2027-03-02T12:00:00.000Z"


async def test_cron_instants_that_the_clock_skips_are_missed_for_that_reason(
    world: World, server: Server
) -> None:
    await server.follow()
    new_schedule = await schedule(world, repeatEvery="*/10 * * * *")
    await server.set_clock(3_600)
    line, on_time = await runs(world, new_schedule)
    assert (line["state"], line["reason"], line["count"]) == ("missed", "clock_changed", 5)
    assert line["message"] == "The clock was set forward past this time."
    # It was half a minute ago.
    assert (on_time["nominal"][11:16], on_time["state"]) == ("10:00", "started")
    assert (await read_schedule(world, new_schedule))["nextRunAt"] == "2027-03-02T10:10:00.000Z"


async def test_a_server_that_was_down_is_still_a_reason(world: World, server: Server) -> None:
    await server.follow()
    new_schedule = await schedule(world, repeatEvery="*/10 * * * *")
    server.source.move(3_120)
    await server.follow()
    await server.fire()
    assert {run["reason"] for run in await runs(world, new_schedule)} == {"server_down"}


async def test_skipped_instants_are_caught_up_once(world: World, server: Server) -> None:
    await server.follow()
    new_schedule = await schedule(world, repeatEvery="*/10 * * * *", missed="once")
    server.source.move(120)
    await server.set_clock(1_800)
    actual_runs = await runs(world, new_schedule)
    assert [(run["state"], run["reason"], run["count"]) for run in actual_runs] == [
        ("missed", "clock_changed", 2),
        ("started", "caught_up", 1),
    ]


async def test_no_cron_instant_is_started_twice_and_none_waits(
    world: World, server: Server
) -> None:
    await server.follow()
    new_schedule = await schedule(world, repeatEvery="*/10 * * * *")
    await server.run(1_200, every=30)
    assert times(await runs(world, new_schedule)) == ["09:10:00", "09:20:00"]
    # Forward by mistake, and back a minute later.
    await server.set_clock(3_600)
    await server.run(60, every=30)
    await server.set_clock(-3_600)
    assert (await read_schedule(world, new_schedule))["nextRunAt"] == "2027-03-02T09:30:00.000Z"
    await server.run(3_600, every=30)
    started = times([run for run in await runs(world, new_schedule) if run["state"] == "started"])
    assert started == ["09:10:00", "09:20:00"] + [f"09:{n}0:00" for n in (3, 4, 5)] + [
        "10:00:00",
        "10:10:00",
        "10:20:00",
    ]


async def test_a_repeated_hour_starts_nothing_again(world: World, server: Server) -> None:
    await server.follow()
    new_schedule = await schedule(world, repeatEvery="*/10 * * * *")
    await server.run(3_600, every=30)
    before = times(await runs(world, new_schedule))
    await server.set_clock(-3_600)
    assert (await read_schedule(world, new_schedule))["nextRunAt"] == "2027-03-02T10:10:00.000Z"
    await server.run(3_600, every=30)
    assert times(await runs(world, new_schedule)) == before


@pytest.mark.parametrize("repeat", ["*/10 * * * *", "every 10 seconds"])
async def test_a_pause_stays_a_pause(world: World, server: Server, repeat: str) -> None:
    await server.follow()
    new_schedule = await schedule(world, repeatEvery=repeat)
    await world.client("token").put(f"/acme/schedule/{new_schedule['id']}/pause", {})
    await server.run(60)
    await server.set_clock(-3_600)
    await server.run(1_200, every=60)
    assert await runs(world, new_schedule) == []


@pytest.mark.parametrize("repeat", ["*/10 * * * *", "every 10 minutes"])
async def test_a_clock_that_was_set_back_while_no_server_ran(
    world: World, clock: ManualClock, repeat: str
) -> None:
    clock.now = BEGIN + HOUR
    new_schedule = await schedule(world, repeatEvery=repeat)
    clock.now = BEGIN
    server = Server(world.runtime, clock)
    await server.follow()
    next_at = parse_iso((await read_schedule(world, new_schedule))["nextRunAt"])
    assert server.source.now < next_at <= server.source.now + 10 * MINUTE


async def test_small_differences_are_drift(world: World, server: Server) -> None:
    await server.follow()
    await server.set_clock(1.5)
    assert (await world.runtime.db.read(clock_steps.recorded)).offset == 0
    assert world.runtime.clock() == server.source.now


# Several servers on one database


@pytest.fixture
def other_server(
    database_url: str, keys: Keyring, settings: Settings, clock: ManualClock, server: Server
) -> Iterator[Server]:
    opened = open_database(database_url)
    yield Server(build_runtime(settings, opened, opened, keys), clock)
    engines.close(opened)


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
@pytest.mark.parametrize("seconds", [3_600, -3_600])
async def test_one_of_two_servers_moves_the_deadlines(
    world: World, server: Server, other_server: Server, seconds: int
) -> None:
    await server.follow()
    await other_server.follow()
    new_schedule = await schedule(world, repeatEvery="1d")
    server.source.set_by(seconds)
    await server.follow()
    moved = (await read_schedule(world, new_schedule))["nextRunAt"]
    # The other one has the old time; what it would decide by that is undone.
    assert await loops.run_deadline(other_server.runtime, schedules.due_ids, 100) is None
    await other_server.follow()
    await server.follow()
    await other_server.follow()
    assert (await read_schedule(world, new_schedule))["nextRunAt"] == moved
    assert parse_iso(moved) - server.source.now == 24 * HOUR
    assert other_server.runtime.clock() == server.runtime.clock() == server.source.now
    assert await loops.run_deadline(other_server.runtime, schedules.due_ids, 100) == []


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
async def test_a_clock_step_recorded_by_another_server_is_applied(
    world: World, server: Server, other_server: Server
) -> None:
    """At the limit one server treats a difference as a step that the other treats as drift."""
    await server.follow()
    await other_server.follow()
    server.source.set_by(1.9)
    await other_server.follow()
    server.source.set_by(0.2)
    await server.follow()
    for _ in range(3):
        await other_server.follow()
        await server.follow()
    assert (await world.runtime.db.read(clock_steps.recorded)).offset == 2_100
    assert server.runtime.clock() == other_server.runtime.clock() == server.source.now


# Other deadlines


async def test_a_waiting_job_does_not_expire(world: World, server: Server) -> None:
    await server.follow()
    token = world.client("token")
    job = await create(token, await world.task(expires=MINUTE))
    await server.set_clock(3_600)
    await loops.expire(world.runtime)
    assert (await show(token, job["id"]))["lifecycle"] == "ready"
    await server.set_clock(-3_600)
    server.source.move(61)
    await loops.expire(world.runtime)
    assert (await show(token, job["id"]))["lifecycle"] == "expired"


@pytest.mark.parametrize("seconds", [3_600, -3_600])
async def test_a_running_job_keeps_its_time_limit(
    world: World, server: Server, seconds: int
) -> None:
    await server.follow()
    token = world.client("token")
    async with world.agent() as agent:
        job = await create(token, await world.task(timeout=600_000))
        order = await agent.order()
        before = await _remaining(world, "jobs", "deadline_at", job["id"])
        await server.set_clock(seconds)
        assert await _remaining(world, "jobs", "deadline_at", job["id"]) == before
        await agent.end(order)
    assert (await show(token, job["id"]))["state"] == "normal"


@pytest.mark.parametrize("seconds", [3_600, -3_600])
async def test_silence_counts_from_when_it_began(
    world: World, server: Server, seconds: int
) -> None:
    await server.follow()
    async with world.agent():
        host_id = world.things.hosts["web-1"].host_id
        await server.set_clock(seconds)
        assert await _remaining(world, "hosts", "seen_at", host_id) == 0
        server.source.move(31)
        silent = await world.runtime.db.read(hosts.silent_ids, 30_000)
        assert silent == [host_id]


async def test_a_heartbeat_from_before_the_step_is_not_in_the_future(
    world: World, server: Server
) -> None:
    await server.follow()
    host_id = world.things.hosts["web-1"].host_id
    async with world.agent() as agent:
        assert agent.welcome is not None
        world.runtime.agents.record(host_id, agent.welcome.session, world.runtime.clock())
        await server.set_clock(-3_600)
        await loops.record_seen(world.runtime)
        assert await _remaining(world, "hosts", "seen_at", host_id) <= 0


@pytest.mark.parametrize("seconds", [3_600, -3_600])
async def test_monitors_and_indicators_wait_as_long_as_before(
    world: World, server: Server, seconds: int
) -> None:
    await server.follow()
    token = world.client("token")
    body: dict[str, Any] = {
        "type": "scraper",
        "name": "shop",
        "url": "http://shop.test/",
        "status_code": "200",
    }
    answer = await token.post("/acme/monitor", {**body, "looptime": 60_000, "hostname": "web-1"})
    monitor = answer.json["id"]
    body = {"title": "load", "type": "progress", "value": 5, "ttl": 60_000}
    indicator = (await token.post("/acme/indicator", body)).json["id"]
    places = (("monitors", "due_at", monitor), ("indicators", "stale_at", indicator))
    before = [await _remaining(world, *place) for place in places]
    await server.set_clock(seconds)
    assert [await _remaining(world, *place) for place in places] == before
    assert not await world.runtime.db.read(has_newly_stale)


async def test_a_clock_set_back_does_not_prolong_a_rate_limit(clock: ManualClock) -> None:
    window = RateWindow(1, MINUTE, clock)
    window.add("somebody")
    assert window.wait("somebody") == MINUTE
    clock.set_by(-3_600)
    assert window.wait("somebody") == 0


async def _remaining(world: World, table: str, column: str, object_id: str) -> int:
    now = world.runtime.clock()
    sql = f"select {column} from {table} where id = ?"
    text: int = await world.runtime.db.read(lambda tx: tx.value(sql, object_id))
    return text - now
