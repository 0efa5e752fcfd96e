"""Each scheduled time runs once, or is missed with a reason."""

import json

import msgspec
import pytest

from belvedere.access.crypto import sealed_values
from belvedere.base.clock import HOUR, SECOND, iso
from belvedere.base.errors import Invalid
from belvedere.db import Database, Tx
from belvedere.rest import listing
from belvedere.schedules import bodies, firing, run_history, service, store
from belvedere.schedules.api import preview
from belvedere.schedules.bodies import PreviewBody, ScheduleBody
from belvedere.tasks import service as tasks
from belvedere.tasks.bodies import TaskBody
from belvedere.workflows.schedule_targets import TARGETS
from event_rows import for_object
from manual_clock import ManualClock
from people import Actors

from .conftest import BEGIN, Make, Task, finish_all, jobs, lines, pass_time, run_lines

MINUTE_S, HOUR_S = 60, 3_600


def test_a_schedule_starts_a_job_at_its_time(db: Database, clock: ManualClock, make: Make) -> None:
    row = make()
    pass_time(db, clock, 9 * MINUTE_S)
    assert jobs(db) == 0
    pass_time(db, clock, 30)
    assert run_lines(db, row) == [("09:10:00", "started", None, 1)]
    (line,) = lines(db, row)
    pair = db.write_blocking(
        lambda tx: tx.row(
            "select origin, user_id, username, email from jobs where id = ?", line.job_id
        )
    )
    assert pair == ("scheduler", "", "", "")
    schedule = db.write_blocking(store.find, row.customer_id, row.id)
    assert (schedule.last_at, schedule.last_job_id) == (line.nominal_at, line.job_id)
    assert iso(schedule.next_at or 0) == "2026-03-02T09:20:00.000Z"
    fired = db.write_blocking(for_object, row.id)[-1]
    assert (fired.kind, msgspec.json.decode(fired.data)["job_id"]) == (
        "schedule.fired",
        line.job_id,
    )


def test_an_instant_never_starts_twice(
    db: Database, clock: ManualClock, make: Make, actors: Actors
) -> None:
    row = make(overlap="queue")
    pass_time(db, clock, 10 * MINUTE_S)
    # The clock is set back and the schedule is edited, which computes its next instant.
    clock.move(-HOUR_S)
    for name in ("a", "b"):
        body = ScheduleBody(name=name, timezone="Etc/UTC" if name == "a" else "UTC")
        db.write_blocking(service.change, TARGETS, actors.ada, row.id, body)
    pass_time(db, clock, HOUR_S)
    assert jobs(db) == 1
    # Even with a row that was moved back manually.
    at = lines(db, row)[0].nominal_at
    db.write_blocking(lambda tx: tx.execute("update schedules set next_at = ?", at))
    pass_time(db, clock, 0)
    assert (jobs(db), len(run_lines(db, row))) == (1, 1)


def test_while_an_earlier_job_is_open_it_is_skipped(
    db: Database, clock: ManualClock, make: Make
) -> None:
    row = make()
    pass_time(db, clock, 10 * MINUTE_S)
    pass_time(db, clock, 10 * MINUTE_S)
    finish_all(db)
    pass_time(db, clock, 10 * MINUTE_S)
    assert run_lines(db, row) == [
        ("09:10:00", "started", None, 1),
        ("09:20:00", "missed", "still_running", 1),
        ("09:30:00", "started", None, 1),
    ]
    first, second, _ = lines(db, row)
    assert second.job_id == first.job_id and str(first.job_id) in second.message


def test_two_schedules_of_one_task_do_not_overlap(
    db: Database, clock: ManualClock, make: Make
) -> None:
    schedule = make()
    other = make(of=schedule.target_id)
    pass_time(db, clock, 10 * MINUTE_S)
    states = [run_lines(db, row)[0][1:3] for row in (schedule, other)]
    assert sorted(states, key=str) == [("missed", "still_running"), ("started", None)]


def test_with_queue_every_instant_has_its_job(db: Database, clock: ManualClock, make: Make) -> None:
    row = make(overlap="queue")
    for _ in range(3):
        pass_time(db, clock, 10 * MINUTE_S)
    assert [line[1:3] for line in run_lines(db, row)] == [("started", None)] * 3
    assert jobs(db) == 3


def test_runs_due_while_no_server_ran_are_missed(
    db: Database, clock: ManualClock, make: Make
) -> None:
    row = make()
    pass_time(db, clock, 2 * HOUR_S + 5 * MINUTE_S)
    assert run_lines(db, row) == [("09:10:00", "missed", "server_down", 12)]
    assert iso(lines(db, row)[0].until_at) == "2026-03-02T11:00:00.000Z"
    pass_time(db, clock, 5 * MINUTE_S)
    assert run_lines(db, row)[1] == ("11:10:00", "started", None, 1)


def test_all_missed_runs_are_caught_up_by_one_job(
    db: Database, clock: ManualClock, make: Make
) -> None:
    row = make(missed="once")
    # Ten past eleven is two minutes ago.
    pass_time(db, clock, 2 * HOUR_S + 11 * MINUTE_S)
    assert run_lines(db, row) == [
        ("09:10:00", "missed", "server_down", 12),
        ("11:10:00", "started", "caught_up", 1),
    ]
    assert jobs(db) == 1


def test_a_run_on_time_replaces_the_missed_runs(
    db: Database, clock: ManualClock, make: Make
) -> None:
    row = make(missed="once")
    pass_time(db, clock, 2 * HOUR_S - 20)
    assert run_lines(db, row) == [
        ("09:10:00", "missed", "server_down", 11),
        ("11:00:00", "started", None, 1),
    ]


def test_half_a_minute_late_is_on_time(db: Database, clock: ManualClock, make: Make) -> None:
    row = make()
    pass_time(db, clock, 10 * MINUTE_S + 29)
    assert run_lines(db, row) == [("09:10:00", "started", None, 1)]


def test_a_year_of_missed_seconds_is_one_row(db: Database, clock: ManualClock, make: Make) -> None:
    row = make("* * * * * *")
    pass_time(db, clock, 365 * 24 * HOUR_S)
    (gap, *starts) = lines(db, row)
    assert (gap.reason, gap.count) == ("server_down", 1_000)
    assert gap.until_at >= clock.now - 61 * SECOND
    # The last minute counts as on time; the first of it is running.
    assert [start.state for start in starts].count("started") == 1 and len(starts) == 61


def test_a_pause_ends_by_itself(
    db: Database, clock: ManualClock, make: Make, actors: Actors
) -> None:
    row = make()
    until = iso(BEGIN + HOUR)
    db.write_blocking(service.pause, TARGETS, actors.ada, row.id, until, "the shop moves")
    for _ in range(6):
        pass_time(db, clock, 10 * MINUTE_S)
    pass_time(db, clock, 10 * MINUTE_S)
    assert run_lines(db, row) == [
        ("09:10:00", "missed", "paused", 6),
        ("10:10:00", "started", None, 1),
    ]
    schedule = db.write_blocking(store.find, row.customer_id, row.id)
    assert (schedule.paused_at, schedule.paused_until, schedule.pause_note) == (None, None, "")


def test_a_pause_without_an_end_ends_when_it_is_resumed(
    db: Database, clock: ManualClock, make: Make, actors: Actors
) -> None:
    row = make(missed="once")
    db.write_blocking(service.pause, TARGETS, actors.ada, row.id, None, "")
    pass_time(db, clock, 30 * 24 * HOUR_S)
    assert run_lines(db, row) == []
    db.write_blocking(service.resume, TARGETS, actors.ada, row.id)
    pass_time(db, clock, 0)
    assert [line[1:] for line in run_lines(db, row)] == [("missed", "paused", 1_000)]
    # Runs that were due during a pause are not started later.
    assert jobs(db) == 0


def test_a_pause_that_ends_while_no_server_runs(
    db: Database, clock: ManualClock, make: Make, actors: Actors
) -> None:
    row = make()
    pass_time(db, clock, 5 * MINUTE_S)
    db.write_blocking(service.pause, TARGETS, actors.ada, row.id, iso(clock.now + HOUR), "")
    pass_time(db, clock, 2 * HOUR_S)
    assert [line[1:] for line in run_lines(db, row)] == [
        ("missed", "paused", 6),
        ("missed", "server_down", 6),
    ]


def test_while_it_is_off_nothing_is_missed(
    db: Database, clock: ManualClock, make: Make, actors: Actors
) -> None:
    row = make()
    db.write_blocking(service.switch, TARGETS, actors.ada, row.id, False)
    pass_time(db, clock, HOUR_S)
    db.write_blocking(service.switch, TARGETS, actors.ada, row.id, True)
    pass_time(db, clock, 10 * MINUTE_S)
    assert run_lines(db, row) == [("10:10:00", "started", None, 1)]


def test_a_date_runs_once(db: Database, clock: ManualClock, make: Make) -> None:
    row = make(None, runDate="2026-03-02T10:30", timezone="Europe/Berlin")
    pass_time(db, clock, 30 * MINUTE_S)
    pass_time(db, clock, 48 * HOUR_S)
    assert run_lines(db, row) == [("09:30:00", "started", None, 1)]
    assert db.write_blocking(store.find, row.customer_id, row.id).next_at is None
    assert db.write_blocking(store.next_due_at) is None


def test_a_task_that_cannot_run_is_reported(
    db: Database, clock: ManualClock, make: Make, actors: Actors
) -> None:
    row = make()
    off = msgspec.convert({"enable": False}, TaskBody)
    db.write_blocking(tasks.change, actors.ada, row.target_id, off, is_replacement=False)
    pass_time(db, clock, 10 * MINUTE_S)
    assert run_lines(db, row) == [("09:10:00", "missed", "task_disabled", 1)]
    last_event = db.write_blocking(for_object, row.id)[-1]
    assert last_event.kind == "schedule.missed"
    assert msgspec.json.decode(last_event.data)["reason"] == "task_disabled"


def test_a_deleted_task_starts_nothing_and_takes_its_schedules_with_it(
    db: Database, clock: ManualClock, make: Make, actors: Actors
) -> None:
    row = make()
    db.write_blocking(tasks.delete, actors.ada, row.target_id)
    pass_time(db, clock, 10 * MINUTE_S)
    assert run_lines(db, row) == [("09:10:00", "missed", "task_not_found", 1)]
    db.write_blocking(service.delete_for_target, row.customer_id, row.target_id)
    assert run_lines(db, row) == [] and db.write_blocking(store.next_due_at) is None


def test_a_disabled_organization_starts_nothing(
    db: Database, clock: ManualClock, make: Make
) -> None:
    row = make()
    db.write_blocking(lambda tx: tx.execute("update customers set enabled = 0 where name = 'acme'"))
    pass_time(db, clock, 10 * MINUTE_S)
    assert run_lines(db, row) == [("09:10:00", "missed", "customer_disabled", 1)]


def test_a_scheduled_job_gets_the_arguments(
    db: Database, clock: ManualClock, make: Make, task: Task
) -> None:
    expected = [{"type": "input", "label": "a"}, {"type": "input", "label": "b", "masked": True}]
    of = task("greet", task_arguments=expected)
    with pytest.raises(Invalid) as refused:
        make(of=of)
    assert refused.value.code == "missing_arguments"
    make(of=of, task_arguments=["x", 5])
    pass_time(db, clock, 10 * MINUTE_S)
    ((customer_id, found),) = db.write_blocking(
        lambda tx: tx.rows("select customer_id, arguments from jobs")
    )
    assert '"5"' not in found
    assert sealed_values.open_values(db.sealer, customer_id, json.loads(found)) == ["x", "5"]


def test_an_internal_error_skips_the_run(db: Database, clock: ManualClock, make: Make) -> None:
    row = make()
    clock.move(10 * MINUTE_S)
    db.write_blocking(firing.skip_failed, row.id)
    assert run_lines(db, row) == [("09:10:00", "missed", "fault", 1)]
    pass_time(db, clock, 10 * MINUTE_S)
    assert run_lines(db, row)[1] == ("09:20:00", "started", None, 1)


def test_run_histories_are_limited(db: Database, clock: ManualClock, make: Make) -> None:
    row, other = make(), make()
    pass_time(db, clock, 10 * MINUTE_S)

    def fill(tx: Tx) -> None:
        (line,) = run_history.select_page(
            tx, row.customer_id, row.id, listing.read({}, run_history.RUNS)
        )
        for n in range(1, run_history.MAX_RUNS + 11):
            line.nominal_at -= SECOND
            line.decided_at -= n
            run_history.insert(tx, line)

    db.write_blocking(fill)
    schedule_id: str | None = ""
    while schedule_id is not None:
        schedule_id = db.write_blocking(run_history.purge_surplus, schedule_id)
    assert (len(run_lines(db, row)), len(run_lines(db, other))) == (run_history.MAX_RUNS, 1)
    clock.now += run_history.RETENTION + HOUR
    while db.write_blocking(run_history.purge_old):
        pass
    assert (run_lines(db, row), run_lines(db, other)) == ([], [])


def test_the_preview_marks_clock_changes() -> None:
    now = 1_774_656_000_000
    assert iso(now) == "2026-03-28T00:00:00.000Z"
    body = PreviewBody(repeatEvery="30 2 * * *", timezone="Europe/Berlin", count=4)
    fires = preview.preview_body(service.empty_row(now), body, now)
    assert [(item.local, item.clock_change, item.meant) for item in fires] == [
        ("2026-03-28T02:30:00+01:00", None, None),
        ("2026-03-29T03:00:00+02:00", "moved", "2026-03-29T02:30:00"),
        ("2026-03-30T02:30:00+02:00", None, None),
        ("2026-03-31T02:30:00+02:00", None, None),
    ]
    noon = PreviewBody(repeatEvery="0 12 * * *", timezone="Europe/Berlin", count=3)
    marks = [item.clock_change for item in preview.preview_body(service.empty_row(now), noon, now)]
    assert marks == [None, "changed", None]


def test_a_preview_of_periods_leaves_out_those_without_a_run() -> None:
    """Every five minutes on weekdays are too many runs to list for a week."""
    friday = 1_774_569_600_000
    assert iso(friday) == "2026-03-27T00:00:00.000Z"
    row = service.empty_row(friday)
    bodies.write_when(row, PreviewBody(repeatEvery="*/5 8-17 * * mon-fri"), friday)
    runs = preview.next_fires(row, friday, 100, 2 * HOUR)
    days = [run.date[:10] for run in runs[:11]]
    assert days == ["2026-03-27"] * 5 + ["2026-03-30"] * 5 + ["2026-03-31"]
    assert [run.date[11:16] for run in runs[:5]] == ["08:00", "10:00", "12:00", "14:00", "16:00"]
