"""Looking at indicators: who sees which, and what belongs to a record."""

from collections.abc import Sequence

import msgspec

from belvedere.access import Actor, Level, may_see, require
from belvedere.base.clock import Millis
from belvedere.base.errors import Invalid
from belvedere.db import Tx
from belvedere.indicators import history, model, store
from belvedere.indicators.history import Point
from belvedere.indicators.model import IndicatorRow
from belvedere.rest.listing import Listing
from belvedere.triggers import store as triggers
from belvedere.triggers.store import Trigger


class Shown(msgspec.Struct, gc=False):
    """An indicator with who may see it and what it starts."""

    row: IndicatorRow
    acl: list[str]
    triggers: list[Trigger]
    now: Millis


def find(tx: Tx, actor: Actor, name: str, *, by: str = "id", hold: bool = False) -> Shown:
    """The indicator, or NotFound for whom its ACL does not name."""
    row = store.find(tx, actor.customer_id, key(name, by), by=by, hold=hold)
    found = together(tx, [row])[0]
    if not may_see(actor, found.acl):
        raise store.missing()
    return found


def show(tx: Tx, actor: Actor, name: str, *, by: str = "id") -> Shown:
    require(actor, Level.VIEWER)
    return find(tx, actor, name, by=by)


def listed(tx: Tx, actor: Actor, listing: Listing) -> tuple[list[Shown], int | None]:
    """A page of what the actor may see, and the total where the caller asked for it."""
    require(actor, Level.VIEWER)
    total = store.count(tx, actor, listing) if listing.count else None
    return together(tx, store.page(tx, actor, listing)), total


def past(
    tx: Tx, actor: Actor, indicator_id: str, since: Millis, until: Millis, most: int
) -> list[Point]:
    """Its values over time."""
    require(actor, Level.VIEWER)
    found = find(tx, actor, indicator_id)
    return history.points(tx, found.row.id, since, until, most)


def together(tx: Tx, rows: Sequence[IndicatorRow]) -> list[Shown]:
    """Several, in their order, with two reads for each organization among them."""
    acls: dict[str, list[str]] = {}
    started: dict[str, list[Trigger]] = {}
    for customer_id in {row.customer_id for row in rows}:
        ids = [row.id for row in rows if row.customer_id == customer_id]
        acls |= store.acls(tx, customer_id, ids)
        started |= triggers.for_sources(tx, customer_id, "indicator", ids)
    return [Shown(row, acls[row.id], started[row.id], tx.now) for row in rows]


def key(name: str, by: str) -> str:
    """A title as it is kept; what cannot be one is nobody's."""
    if by == "id":
        return name
    try:
        return model.title(name)
    except Invalid:
        raise store.missing() from None
