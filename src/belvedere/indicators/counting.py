"""Changing counters: one statement per request, one transaction for all that are waiting."""

from collections.abc import Sequence

import msgspec

from belvedere.access import Actor, Level, require
from belvedere.base.errors import Invalid, Refused
from belvedere.db import Tx
from belvedere.indicators import change_log, queries, store
from belvedere.indicators.model import Action, IndicatorRow
from belvedere.indicators.queries import IndicatorView


class CounterRequest(msgspec.Struct):
    """A request to change a counter, which is named by its id or title."""

    actor: Actor
    by: str
    name: str
    action: Action


def count_batch(tx: Tx, requests: list[CounterRequest]) -> Sequence[IndicatorView | Exception]:
    """Change the counters; a refused request does not affect the others."""
    results = [_count(tx, request) for request in requests]
    rows = [result for result in results if isinstance(result, IndicatorRow)]
    change_log.record_push(tx, rows)
    views = iter(queries.to_views(tx, rows))
    return [next(views) if isinstance(result, IndicatorRow) else result for result in results]


def _count(tx: Tx, request: CounterRequest) -> IndicatorRow | Refused:
    try:
        require(request.actor, Level.ADMIN)
        customer_id, name = request.actor.customer_id, queries.lookup_key(request.name, request.by)
        row = store.update_counter(tx, customer_id, name, request.action, by=request.by)
        if row is None:
            indicator = store.find(tx, customer_id, name, by=request.by)
            raise Invalid(
                "Only counters can be increased, decreased or reset; this indicator has "
                f"the type {indicator.type}.",
                code="no_counter",
            )
        return row
    except Refused as refusal:
        return refusal
