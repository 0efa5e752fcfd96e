"""Limits for lists and searches: how many run at once, and how many may wait.

The caller of a search decides how many rows are read. So searches have their own threads and
connections (`Database.search`), and no other read waits for one. Organizations take turns.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Concatenate, ParamSpec, TypeVar

from belvedere.base.errors import TooMany, Unavailable
from belvedere.base.fair_queue import Lane, LaneFull
from belvedere.db.interface import Database, Tx

P = ParamSpec("P")
R = TypeVar("R")

# Threads for searches, of each open database.
SEARCH_THREADS = 3
# Searches of all organizations that may wait.
MAX_WAITING = 300
RETRY_S = 2
# One step of a search, on either engine. PostgreSQL ends its statements after the same time.
MAX_SEARCH_S = 6


@dataclass(frozen=True, slots=True)
class SearchLimits:
    """Searches at once, of one organization, and of one organization that may wait."""

    places: int = SEARCH_THREADS
    share: int = 2
    queue: int = 50
    reserved: int = 0


def search_timeout() -> Unavailable:
    return Unavailable(
        f"The search needed more than {MAX_SEARCH_S} s. Leave out sort, or narrow the search, for"
        " example with where[creation_date][$gte].",
        code="search_timeout",
    )


class SearchLane:
    """Admits searches to the threads that are reserved for them."""

    def __init__(self, limits: SearchLimits | None = None) -> None:
        self._lane = Lane(limits or SearchLimits())

    @property
    def waiting(self) -> int:
        return self._lane.waiting

    async def run(
        self,
        db: Database,
        customer_id: str,
        operation: Callable[Concatenate[Tx, P], R],
        *a: P.args,
        **k: P.kwargs,
    ) -> R:
        """The first step of a search, or all of it."""
        if self.waiting >= MAX_WAITING:
            raise Unavailable(
                f"{MAX_WAITING} lists and searches are waiting on this server; try again later.",
                code="searches_busy",
            )
        try:
            async with self._lane.place(customer_id):
                return await _run_to_end(db.search(operation, *a, **k))
        except LaneFull:
            raise _too_many(self._lane) from None

    async def run_on(
        self,
        db: Database,
        customer_id: str,
        operation: Callable[Concatenate[Tx, P], R],
        *a: P.args,
        **k: P.kwargs,
    ) -> R:
        """A further step of a search that was admitted: it waits for its turn like the first."""
        async with self._lane.place(customer_id, is_admitted=True):
            return await _run_to_end(db.search(operation, *a, **k))


def _too_many(lane: Lane) -> TooMany:
    return TooMany(
        f"{lane.limits.queue} lists and searches of your organization are already waiting; wait for"
        " their responses, then try again.",
        RETRY_S,
        code="too_many_searches",
    )


async def _run_to_end(search: Awaitable[R]) -> R:
    """A cancelled caller leaves its thread busy: the place stays taken until the thread ends."""
    work = asyncio.ensure_future(search)
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        await asyncio.gather(work, return_exceptions=True)
        raise
