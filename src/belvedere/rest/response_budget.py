"""Limits the bytes of one response, and the number of large responses at the same time."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from belvedere.base.errors import Invalid
from belvedere.rest.listing import Listing

# A page of history: jobs with their included parts, audit entries, messages.
MAX_PAGE_BYTES = 4 << 20
# A list of definitions, which usually comes in one piece: tasks, workflows, indicators.
MAX_LIST_BYTES = 8 << 20
# The size of a record without the texts that are counted.
RECORD_BYTES = 512
# A list with fewer bytes never waits.
LIGHT_BYTES = 1 << 20
RETRY_S = 2


@dataclass(frozen=True, slots=True)
class HeavyReads:
    """Large responses at the same time: in total, of one organization, and waiting."""

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


def fit_listing(
    listing: Listing, sizes: Iterable[int | None], most: int = MAX_LIST_BYTES
) -> Listing:
    """The listing, shortened to the size limit; `sizes` are the sizes of its records, in order.
    `pagination.page_reply` then links to the next page."""
    budget = Budget(most)
    for n, size in enumerate(sizes):
        if not budget.takes((size or 0) + RECORD_BYTES):
            check_order(listing)
            return replace(listing, limit=n, is_cut=True, size=budget.spent)
    return replace(listing, size=budget.spent)


def check_order(listing: Listing) -> None:
    """Only a list in the order of ids has a next page."""
    if not listing.is_by_id:
        raise Invalid(
            "This page is too large. Request fewer records with limit, include less, or"
            " omit sort to get it in pages.",
            code="page_too_large",
        )
