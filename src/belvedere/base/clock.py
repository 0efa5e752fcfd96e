"""Time in the code: integer milliseconds since 1970, passed as an argument and never read inside an
operation.

Both databases compare, index and subtract integers without conversion; `iso` formats them for the
API.
"""

import time
from collections.abc import Callable, Hashable, Iterable
from datetime import UTC, datetime
from functools import lru_cache
from typing import Generic, NamedTuple, TypeVar

Millis = int
Clock = Callable[[], Millis]
Key = TypeVar("Key", bound=Hashable)

SECOND: Millis = 1_000
MINUTE: Millis = 60 * SECOND
HOUR: Millis = 60 * MINUTE
DAY: Millis = 24 * HOUR
# How often a clock without a source compares itself with the time of the database.
SYNC_INTERVAL: Millis = 10 * SECOND
_UNITS = {"d": DAY, "h": HOUR, "m": MINUTE, "s": SECOND, "ms": 1}


def duration_text(duration: Millis) -> str:
    """A duration in its largest exact unit, in the notation of the command line: 1ms, 90s, 30d."""
    if not duration:
        return "0s"
    unit = next(unit for unit, size in _UNITS.items() if duration % size == 0)
    return f"{duration // _UNITS[unit]}{unit}"


def range_text(least: Millis, most: Millis) -> str:
    """The durations that a field accepts: 1s to 30d."""
    return f"{duration_text(least)} to {duration_text(most)}"


def wall() -> Millis:
    """The clock of this machine."""
    return time.time_ns() // 1_000_000


# A difference of more than this means that the source was set to another time. Less is drift, or
# the time that a query takes.
STEP_LIMIT: Millis = 2 * SECOND


class ClockStep(NamedTuple):
    """The clock was set: by how much, and its time afterwards."""

    delta: Millis
    now: Millis

    @property
    def before(self) -> Millis:
        """The time that the clock would show if it had not been set."""
        return self.now - self.delta


# On Linux it also counts while the machine is suspended; other systems may have no such clock.
_MONOTONIC: int = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def monotonic() -> Millis:
    """Milliseconds since an arbitrary start, by a clock that cannot be set."""
    return time.clock_gettime_ns(_MONOTONIC) // 1_000_000


class SharedClock:
    """The time of a source that may be set: the database, which several servers share, or this
    machine's clock. Between two readings of the source it follows a monotonic clock.

    When the source is set to another time, this clock continues unchanged and `step` is the
    difference. `server/clock.py` moves the deadlines in the database by it and then calls `adopt`,
    so that no operation sees the new time with the old deadlines.
    """

    def __init__(self, source: Clock | None = None, monotonic: Clock = monotonic) -> None:
        self._source, self._monotonic = source, monotonic
        self._ahead = (source or wall)() - monotonic()
        self._synced_at: Millis | None = None
        self._needs_sync = False
        self.step: Millis = 0
        # The sum of the steps in the database that this clock has adopted.
        self.offset: Millis | None = None

    def __call__(self) -> Millis:
        return self._ahead + self._monotonic()

    def is_due(self) -> bool:
        """Whether the time of the database has to be read."""
        if self._source is not None:
            return False
        if self._synced_at is None or self._needs_sync:
            return True
        return self._monotonic() - self._synced_at >= SYNC_INTERVAL

    def check_source(self) -> None:
        """Compare with the source: now, or in the next transaction where it is the database."""
        if self._source is None:
            self._needs_sync = True
        else:
            self.synchronize(self._source())

    def synchronize(self, source_time: Millis) -> None:
        """Take over the time of the source, or set `step` if it was set to another time."""
        now = self._monotonic()
        difference = source_time - self._ahead - now
        is_first = self._source is None and self._synced_at is None
        self._synced_at, self._needs_sync = now, False
        if is_first or abs(difference) <= STEP_LIMIT:
            self._ahead += difference
            difference = 0
        self.step = difference

    def adopt(self, step: Millis, offset: Millis) -> None:
        """Continue with the time of the source; the deadlines have been moved."""
        self._ahead += step
        self.step, self.offset = 0, offset


def _format_iso(at: Millis) -> str:
    """ISO 8601 in UTC with milliseconds and a Z, as every record carries it."""
    return f"{_second(at // 1_000)}.{at % 1_000:03d}Z"


# A record has a dozen times, and most of them are equal: a job is ready, assigned and claimed at
# once. The annotation is needed because lru_cache drops the parameter types.
iso: Callable[[Millis], str] = lru_cache(4_096)(_format_iso)


# Most of the other times are within the same second.
@lru_cache(4_096)
def _second(seconds: int) -> str:
    stamp = time.gmtime(seconds)
    return (
        f"{stamp[0]:04d}-{stamp[1]:02d}-{stamp[2]:02d}T{stamp[3]:02d}:{stamp[4]:02d}:{stamp[5]:02d}"
    )


def iso_or_none(at: Millis | None) -> str | None:
    return None if at is None else iso(at)


def parse_iso(text: str) -> Millis:
    """The inverse of `iso`; a time without a zone counts as UTC. Raises ValueError."""
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return round(moment.timestamp() * 1_000)


class ObservedDurations(Generic[Key]):
    """For how long each key has been observed without a gap, by a clock that cannot be set.

    A wall clock that is set forward makes every host look late at once. A live one reports within
    seconds, and only those that do not are treated as late.
    """

    def __init__(self, monotonic_s: Callable[[], float] = time.monotonic) -> None:
        self._monotonic_s = monotonic_s
        self._since: dict[Key, float] = {}

    def update(self, keys: Iterable[Key]) -> dict[Key, float]:
        """Seconds for each of these keys; a key that is missing now starts again at 0 later."""
        now = self._monotonic_s()
        self._since = {key: self._since.get(key, now) for key in keys}
        return {key: now - since for key, since in self._since.items()}
