"""Converts between local times and instants, across clock changes.

A local time that the clock skips is the first instant after the gap; one that occurs twice is the
first.
"""

import re
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import lru_cache
from zoneinfo import ZoneInfo

from belvedere.base.clock import SECOND, Millis

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+){0,2}")
# Zones with leap seconds, or whose meaning depends on the machine.
_STRANGE = ("right", "posix", "localtime", "posixrules", "Factory")
_EPOCH = datetime(1970, 1, 1)


class Change(StrEnum):
    """The effect of a clock change on a local time."""

    # The clock skips it: it is the first instant after the gap.
    MOVED = "moved"
    # It occurs twice: it is the first.
    REPEATED = "repeated"


@lru_cache(256)
def zone(name: str) -> ZoneInfo:
    """The zone with this name; raises ValueError if there is none."""
    if len(name) > 64 or not _NAME.fullmatch(name) or name.split("/")[0] in _STRANGE:
        raise ValueError(name)
    try:
        return ZoneInfo(name)
    except (OSError, KeyError) as fault:
        # Unknown, or a folder of zones.
        raise ValueError(name) from fault


def local_time(at: Millis, tz: ZoneInfo) -> datetime:
    """The local time at this instant, to the second."""
    return datetime.fromtimestamp(at // SECOND, tz).replace(tzinfo=None, fold=0)


def iso_local(at: Millis, tz: ZoneInfo) -> str:
    """The local time with its offset, as ISO 8601."""
    return datetime.fromtimestamp(at / SECOND, tz).isoformat(timespec="seconds")


def offset(at: Millis, tz: ZoneInfo) -> timedelta:
    delta = datetime.fromtimestamp(at // SECOND, tz).utcoffset()
    assert delta is not None
    return delta


def instant(wall: datetime, tz: ZoneInfo) -> tuple[Millis, Change | None]:
    """The first instant with this local time, or with a later one."""
    first, second = (_offset_s(wall, tz, fold) for fold in (0, 1))
    local_s = int((wall - _EPOCH).total_seconds())
    if second > first:
        return _end_of_gap(local_s - second, local_s - first, tz) * SECOND, Change.MOVED
    return (local_s - first) * SECOND, Change.REPEATED if second < first else None


def _offset_s(wall: datetime, tz: ZoneInfo, fold: int) -> int:
    delta = wall.replace(tzinfo=tz, fold=fold).utcoffset()
    assert delta is not None
    return int(delta.total_seconds())


def _end_of_gap(before_s: int, after_s: int, tz: ZoneInfo) -> int:
    """The second in which the offset changes, by binary search."""
    old = datetime.fromtimestamp(before_s, UTC).astimezone(tz).utcoffset()
    while after_s - before_s > 1:
        middle = (before_s + after_s) // 2
        if datetime.fromtimestamp(middle, UTC).astimezone(tz).utcoffset() == old:
            before_s = middle
        else:
            after_s = middle
    return after_s
