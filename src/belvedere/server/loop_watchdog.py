"""Notices when the event loop is blocked: everybody waits as long as one callback runs.

A timer of the loop measures how late it is. A thread looks meanwhile which code runs, because
afterwards nobody could say. A request pays one assignment (`route`) for it.
"""

import asyncio
import logging
import sys
import threading
import time
from types import FrameType

import msgspec

from belvedere.base.clock import Clock, Millis

log = logging.getLogger("belvedere.server")

BEAT_S = 0.05
# An iteration of this length is reported. The timer can be due at any moment of it.
SLOW_S = 0.25
LATE_S = SLOW_S - BEAT_S
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
        # The route whose handling began last.
        self.route = "-"
        self.slow = 0
        self.longest_ms = 0
        self.last: Blocked | None = None
        self._due = 0.0
        self._sample: tuple[str, str] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._stop = threading.Event()

    def start(self) -> None:
        """Watch the loop of this thread."""
        self._beat(asyncio.get_running_loop(), is_first=True)
        threading.Thread(
            target=self._look, args=(threading.get_ident(),), name="watchdog", daemon=True
        ).start()

    def stop(self) -> None:
        self._stop.set()
        if self._timer is not None:
            self._timer.cancel()

    def _beat(self, loop: asyncio.AbstractEventLoop, *, is_first: bool = False) -> None:
        late_s = time.monotonic() - self._due
        if late_s > LATE_S and not is_first:
            self._report(round((late_s + BEAT_S) * 1_000))
        self._sample = None
        self._due = time.monotonic() + BEAT_S
        self._timer = loop.call_later(BEAT_S, self._beat, loop)

    def _report(self, ms: int) -> None:
        route, function = self._sample or ("", "-")
        self.slow += 1
        self.longest_ms = max(self.longest_ms, ms)
        self.last = Blocked(self._clock(), ms, route or self.route, function)
        log.warning("event loop blocked ms=%d route=%s function=%s", ms, self.last.route, function)

    def _look(self, thread_id: int) -> None:
        """In a thread of its own: what runs while the loop is late."""
        while not self._stop.wait(BEAT_S):
            if self._sample is None and time.monotonic() - self._due > LATE_S / 2:
                self._sample = _running(sys._current_frames().get(thread_id))


def _running(frame: FrameType | None) -> tuple[str, str]:
    """The route and the innermost function of ours."""
    function, route = "", ""
    while frame is not None:
        module = str(frame.f_globals.get("__name__", ""))
        if module.startswith(PACKAGE):
            function = function or f"{module}.{frame.f_code.co_name}"
            if frame.f_code.co_name == "_serve" and "template" in frame.f_locals:
                route = str(frame.f_locals["template"])
        frame = frame.f_back
    return route, function or "-"
