"""Lists and searches for a request: in their own lane, so that no other read waits for them.

The first parameter of an operation is a transaction, as for `Database.read`. A search that
reads its rows in several steps takes a new turn in the lane for each of them, so that a long one
does not delay the others. How many run and wait: `db/search_lane.py`.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from belvedere.access.request import AnyRequest
from belvedere.base.clock import HOUR, Millis
from belvedere.base.errors import Forbidden
from belvedere.rest.listing import Condition, Listing
from belvedere.rest.pagination import ListPage

# Rows that one step examines, and one request; then the response says where to continue.
STEP_ROWS = 5_000
MAX_ROWS = 100_000
# The tolerance for two rows: each may differ by an hour from the time in its id.
MAX_CLOCK_DIFFERENCE: Millis = 2 * HOUR
# No further step of a request begins after this time.
MAX_STEPS_S = 2.0

# What a search returns, and a record of a list.
R = TypeVar("R")
T = TypeVar("T")


class SearchBudget:
    """Rows and time that one request may still use. The first step is always allowed."""

    def __init__(self, rows: int | None) -> None:
        self._rows = min(rows or MAX_ROWS, MAX_ROWS)
        self._deadline = time.monotonic() + MAX_STEPS_S

    @property
    def step(self) -> int:
        """Rows of the next step."""
        return min(STEP_ROWS, self._rows)

    def spend_step(self) -> bool:
        """Count a step that examined all of its rows; whether another one may follow."""
        self._rows -= self.step
        return self._rows > 0 and time.monotonic() < self._deadline


async def run_search(
    request: AnyRequest,
    operation: Callable[..., R],
    *args: object,
) -> R:
    """Run a search, or its first step. It is refused when too many wait: 429 or 503, with a time
    after which to repeat it."""
    _check_acl_filters(request, args)
    result: R = await request.services.searches.run(*_scope(request), operation, *args)
    return result


async def run_search_on(
    request: AnyRequest,
    operation: Callable[..., R],
    *args: object,
) -> R:
    """A further step of a search that has begun: it waits for its turn, and is not refused."""
    result: R = await request.services.searches.run_on(*_scope(request), operation, *args)
    return result


def _check_acl_filters(request: AnyRequest, args: Sequence[object]) -> None:
    """Below manager, only whole entries: a search for a part of an entry, or for a range, would
    reveal the addresses of others."""
    actor = request.actor
    if actor.sees_all:
        return
    conditions = [c for arg in args if isinstance(arg, Listing) for c in arg.conditions]
    for condition in conditions:
        if condition.field == "acl" and condition.operator not in ("$eq", "$in"):
            raise Forbidden("You can search an ACL only by whole entries.", code="acl_filter")


def _scope(request: AnyRequest) -> tuple[Any, str]:
    """What is searched, and whose turn it takes."""
    return request.services.db, request.actor.customer_id


async def read_list(
    request: AnyRequest,
    listing: Listing,
    operation: Callable[..., ListPage[T]],
    *args: object,
    count_limit: int | None = None,
    row_limit: int | None = None,
    time_field: str = "",
) -> ListPage[T]:
    """Read a list step by step, until the page is full, the rows end or the budget is spent.

    `operation(tx, *args, listing, count_limit, rows, size)` is one step: it examines at most `rows`
    rows, and `size` bytes of records were read before. `time_field`: the field whose order is that
    of the ids, except for the difference between the clocks of servers.
    """
    if not listing.is_by_id:
        search = _SortedSearch(request, operation, args, listing, time_field)
        return await search.run(SearchBudget(row_limit), count_limit)
    budget = SearchBudget(row_limit)
    page = await run_search(request, operation, *args, listing, count_limit, budget.step, 0)
    while page.is_unfinished(listing, count_limit) and budget.spend_step():
        following = replace(
            listing, after=page.until, limit=(listing.limit or 0) - len(page.records)
        )
        remaining_count = None if count_limit is None else max(0, count_limit - (page.total or 0))
        step = (following, remaining_count, budget.step, page.size)
        page.append(await run_search_on(request, operation, *args, *step))
    return page


@dataclass(frozen=True, slots=True)
class _SortedSearch(Generic[T]):
    """A list in another order than that of the ids. Each step examines and sorts the next rows,
    newest first; the first records of all steps are sorted again. If the budget ends before the
    rows, the list has the first records among the rows that were examined (`until`)."""

    request: AnyRequest
    operation: Callable[..., ListPage[T]]
    args: tuple[object, ...]
    listing: Listing
    time_field: str

    async def run(self, budget: SearchBudget, count_limit: int | None) -> ListPage[T]:
        first = (*self.args, self.listing, count_limit, budget.step, 0)
        page = await run_search(self.request, self.operation, *first)
        while page.until is not None and budget.spend_step():
            if self._is_complete(page):
                page.until = None
                break
            following = replace(self.listing, after=page.until)
            step = await self._read(following, count_limit, budget.step)
            records = await self._first_of(page.records, step.records)
            total = None if page.total is None else page.total + (step.total or 0)
            page = replace(page, records=records, total=total, until=step.until)
        return page

    async def _read(
        self, listing: Listing, count_limit: int | None, rows: int | None
    ) -> ListPage[T]:
        return await run_search_on(
            self.request, self.operation, *self.args, listing, count_limit, rows, 0
        )

    async def _first_of(self, records: list[T], more: list[T]) -> list[T]:
        """The database compares them: texts have its order."""
        if not more or not records:
            return records or more
        ids = tuple(_id(record) for record in (*records, *more))
        conditions = (*self.listing.conditions, Condition("id", "$in", ids))
        listing = replace(self.listing, conditions=conditions, after=None, count=False)
        return (await self._read(listing, None, None)).records

    def _is_complete(self, page: ListPage[T]) -> bool:
        """Whether no row that was not examined yet can belong to a full page."""
        is_newest_first = self.listing.sort[:1] == ((self.time_field, True),)
        if not is_newest_first or page.total is not None or page.until is None:
            return False
        is_full = bool(page.records) and len(page.records) == self.listing.limit
        return is_full and _time(_id(page.records[-1])) > _time(page.until) + MAX_CLOCK_DIFFERENCE


def _id(record: object) -> str:
    row_id: str = record.id  # type: ignore[attr-defined]
    return row_id


def _time(row_id: str) -> Millis:
    """Ids begin with the time when they were made."""
    return int(row_id[:12], 16)
