"""Deletes the history of a task, a workflow or the organization on request.

The request hides the jobs and returns. Their rows are deleted in small steps (deletion_steps.py); a
row of `history_deletions` records how far that is, and outlives a restart.
"""

from collections.abc import Mapping

import msgspec

from belvedere.access import audit
from belvedere.access.actor import Actor
from belvedere.access.customers import service as customers
from belvedere.access.id_ranges import IdRange
from belvedere.base.clock import Millis
from belvedere.base.errors import Invalid
from belvedere.base.ids import is_id
from belvedere.db import Tx
from belvedere.jobs import store
from belvedere.jobs.history import deletion_rows, deletion_steps
from belvedere.jobs.history.deletion_rows import (
    CUSTOMER,
    TASK,
    WORKFLOW,
    DeletionProgress,
    DeletionScope,
)
from belvedere.jobs.history.limits import IS_DELETABLE
from belvedere.tasks.store import not_found, runnable

# Jobs that are counted in one step, and in all.
COUNT_ROWS = 5_000
MAX_COUNTED = 100_000


class HistoryCount(msgspec.Struct):
    """Jobs that a deletion hides, as far as they were counted; `after`: up to this job, None: all
    of them."""

    jobs: int = 0
    examined: int = 0
    after: str | None = ""

    @property
    def is_finished(self) -> bool:
        return self.after is None or self.examined >= MAX_COUNTED


class DeletedHistory(msgspec.Struct):
    """The number of jobs that are deleted for every reader; `more`: there were more than were
    counted. `deletion`: their rows are still being deleted."""

    deleted_count: int = msgspec.field(name="deletedCount")
    more: bool | msgspec.UnsetType = msgspec.UNSET
    deletion: DeletionProgress | msgspec.UnsetType = msgspec.UNSET


def scope_of(actor: Actor, kind: str | None, object_id: str | None) -> DeletionScope:
    if kind is None and object_id is None:
        return DeletionScope(actor.customer_id, CUSTOMER, actor.customer_id)
    if not kind or object_id is None or not is_id(object_id):
        raise Invalid("Pass both type and id, or neither.", code="invalid_query")
    if "task" in kind.lower():
        return DeletionScope(actor.customer_id, TASK, object_id)
    if "workflow" in kind.lower():
        return DeletionScope(actor.customer_id, WORKFLOW, object_id)
    raise Invalid("type must be Task or Workflow.", code="invalid_query")


def check_task(tx: Tx, actor: Actor, task_id: str) -> None:
    """The task may be deleted, but must have existed."""
    if runnable(tx, actor.customer_id, task_id, also_deleted=True) is None:
        raise not_found()


_IS_COUNTED = f"{IS_DELETABLE} and ended_at > ? and not {store.IS_HIDDEN.format('jobs')}"


def count_step(tx: Tx, scope: DeletionScope, count: HistoryCount) -> HistoryCount:
    """Examine the next jobs of the history."""
    until = tx.value("select purged_until from customers where id = ?", scope.customer_id)
    id_range = IdRange(low=(count.after or "", ">"))
    expressions = f"id, case when {_IS_COUNTED} then 1 else 0 end"
    rows = deletion_rows.read_jobs(tx, scope, id_range, COUNT_ROWS, expressions, until)
    return HistoryCount(
        count.jobs + sum(is_counted for _, is_counted in rows),
        count.examined + len(rows),
        rows[-1][0] if len(rows) == COUNT_ROWS else None,
    )


def begin(
    tx: Tx,
    actor: Actor,
    scope: DeletionScope,
    count: HistoryCount,
    kind: str | None,
    consumers: Mapping[str, frozenset[str]],
) -> DeletedHistory:
    """Hide the ended jobs and delete the first of them, if the event consumers that read jobs (name
    and kinds) have processed their events."""
    until: Millis = tx.now
    if scope.column == CUSTOMER:
        until = customers.raise_purge_mark(tx, actor.customer_id)
    fields = {"type": kind, "id": scope.named_id or None, "deleted": count.jobs}
    audit.record(tx, actor, "job.delete_finished", "job", scope.named_id, None, fields)
    last_event_id = tx.value("select max(id) from events") or 0
    deletion = deletion_rows.new(tx, actor, scope, until, last_event_id)
    result = DeletedHistory(count.jobs)
    if count.after is not None:
        result.more = True
    if deletion is None and scope.column == CUSTOMER:
        customers.clear_purge_mark(tx, actor.customer_id, until)
    if deletion is None:
        return result
    deletion.total = count.jobs if count.after is None else None
    deletion_rows.insert(tx, deletion)
    if deletion_steps.run(tx, deletion, consumers):
        result.deletion = DeletionProgress(deletion.deleted, deletion.total)
    return result
