"""The next runs of a schedule, with what clock changes do to them."""

from itertools import islice

import msgspec

from belvedere.base.clock import Millis, iso
from belvedere.schedules import bodies
from belvedere.schedules.bodies import PreviewBody
from belvedere.schedules.model import ScheduleRow
from belvedere.schedules.timing import recurrence, time_zones
from belvedere.schedules.timing.recurrence import Fire

MAX_FIRES = 100


class FireRecord(msgspec.Struct):
    """A future run."""

    date: str
    # In the schedule's time zone, with the offset from UTC.
    local: str
    # moved: the clock skips this local time; it runs at the first instant after the gap.
    # repeated: this local time occurs twice; it runs at the first.
    # changed: the offset changed since the previous run.
    clock_change: str | None
    meant: str | None
    # During a pause: it will be missed.
    paused: bool


def next_fires(row: ScheduleRow, now: Millis, count: int, step: Millis = 0) -> list[FireRecord]:
    """`step`: only the first run of each period of this length."""
    zone = time_zones.zone(row.timezone)
    begin = now if row.next_at is None or row.next_at > now else row.next_at - 1
    fires = _fires(row, begin, max(1, min(count, MAX_FIRES)), step) if row.enabled else []
    changed = recurrence.changes_between(fires, zone)
    return [
        FireRecord(
            iso(fire.at),
            time_zones.iso_local(fire.at, zone),
            fire.change.value if fire.change else "changed" if has_changed else None,
            fire.meant,
            row.is_paused(fire.at),
        )
        for fire, has_changed in zip(fires, changed, strict=True)
    ]


def _fires(row: ScheduleRow, begin: Millis, count: int, step: Millis) -> list[Fire]:
    if not step:
        return list(islice(row.recurrence.fires(begin), count))
    fires: list[Fire] = []
    while len(fires) < count:
        fire = next(iter(row.recurrence.fires(begin)), None)
        if fire is None:
            break
        fires.append(fire)
        # The search continues with the next period, whatever is between.
        begin = (fire.at // step + 1) * step - 1
    return fires


def preview_body(row: ScheduleRow, body: PreviewBody, now: Millis) -> list[FireRecord]:
    """For a schedule that is not saved: `row` is an empty one."""
    bodies.write_when(row, body, now)
    row.next_at = now
    return next_fires(row, now, body.count)
