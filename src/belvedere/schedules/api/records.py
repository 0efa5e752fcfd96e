"""Schedules and their runs as the interface shows them."""

from typing import Any

import msgspec

from belvedere.access import Actor
from belvedere.base.clock import Millis, iso, iso_or_none
from belvedere.schedules.model import Run
from belvedere.schedules.service import Shown


class ScheduleData(msgspec.Struct):
    runDate: str | None
    repeatEvery: str | None
    timezone: str


class JobData(msgspec.Struct):
    """What the original keeps of a schedule."""

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
    # While an earlier job is open: skip or queue.
    overlap: str
    # Runs missed while no server ran: skip, or once for all of them.
    missed: str
    enable: bool
    pause: PauseRecord | None
    nextRunAt: str | None
    lastRunAt: str | None
    last_job_id: str | None
    # The same under the names of the original.
    disabled: bool
    repeatInterval: str | None
    repeatTimezone: str
    data: JobData
    version: int
    customer_id: str
    customer_name: str
    creation_date: str
    last_update: str


class RemovedRecord(ScheduleRecord):
    """A schedule that is no more, with the original's answer in it."""

    numRemoved: int


class RunRecord(msgspec.Struct):
    """What became of one nominal instant, or of several in a row."""

    schedule_id: str
    nominal: str
    # The last of several that were missed in a row for one reason, and how many; 1000 is as many
    # or more.
    until: str
    count: int
    # started or missed
    state: str
    # server_down, clock_changed, still_running, paused, customer_disabled, fault, or the code of a
    # refusal; of a start: caught_up, when it is late.
    reason: str | None
    message: str
    # The job that was started, or that was in the way.
    job_id: str | None
    date: str


def schedule(shown: Shown, actor: Actor, now: Millis) -> ScheduleRecord:
    return ScheduleRecord(*_values(shown, actor, now))


def removed(shown: Shown, actor: Actor, now: Millis) -> RemovedRecord:
    return RemovedRecord(*(*_values(shown, actor, now), 1))


def _values(shown: Shown, actor: Actor, now: Millis) -> tuple[Any, ...]:
    row = shown.row
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
        shown.arguments,
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
        JobData(task_id, workflow_id, row.customer_id, when),
        row.version,
        row.customer_id,
        actor.customer_name,
        iso(row.created_at),
        iso(row.updated_at),
    )


def run(found: Run) -> RunRecord:
    return RunRecord(
        found.schedule_id,
        iso(found.nominal_at),
        iso(found.until_at),
        found.count,
        found.state,
        found.reason,
        found.message,
        found.job_id,
        iso(found.decided_at),
    )
