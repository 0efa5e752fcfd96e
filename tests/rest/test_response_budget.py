"""Where a page ends: at its budget, one byte over it, and with a record larger than all of it."""

import pytest

from belvedere.access import audit
from belvedere.access.audit import AuditFilter
from belvedere.base.ids import new_id
from belvedere.db import Database, Tx
from belvedere.rest import response_budget
from belvedere.rest.listing import Field, Listable, Listing, read
from belvedere.rest.response_budget import RECORD_BYTES, Budget
from people import Actors

THINGS = Listable(fields={"id": Field("x.id"), "name": Field("x.name")})
# Sizes of records against a budget of 100 bytes, and how many of them fit.
CUTS = [
    ([100], 1),
    ([60, 40], 2),
    ([60, 40, 1], 2),
    ([60, 41], 1),
    ([99, 1, 0], 3),
    ([101], 1),
    ([101, 1], 1),
    ([1, 100], 1),
    ([1_000_000, 1_000_000], 1),
    ([], 0),
]


@pytest.mark.parametrize(("sizes", "count"), CUTS)
def test_a_page_ends_before_the_record_that_does_not_fit(sizes: list[int], count: int) -> None:
    budget = Budget(100)
    actual_sizes = [size for size in sizes if budget.takes(size)]
    assert actual_sizes[:count] == sizes[:count]
    assert len([*_while(Budget(100), sizes)]) == count


def _while(budget: Budget, sizes: list[int]) -> list[int]:
    numbers: list[int] = []
    for size in sizes:
        if not budget.takes(size):
            break
        numbers.append(size)
    return numbers


@pytest.mark.parametrize(("sizes", "count"), CUTS)
def test_a_list_is_cut_at_the_same_places(sizes: list[int], count: int) -> None:
    """Each record costs its texts and RECORD_BYTES."""
    most = 100 + RECORD_BYTES * max(count, 1)
    listing = response_budget.fit_listing(_listing(), iter(sizes), most)
    is_cut = sum(sizes) + RECORD_BYTES * len(sizes) > most and len(sizes) > 1
    assert listing.is_cut == is_cut
    assert not is_cut or listing.limit == count


def _listing() -> Listing:
    return read({}, THINGS)


@pytest.mark.parametrize(("budget_of", "count"), [((2, 0), 2), ((2, -1), 1), ((0, 1), 1)])
def test_the_audit_log_ends_at_its_budget(
    db: Database, actors: Actors, budget_of: tuple[int, int], count: int
) -> None:
    """Exactly two entries, one byte less than two, and less than one."""
    object_id = new_id()

    def fill(tx: Tx) -> None:
        for _ in range(3):
            audit.record(tx, actors.ada, "task.change", "task", object_id, None, {"a": "x" * 100})

    db.write_blocking(fill)
    expected = AuditFilter(object_id=object_id)
    size = len('{"a":""}') + 100 + RECORD_BYTES
    records, more = budget_of
    step = (audit.to_listing(expected, 10), None, None, 0, records * size + more)
    page = db.write_blocking(audit.read_page, actors.ada, *step)
    assert (len(page.records), page.is_cut) == (count, True)
