"""What would start itself, over however many others, would never stop: refused."""

import msgspec

from belvedere.base.errors import Invalid
from belvedere.db import Tx
from belvedere.triggers import store

# (task or workflow, id)
Thing = tuple[str, str]
_RUNS = {
    "task": "select distinct task_id from workflow_tasks where workflow_id",
    "workflow": "select distinct part_id from workflow_parts where workflow_id",
}


def refuse(tx: Tx, customer_id: str, kind: str, object_id: str) -> None:
    """Looks at what is written already: the refusal undoes it."""
    thing = (kind, object_id)
    reached: set[Thing] = set()
    fresh = [thing]
    while fresh:
        started = set(_started(tx, customer_id, fresh))
        if thing in started:
            raise Invalid(f"The {kind} would start itself again and again.", code="trigger_ring")
        fresh = sorted(started - reached)
        reached |= started


def _started(tx: Tx, customer_id: str, things: list[Thing]) -> list[Thing]:
    """What the ends of these start, and what the workflows among them run."""
    found: list[Thing] = []
    for kind in ("task", "workflow"):
        ids = [object_id for of, object_id in things if of == kind]
        for ones in store.of_sources(tx, customer_id, kind, ids).values():
            found += [(one.target, one.target_id) for one in ones]
    flows = [object_id for of, object_id in things if of == "workflow"]
    for kind, sql in _RUNS.items():
        rows = tx.rows(f"{sql} in {tx.sql.texts}", msgspec.json.encode(flows).decode())
        found += [(kind, object_id) for (object_id,) in rows]
    return found
