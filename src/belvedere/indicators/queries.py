"""Reading indicators: permissions, and what belongs to a record."""

from collections.abc import Sequence

import msgspec

from belvedere.access import Acl, Actor, Level, may_see, require, with_pending
from belvedere.base.clock import Millis
from belvedere.base.errors import Invalid
from belvedere.db import Tx
from belvedere.indicators import history, model, store
from belvedere.indicators.history import ValuePoint
from belvedere.indicators.model import IndicatorRow
from belvedere.rest.listing import Listing
from belvedere.triggers import store as triggers
from belvedere.triggers.store import Trigger


class IndicatorView(msgspec.Struct, gc=False):
    """An indicator with its ACL and triggers."""

    row: IndicatorRow
    acl: Acl
    triggers: list[Trigger]
    now: Millis


def find(tx: Tx, actor: Actor, name: str, *, by: str = "id", lock: bool = False) -> IndicatorView:
    """The indicator, or NotFound if the actor may not see it."""
    row = store.find(tx, actor.customer_id, lookup_key(name, by), by=by, lock=lock)
    view = to_views(tx, [row])[0]
    if not may_see(actor, view.acl.entries):
        raise store.not_found()
    return view


def show(tx: Tx, actor: Actor, name: str, *, by: str = "id") -> IndicatorView:
    require(actor, Level.VIEWER)
    return find(tx, actor, name, by=by)


def list_page(tx: Tx, actor: Actor, listing: Listing) -> tuple[list[IndicatorView], int | None]:
    """A page of the indicators that the actor may see, and the total if the listing asks for it."""
    require(actor, Level.VIEWER)
    total = store.count(tx, actor, listing) if listing.count else None
    return to_views(tx, store.select_page(tx, actor, listing)), total


def list_points(
    tx: Tx, actor: Actor, indicator_id: str, since: Millis, until: Millis, max_points: int
) -> list[ValuePoint]:
    """The values of an indicator over time."""
    require(actor, Level.VIEWER)
    view = find(tx, actor, indicator_id)
    return history.list_points(tx, view.row.id, since, until, max_points)


def to_views(tx: Tx, rows: Sequence[IndicatorRow]) -> list[IndicatorView]:
    """Views of the rows in their order, with three reads per organization."""
    acls: dict[str, Acl] = {}
    started: dict[str, list[Trigger]] = {}
    for customer_id in {row.customer_id for row in rows}:
        ids = [row.id for row in rows if row.customer_id == customer_id]
        acls |= with_pending(tx, customer_id, store.acls(tx, customer_id, ids))
        started |= triggers.for_sources(tx, customer_id, "indicator", ids)
    return [IndicatorView(row, acls[row.id], started[row.id], tx.now) for row in rows]


def lookup_key(name: str, by: str) -> str:
    """The id, or the normalized title; an invalid title belongs to no indicator."""
    if by == "id":
        return name
    try:
        return model.validate_title(name)
    except Invalid:
        raise store.not_found() from None
