"""When a schedule is due: a date, a cron expression or an interval, as a series of instants."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol
from zoneinfo import ZoneInfo

from belvedere.base.clock import DAY, HOUR, MINUTE, SECOND, Millis
from belvedere.schedules.timing import cron, time_zones
from belvedere.schedules.timing.cron import Cron
from belvedere.schedules.timing.time_zones import Change

_INTERVAL = re.compile(
    r"(?:every\s+)?([0-9]{1,6})\s*(s|sec|seconds?|m|min|minutes?|h|hours?|d|days?)", re.IGNORECASE
)
_UNITS = {"s": SECOND, "m": MINUTE, "h": HOUR, "d": DAY}
MAX_INTERVAL = 366 * DAY


@dataclass(frozen=True, slots=True)
class Fire:
    """A nominal instant, and the effect of a clock change on it."""

    at: Millis
    change: Change | None = None
    # The local time that was meant, if the clock skips it.
    meant: str | None = None


class Repetition(Protocol):
    """Something that recurs."""

    def after(self, at: Millis) -> Fire | None: ...


@dataclass(frozen=True, slots=True)
class CronRepetition:
    """A cron expression in a time zone."""

    cron: Cron
    zone: ZoneInfo

    def after(self, at: Millis) -> Fire | None:
        wall = self.cron.after(time_zones.local_time(at, self.zone))
        while wall is not None:
            instant, change = time_zones.instant(wall, self.zone)
            # In an hour that occurs twice, all of its times have passed in the first.
            if instant > at:
                skipped = wall.isoformat() if change is Change.MOVED else None
                return Fire(instant, change, skipped)
            wall = self.cron.after(wall)
        return None


@dataclass(frozen=True, slots=True)
class IntervalRepetition:
    """A fixed interval, independent of clock changes."""

    anchor_at: Millis
    every: Millis

    def after(self, at: Millis) -> Fire | None:
        steps = max(1, (at - self.anchor_at) // self.every + 1)
        return Fire(self.anchor_at + steps * self.every)


@dataclass(frozen=True, slots=True)
class Recurrence:
    """A date, a repetition, or a date from which the repetition starts."""

    run_date: Millis | None
    repetition: Repetition | None

    def after(self, at: Millis) -> Fire | None:
        """The first instant after this one."""
        if self.run_date is not None and at < self.run_date:
            return Fire(self.run_date)
        return None if self.repetition is None else self.repetition.after(at)

    def fires(self, after: Millis) -> Iterator[Fire]:
        fire = self.after(after)
        while fire is not None:
            yield fire
            fire = self.after(fire.at)


def interval(text: str) -> Millis | None:
    """`every 15 minutes`, `90s`, `2h`; None if the text is not an interval."""
    match = _INTERVAL.fullmatch(text.strip())
    return None if match is None else int(match[1]) * _UNITS[match[2][0].lower()]


def read(
    run_date: Millis | None, repeat_every: str | None, zone: ZoneInfo, anchor_at: Millis
) -> Recurrence:
    """Raises ValueError if the text is invalid."""
    if not repeat_every:
        return Recurrence(run_date, None)
    every = interval(repeat_every)
    if every is None:
        return Recurrence(run_date, CronRepetition(cron.parse(repeat_every), zone))
    if not SECOND <= every <= MAX_INTERVAL:
        raise ValueError("an interval is one second to 366 days")
    return Recurrence(
        run_date, IntervalRepetition(anchor_at if run_date is None else run_date, every)
    )


def changes_between(fires: list[Fire], zone: ZoneInfo) -> list[bool]:
    """For each, whether the offset changed since the previous one."""
    return [
        False,
        *(
            time_zones.offset(a.at, zone) != time_zones.offset(b.at, zone)
            for a, b in pairwise(fires)
        ),
    ][: len(fires)]
