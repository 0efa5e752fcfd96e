"""Lists and searches for a request: in their own lane, so that no other read waits for them.

The first parameter of an operation (`verb`) is a transaction, as for `Database.read`. A search that
reads its rows in several steps takes a new turn in the lane for each of them, so that a long one
does not delay the others. How many run and wait: `db/search_lane.py`.
"""

from collections.abc import Callable
from typing import Any, TypeVar

from belvedere.rest.route import Ask

# What a search returns.
R = TypeVar("R")


async def run_search(
    request: Ask,
    verb: Callable[..., R],
    *args: Any,
) -> R:
    """Run a search, or its first step. It is refused when too many wait: 429 or 503, with a time
    after which to repeat it."""
    result: R = await request.house.searches.run(*_scope(request), verb, *args)
    return result


async def run_search_on(
    request: Ask,
    verb: Callable[..., R],
    *args: Any,
) -> R:
    """A further step of a search that has begun: it waits for its turn, and is not refused."""
    result: R = await request.house.searches.run_on(*_scope(request), verb, *args)
    return result


def _scope(request: Ask) -> tuple[Any, str]:
    """What is searched, and whose turn it takes."""
    return request.house.db, request.actor.customer_id
