"""Counting on: one statement for each step, one transaction for as many as wait."""

from collections.abc import Sequence

import msgspec

from belvedere.access import Actor, Level, require
from belvedere.base.errors import Invalid, Refused
from belvedere.db import Tx
from belvedere.indicators import change_log, queries, store
from belvedere.indicators.model import Action, IndicatorRow
from belvedere.indicators.queries import Shown


class Step(msgspec.Struct):
    """One request to count on: the counter by its id or title."""

    actor: Actor
    by: str
    name: str
    action: Action


def step(tx: Tx, wanted: list[Step]) -> Sequence[Shown | Exception]:
    """A refused one harms no other."""
    answers = [_step(tx, item) for item in wanted]
    rows = [answer for answer in answers if isinstance(answer, IndicatorRow)]
    change_log.pushed(tx, rows)
    found = iter(queries.together(tx, rows))
    return [next(found) if isinstance(one, IndicatorRow) else one for one in answers]


def _step(tx: Tx, item: Step) -> IndicatorRow | Refused:
    try:
        require(item.actor, Level.ADMIN)
        customer_id, name = item.actor.customer_id, queries.key(item.name, item.by)
        row = store.count_on(tx, customer_id, name, item.action, by=item.by)
        if row is None:
            found = store.find(tx, customer_id, name, by=item.by)
            raise Invalid(f"Only a counter can do this; it is a {found.type}.", code="no_counter")
        return row
    except Refused as refusal:
        return refusal
