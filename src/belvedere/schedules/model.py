"""Schedules, and the decision which of their instants start or are missed."""

from collections.abc import Iterator
from enum import StrEnum
from itertools import islice, takewhile

import msgspec

from belvedere.base.clock import MINUTE, Millis
from belvedere.db.clock_steps import Steps
from belvedere.schedules.timing import recurrence, time_zones
from belvedere.schedules.timing.recurrence import Recurrence

# A run this late still counts as on time.
GRACE: Millis = MINUTE
# More missed instants in a row are not counted.
MAX_COUNTED = 1_000


class Overlap(StrEnum):
    """What happens at an instant while an earlier job has not finished."""

    SKIP = "skip"
    QUEUE = "queue"


class Missed(StrEnum):
    """What happens with instants that passed while no server ran, or that the clock skipped."""

    SKIP = "skip"
    ONCE = "once"


class Reason(StrEnum):
    """Why an instant was missed (or an error code), or why a start is late."""

    SERVER_DOWN = "server_down"
    CLOCK_CHANGED = "clock_changed"
    STILL_RUNNING = "still_running"
    PAUSED = "paused"
    CUSTOMER_DISABLED = "customer_disabled"
    FAULT = "fault"
    TOO_SLOW = "too_slow"
    CAUGHT_UP = "caught_up"


STARTED, MISSED = "started", "missed"


class ScheduleRow(msgspec.Struct):
    """A row of `schedules`, in the order of the select."""

    id: str
    customer_id: str
    name: str
    target: str
    target_id: str
    run_date: Millis | None
    repeat_every: str | None
    timezone: str
    anchor_at: Millis
    arguments: str
    overlap: str
    missed: str
    enabled: int
    paused_at: Millis | None
    paused_until: Millis | None
    pause_note: str
    next_at: Millis | None
    last_at: Millis | None
    last_job_id: str | None
    version: int
    created_at: Millis
    updated_at: Millis
    # Intervals are counted from here after the clock was changed (clock_step.py).
    counted_from: Millis | None

    @property
    def recurrence(self) -> Recurrence:
        zone = time_zones.zone(self.timezone)
        if self.counted_from is not None:
            # The date of the first run has passed, whatever the clock shows now.
            return recurrence.read(None, self.repeat_every, zone, self.counted_from)
        return recurrence.read(self.run_date, self.repeat_every, zone, self.anchor_at)

    @property
    def awaits_date(self) -> bool:
        """Whether its next run is the one at `run_date`."""
        return (
            self.counted_from is None
            and self.run_date is not None
            and self.next_at is not None
            and self.next_at <= self.run_date
        )

    def is_paused(self, at: Millis) -> bool:
        return (
            self.paused_at is not None
            and self.paused_at <= at
            and (self.paused_until is None or at < self.paused_until)
        )


class ScheduleRun(msgspec.Struct):
    """A row of `schedule_runs`: a start, or instants in a row that were missed for one reason."""

    schedule_id: str
    nominal_at: Millis
    customer_id: str
    until_at: Millis
    count: int
    state: str
    reason: str | None
    message: str
    job_id: str | None
    decided_at: Millis


class Gap(msgspec.Struct):
    """Instants in a row that are missed for one reason."""

    reason: Reason
    instants: list[Millis]
    # The last of them, if they were too many to count.
    until_at: Millis | None = None


class Due(msgspec.Struct):
    """What a schedule must do now."""

    gaps: list[Gap]
    # Instants that are to be started, oldest first.
    starts: list[Millis]
    next_at: Millis | None


def due(row: ScheduleRow, now: Millis, steps: Steps) -> Due:
    """The instants since the last decision: missed, within a pause, or to start now."""
    assert row.next_at is not None
    horizon = now - GRACE
    recurrence = row.recurrence
    gaps: list[Gap] = []
    for number, at in enumerate(_until(recurrence, row.next_at, horizon - 1)):
        if number == MAX_COUNTED:
            gaps[-1].until_at = horizon - 1
            break
        _add(gaps, _why_missed(row, at, steps), at)
    starts = []
    for at in _until(recurrence, _first_from(recurrence, row.next_at, horizon), now):
        if row.is_paused(at):
            _add(gaps, Reason.PAUSED, at)
        else:
            starts.append(at)
    following = recurrence.after(max(now, row.next_at))
    return Due(gaps, starts, None if following is None else following.at)


def gap_until(row: ScheduleRow, now: Millis, reason: Reason) -> Gap:
    """All instants until now, of a schedule that cannot be started."""
    assert row.next_at is not None
    instants = list(islice(_until(row.recurrence, row.next_at, now), MAX_COUNTED))
    return Gap(reason, instants or [row.next_at], now if len(instants) == MAX_COUNTED else None)


def _why_missed(row: ScheduleRow, at: Millis, steps: Steps) -> Reason:
    if row.is_paused(at):
        return Reason.PAUSED
    return Reason.CLOCK_CHANGED if steps.skipped(at) else Reason.SERVER_DOWN


def _until(recurrence: Recurrence, first_at: Millis | None, last_at: Millis) -> Iterator[Millis]:
    """The instants from the first to the last."""
    if first_at is None or first_at > last_at:
        return
    yield first_at
    yield from takewhile(lambda at: at <= last_at, (fire.at for fire in recurrence.fires(first_at)))


def _first_from(recurrence: Recurrence, next_at: Millis, horizon: Millis) -> Millis | None:
    if next_at >= horizon:
        return next_at
    first = recurrence.after(horizon - 1)
    return None if first is None else first.at


def _add(gaps: list[Gap], reason: Reason, at: Millis) -> None:
    if gaps and gaps[-1].reason is reason:
        gaps[-1].instants.append(at)
    else:
        gaps.append(Gap(reason, [at]))
