"""The next runs of a schedule, with what clock changes do to them."""

from itertools import islice

import msgspec

from belvedere.base.clock import Millis, iso
from belvedere.schedules import bodies
from belvedere.schedules.bodies import PreviewBody
from belvedere.schedules.model import ScheduleRow
from belvedere.schedules.timing import recurrence, time_zones

MOST = 100


class FireRecord(msgspec.Struct):
    """A run that is to come."""

    date: str
    # On the schedule's own clocks, with their offset from UTC.
    local: str
    # moved: the clocks skip the time that was meant; it runs at the first instant after it.
    # repeated: the clocks show it twice; it runs at the first.
    # changed: the clocks changed since the run before.
    clock_change: str | None
    meant: str | None
    # Falls into a pause: it will be missed.
    paused: bool


def of(row: ScheduleRow, now: Millis, count: int) -> list[FireRecord]:
    zone = time_zones.zone(row.timezone)
    begin = now if row.next_at is None or row.next_at > now else row.next_at - 1
    found = list(islice(row.rhythm.fires(begin), max(1, min(count, MOST)))) if row.enabled else []
    changed = recurrence.changes_between(found, zone)
    return [
        FireRecord(
            iso(fire.at),
            time_zones.told(fire.at, zone),
            fire.change.value if fire.change else "changed" if is_behind else None,
            fire.meant,
            row.is_paused(fire.at),
        )
        for fire, is_behind in zip(found, changed, strict=True)
    ]


def would_be(row: ScheduleRow, body: PreviewBody, now: Millis) -> list[FireRecord]:
    """For something that is not a schedule yet: `row` is an empty one."""
    bodies.write_when(row, body, now)
    row.next_at = now
    return of(row, now, body.count)
