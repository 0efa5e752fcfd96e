"""Deletes old jobs: a mark hides them at once, rows are deleted later in small batches."""

from collections.abc import Sequence

from belvedere import events
from belvedere.access import audit
from belvedere.access.actor import Actor
from belvedere.access.customers import service as customers
from belvedere.base.clock import DAY, Millis
from belvedere.base.errors import Invalid
from belvedere.base.ids import is_id
from belvedere.db import Database, Tx, installation
from belvedere.events import budget, cursors
from belvedere.hosts import restored
from belvedere.jobs import store
from belvedere.jobs.history import limits, removed
from belvedere.jobs.history.limits import BATCH_SIZE, IS_DELETABLE
from belvedere.jobs.output import log_store
from belvedere.tasks.model import History
from belvedere.tasks.store import not_found, runnable

# The names of the marks that hide the history of an organization.
_MARK = "purge:"


async def delete_history(
    db: Database, actor: Actor, kind: str | None = None, object_id: str | None = None
) -> int:
    """All history at once by a mark; that of one task or workflow in batches, so that other
    transactions are not delayed. After an interruption, repeat the request."""
    total = count = await db.write(delete_finished, actor, kind, object_id)
    while object_id is not None and count == BATCH_SIZE:
        count = await db.write(delete_batch, actor, _column(kind, object_id), object_id)
        total += count
    return total


def delete_finished(tx: Tx, actor: Actor, kind: str | None, object_id: str | None) -> int:
    """Hide or delete ended jobs; their number, or that of the first batch."""
    column = _column(kind, object_id)
    if column is None:
        count = _count(tx, actor)
        _raise_mark(tx, actor.customer_id)
    else:
        count = delete_batch(tx, actor, column, object_id)
    audit_fields = {"type": kind, "id": object_id, "deleted": count}
    audit.record(tx, actor, "job.delete_finished", "job", object_id or "", None, audit_fields)
    return count


def _count(tx: Tx, actor: Actor) -> int:
    until = tx.value("select purged_until from customers where id = ?", actor.customer_id)
    where = f"customer_id = ? and {IS_DELETABLE} and ended_at > ?"
    return int(tx.value(f"select count(*) from jobs where {where}", actor.customer_id, until))


def delete_batch(tx: Tx, actor: Actor, column: str | None, object_id: str | None) -> int:
    rows = tx.rows(
        f"select id from jobs where customer_id = ? and {IS_DELETABLE} and {column} = ?"
        " order by id limit ?",
        actor.customer_id,
        object_id,
        BATCH_SIZE,
    )
    delete_jobs(tx, [job_id for (job_id,) in rows])
    return len(rows)


def check_task(tx: Tx, actor: Actor, task_id: str) -> None:
    """The task may be deleted, but must have existed."""
    if runnable(tx, actor.customer_id, task_id, also_deleted=True) is None:
        raise not_found()


def _column(kind: str | None, object_id: str | None) -> str | None:
    if kind is None and object_id is None:
        return None
    if not kind or object_id is None or not is_id(object_id):
        raise Invalid("Pass both type and id, or neither.", code="invalid_query")
    if "task" in kind.lower():
        return "task_id"
    if "workflow" in kind.lower():
        return "workflow_id"
    raise Invalid("type must be Task or Workflow.", code="invalid_query")


def _raise_mark(tx: Tx, customer_id: str) -> None:
    until = customers.raise_purge_mark(tx, customer_id)
    # The last event: jobs that end later have later events, whatever the clock says.
    last_event_id = tx.value("select max(id) from events") or 0
    installation.write(tx, f"{_MARK}{customer_id}", f"{until}:{last_event_id}")


def delete_jobs(tx: Tx, job_ids: list[str]) -> None:
    """Delete jobs with their attempts and events; their logs are deleted later in the log store."""
    ids = store.json_array(job_ids)
    removed.note(tx, ids)
    _delete_attempts(tx, ids)
    tx.execute(f"delete from late_reports where job_id in {tx.dialect.in_texts}", ids)
    events.delete_for(tx, job_ids)
    tx.execute(f"delete from jobs where id in {tx.dialect.in_texts}", ids)
    tx.execute_many(
        "insert into dropped_logs (job_id) values (?) on conflict (job_id) do nothing",
        [(job_id,) for job_id in job_ids],
    )


def _delete_attempts(tx: Tx, ids: str) -> None:
    """Records the highest deleted fence of each host: an agent that reports a fence unknown to the
    database would look like lost commits."""
    rows = tx.rows(
        f"delete from attempts where job_id in {tx.dialect.in_texts} returning host_id, fence", ids
    )
    highest = {host_id: fence for host_id, fence in sorted(rows)}
    restored.note_deleted(tx, list(highest.items()))


def jobs_with_leftover_logs(tx: Tx) -> list[str]:
    """Deleted jobs whose logs are still to be deleted."""
    return [job_id for (job_id,) in tx.rows("select job_id from dropped_logs limit ?", BATCH_SIZE)]


def delete_logs(tx: Tx, job_ids: list[str]) -> None:
    """In the log store; safe to repeat."""
    log_store.delete(tx, job_ids)


def confirm_logs_deleted(tx: Tx, job_ids: list[str]) -> None:
    tx.execute(
        f"delete from dropped_logs where job_id in {tx.dialect.in_texts}", store.json_array(job_ids)
    )


def purge_old_events(tx: Tx, consumers: Sequence[str]) -> int:
    """Events of hosts, members and the like, by age, once every consumer has processed them."""
    passed = cursors.passed_by_all(tx, [*consumers, budget.COUNTER])
    rows = events.delete_old(tx, passed, BATCH_SIZE)
    budget.note_deleted(tx, rows)
    return len(rows)


def purge_excess_events(
    tx: Tx, consumers: Sequence[str], customer_id: str, name: str, limit: int
) -> bool:
    """The oldest events of an organization and an object over the budget; whether there may be
    more that every consumer has processed."""
    passed = cursors.passed_by_all(tx, [*consumers, budget.COUNTER])
    count = budget.delete_excess(tx, customer_id, name, limit, passed, BATCH_SIZE)
    return count == BATCH_SIZE


def purge(tx: Tx) -> bool:
    """Delete one batch of jobs below a mark or over their limits; whether there may be more."""
    job_ids = _below_mark(tx)
    more = bool(job_ids)
    if not job_ids:
        job_ids, more = limits.jobs_over_limits(tx)
        commands = _old_commands(tx)
        job_ids += commands
        more = more or len(commands) == BATCH_SIZE
    if job_ids:
        delete_jobs(tx, job_ids)
    return more


# Below a mark, and without later events.
_MARKED = (
    "customer_id = ? and ended_at <= ? and state <> 'lost'"
    " and not exists (select 1 from events e where e.object_id = jobs.id and e.id > ?)"
)


def _below_mark(tx: Tx) -> list[str]:
    for name, value in installation.list_values(tx, _MARK).items():
        customer_id = name.removeprefix(_MARK)
        until, _, last = value.partition(":")
        below = (customer_id, int(until), int(last or 0))
        rows = tx.rows(
            f"select id from jobs where {_MARKED} and {IS_DELETABLE} order by id limit ?",
            *below,
            BATCH_SIZE,
        )
        if rows:
            return [job_id for (job_id,) in rows]
        if tx.row(f"select 1 from jobs where {_MARKED} limit 1", *below) is None:
            _drop_mark(tx, name, customer_id, int(until))
    return []


def _drop_mark(tx: Tx, name: str, customer_id: str, until: Millis) -> None:
    """Nothing is left to hide; without the mark, a clock that is set back hides no new jobs."""
    installation.delete(tx, name)
    customers.clear_purge_mark(tx, customer_id, until)


def _old_commands(tx: Tx) -> list[str]:
    """Commands of admins have no task with a history limit."""
    rows = tx.rows(
        f"select id from jobs where task_id is null and type = 'ScriptJob' and id < ?"
        f" and {IS_DELETABLE} order by id limit ?",
        f"{max(0, tx.now - History().days * DAY):012x}",
        BATCH_SIZE,
    )
    return [job_id for (job_id,) in rows]
