"""Forgetting old jobs: marks that readers obey at once, rows that go later in small batches."""

from collections.abc import Sequence

from belvedere import events
from belvedere.access import audit
from belvedere.access.actor import Actor
from belvedere.base.clock import DAY, Millis
from belvedere.base.errors import Invalid
from belvedere.base.ids import is_id
from belvedere.db import Database, Tx
from belvedere.events import cursors
from belvedere.hosts import restored
from belvedere.jobs import store
from belvedere.jobs.history import limits
from belvedere.jobs.history.limits import BATCH, OVER
from belvedere.jobs.output import log_store as joblog
from belvedere.tasks.model import History
from belvedere.tasks.store import missing, runnable


async def delete_history(
    db: Database, actor: Actor, kind: str | None = None, object_id: str | None = None
) -> int:
    """All of it at once by a mark; that of one task or workflow in batches, so that nobody waits
    for a million rows. When it is cut short, asking again does the rest."""
    total = count = await db.write(delete_finished, actor, kind, object_id)
    while object_id is not None and count == BATCH:
        count = await db.write(delete_batch, actor, _column(kind, object_id), object_id)
        total += count
    return total


def delete_finished(tx: Tx, actor: Actor, kind: str | None, object_id: str | None) -> int:
    """Make finished jobs disappear for every reader; how many there were, or the first batch."""
    column = _column(kind, object_id)
    if column is None:
        count = _count(tx, actor)
        _raise_mark(tx, actor.customer_id)
    else:
        count = delete_batch(tx, actor, column, object_id)
    told = {"type": kind, "id": object_id, "deleted": count}
    audit.record(tx, actor, "job.delete_finished", "job", object_id or "", None, told)
    return count


def _count(tx: Tx, actor: Actor) -> int:
    until = tx.value("select purged_until from customers where id = ?", actor.customer_id)
    where = f"customer_id = ? and {OVER} and ended_at > ?"
    return int(tx.value(f"select count(*) from jobs where {where}", actor.customer_id, until))


def delete_batch(tx: Tx, actor: Actor, column: str | None, object_id: str | None) -> int:
    rows = tx.rows(
        f"select id from jobs where customer_id = ? and {OVER} and {column} = ?"
        " order by id limit ?",
        actor.customer_id,
        object_id,
        BATCH,
    )
    drop(tx, [job_id for (job_id,) in rows])
    return len(rows)


def check_task(tx: Tx, actor: Actor, task_id: str) -> None:
    """Its history may outlive a task, but not without ever having had one."""
    if runnable(tx, actor.customer_id, task_id, also_deleted=True) is None:
        raise missing()


def _column(kind: str | None, object_id: str | None) -> str | None:
    if kind is None and object_id is None:
        return None
    if not kind or object_id is None or not is_id(object_id):
        raise Invalid("Give both type and id, or neither.", code="invalid_query")
    if "task" in kind.lower():
        return "task_id"
    if "workflow" in kind.lower():
        return "workflow_id"
    raise Invalid("type is Task or Workflow.", code="invalid_query")


def _raise_mark(tx: Tx, customer_id: str) -> None:
    """Never lower: what an earlier one hides must not come back because a clock was set back."""
    hold = tx.dialect.lock_rows
    known = tx.value(f"select purged_until from customers where id = ?{hold}", customer_id)
    until = max(known, tx.now)
    # The last thing that had happened: whatever ends later is told later, whatever clocks say.
    last = tx.value("select max(id) from events") or 0
    tx.execute("update customers set purged_until = ? where id = ?", until, customer_id)
    tx.execute(
        "insert into meta (name, value) values (?, ?)"
        " on conflict (name) do update set value = excluded.value",
        f"purge:{customer_id}",
        f"{until}:{last}",
    )


def drop(tx: Tx, job_ids: list[str]) -> None:
    """Remove jobs with their attempts and events; their logs lie elsewhere and follow later."""
    ids = store.json_list(job_ids)
    _delete_attempts(tx, ids)
    tx.execute(f"delete from late_reports where job_id in {tx.dialect.in_texts}", ids)
    tx.execute(f"delete from events where object_id in {tx.dialect.in_texts}", ids)
    tx.execute(f"delete from jobs where id in {tx.dialect.in_texts}", ids)
    tx.execute_many(
        "insert into dropped_logs (job_id) values (?) on conflict (job_id) do nothing",
        [(job_id,) for job_id in job_ids],
    )


def _delete_attempts(tx: Tx, ids: str) -> None:
    """Their hosts may name them as the highest that they have accepted, and a fence that the
    database does not know means that it has lost commits."""
    rows = tx.rows(
        f"delete from attempts where job_id in {tx.dialect.in_texts} returning host_id, fence", ids
    )
    highest = {host_id: fence for host_id, fence in sorted(rows)}
    restored.note_deleted(tx, list(highest.items()))


def dropped(tx: Tx) -> list[str]:
    """Jobs whose logs are still to be forgotten."""
    return [job_id for (job_id,) in tx.rows("select job_id from dropped_logs limit ?", BATCH)]


def forget_logs(tx: Tx, job_ids: list[str]) -> None:
    """In the log store; safe to repeat."""
    joblog.forget(tx, job_ids)


def logs_forgotten(tx: Tx, job_ids: list[str]) -> None:
    tx.execute(
        f"delete from dropped_logs where job_id in {tx.dialect.in_texts}", store.json_list(job_ids)
    )


def forget_events(tx: Tx, consumers: Sequence[str]) -> int:
    """Events of hosts, members and the like, by age, once every consumer has processed them."""
    xid, event_id = cursors.passed_by_all(tx, consumers)
    return tx.execute(
        "delete from events where id in (select id from events"
        f" where object <> 'job' and at < ? and not {tx.dialect.beyond_cursor} order by"
        f" at limit ?)",
        tx.now - events.LIFE,
        xid,
        event_id,
        BATCH,
    )


def purge(tx: Tx) -> bool:
    """Drop one batch of what is marked or over its task's limits; whether there may be more."""
    job_ids = _marked(tx)
    more = bool(job_ids)
    if not job_ids:
        job_ids, more = limits.beyond(tx)
        commands = _old_commands(tx)
        job_ids += commands
        more = more or len(commands) == BATCH
    if job_ids:
        drop(tx, job_ids)
    return more


# Below a mark, and nothing was told of it since.
_MARKED = (
    "customer_id = ? and ended_at <= ? and state <> 'lost'"
    " and not exists (select 1 from events e where e.object_id = jobs.id and e.id > ?)"
)


def _marked(tx: Tx) -> list[str]:
    for name, value in tx.rows("select name, value from meta where name like 'purge:%'"):
        customer_id = name.removeprefix("purge:")
        until, _, last = value.partition(":")
        below = (customer_id, int(until), int(last or 0))
        rows = tx.rows(
            f"select id from jobs where {_MARKED} and {OVER} order by id limit ?", *below, BATCH
        )
        if rows:
            return [job_id for (job_id,) in rows]
        if tx.row(f"select 1 from jobs where {_MARKED} limit 1", *below) is None:
            _drop_mark(tx, name, customer_id, int(until))
    return []


def _drop_mark(tx: Tx, name: str, customer_id: str, until: Millis) -> None:
    """Nothing is left to hide. A clock that is set back from now on hides nothing new."""
    tx.execute("delete from meta where name = ?", name)
    tx.execute(
        "update customers set purged_until = 0 where id = ? and purged_until = ?",
        customer_id,
        until,
    )


def _old_commands(tx: Tx) -> list[str]:
    """Commands of admins have no task that says how long they are kept."""
    rows = tx.rows(
        f"select id from jobs where task_id is null and type = 'ScriptJob' and id < ? and {OVER}"
        " order by id limit ?",
        f"{max(0, tx.now - History().days * DAY):012x}",
        BATCH,
    )
    return [job_id for (job_id,) in rows]
