"""Schedules and their runs as responses show them."""

from typing import Any

import msgspec

from belvedere.access import Actor
from belvedere.base.clock import Millis, iso, iso_or_none
from belvedere.schedules.model import ScheduleRun
from belvedere.schedules.service import ScheduleView


class ScheduleData(msgspec.Struct):
    runDate: str | None
    repeatEvery: str | None
    timezone: str


class TheEyeScheduleData(msgspec.Struct):
    """The schedule in the format of TheEye."""

    task_id: str | None
    workflow_id: str | None
    customer_id: str
    scheduleData: ScheduleData


class PauseRecord(msgspec.Struct):
    since: str
    until: str | None
    note: str


class ScheduleRecord(msgspec.Struct):
    id: str
    also_id: str = msgspec.field(name="_id")
    kind: str = msgspec.field(name="_type")
    name: str
    # What it starts: task or workflow, and which.
    target: str
    task_id: str | None
    workflow_id: str | None
    runDate: str | None
    repeatEvery: str | None
    timezone: str
    task_arguments: list[Any] | None
    # While an earlier job has not finished: skip or queue.
    overlap: str
    # Runs missed while no server ran: skip, or run once for all of them.
    missed: str
    enable: bool
    pause: PauseRecord | None
    nextRunAt: str | None
    lastRunAt: str | None
    last_job_id: str | None
    # The same under TheEye's names.
    disabled: bool
    repeatInterval: str | None
    repeatTimezone: str
    data: TheEyeScheduleData
    version: int
    customer_id: str
    customer_name: str
    creation_date: str
    last_update: str


class RemovedRecord(ScheduleRecord):
    """A deleted schedule, with TheEye's response in it."""

    numRemoved: int


class RunRecord(msgspec.Struct):
    """The outcome of a nominal instant, or of several in a row."""

    schedule_id: str
    nominal: str
    # The last of several that were missed in a row for one reason, and their number; 1000 means
    # 1000 or more.
    until: str
    count: int
    # started or missed
    state: str
    # server_down, clock_changed, still_running, paused, customer_disabled, fault,
    # too_slow, or an error code; of a late start: caught_up.
    reason: str | None
    message: str
    # The job that was started, or the unfinished one that prevented it.
    job_id: str | None
    date: str


def to_record(view: ScheduleView, actor: Actor, now: Millis) -> ScheduleRecord:
    return ScheduleRecord(*_values(view, actor, now))


def to_removed_record(view: ScheduleView, actor: Actor, now: Millis) -> RemovedRecord:
    return RemovedRecord(*(*_values(view, actor, now), 1))


def _values(view: ScheduleView, actor: Actor, now: Millis) -> tuple[Any, ...]:
    row = view.row
    run_date = iso_or_none(row.run_date)
    task_id = row.target_id if row.target == "task" else None
    workflow_id = row.target_id if row.target == "workflow" else None
    when = ScheduleData(run_date, row.repeat_every, row.timezone)
    is_paused = row.paused_at is not None and row.is_paused(now)
    return (
        row.id,
        row.id,
        "Schedule",
        row.name,
        row.target,
        task_id,
        workflow_id,
        run_date,
        row.repeat_every,
        row.timezone,
        view.arguments,
        row.overlap,
        row.missed,
        bool(row.enabled),
        PauseRecord(iso(row.paused_at or 0), iso_or_none(row.paused_until), row.pause_note)
        if is_paused
        else None,
        iso_or_none(row.next_at),
        iso_or_none(row.last_at),
        row.last_job_id,
        not row.enabled,
        row.repeat_every,
        row.timezone,
        TheEyeScheduleData(task_id, workflow_id, row.customer_id, when),
        row.version,
        row.customer_id,
        actor.customer_name,
        iso(row.created_at),
        iso(row.updated_at),
    )


def to_run_record(row: ScheduleRun) -> RunRecord:
    return RunRecord(
        row.schedule_id,
        iso(row.nominal_at),
        iso(row.until_at),
        row.count,
        row.state,
        row.reason,
        row.message,
        row.job_id,
        iso(row.decided_at),
    )
