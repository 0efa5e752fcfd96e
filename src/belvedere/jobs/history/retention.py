"""Deletes jobs beyond the limits of their history, and what belongs to deleted jobs."""

from collections.abc import Mapping, Sequence

from belvedere import events
from belvedere.base.clock import DAY
from belvedere.db import Tx
from belvedere.events import budget, cursors
from belvedere.hosts import restored
from belvedere.jobs import store
from belvedere.jobs.history import limits, removed
from belvedere.jobs.history.limits import BATCH_SIZE, IS_DELETABLE
from belvedere.jobs.history.unprocessed import UnprocessedEvents
from belvedere.jobs.output import log_store
from belvedere.jobs.search import index
from belvedere.tasks.model import History


def delete_jobs(tx: Tx, job_ids: list[str]) -> None:
    """Delete jobs with their attempts and events; their logs are deleted later in the log store."""
    ids = store.json_array(job_ids)
    removed.note(tx, ids)
    _delete_attempts(tx, ids)
    tx.execute(f"delete from late_reports where job_id in {tx.dialect.in_texts}", ids)
    events.delete_for(tx, job_ids)
    index.delete(tx, job_ids)
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


def purge(tx: Tx, consumers: Mapping[str, frozenset[str]]) -> bool:
    """Delete one batch of jobs over their limits; whether there may be more. Keeps the jobs of
    events that one of these consumers (name and kinds) has not processed."""
    waiting = UnprocessedEvents(tx, consumers)
    if waiting.are_too_many:
        return False
    job_ids, more = limits.jobs_over_limits(tx, waiting)
    commands = waiting.without_their_jobs(_old_commands(tx))
    job_ids += commands
    more = more or len(commands) == BATCH_SIZE
    if job_ids:
        delete_jobs(tx, job_ids)
    return more


def _old_commands(tx: Tx) -> list[str]:
    """Commands of admins have no task with a history limit."""
    rows = tx.rows(
        f"select id from jobs where task_id is null and type = 'ScriptJob' and id < ?"
        f" and {IS_DELETABLE} order by id limit ?",
        f"{max(0, tx.now - History().days * DAY):012x}",
        BATCH_SIZE,
    )
    return [job_id for (job_id,) in rows]
