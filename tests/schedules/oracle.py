"""The instants of a cron expression, found by checking every quarter of an hour.

A time has come when the wall clock shows it, or a later time, for the first time.
"""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

QUARTER = timedelta(minutes=15)
Fits = Callable[[datetime], bool]


def walk(zone: ZoneInfo, begin: datetime, end: datetime) -> Iterator[tuple[int, list[datetime]]]:
    """Each instant at which the wall clock shows a time that it has never shown before: (seconds,
    times)."""
    at = begin.replace(tzinfo=UTC)
    highest = at.astimezone(zone).replace(tzinfo=None)
    while at < end.replace(tzinfo=UTC):
        at += QUARTER
        wall = at.astimezone(zone).replace(tzinfo=None)
        if wall > highest:
            come = []
            while highest < wall:
                highest += QUARTER
                come.append(highest)
            yield int(at.timestamp()), come


def fires(walked: list[tuple[int, list[datetime]]], fits: Fits) -> list[int]:
    return [at for at, come in walked if any(map(fits, come))]
