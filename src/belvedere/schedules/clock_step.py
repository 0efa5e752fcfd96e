"""The clock was changed: intervals keep their remaining time, and no instant starts twice."""

from belvedere.base.clock import ClockStep, Millis
from belvedere.db import Tx, columns
from belvedere.schedules import run_history
from belvedere.schedules.model import ScheduleRow
from belvedere.schedules.timing import recurrence


def move(tx: Tx, step: ClockStep) -> None:
    """A step of 0 corrects what was written before the clock was set back while no server ran."""
    if step.delta <= 0:
        _reset_future(tx, step.now)
    rows = tx.all(
        ScheduleRow,
        f"select {columns(ScheduleRow)} from schedules where next_at is not null"
        f" order by id{tx.dialect.lock_rows}",
    )
    for row in rows:
        _move_row(tx, row, step)


def _reset_future(tx: Tx, now: Millis) -> None:
    """Undo what was recorded for times that are now in the future."""
    tx.execute("update schedules set last_at = ? where last_at > ?", now, now)
    tx.execute("update schedules set paused_at = ? where paused_at > ?", now, now)
    # Missed instants that come again are decided again; those that were started are not.
    tx.execute("delete from schedule_runs where state = 'missed' and nominal_at > ?", now)


def _move_row(tx: Tx, row: ScheduleRow, step: ClockStep) -> None:
    assert row.next_at is not None
    every = recurrence.interval(row.repeat_every or "")
    counted_from = row.counted_from
    if every is not None and not row.awaits_date:
        next_at: Millis | None = _next_of_interval(tx, row, every, step)
        counted_from = counted_from if next_at is None else next_at - every
    elif step.delta > 0 or row.next_at <= step.now:
        return
    else:
        next_at = _next_of_calendar(tx, row, step.now)
    if next_at is not None and next_at != row.next_at:
        tx.execute(
            "update schedules set next_at = ?, counted_from = ? where id = ?",
            *(next_at, counted_from, row.id),
        )


def _next_of_interval(tx: Tx, row: ScheduleRow, every: Millis, step: ClockStep) -> Millis:
    """The same time away as before, and at most one interval."""
    assert row.next_at is not None
    latest = step.now + every
    if abs(step.delta) > every and step.now < row.next_at <= latest:
        # A server that started at this moment has already corrected it.
        return row.next_at
    next_at = min(row.next_at + step.delta, latest)
    if row.paused_at is not None:
        # In a pause nothing may become due before the pause itself.
        next_at = max(next_at, min(row.paused_at, step.now))
    return next_at if next_at >= row.next_at else _unused_instant(tx, row.id, next_at, every)


def _unused_instant(tx: Tx, schedule_id: str, next_at: Millis, every: Millis) -> Millis:
    """The history has one row for each instant, so no instant may come twice."""
    nominal = run_history.started_from(tx, schedule_id, next_at)
    used = {(at - next_at) % every for at in nominal}
    return next((next_at + late for late in range(every) if late not in used), next_at)


def _next_of_calendar(tx: Tx, row: ScheduleRow, now: Millis) -> Millis | None:
    """The first instant from now on that was not started."""
    # Rows before the oldest one of a full history are deleted; those instants may have started.
    begin = max(now, run_history.oldest_retained(tx, row.id))
    started = set(run_history.started_from(tx, row.id, begin))
    instants = (fire.at for fire in row.recurrence.fires(begin))
    return next((at for at in instants if at not in started), None)
