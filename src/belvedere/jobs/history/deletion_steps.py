"""Steps of the deletions of history: each deletes a few jobs, so that no other write waits long."""

from belvedere.access import audit
from belvedere.access.actor import Actor, Level
from belvedere.access.customers import service as customers
from belvedere.access.id_ranges import IdRange
from belvedere.base.clock import MINUTE, Millis
from belvedere.db import Tx, installation
from belvedere.jobs.history import deletion_rows, retention
from belvedere.jobs.history.deletion_rows import CUSTOMER, DeletionScope, HistoryDeletion
from belvedere.jobs.history.limits import IS_DELETABLE

# Jobs of one step, each with its attempts, events and index entries.
STEP_ROWS = 50
# When to look again for hidden jobs that could not be deleted: steps of workflows that run.
RETRY: Millis = MINUTE
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


def run_next(tx: Tx) -> bool:
    """A step of the deletion that waits longest; whether there may be more to do."""
    _adopt_old_marks(tx)
    object_id = tx.value(
        f"select object_id from history_deletions where {_IS_DUE} order by due_at limit 1",
        *(tx.now, tx.now + RETRY),
    )
    deletion = None if object_id is None else deletion_rows.lock(tx, object_id)
    if deletion is None:
        return False
    run(tx, deletion)
    return is_due(tx)


def run(tx: Tx, deletion: HistoryDeletion) -> bool:
    """Delete what can be deleted of the next jobs; whether the deletion continues."""
    id_range = IdRange((deletion.reached, ">"), (deletion.last_id, "<="))
    marks = (deletion.until_at, deletion.last_event_id)
    rows = deletion_rows.read_jobs(tx, deletion.jobs, id_range, STEP_ROWS, _JOB, *marks)
    job_ids = [job_id for job_id, is_marked, is_deletable in rows if is_marked and is_deletable]
    if job_ids:
        retention.delete_jobs(tx, job_ids)
    deletion.deleted += len(job_ids)
    deletion.blocked_count += sum(
        is_marked and not is_deletable for _, is_marked, is_deletable in rows
    )
    deletion.due_at = tx.now
    if len(rows) == STEP_ROWS:
        deletion.reached = rows[-1][0]
    elif deletion.blocked_count and deletion.scope == CUSTOMER:
        deletion.reached, deletion.blocked_count, deletion.due_at = "", 0, tx.now + RETRY
    else:
        _end(tx, deletion)
        return False
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
