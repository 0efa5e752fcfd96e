"""When a schedule is due: one date, a cron text or an interval, as a row of instants."""

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
    """A nominal instant, and what a clock change made of it."""

    at: Millis
    change: Change | None = None
    # What the wall should have shown, where the clocks skip it.
    meant: str | None = None


class Beat(Protocol):
    """Whatever comes again and again."""

    def after(self, at: Millis) -> Fire | None: ...


@dataclass(frozen=True, slots=True)
class ByClock:
    """A cron text on the clocks of a zone."""

    cron: Cron
    zone: ZoneInfo

    def after(self, at: Millis) -> Fire | None:
        wall = self.cron.after(time_zones.label(at, self.zone))
        while wall is not None:
            found, change = time_zones.instant(wall, self.zone)
            # In an hour that comes a second time, its times have all been.
            if found > at:
                skipped = wall.isoformat() if change is Change.MOVED else None
                return Fire(found, change, skipped)
            wall = self.cron.after(wall)
        return None


@dataclass(frozen=True, slots=True)
class ByInterval:
    """So much time after so much time, whatever the clocks show."""

    anchor_at: Millis
    every: Millis

    def after(self, at: Millis) -> Fire | None:
        steps = max(1, (at - self.anchor_at) // self.every + 1)
        return Fire(self.anchor_at + steps * self.every)


@dataclass(frozen=True, slots=True)
class Rhythm:
    """A date, a beat, or a date from which on the beat counts."""

    run_date: Millis | None
    beat: Beat | None

    def after(self, at: Millis) -> Fire | None:
        """The first instant later than this one."""
        if self.run_date is not None and at < self.run_date:
            return Fire(self.run_date)
        return None if self.beat is None else self.beat.after(at)

    def fires(self, after: Millis) -> Iterator[Fire]:
        found = self.after(after)
        while found is not None:
            yield found
            found = self.after(found.at)


def interval(text: str) -> Millis | None:
    """`every 15 minutes`, `90s`, `2h`; None for what is none."""
    found = _INTERVAL.fullmatch(text.strip())
    return None if found is None else int(found[1]) * _UNITS[found[2][0].lower()]


def read(
    run_date: Millis | None, repeat_every: str | None, zone: ZoneInfo, anchor_at: Millis
) -> Rhythm:
    """ValueError when the text says nothing."""
    if not repeat_every:
        return Rhythm(run_date, None)
    every = interval(repeat_every)
    if every is None:
        return Rhythm(run_date, ByClock(cron.parse(repeat_every), zone))
    if not SECOND <= every <= MAX_INTERVAL:
        raise ValueError("an interval is one second to 366 days")
    return Rhythm(run_date, ByInterval(anchor_at if run_date is None else run_date, every))


def changes_between(fires: list[Fire], zone: ZoneInfo) -> list[bool]:
    """For each, whether the clocks changed since the one before it."""
    return [
        False,
        *(
            time_zones.offset(a.at, zone) != time_zones.offset(b.at, zone)
            for a, b in pairwise(fires)
        ),
    ][: len(fires)]
