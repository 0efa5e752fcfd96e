"""Waking checks that start at the same time with one timer."""

import asyncio
import time
from dataclasses import dataclass, field

# Checks of a group that start in one iteration of the event loop. Responses to the first ones are
# read before the last ones start, so that the measured times stay right.
STEP = 4


@dataclass(slots=True)
class Group:
    timer: asyncio.TimerHandle
    waiting: list[asyncio.Future[None]] = field(default_factory=list)


class StartGroups:
    def __init__(self) -> None:
        # By start time, on the monotonic clock.
        self._groups: dict[float, Group] = {}

    async def until(self, start_at: float) -> None:
        """Wait for this time, with all others that wait for it."""
        loop = asyncio.get_running_loop()
        group = self._groups.get(start_at)
        if group is None:
            timer = loop.call_later(start_at - time.monotonic(), self._start, start_at)
            group = self._groups[start_at] = Group(timer)
        ready: asyncio.Future[None] = loop.create_future()
        group.waiting.append(ready)
        try:
            await ready
        except asyncio.CancelledError:
            self._leave(start_at, ready)
            raise

    def _start(self, start_at: float) -> None:
        self._continue(self._groups.pop(start_at).waiting)

    def _continue(self, waiting: list[asyncio.Future[None]]) -> None:
        for ready in waiting[:STEP]:
            # The monitor may have been removed meanwhile.
            if not ready.done():
                ready.set_result(None)
        if len(waiting) > STEP:
            asyncio.get_running_loop().call_soon(self._continue, waiting[STEP:])

    def _leave(self, start_at: float, ready: asyncio.Future[None]) -> None:
        """The monitor was removed. Its next check may be due in a day: remove it now, so that no
        timer is left."""
        group = self._groups.get(start_at)
        if group is not None and ready in group.waiting:
            group.waiting.remove(ready)
            if not group.waiting:
                group.timer.cancel()
                del self._groups[start_at]
