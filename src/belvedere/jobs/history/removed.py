"""How many jobs were removed, so that a list of jobs can say that it is not complete."""

from typing import Any

import msgspec

from belvedere.access import Actor, acl_of, may_see, visible_filter
from belvedere.base.clock import iso
from belvedere.base.ids import is_id
from belvedere.db import Tx
from belvedere.jobs.history import deletion_rows
from belvedere.jobs.history.deletion_rows import DeletionProgress


class RemovedJobs(msgspec.Struct):
    """Jobs that retention or a person removed; `last_date` is null if there were none.
    `deletion`: only while history that a person deleted is being removed."""

    count: int
    last_date: str | None
    deletion: DeletionProgress | msgspec.UnsetType = msgspec.UNSET


def note(tx: Tx, ids: str) -> None:
    """Count these jobs, which are about to be removed, for their task or workflow."""
    rows = tx.rows(
        "select customer_id, coalesce(task_id, workflow_id, ''), count(*) from jobs"
        f" where id in {tx.dialect.in_texts} group by 1, 2",
        ids,
    )
    tx.execute_many(
        "insert into removed_jobs (customer_id, object_id, count, last_at) values (?, ?, ?, ?)"
        " on conflict (customer_id, object_id) do update"
        " set count = removed_jobs.count + excluded.count, last_at = excluded.last_at",
        [(*row, tx.now) for row in rows],
    )


def show(tx: Tx, actor: Actor, kind: str, object_id: str) -> RemovedJobs:
    """For one task or workflow that the actor may see; without an id, for all of them."""
    if object_id and not is_id(object_id):
        return RemovedJobs(0, None)
    condition, params = _visible_filter(actor, kind)
    if object_id:
        condition, params = f"{condition} and object_id = ?", [*params, object_id]
    rows = tx.rows(
        f"select count, last_at from removed_jobs where customer_id = ? and {condition}",
        actor.customer_id,
        *params,
    )
    last_at = max((at for _, at in rows), default=None)
    may_see_all = actor.sees_all or (
        bool(kind and object_id) and _may_see(tx, actor, kind, object_id)
    )
    return RemovedJobs(
        sum(count for count, _ in rows),
        None if last_at is None else iso(last_at),
        _progress(tx, actor, object_id) if may_see_all else msgspec.UNSET,
    )


def _visible_filter(actor: Actor, kind: str) -> tuple[str, list[Any]]:
    kinds = (kind,) if kind else ("task", "workflow")
    filters = [visible_filter(actor, name, "object_id") for name in kinds]
    conditions = " or ".join(condition for condition, _ in filters)
    return f"({conditions})", [value for _, params in filters for value in params]


def _progress(tx: Tx, actor: Actor, object_id: str) -> DeletionProgress | msgspec.UnsetType:
    return deletion_rows.progress(tx, actor.customer_id, object_id) or msgspec.UNSET


def _may_see(tx: Tx, actor: Actor, kind: str, object_id: str) -> bool:
    return may_see(actor, acl_of(tx, actor.customer_id, kind, object_id))
