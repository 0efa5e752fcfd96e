"""Steps of the deletions of history: each deletes a few jobs, so that no other write waits long.

A step ends before the first job whose events an event consumer has not processed. The next one
continues there, once the consumer has.
"""

from collections.abc import Mapping, Sequence

from belvedere.access import audit
from belvedere.access.actor import Actor, Level
from belvedere.access.customers import service as customers
from belvedere.access.id_ranges import IdRange
from belvedere.base.clock import MINUTE, SECOND, Millis
from belvedere.db import Row, Tx, installation
from belvedere.jobs.history import deletion_rows, retention
from belvedere.jobs.history.deletion_rows import CUSTOMER, DeletionScope, HistoryDeletion
from belvedere.jobs.history.limits import IS_DELETABLE
from belvedere.jobs.history.unprocessed import UnprocessedEvents

# Jobs of one step, each with its attempts, events and index entries.
STEP_ROWS = 50
# When to look again for hidden jobs that could not be deleted: steps of workflows that run.
RETRY: Millis = MINUTE
# When to look again whether the event consumers have processed the events of a job.
CONSUMER_RETRY: Millis = SECOND
# Names of deletions in versions before the table.
_OLD_MARK = "purge:"

# Ended until the request, and has no later events, whatever the clock said then.
_IS_MARKED = (
    "ended_at <= ? and state <> 'lost'"
    " and (select e.id from events e where e.object_id = jobs.id and e.id > ? limit 1) is null"
)
_JOB = (
    f"id, case when {_IS_MARKED} then 1 else 0 end as is_marked,"
    f" case when {IS_DELETABLE} then 1 else 0 end"
)
# A time further ahead than any that was set: the clock was set back.
_IS_DUE = "(due_at <= ? or due_at > ?)"


def is_due(tx: Tx) -> bool:
    due = f"select 1 from history_deletions where {_IS_DUE} limit 1"
    if tx.row(due, tx.now, tx.now + RETRY) is not None:
        return True
    return bool(installation.list_values(tx, _OLD_MARK))


def run_next(tx: Tx, consumers: Mapping[str, frozenset[str]]) -> bool:
    """A step of the deletion that waits longest; whether there may be more to do."""
    _adopt_old_marks(tx)
    object_id = tx.value(
        f"select object_id from history_deletions where {_IS_DUE} order by due_at limit 1",
        *(tx.now, tx.now + RETRY),
    )
    deletion = None if object_id is None else deletion_rows.lock(tx, object_id)
    if deletion is None:
        return False
    run(tx, deletion, consumers)
    return is_due(tx)


def run(tx: Tx, deletion: HistoryDeletion, consumers: Mapping[str, frozenset[str]]) -> bool:
    """Delete what can be deleted of the next jobs; whether the deletion continues. `consumers`:
    names and kinds of those that read jobs."""
    next_jobs = _next_jobs(tx, deletion)
    rows = _until_unprocessed(tx, next_jobs, consumers)
    job_ids = _deletable_ids(rows)
    if job_ids:
        retention.delete_jobs(tx, job_ids)
    deletion.deleted += len(job_ids)
    deletion.blocked_count += sum(
        is_marked and not is_deletable for _, is_marked, is_deletable in rows
    )
    is_waiting = len(rows) < len(next_jobs)
    if len(next_jobs) < STEP_ROWS and not is_waiting:
        return _end_pass(tx, deletion)
    deletion.reached = rows[-1][0] if rows else deletion.reached
    deletion.due_at = tx.now + (CONSUMER_RETRY if is_waiting else 0)
    deletion_rows.save(tx, deletion)
    return True


def _next_jobs(tx: Tx, deletion: HistoryDeletion) -> list[Row]:
    id_range = IdRange((deletion.reached, ">"), (deletion.last_id, "<="))
    marks = (deletion.until_at, deletion.last_event_id)
    return deletion_rows.read_jobs(tx, deletion.jobs, id_range, STEP_ROWS, _JOB, *marks)


def _deletable_ids(rows: Sequence[Row]) -> list[str]:
    return [job_id for job_id, is_marked, is_deletable in rows if is_marked and is_deletable]


def _until_unprocessed(
    tx: Tx, rows: list[Row], consumers: Mapping[str, frozenset[str]]
) -> list[Row]:
    """The jobs before the first that one of the consumers will read."""
    job_ids = _deletable_ids(rows)
    processed_ids = set(UnprocessedEvents(tx, consumers).without_their_jobs(job_ids))
    needed_ids = set(job_ids) - processed_ids
    first = next((index for index, row in enumerate(rows) if row[0] in needed_ids), len(rows))
    return rows[:first]


def _end_pass(tx: Tx, deletion: HistoryDeletion) -> bool:
    """After the last job; whether the deletion continues, with those that could not be deleted."""
    if not deletion.blocked_count or deletion.scope != CUSTOMER:
        _end(tx, deletion)
        return False
    deletion.reached, deletion.blocked_count, deletion.due_at = "", 0, tx.now + RETRY
    deletion_rows.save(tx, deletion)
    return True


def _end(tx: Tx, deletion: HistoryDeletion) -> None:
    """Nothing is left to hide; without the mark, a clock that is set back hides no new jobs."""
    deletion_rows.delete(tx, deletion)
    if deletion.scope == CUSTOMER:
        customers.clear_purge_mark(tx, deletion.customer_id, deletion.until_at)
    if deletion.deleted <= STEP_ROWS:
        # The entry of the request says it all.
        return
    actor = Actor(
        *(deletion.customer_id, "", Level.ADMIN, deletion.actor_kind),
        user_id=deletion.actor_id,
        username=deletion.actor_name,
    )
    fields = {"deleted": deletion.deleted}
    audit.record(tx, actor, "job.history_deleted", "job", deletion.jobs.named_id, None, fields)


def _adopt_old_marks(tx: Tx) -> None:
    """Deletions that a server of an older version began."""
    for name, value in installation.list_values(tx, _OLD_MARK).items():
        customer_id = name.removeprefix(_OLD_MARK)
        until, _, last_event_id = value.partition(":")
        installation.delete(tx, name)
        deletion = deletion_rows.new(
            tx,
            Actor(customer_id, "", Level.ADMIN, "operator"),
            DeletionScope(customer_id, CUSTOMER, customer_id),
            int(until),
            int(last_event_id or 0),
        )
        if deletion is None:
            customers.clear_purge_mark(tx, customer_id, int(until))
        else:
            deletion_rows.insert(tx, deletion)
