"""What of a list the one who asks may run."""

from collections.abc import Collection

import msgspec

from belvedere.access import Actor, Level
from belvedere.db import Tx


def runnable(tx: Tx, actor: Actor, object: str, ids: Collection[str]) -> set[str]:
    """Those of these tasks or workflows that the actor may run: `may_run` for many at once."""
    if actor.runs_all:
        return set(ids)
    if not actor.level.reaches(Level.USER) or not actor.entries:
        return set()
    rows = tx.rows(
        "select distinct object_id from acl where customer_id = ? and object = ?"
        f" and object_id in {tx.dialect.in_texts} and entry in {tx.dialect.in_texts}",
        actor.customer_id,
        object,
        json_list(ids),
        json_list(actor.entries),
    )
    return {object_id for (object_id,) in rows}


def json_list(items: Collection[str]) -> str:
    return msgspec.json.encode(list(items)).decode()
