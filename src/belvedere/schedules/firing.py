"""Starts what is due, or records it as missed, in the transaction that advances the schedule.

Any number of servers may try at once: one of them has the row locked, and an instant with a row in
the history never gets a second one.
"""

from typing import Any

import msgspec

from belvedere import events
from belvedere.access import Actor
from belvedere.access.actor import trigger_actor
from belvedere.access.customers import service
from belvedere.base.clock import Millis, iso
from belvedere.base.errors import NotFound, Refused
from belvedere.db import Tx, clock_steps
from belvedere.jobs import starters
from belvedere.jobs.model import FINAL
from belvedere.schedules import model, run_history, store
from belvedere.schedules.model import (
    MAX_COUNTED,
    MISSED,
    STARTED,
    Gap,
    Missed,
    Overlap,
    Reason,
    ScheduleRow,
    ScheduleRun,
)
from belvedere.schedules.targets import ScheduleTarget, Targets

MESSAGES = {
    Reason.SERVER_DOWN: "No server was running then, or the database was not available.",
    Reason.CLOCK_CHANGED: "The clock was set forward past this time.",
    Reason.PAUSED: "The schedule was paused.",
    Reason.CUSTOMER_DISABLED: "The organization was disabled.",
    Reason.FAULT: "The server could not start it; see its log.",
    Reason.TOO_SLOW: "The database ended each attempt to start it, because it took too long.",
}

_CATCH_UP_REASONS = (Reason.SERVER_DOWN, Reason.CLOCK_CHANGED)


def fire(tx: Tx, targets: Targets, schedule_id: str) -> bool:
    """Start or record everything that is due; returns whether there was anything."""
    row = store.lock_due(tx, schedule_id)
    if row is None:
        return False
    due = model.due(row, tx.now, clock_steps.recorded(tx))
    if row.missed == Missed.ONCE and not due.starts:
        _catch_up(tx, row, targets, due.gaps)
    for gap in due.gaps:
        _record_missed(tx, row, gap)
    for at in due.starts:
        _start(tx, row, targets, at)
    _move(tx, row, due.next_at)
    return True


def skip_failed(tx: Tx, schedule_id: str, reason: Reason = Reason.FAULT) -> None:
    """Skip what is due and raised an error: a broken schedule must not be tried forever."""
    row = store.lock_due(tx, schedule_id)
    if row is None or row.next_at is None:
        return
    _record_missed(tx, row, model.gap_until(row, tx.now, reason))
    following = row.recurrence.after(max(tx.now, row.next_at))
    _move(tx, row, None if following is None else following.at)


def _move(tx: Tx, row: ScheduleRow, next_at: Millis | None) -> None:
    row.next_at = next_at
    if row.paused_until is not None and row.paused_until <= tx.now:
        row.paused_at, row.paused_until, row.pause_note = None, None, ""
    store.save(tx, row)


def _catch_up(tx: Tx, row: ScheduleRow, targets: Targets, gaps: list[Gap]) -> None:
    """Start the latest instant that passed while no server ran, or that the clock skipped."""
    gap = next((gap for gap in reversed(gaps) if gap.reason in _CATCH_UP_REASONS), None)
    if gap is None:
        return
    _start(tx, row, targets, gap.instants.pop(), Reason.CAUGHT_UP)
    if not gap.instants:
        gaps.remove(gap)


def _start(
    tx: Tx, row: ScheduleRow, targets: Targets, at: Millis, reason: Reason | None = None
) -> None:
    run = _new_run(tx, row, at, STARTED, reason)
    if not run_history.insert(tx, run):
        return
    customer = service.find(tx, row.customer_id)
    if not customer.enabled:
        _refuse(run, Reason.CUSTOMER_DISABLED, MESSAGES[Reason.CUSTOMER_DISABLED])
    else:
        authors = starters.for_changes(tx, customer.id, "schedule", row.id)
        actor = trigger_actor(
            *(customer.id, customer.name),
            starters=authors,
            source=f"schedule {row.id} {row.name}",
        )
        _start_target(tx, row, targets[row.target], actor, run)
    run_history.complete(tx, run)
    _append_event(tx, row, run)


def _start_target(
    tx: Tx, row: ScheduleRow, target: ScheduleTarget, actor: Actor, run: ScheduleRun
) -> None:
    """Start it, unless an earlier job is open or it cannot run, and set the outcome in `run`."""
    try:
        # Locked: of two schedules of one task at one instant, the second sees the job of the first.
        target.find(tx, row.customer_id, row.target_id, lock=True)
    except NotFound as refusal:
        return _refuse(run, refusal.code, refusal.message)
    if row.overlap == Overlap.SKIP and (open_id := _open_job(tx, row, target)) is not None:
        run.job_id = open_id
        return _refuse(run, Reason.STILL_RUNNING, f"The job {open_id} was still running.")
    arguments: list[Any] | None = msgspec.json.decode(row.arguments)
    answer = target.start(tx, actor, row.target_id, arguments)
    if isinstance(answer, Refused):
        return _refuse(run, answer.code, answer.message)
    run.job_id = row.last_job_id = answer
    row.last_at = run.nominal_at
    return None


def _open_job(tx: Tx, row: ScheduleRow, target: ScheduleTarget) -> str | None:
    """An unfinished job of the target: this schedule's last one, or any recent one."""
    if row.last_job_id is not None:
        lifecycle = tx.value("select lifecycle from jobs where id = ?", row.last_job_id)
        if lifecycle is not None and lifecycle not in FINAL:
            return row.last_job_id
    return target.busy(tx, row.customer_id, row.target_id)


def _refuse(run: ScheduleRun, reason: str, message: str) -> None:
    run.state, run.reason, run.message = MISSED, str(reason), message


def _record_missed(tx: Tx, row: ScheduleRow, gap: Gap) -> None:
    run = _new_run(tx, row, gap.instants[0], MISSED, gap.reason)
    run.until_at = max(gap.until_at or 0, gap.instants[-1])
    run.count, run.message = min(len(gap.instants), MAX_COUNTED), MESSAGES[gap.reason]
    if run_history.insert(tx, run):
        _append_event(tx, row, run)


def _new_run(
    tx: Tx, row: ScheduleRow, at: Millis, state: str, reason: Reason | None
) -> ScheduleRun:
    return ScheduleRun(
        row.id,
        at,
        row.customer_id,
        at,
        1,
        state,
        None if reason is None else reason.value,
        "",
        None,
        tx.now,
    )


def _append_event(tx: Tx, row: ScheduleRow, run: ScheduleRun) -> None:
    data: dict[str, Any] = {
        "name": row.name,
        "target": row.target,
        "target_id": row.target_id,
        "nominal": iso(run.nominal_at),
        "job_id": run.job_id,
    }
    if run.state == MISSED:
        data |= {"reason": run.reason, "message": run.message, "count": run.count}
    kind = "schedule.missed" if run.state == MISSED else "schedule.fired"
    events.append(tx, row.customer_id, kind, row.id, data)
