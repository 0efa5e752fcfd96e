"""Reports when the event loop is blocked: all requests wait while one callback runs.

A timer of the loop measures its delay. Meanwhile a thread records which code runs, because that is
not known afterwards. Both wake up less often while no requests arrive.
"""

import asyncio
import logging
import sys
import threading
import time
from types import FrameType

import msgspec

from belvedere.base.clock import Clock, Millis
from belvedere.base.counters import Histogram

log = logging.getLogger("belvedere.server")

# The timer and the thread wake up this often.
INTERVAL_S = 0.1
# The same if no request has begun for IDLE_TICKS: most of the CPU time of an idle server would
# otherwise be theirs.
IDLE_INTERVAL_S = 0.5
IDLE_TICKS = 10
# An iteration of this length is reported. The timer can be due at any time during it.
SLOW_S = 0.25
LATE_S = SLOW_S - INTERVAL_S
# The thread looks at a loop that is this late: early enough for every delay of LATE_S.
SAMPLE_S = LATE_S - INTERVAL_S
PACKAGE = "belvedere."


class Blocked(msgspec.Struct, frozen=True):
    """One long iteration: for how long, which route, which function."""

    at: Millis
    ms: int
    route: str
    function: str


class Watchdog:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        # The route of the request that started last.
        self.route = "-"
        self.slow = 0
        self.longest_ms = 0
        # How late the timer was: the delay of everything that the loop runs.
        self.lags = Histogram()
        self.last: Blocked | None = None
        self._due = 0.0
        # Ticks since the last request.
        self._quiet_ticks = 0
        self._is_idle = False
        # Ends the long pause of the thread.
        self._resume = threading.Event()
        self._sample: tuple[str, str] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._stop = threading.Event()

    def start(self) -> None:
        """Watch the loop of this thread."""
        self._tick(asyncio.get_running_loop(), is_first=True)
        threading.Thread(
            target=self._sample_stack, args=(threading.get_ident(),), name="watchdog", daemon=True
        ).start()

    def stop(self) -> None:
        self._stop.set()
        self._resume.set()
        if self._timer is not None:
            self._timer.cancel()

    def note_request(self, route: str) -> None:
        """A request begins. It may be the one that blocks the loop."""
        if self._is_idle:
            self._leave_idle()
        self.route = route
        self._quiet_ticks = 0

    def _leave_idle(self) -> None:
        assert self._timer is not None
        self._timer.cancel()
        # It may be overdue already.
        self._note_delay(max(0.0, time.monotonic() - self._due))
        self._is_idle = False
        self._resume.set()
        self._plan(asyncio.get_running_loop(), INTERVAL_S)

    def _tick(self, loop: asyncio.AbstractEventLoop, *, is_first: bool = False) -> None:
        if not is_first:
            self._note_delay(time.monotonic() - self._due)
        self._quiet_ticks += 1
        if self._quiet_ticks == IDLE_TICKS:
            self._is_idle = True
            self._resume.clear()
        self._plan(loop, IDLE_INTERVAL_S if self._is_idle else INTERVAL_S)

    def _note_delay(self, late_s: float) -> None:
        self.lags.observe(late_s)
        if late_s > LATE_S:
            self._report(round((late_s + INTERVAL_S) * 1_000))

    def _plan(self, loop: asyncio.AbstractEventLoop, interval_s: float) -> None:
        self._sample = None
        self._due = time.monotonic() + interval_s
        self._timer = loop.call_later(interval_s, self._tick, loop)

    def _report(self, ms: int) -> None:
        route, function = self._sample or ("", "-")
        self.slow += 1
        self.longest_ms = max(self.longest_ms, ms)
        if not route:
            # The last request of an idle server was long ago.
            route = "-" if self._is_idle else self.route
        self.last = Blocked(self._clock(), ms, route, function)
        log.warning("event loop blocked ms=%d route=%s function=%s", ms, self.last.route, function)

    def _sample_stack(self, thread_id: int) -> None:
        """In its own thread: record what runs while the loop is late."""
        while not self._stop.is_set():
            if self._is_idle:
                # Just after the timer is due.
                sample_at = self._due + SAMPLE_S + 0.01
                self._resume.wait(max(INTERVAL_S, sample_at - time.monotonic()))
            else:
                self._stop.wait(INTERVAL_S)
            if self._sample is None and time.monotonic() - self._due > SAMPLE_S:
                self._sample = _running(sys._current_frames().get(thread_id))


def _running(frame: FrameType | None) -> tuple[str, str]:
    """The route, and the innermost function of Belvedere."""
    function, route = "", ""
    while frame is not None:
        module = str(frame.f_globals.get("__name__", ""))
        if module.startswith(PACKAGE):
            function = function or f"{module}.{frame.f_code.co_name}"
            if frame.f_code.co_name == "_serve" and "template" in frame.f_locals:
                route = str(frame.f_locals["template"])
        frame = frame.f_back
    return route, function or "-"
