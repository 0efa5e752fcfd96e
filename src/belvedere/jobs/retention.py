"""Forgetting old jobs: marks that readers obey at once, rows that go later in small batches."""

import msgspec

from belvedere import events
from belvedere.access import audit
from belvedere.access.model import Actor
from belvedere.base.clock import DAY, Millis
from belvedere.base.errors import Invalid
from belvedere.base.ids import is_id
from belvedere.db import Database, Tx
from belvedere.jobs import log as joblog
from belvedere.jobs import store
from belvedere.jobs.model import IS_OPEN, WORKFLOW
from belvedere.tasks.model import History, TaskSpec
from belvedere.tasks.store import missing, runnable

BATCH = 500
_spec = msgspec.json.Decoder(TaskSpec).decode

# What a workflow job that is still open has done stays until it is over, too.
_OVER = (
    "lifecycle in ('finished', 'canceled', 'terminated', 'expired') and state <> 'lost'"
    " and (workflow_job_id is null or not exists (select 1 from jobs w"
    " where w.id = jobs.workflow_job_id and w.ended_at is null))"
)


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
    where = f"customer_id = ? and {_OVER} and ended_at > ?"
    return int(tx.value(f"select count(*) from jobs where {where}", actor.customer_id, until))


def delete_batch(tx: Tx, actor: Actor, column: str | None, object_id: str | None) -> int:
    rows = tx.rows(
        f"select id from jobs where customer_id = ? and {_OVER} and {column} = ?"
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
    hold = tx.sql.lock_rows
    known = tx.value(f"select purged_until from customers where id = ?{hold}", customer_id)
    until = max(known, tx.now)
    # The last thing that had happened: whatever ends later is told later, whatever clocks say.
    last = tx.value("select max(id) from events") or 0
    tx.run("update customers set purged_until = ? where id = ?", until, customer_id)
    tx.run(
        "insert into meta (name, value) values (?, ?)"
        " on conflict (name) do update set value = excluded.value",
        f"purge:{customer_id}",
        f"{until}:{last}",
    )


def drop(tx: Tx, job_ids: list[str]) -> None:
    """Remove jobs with their attempts and events; their logs lie elsewhere and follow later."""
    ids = store.json_list(job_ids)
    tx.run(f"delete from attempts where job_id in {tx.sql.texts}", ids)
    tx.run(f"delete from events where object_id in {tx.sql.texts}", ids)
    tx.run(f"delete from jobs where id in {tx.sql.texts}", ids)
    tx.many(
        "insert into dropped_logs (job_id) values (?) on conflict (job_id) do nothing",
        [(job_id,) for job_id in job_ids],
    )


def dropped(tx: Tx) -> list[str]:
    """Jobs whose logs are still to be forgotten."""
    return [job_id for (job_id,) in tx.rows("select job_id from dropped_logs limit ?", BATCH)]


def forget_logs(tx: Tx, job_ids: list[str]) -> None:
    """In the log store; safe to repeat."""
    joblog.forget(tx, job_ids)


def logs_forgotten(tx: Tx, job_ids: list[str]) -> None:
    tx.run(f"delete from dropped_logs where job_id in {tx.sql.texts}", store.json_list(job_ids))


def forget_events(tx: Tx) -> int:
    """Events of hosts, members and the like, by age."""
    return tx.run(
        "delete from events where id in"
        " (select id from events where object <> 'job' and at < ? order by at limit ?)",
        tx.now - events.LIFE,
        BATCH,
    )


def purge(tx: Tx) -> bool:
    """Drop one batch of what is marked or over its task's limits; whether there may be more."""
    job_ids = _marked(tx)
    more = bool(job_ids)
    if not job_ids:
        job_ids, more = _over_limits(tx)
    if not job_ids and not more:
        job_ids = _old_commands(tx)
        more = bool(job_ids)
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
            f"select id from jobs where {_MARKED} and {_OVER} order by id limit ?", *below, BATCH
        )
        if rows:
            return [job_id for (job_id,) in rows]
        if tx.row(f"select 1 from jobs where {_MARKED} limit 1", *below) is None:
            _drop_mark(tx, name, customer_id, int(until))
    return []


def _drop_mark(tx: Tx, name: str, customer_id: str, until: Millis) -> None:
    """Nothing is left to hide. A clock that is set back from now on hides nothing new."""
    tx.run("delete from meta where name = ?", name)
    tx.run(
        "update customers set purged_until = 0 where id = ? and purged_until = ?",
        customer_id,
        until,
    )


def _over_limits(tx: Tx) -> tuple[list[str], bool]:
    """Look at the tasks that ran since the last look; what is too much, and whether to go on."""
    cursor = tx.value("select value from meta where name = 'retention'") or ""
    rows = tx.rows(
        "select id, task_id, workflow_id from jobs where id > ?"
        f" and (task_id is not null or type = '{WORKFLOW}') order by id limit ?",
        cursor,
        BATCH,
    )
    for task_id in sorted({task_id for _, task_id, _ in rows if task_id is not None}):
        history = _spec(tx.value("select spec from tasks where id = ?", task_id)).history
        found = _beyond(tx, "task_id = ?", task_id, history)
        if found:
            return found, True
    for workflow_id in sorted({flow for _, task_id, flow in rows if task_id is None}):
        found = _beyond(tx, f"type = '{WORKFLOW}' and workflow_id = ?", workflow_id, History())
        if found:
            return [*found, *_steps_of(tx, found)], True
    if rows:
        _remember(tx, rows[-1][0])
    return [], bool(rows)


def _old_commands(tx: Tx) -> list[str]:
    """Commands of admins have no task that says how long they are kept."""
    rows = tx.rows(
        f"select id from jobs where task_id is null and type = 'ScriptJob' and id < ? and {_OVER}"
        " order by id limit ?",
        f"{max(0, tx.now - History().days * DAY):012x}",
        BATCH,
    )
    return [job_id for (job_id,) in rows]


def _steps_of(tx: Tx, workflow_job_ids: list[str]) -> list[str]:
    """Also those of the workflows that ran in them."""
    found: list[str] = []
    while workflow_job_ids:
        rows = tx.rows(
            f"select id, type from jobs where workflow_job_id in {tx.sql.texts}",
            store.json_list(workflow_job_ids),
        )
        found += [job_id for job_id, _ in rows]
        workflow_job_ids = [job_id for job_id, kind in rows if kind == WORKFLOW]
    return found


def _beyond(tx: Tx, of: str, object_id: str, history: History) -> list[str]:
    edge = _edge(tx, of, object_id, history.count)
    by_count = tx.rows(
        f"select id from jobs where {of} and id <= ? and {_OVER} order by id limit ?",
        object_id,
        edge,
        BATCH,
    )
    long_ago = tx.now - history.days * DAY
    by_age = tx.rows(
        f"select id from jobs where {of} and id < ? and {_OVER} and ended_at < ?"
        " order by id limit ?",
        object_id,
        # Ids begin with their time: nothing made after that moment can have ended before it.
        f"{max(0, long_ago):012x}",
        long_ago,
        BATCH,
    )
    return list(dict.fromkeys(job_id for (job_id,) in [*by_count, *by_age]))


def _edge(tx: Tx, of: str, object_id: str, count: int) -> str:
    """The newest job that may go for being one too many. Found by counting entries of an index,
    however many are kept; those that stay whatever their age do not count."""
    row = tx.row(
        f"select id from jobs where {of} order by id desc limit 1 offset ?",
        object_id,
        count + _staying(tx, of, object_id),
    )
    return "" if row is None else row[0]


def _staying(tx: Tx, of: str, object_id: str) -> int:
    """Those that are open, lost, or steps of what is open: all but `_OVER`, by indexes of few."""
    # Written so that no index of all history fits.
    these = of.replace("_id = ?", "_id || '' = ?")
    few = (
        f"{IS_OPEN} and expires_at > 0",
        "lifecycle = 'terminated' and state = 'lost'",
        "lifecycle in ('finished', 'canceled', 'terminated', 'expired') and workflow_job_id in"
        f" (select w.id from jobs w where w.{IS_OPEN} and w.expires_at > 0)",
    )
    asked = " + ".join(f"(select count(*) from jobs where {one} and {these})" for one in few)
    return int(tx.value(f"select {asked}", *[object_id] * len(few)))


def _remember(tx: Tx, job_id: str) -> None:
    tx.run(
        "insert into meta (name, value) values ('retention', ?)"
        " on conflict (name) do update set value = excluded.value",
        job_id,
    )


def start_over(tx: Tx) -> None:
    """Look at every task again: those that no longer run grow old all the same."""
    tx.run("delete from meta where name = 'retention'")
