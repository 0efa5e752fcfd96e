"""How many bytes one answer may have, and how many large answers are made at once."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from belvedere.base.errors import Invalid
from belvedere.rest.listing import Listing

# Of a page of history: jobs with what they include, audit, messages.
MAX_PAGE_BYTES = 4 << 20
# Of a list of definitions, which usually comes in one piece: tasks, workflows, indicators.
MAX_LIST_BYTES = 8 << 20
# What a record has beside the texts that are counted.
RECORD_BYTES = 512
# A list with fewer waits for nobody.
LIGHT_BYTES = 1 << 20
RETRY_S = 2


@dataclass(frozen=True, slots=True)
class HeavyReads:
    """Large answers at once, of one organization, and waiting."""

    places: int = 4
    share: int = 2
    queue: int = 100
    reserved: int = 0


class Budget:
    """Counts what has been read; the first record always fits."""

    def __init__(self, most: int = MAX_PAGE_BYTES) -> None:
        self.most = most
        self.spent = 0

    def takes(self, size: int) -> bool:
        if self.spent and self.spent + size > self.most:
            return False
        self.spent += size
        return True


def fitted(listing: Listing, sizes: Iterable[int | None], most: int = MAX_LIST_BYTES) -> Listing:
    """The same list, ended before it has more bytes than it may; `sizes` are those of its records,
    in its order. `lists.answer` then names the next page."""
    budget = Budget(most)
    for n, size in enumerate(sizes):
        if not budget.takes((size or 0) + RECORD_BYTES):
            check_order(listing)
            return replace(listing, limit=n, is_cut=True, size=budget.spent)
    return replace(listing, size=budget.spent)


def check_order(listing: Listing) -> None:
    """Only in the order of ids is there a next page."""
    if not listing.is_by_id:
        raise Invalid(
            "This page has too many bytes; ask for fewer records with limit, include less, or leave"
            " out sort to get it in pages.",
            code="page_too_large",
        )
