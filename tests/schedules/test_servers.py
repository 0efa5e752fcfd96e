"""Several servers on one PostgreSQL: each scheduled time has one job, whichever server is first."""

import asyncio
from collections import Counter
from collections.abc import Iterator

import pytest

import engines
from belvedere.db import Database
from belvedere.db.migrate import open_database
from belvedere.schedules import firing, store
from belvedere.workflows.schedule_targets import TARGETS
from manual_clock import ManualClock

from .conftest import Make, jobs, run_lines

SCHEDULES, TURNS = 12, 5


@pytest.fixture
def servers(db: Database, database_url: str, clock: ManualClock) -> Iterator[list[Database]]:
    """Three servers, each with its own connections; on SQLite the same one three times."""
    more = [] if db.dialect.name == "sqlite" else [open_database(database_url) for _ in range(2)]
    for item in more:
        item.clock = clock
    yield [db, *more] if more else [db, db, db]
    for item in more:
        engines.close(item)


async def turn(server: Database) -> int:
    """What a server's loop does, for everything that is due; how many it started."""
    due = await server.read(store.due_ids, 1_000)
    fired = await asyncio.gather(*(server.write(firing.fire, TARGETS, item) for item in due))
    return sum(fired)


async def test_several_servers_start_each_run_once(
    db: Database, servers: list[Database], clock: ManualClock, make: Make
) -> None:
    rows = [await asyncio.to_thread(make, overlap="queue") for _ in range(SCHEDULES)]
    for _ in range(TURNS):
        clock.move(600)
        # Until none finds anything: what one has locked, the others skip.
        fired = 0
        while fired < SCHEDULES:
            fired += sum(await asyncio.gather(*(turn(item) for item in servers * 2)))
        assert fired == SCHEDULES
    assert await asyncio.to_thread(jobs, db) == SCHEDULES * TURNS
    for row in rows:
        lines = await asyncio.to_thread(run_lines, db, row)
        assert Counter(line[0] for line in lines) == Counter(
            ["09:10:00", "09:20:00", "09:30:00", "09:40:00", "09:50:00"]
        )


async def test_two_schedules_of_one_task_on_two_servers_do_not_overlap(
    db: Database, servers: list[Database], clock: ManualClock, make: Make
) -> None:
    schedule = await asyncio.to_thread(make)
    others = [await asyncio.to_thread(make, of=schedule.target_id) for _ in range(5)]
    clock.move(600)
    fired = 0
    while fired < 6:
        fired += sum(await asyncio.gather(*(turn(server) for server in servers)))
    states = [(await asyncio.to_thread(run_lines, db, row))[0][1] for row in (schedule, *others)]
    assert Counter(states) == Counter({"missed": 5, "started": 1})
    assert await asyncio.to_thread(jobs, db) == 1
