"""A lane limits how many calls run at once, in total and for each organization.

One organization cannot delay another: it gets at most its share of the places of a lane, and a
place that becomes free goes to the next organization in turn. Reserved places are only for
organizations that have no call running, so that a few organizations with slow calls cannot take
all places.
"""

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Protocol


class LaneFull(Exception):
    """Too many calls of this organization are waiting already."""


class LaneLimits(Protocol):
    @property
    def places(self) -> int:
        """How many calls may run at the same time."""

    @property
    def share(self) -> int:
        """How many calls of one organization may run at the same time."""

    @property
    def queue(self) -> int:
        """Calls of one organization that may wait for a place."""

    @property
    def reserved(self) -> int:
        """Places for the first call of an organization only."""


def has_room(limits: LaneLimits, running: Counter[str], customer_id: str) -> bool:
    """Whether another call of the organization may start."""
    own_calls = running[customer_id]
    places = limits.places - (limits.reserved if own_calls else 0)
    return own_calls < limits.share and running.total() < places


class Lane:
    def __init__(self, limits: LaneLimits) -> None:
        self.limits = limits
        self.running: Counter[str] = Counter()
        # In the order in which organizations get their turns.
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}

    @property
    def waiting(self) -> int:
        """Calls of all organizations that wait for a place."""
        return sum(map(len, self._waiting.values()))

    @asynccontextmanager
    async def place(self, customer_id: str, *, is_admitted: bool = False) -> AsyncIterator[None]:
        """`is_admitted`: a further step of a call that already had a place. It waits even if the
        queue is full."""
        await self._enter(customer_id, is_admitted)
        try:
            yield
        finally:
            self._leave(customer_id)

    async def _enter(self, customer_id: str, is_admitted: bool) -> None:
        if has_room(self.limits, self.running, customer_id) and customer_id not in self._waiting:
            self.running[customer_id] += 1
            return
        queue = self._waiting.setdefault(customer_id, deque())
        if len(queue) >= self.limits.queue and not is_admitted:
            raise LaneFull
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        queue.append(turn)
        try:
            await turn
        except BaseException:
            if turn.done() and not turn.cancelled():
                # The place was assigned at the same moment; pass it to the next call.
                self._leave(customer_id)
            else:
                self._remove(customer_id, turn)
            raise

    def _leave(self, customer_id: str) -> None:
        self.running[customer_id] -= 1
        if not self.running[customer_id]:
            del self.running[customer_id]
        while (next_customer := self._next()) is not None:
            self._start(next_customer)

    def _next(self) -> str | None:
        waiting = self._waiting
        return next((c for c in waiting if has_room(self.limits, self.running, c)), None)

    def _start(self, customer_id: str) -> None:
        queue = self._waiting.pop(customer_id)
        turn = queue.popleft()
        if queue:
            # To the end of the order.
            self._waiting[customer_id] = queue
        if turn.cancelled():
            # The caller was cancelled but has not run since; a place assigned to it would be lost.
            return
        self.running[customer_id] += 1
        turn.set_result(None)

    def _remove(self, customer_id: str, turn: "asyncio.Future[None]") -> None:
        queue = self._waiting.get(customer_id)
        if queue is not None and turn in queue:
            queue.remove(turn)
            if not queue:
                del self._waiting[customer_id]
