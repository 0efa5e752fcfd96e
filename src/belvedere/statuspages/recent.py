"""Status pages that were made a moment ago: strangers may ask as often as they like."""

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

    async def get(self, slug: str, make: Callable[[], Awaitable[Status]]) -> Status:
        kept = self._kept.get(slug)
        if kept is not None and 0 <= self._clock() - kept[0] < FRESH:
            return kept[1]
        made = await make()
        if len(self._kept) >= ROOM:
            self._kept.clear()
        self._kept[slug] = (self._clock(), made)
        return made
