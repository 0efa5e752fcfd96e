"""Lists and searches for a request: in their own lane, so that no other read waits for them.

The first parameter of an operation is a transaction, as for `Database.read`. A search that
reads its rows in several steps takes a new turn in the lane for each of them, so that a long one
does not delay the others. How many run and wait: `db/search_lane.py`.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from belvedere.access.request import AnyRequest
from belvedere.base.errors import Forbidden
from belvedere.rest.listing import Listing
from belvedere.rest.pagination import ListPage

# Rows that one step examines, and one request; then the response says where to continue.
STEP_ROWS = 5_000
MAX_ROWS = 100_000
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
) -> ListPage[T]:
    """Read a list step by step, until the page is full, the rows end or the budget is spent.

    `operation(tx, *args, listing, count_limit, rows, size)` is one step: it examines at most `rows`
    rows, and `size` bytes of records were read before.
    """
    if not listing.is_by_id:
        return await run_long_search(request, operation, *args, listing, count_limit, None, 0)
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


async def run_long_search(
    request: AnyRequest,
    operation: Callable[..., R],
    *args: object,
) -> R:
    """A search whose order allows no steps: few run at once, and each has a time limit."""
    _check_acl_filters(request, args)
    result: R = await request.services.searches.run_long(*_scope(request), operation, *args)
    return result
