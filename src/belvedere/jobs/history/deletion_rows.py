"""Deletions of history that are under way, as rows, and the jobs that they concern."""

import msgspec

from belvedere.access import id_ranges
from belvedere.access.actor import Actor
from belvedere.access.id_ranges import IdRange
from belvedere.base.clock import Millis
from belvedere.db import Row, Tx, columns

# Columns of jobs.
TASK, WORKFLOW, CUSTOMER = "task_id", "workflow_id", "customer_id"


class DeletionScope(msgspec.Struct, frozen=True):
    """Which jobs: those of the organization whose column has this id."""

    customer_id: str
    column: str
    object_id: str

    @property
    def named_id(self) -> str:
        """The task or workflow; empty for the whole organization."""
        return "" if self.column == CUSTOMER else self.object_id


class HistoryDeletion(msgspec.Struct):
    """A row of `history_deletions`."""

    object_id: str
    customer_id: str
    scope: str
    until_at: Millis
    last_event_id: int
    last_id: str
    started_at: Millis
    due_at: Millis
    actor_id: str
    actor_name: str
    actor_kind: str
    # None: more than were counted.
    total: int | None = None
    reached: str = ""
    blocked_count: int = 0
    deleted: int = 0

    @property
    def jobs(self) -> DeletionScope:
        return DeletionScope(self.customer_id, self.scope, self.object_id)


class DeletionProgress(msgspec.Struct):
    """Deleted rows, and how many there are to delete; `total` is null if there are more than were
    counted. They are hidden already."""

    deleted: int
    total: int | None


def new(
    tx: Tx, actor: Actor, scope: DeletionScope, until: Millis, last_event_id: int
) -> HistoryDeletion | None:
    """None if there are no jobs."""
    last_id = newest_job(tx, scope)
    if last_id is None:
        return None
    return HistoryDeletion(
        scope.object_id,
        scope.customer_id,
        scope.column,
        until,
        last_event_id,
        # Jobs that are created later have not ended before.
        last_id,
        started_at=tx.now,
        due_at=tx.now,
        actor_id=actor.user_id or actor.credential_id,
        actor_name=actor.email or actor.username or actor.kind,
        actor_kind=actor.kind,
    )


def insert(tx: Tx, deletion: HistoryDeletion) -> None:
    """A deletion of the same history that is under way starts again, with the new mark."""
    old = lock(tx, deletion.object_id)
    if old is not None:
        deletion.until_at = max(deletion.until_at, old.until_at)
        deletion.deleted, deletion.started_at = old.deleted, old.started_at
        is_counted = deletion.total is not None and old.total is not None
        deletion.total = (deletion.total or 0) + (old.total or 0) if is_counted else None
        delete(tx, old)
    marks = ", ".join("?" for _ in HistoryDeletion.__struct_fields__)
    tx.execute(
        f"insert into history_deletions ({columns(HistoryDeletion)}) values ({marks})",
        *msgspec.structs.astuple(deletion),
    )


def lock(tx: Tx, object_id: str) -> HistoryDeletion | None:
    return tx.one(
        HistoryDeletion,
        f"select {columns(HistoryDeletion)} from history_deletions"
        f" where object_id = ?{tx.dialect.lock_rows}",
        object_id,
    )


def save(tx: Tx, deletion: HistoryDeletion) -> None:
    tx.execute(
        "update history_deletions set reached = ?, blocked_count = ?, deleted = ?, due_at = ?"
        " where object_id = ?",
        *(deletion.reached, deletion.blocked_count, deletion.deleted, deletion.due_at),
        deletion.object_id,
    )


def delete(tx: Tx, deletion: HistoryDeletion) -> None:
    tx.execute("delete from history_deletions where object_id = ?", deletion.object_id)


def progress(tx: Tx, customer_id: str, object_id: str = "") -> DeletionProgress | None:
    """Deletions of one task or workflow; without an id, of the whole organization."""
    rows = tx.rows(
        "select deleted, total from history_deletions where customer_id = ?"
        + (" and object_id = ?" if object_id else ""),
        *((customer_id, object_id) if object_id else (customer_id,)),
    )
    if not rows:
        return None
    total = None if any(row[1] is None for row in rows) else sum(row[1] for row in rows)
    return DeletionProgress(sum(row[0] for row in rows), total)


def newest_job(tx: Tx, scope: DeletionScope) -> str | None:
    rows = read_jobs(tx, scope, IdRange(), 1, "id", down=True)
    return rows[0][0] if rows else None


def read_jobs(
    tx: Tx,
    scope: DeletionScope,
    id_range: IdRange,
    limit: int,
    expressions: str,
    *params: object,
    down: bool = False,
) -> list[Row]:
    """The next jobs of a history, along its index. `params`: of the expressions."""
    keys, as_rows = (scope.column, "id"), tx.dialect.compares_pairs
    text, range_params = id_ranges.between(keys, (scope.object_id,), id_range, as_rows=as_rows)
    order = id_ranges.order(keys, down=down, as_rows=as_rows)
    rows = tx.rows(
        f"select customer_id, {expressions} from jobs where {text} and {scope.column} is not null"
        f" order by {order}id{' desc' if down else ''} limit ?",
        *(*params, *range_params, limit),
    )
    # Not a condition: PostgreSQL would expect few rows, and sort all of them. The jobs of a task
    # or workflow are all of one organization.
    is_own = bool(rows) and rows[0][0] == scope.customer_id
    return [row[1:] for row in rows] if is_own else []
