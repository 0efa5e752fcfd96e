"""Status pages that were made a moment ago: strangers may ask as often as they like."""

import asyncio
from collections.abc import Awaitable, Callable

from belvedere.base.clock import SECOND, Clock, Millis
from belvedere.statuspages.public_status import Status

FRESH: Millis = 5 * SECOND
ROOM = 500


class Recent:
    """Each for some seconds; when there are too many all go, what is wanted comes back at once."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._kept: dict[str, tuple[Millis, Status]] = {}
        self._pending: dict[str, asyncio.Future[Status]] = {}

    async def get(self, slug: str, make: Callable[[], Awaitable[Status]]) -> Status:
        """A page is made once for all who ask meanwhile."""
        kept = self._kept.get(slug)
        if kept is not None and 0 <= self._clock() - kept[0] < FRESH:
            return kept[1]
        pending = self._pending.get(slug)
        if pending is None:
            pending = self._pending[slug] = asyncio.ensure_future(make())
            pending.add_done_callback(lambda done: self._keep(slug, done))
        # Shielded: one of those who wait may close its connection.
        return await asyncio.shield(pending)

    def _keep(self, slug: str, done: "asyncio.Future[Status]") -> None:
        del self._pending[slug]
        if done.cancelled() or done.exception() is not None:
            return
        if len(self._kept) >= ROOM:
            self._kept.clear()
        self._kept[slug] = (self._clock(), done.result())
