"""Events that wait for one reader of the event stream, in bounded memory."""

import asyncio
from collections import deque

from belvedere.events import Event

# A reader that is further behind must read everything again.
MAX_BACKLOG = 10_000
# The same in characters of their data.
MAX_CHARACTERS = 64 << 20


class Backlog:
    """Batches of events in order. When there are too many, all are dropped: the reader is
    disconnected, and continues from its last event or reads everything again."""

    def __init__(self, limit: int = MAX_BACKLOG) -> None:
        self.is_over = False
        self._limit = limit
        self._batches: deque[list[Event]] = deque()
        self._size = self._characters = 0
        self._wake = asyncio.Event()

    def __len__(self) -> int:
        return self._size

    def put(self, batch: list[Event]) -> None:
        if self.is_over:
            return
        self._batches.append(batch)
        self._size += len(batch)
        self._characters += _characters(batch)
        if self._size > self._limit or self._characters > MAX_CHARACTERS:
            self.is_over = True
            self._batches.clear()
            self._size = self._characters = 0
        self._wake.set()

    async def take(self) -> list[Event]:
        """The next batch; nothing when the reader is too far behind."""
        while not self._batches and not self.is_over:
            self._wake.clear()
            await self._wake.wait()
        if self.is_over:
            return []
        batch = self._batches.popleft()
        self._size -= len(batch)
        self._characters -= _characters(batch)
        return batch


def _characters(batch: list[Event]) -> int:
    return sum(len(event.data) for event in batch)
