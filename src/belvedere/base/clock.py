"""Time as the rules see it: whole milliseconds since 1970, handed in, never fetched.

Milliseconds as integers (not text, not datetime) are what both databases compare, index and
subtract without conversion; `iso` turns them into the interface's form at the edge.
"""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache

Millis = int
Clock = Callable[[], Millis]

SECOND: Millis = 1_000
MINUTE: Millis = 60 * SECOND
HOUR: Millis = 60 * MINUTE
DAY: Millis = 24 * HOUR
AGREE_EVERY: Millis = 10 * SECOND


def wall() -> Millis:
    """The machine's own clock."""
    return time.time_ns() // 1_000_000


class Shared:
    """A clock that several machines agree on: told the time now and then, it goes on in between
    by one that cannot jump. Until the first time it is the machine's own."""

    def __init__(self) -> None:
        self._ahead = wall() - _steady()
        self._told_at: Millis | None = None

    def __call__(self) -> Millis:
        return self._ahead + _steady()

    def is_due(self) -> bool:
        return self._told_at is None or _steady() - self._told_at >= AGREE_EVERY

    def tell(self, at: Millis) -> None:
        self._told_at = _steady()
        self._ahead = at - self._told_at


def _steady() -> Millis:
    # It goes on while the machine sleeps; elsewhere than on Linux there may be none that does.
    clock = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
    return time.clock_gettime_ns(clock) // 1_000_000


def _written(at: Millis) -> str:
    """ISO 8601 in UTC with milliseconds and a Z, as every record carries it."""
    return f"{_second(at // 1_000)}.{at % 1_000:03d}Z"


# A record holds a dozen times, most of them the same few moments: a job is ready, assigned and
# claimed at once. The type is said because what lru_cache gives takes anything.
iso: Callable[[Millis], str] = lru_cache(4_096)(_written)


# Most of the others are of the same second as their neighbours'.
@lru_cache(4_096)
def _second(seconds: int) -> str:
    stamp = time.gmtime(seconds)
    return (
        f"{stamp[0]:04d}-{stamp[1]:02d}-{stamp[2]:02d}T{stamp[3]:02d}:{stamp[4]:02d}:{stamp[5]:02d}"
    )


def iso_or_none(at: Millis | None) -> str | None:
    return None if at is None else iso(at)


def parse_iso(text: str) -> Millis:
    """The inverse of `iso`; a time without a zone counts as UTC. ValueError when it is no time."""
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return round(moment.timestamp() * 1_000)
