"""Lists and searches for a request: in their own lane, so that no other read waits for them.

The first parameter of an operation is a transaction, as for `Database.read`. A search that
reads its rows in several steps takes a new turn in the lane for each of them, so that a long one
does not delay the others. How many run and wait: `db/search_lane.py`.
"""

import time
from collections.abc import Callable
from typing import Any, TypeVar

from belvedere.access.request import AnyRequest

# Rows that one step examines, and one request; then the response says where to continue.
STEP_ROWS = 5_000
MAX_ROWS = 100_000
# No further step of a request begins after this time.
MAX_STEPS_S = 2.0

# What a search returns.
R = TypeVar("R")


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
    *args: Any,
) -> R:
    """Run a search, or its first step. It is refused when too many wait: 429 or 503, with a time
    after which to repeat it."""
    result: R = await request.services.searches.run(*_scope(request), operation, *args)
    return result


async def run_search_on(
    request: AnyRequest,
    operation: Callable[..., R],
    *args: Any,
) -> R:
    """A further step of a search that has begun: it waits for its turn, and is not refused."""
    result: R = await request.services.searches.run_on(*_scope(request), operation, *args)
    return result


def _scope(request: AnyRequest) -> tuple[Any, str]:
    """What is searched, and whose turn it takes."""
    return request.services.db, request.actor.customer_id


async def run_long_search(
    request: AnyRequest,
    operation: Callable[..., R],
    *args: Any,
) -> R:
    """A search whose order allows no steps: few run at once, and each has a time limit."""
    result: R = await request.services.searches.run_long(*_scope(request), operation, *args)
    return result
