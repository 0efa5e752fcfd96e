"""Schedules of acme with a manual clock."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from belvedere.access.crypto.keyring import Keyring
from belvedere.base.clock import parse_iso
from belvedere.db import Database
from belvedere.hosts import store as hosts
from belvedere.rest import listing as filters
from belvedere.schedules import firing, run_history, service, store
from belvedere.schedules.bodies import ScheduleBody
from belvedere.schedules.model import ScheduleRow, ScheduleRun
from belvedere.tasks import service as tasks
from belvedere.tasks.bodies import TaskBody
from belvedere.workflows.schedule_targets import TARGETS
from manual_clock import ManualClock
from people import Actors

Make = Callable[..., ScheduleRow]
Task = Callable[..., str]
BEGIN = parse_iso("2026-03-02T09:00:30Z")


@pytest.fixture
def task(db: Database, keys: Keyring, actors: Actors) -> Task:
    """Create a script task of acme."""
    host = db.write_blocking(hosts.insert, actors.acme.id, "web-1", "machine-1", "")

    def make(name: str = "tidy", **more: Any) -> str:
        fields = {
            "name": name,
            "type": "script",
            "host_id": host.id,
            "script": {"filename": "a.sh", "source": "#!/bin/sh\n"},
            **more,
        }
        sent_task = msgspec.convert(fields, TaskBody, strict=False)
        return db.write_blocking(tasks.create, keys, actors.ada, sent_task)[0].id

    return make


@pytest.fixture
def make(db: Database, actors: Actors, clock: ManualClock, task: Task) -> Make:
    """A schedule of a new task; the clock shows half a minute past nine."""
    clock.now = BEGIN

    def create(repeat: str | None = "*/10 * * * *", of: str = "", **more: Any) -> ScheduleRow:
        sent_body = {"repeatEvery": repeat, **more}
        body = msgspec.convert(sent_body, ScheduleBody, strict=False)
        schedule = db.write_blocking(
            service.create, TARGETS, actors.ada, "task", of or task(), body
        )
        return schedule.row

    return create


def pass_time(db: Database, clock: ManualClock, seconds: float) -> None:
    """The clock moves, then the loop runs."""
    clock.move(seconds)
    for schedule_id in db.write_blocking(store.due_ids, 1_000):
        assert db.write_blocking(firing.fire, TARGETS, schedule_id)


def lines(db: Database, row: ScheduleRow) -> list[ScheduleRun]:
    """The run history, oldest first."""
    listing = filters.read({}, run_history.RUNS)
    return db.write_blocking(run_history.select_page, row.customer_id, row.id, listing)[::-1]


def run_lines(db: Database, row: ScheduleRow) -> list[tuple[str, str, str | None, int]]:
    """Each line as (time of the day, state, reason, count)."""
    return [
        (clock_time(line.nominal_at), line.state, line.reason, line.count)
        for line in lines(db, row)
    ]


def clock_time(at: int) -> str:
    seconds = at // 1_000 % 86_400
    return f"{seconds // 3_600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"


def jobs(db: Database) -> int:
    return db.write_blocking(lambda tx: int(tx.value("select count(*) from jobs")))


def finish_all(db: Database) -> None:
    """Cancel every open job."""
    db.write_blocking(
        lambda tx: tx.execute(
            "update jobs set lifecycle = 'canceled', state = 'canceled' where lifecycle = 'ready'"
        )
    )
