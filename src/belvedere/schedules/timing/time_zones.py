"""Between wall clocks and instants: what becomes of a time when the clocks change.

A time that the clocks skip counts as the first instant after the gap; one that they show twice
counts as the first.
"""

import re
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import lru_cache
from zoneinfo import ZoneInfo

from belvedere.base.clock import SECOND, Millis

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+){0,2}")
# Other clocks (leap seconds), or another name on every machine.
_STRANGE = ("right", "posix", "localtime", "posixrules", "Factory")
_EPOCH = datetime(1970, 1, 1)


class Change(StrEnum):
    """What a clock change does to one time."""

    # The clocks skip it: it happens at the first instant after the gap.
    MOVED = "moved"
    # They show it twice: it happens at the first.
    REPEATED = "repeated"


@lru_cache(256)
def zone(name: str) -> ZoneInfo:
    """The zone of this name; ValueError when there is none."""
    if len(name) > 64 or not _NAME.fullmatch(name) or name.split("/")[0] in _STRANGE:
        raise ValueError(name)
    try:
        return ZoneInfo(name)
    except (OSError, KeyError) as fault:
        # Not there, or a folder of zones.
        raise ValueError(name) from fault


def label(at: Millis, of: ZoneInfo) -> datetime:
    """What a clock on the wall shows at this instant, to the second."""
    return datetime.fromtimestamp(at // SECOND, of).replace(tzinfo=None, fold=0)


def told(at: Millis, of: ZoneInfo) -> str:
    """The same with its offset, for people."""
    return datetime.fromtimestamp(at / SECOND, of).isoformat(timespec="seconds")


def offset(at: Millis, of: ZoneInfo) -> timedelta:
    found = datetime.fromtimestamp(at // SECOND, of).utcoffset()
    assert found is not None
    return found


def instant(wall: datetime, of: ZoneInfo) -> tuple[Millis, Change | None]:
    """When a clock on the wall first shows this time, or first shows a later one."""
    first, second = (_offset_s(wall, of, fold) for fold in (0, 1))
    shown_s = int((wall - _EPOCH).total_seconds())
    if second > first:
        return _end_of_gap(shown_s - second, shown_s - first, of) * SECOND, Change.MOVED
    return (shown_s - first) * SECOND, Change.REPEATED if second < first else None


def _offset_s(wall: datetime, of: ZoneInfo, fold: int) -> int:
    found = wall.replace(tzinfo=of, fold=fold).utcoffset()
    assert found is not None
    return int(found.total_seconds())


def _end_of_gap(before_s: int, behind_s: int, of: ZoneInfo) -> int:
    """The second in which the offset changes; it lies behind the first and not behind the last."""
    old = datetime.fromtimestamp(before_s, UTC).astimezone(of).utcoffset()
    while behind_s - before_s > 1:
        middle = (before_s + behind_s) // 2
        if datetime.fromtimestamp(middle, UTC).astimezone(of).utcoffset() == old:
            before_s = middle
        else:
            behind_s = middle
    return behind_s
