"""Time as the rules see it: whole milliseconds since 1970, handed in, never fetched.

Milliseconds as integers (not text, not datetime) are what both databases compare, index and
subtract without conversion; `iso` turns them into the interface's form at the edge.
"""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache
from typing import NamedTuple

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


# A difference of more than this means that the source was set to another time. Less is drift, or
# the time that a question takes.
STEP_LIMIT: Millis = 2 * SECOND


class Step(NamedTuple):
    """The clock was set: by how much, and what it shows afterwards."""

    delta: Millis
    now: Millis

    @property
    def before(self) -> Millis:
        """What the clock would show if nobody had set it."""
        return self.now - self.delta


def steady() -> Millis:
    """Milliseconds from any beginning, by a clock that nobody can set. It goes on while the
    machine sleeps; elsewhere than on Linux there may be none that does."""
    clock = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
    return time.clock_gettime_ns(clock) // 1_000_000


class Shared:
    """The time of a source that may be set: the database, which several servers share, or this
    machine's clock. Between two questions it runs by a monotonic clock.

    When the source is set to another time, this clock goes on as before and `step` holds the
    difference. `server/clock.py` moves the deadlines in the database by it and then calls `adopt`,
    so that no operation sees the new time with the old deadlines.
    """

    def __init__(self, source: Clock | None = None, steady: Clock = steady) -> None:
        self._source, self._steady = source, steady
        self._ahead = (source or wall)() - steady()
        self._told_at: Millis | None = None
        self._is_doubtful = False
        self.step: Millis = 0
        # The sum of the steps, as the database has it, that this clock has taken part in.
        self.offset: Millis | None = None

    def __call__(self) -> Millis:
        return self._ahead + self._steady()

    def is_due(self) -> bool:
        """Whether the database has to be asked for the time."""
        if self._source is not None:
            return False
        if self._told_at is None or self._is_doubtful:
            return True
        return self._steady() - self._told_at >= AGREE_EVERY

    def look(self) -> None:
        """Compare with the source: now, or in the next transaction where it is the database."""
        if self._source is None:
            self._is_doubtful = True
        else:
            self.tell(self._source())

    def tell(self, at: Millis) -> None:
        """The source shows this time now."""
        now = self._steady()
        difference = at - self._ahead - now
        is_first = self._source is None and self._told_at is None
        self._told_at, self._is_doubtful = now, False
        if is_first or abs(difference) <= STEP_LIMIT:
            self._ahead += difference
            difference = 0
        self.step = difference

    def adopt(self, step: Millis, offset: Millis) -> None:
        """Go on from the source's time; the deadlines have been moved."""
        self._ahead += step
        self.step, self.offset = 0, offset


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
