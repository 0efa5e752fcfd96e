"""The names of all objects of a kind: choices of forms, which need nothing else of a record."""

from itertools import takewhile

import msgspec

from belvedere.access import Actor, require
from belvedere.db import Tx
from belvedere.overview import objects
from belvedere.rest.response_budget import MAX_LIST_BYTES, Budget

# More than a form can offer.
MAX_NAMES = 10_000
# A description of a script may be much longer.
MAX_DETAIL = 256
KINDS = tuple(objects.SOURCES)


class ObjectName(msgspec.Struct):
    """`detail`: its host, address or other text that distinguishes it from others with this
    name. `state`: the type of a task, the level of a member."""

    id: str
    name: str
    detail: str
    state: str | None
    tags: list[str]


def list_names(tx: Tx, actor: Actor, kind: str) -> list[ObjectName]:
    """The objects of a kind that the actor may see, in the order of their names, as many as fit
    into one response."""
    source = objects.SOURCES[kind]
    require(actor, source.level)
    visibility, params = objects.visibility(actor, kind)
    rows = tx.rows(
        f"select x.id, {source.name}, substr({source.detail}, 1, {MAX_DETAIL}), {source.state},"
        f" {source.tags_in(tx.dialect)} from {source.table} x {source.join}"
        f" where x.customer_id = ? and {source.live} and {visibility}"
        f" order by lower({source.name}), x.id limit ?",
        *(actor.customer_id, *params, MAX_NAMES),
    )
    budget = Budget(MAX_LIST_BYTES)
    fitting = takewhile(lambda row: budget.takes(sum(len(text or "") for text in row)), rows)
    return [
        ObjectName(id_, name, detail, state, objects.decode_tags(tags))
        for id_, name, detail, state, tags in fitting
    ]
