"""Rejects a task or workflow that would start itself, directly or through others."""

import msgspec

from belvedere.base.errors import Invalid
from belvedere.db import Tx
from belvedere.triggers import store

# (task or workflow, id)
ObjectKey = tuple[str, str]
_RUNS = {
    "task": "select distinct task_id from workflow_tasks where workflow_id",
    "workflow": "select distinct part_id from workflow_parts where workflow_id",
}


def reject_cycle(tx: Tx, customer_id: str, kind: str, object_id: str) -> None:
    """Raises after the change is written; the rollback undoes it."""
    origin = (kind, object_id)
    reached: set[ObjectKey] = set()
    pending = [origin]
    while pending:
        started = set(_started_by(tx, customer_id, pending))
        if origin in started:
            raise Invalid(f"The {kind} would start itself in an endless loop.", code="trigger_ring")
        pending = sorted(started - reached)
        reached |= started


def _started_by(tx: Tx, customer_id: str, objects: list[ObjectKey]) -> list[ObjectKey]:
    """What the ends of these objects start, and what the workflows among them run."""
    started: list[ObjectKey] = []
    for kind in ("task", "workflow"):
        ids = [object_id for object_kind, object_id in objects if object_kind == kind]
        for triggers in store.for_sources(tx, customer_id, kind, ids).values():
            started += [(trigger.target, trigger.target_id) for trigger in triggers]
    workflow_ids = [object_id for object_kind, object_id in objects if object_kind == "workflow"]
    for kind, sql in _RUNS.items():
        rows = tx.rows(
            f"{sql} in {tx.dialect.in_texts}", msgspec.json.encode(workflow_ids).decode()
        )
        started += [(kind, object_id) for (object_id,) in rows]
    return started
