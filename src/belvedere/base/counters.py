"""Counters that are cheap enough for every request and every commit, for metrics."""

from bisect import bisect_left
from collections.abc import Sequence

# Upper bounds in seconds: requests, commits, delays of the event loop.
SHORT = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
# The same for jobs, which may wait or run for hours.
LONG = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 1800.0, 7200.0)


class Histogram:
    """Without a lock: of two threads that count at the same moment, one count may be missing."""

    __slots__ = ("bounds", "counts", "sum_s")

    def __init__(self, bounds: Sequence[float] = SHORT) -> None:
        self.bounds = tuple(bounds)
        # The last one counts what is above all bounds.
        self.counts = [0] * (len(self.bounds) + 1)
        self.sum_s = 0.0

    def observe(self, seconds: float) -> None:
        # A clock that was set back gives a negative duration, which would lower the sum.
        seconds = seconds if seconds > 0.0 else 0.0
        self.counts[bisect_left(self.bounds, seconds)] += 1
        self.sum_s += seconds


class RequestCounts:
    """Answered requests by route and status. The route is a template of the route table, never the
    path of a request, so that a client cannot create new counters."""

    __slots__ = ("by_route", "seconds")

    def __init__(self) -> None:
        # (method, template, status) -> requests
        self.by_route: dict[tuple[str, str, int], int] = {}
        self.seconds = Histogram()

    def count(self, method: str, template: str, status: int, seconds: float | None) -> None:
        """`seconds`: how long the response took; None for a stream, which ends when its reader
        wants."""
        key = (method, template, status)
        self.by_route[key] = self.by_route.get(key, 0) + 1
        if seconds is not None:
            self.seconds.observe(seconds)
