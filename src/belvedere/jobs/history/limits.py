"""Finds jobs beyond the history limits of their task or workflow, by number or by age.

Two walks. The first follows the event log: a task or workflow whose job has ended may have one too
many. (Not job.created: a job in a long queue ends long after the walk has passed that event.) The
second visits every task and workflow from time to time, because jobs of those that no longer run
get too old as well. Neither reads the history that is kept.
"""

from collections.abc import Sequence

import msgspec

from belvedere.access.customers import history_limits
from belvedere.base.clock import DAY
from belvedere.db import Row, Tx, installation
from belvedere.events import cursors
from belvedere.jobs import store
from belvedere.jobs.history.unprocessed import UnprocessedEvents
from belvedere.jobs.model import FINAL, IS_OPEN, WORKFLOW
from belvedere.tasks.model import History, TaskSpec

BATCH_SIZE = 500
# Events per read, and tasks and workflows per transaction.
EVENT_BATCH_SIZE = 5_000
MAX_OBJECTS = 25
_spec = msgspec.json.Decoder(TaskSpec).decode


class JobData(msgspec.Struct):
    """The fields of a job event that identify the history it belongs to."""

    lifecycle: str
    type: str
    task_id: str | None = None
    workflow_id: str | None = None


_job_data = msgspec.json.Decoder(JobData).decode

# Steps are kept until their workflow job has ended. Not `exists`, for which PostgreSQL may read all
# open jobs instead of the one.
IS_DELETABLE = (
    "lifecycle in ('finished', 'canceled', 'terminated', 'expired') and state <> 'lost'"
    " and (workflow_job_id is null or (select w.ended_at is null from jobs w"
    " where w.id = jobs.workflow_job_id) is not true)"
)
# The cursor of the first walk; where the second is, as column and value of the last look.
ENDS_CURSOR, FULL_WALK = "history limits", "retention of all"
# The second one goes through the tasks first.
COLUMNS = ("task_id", "workflow_id")


def jobs_over_limits(tx: Tx, waiting: UnprocessedEvents) -> tuple[list[str], bool]:
    """One batch of jobs to delete, and whether there may be more. Both walks advance in each call,
    because the first may never reach the end while jobs keep running. It stays behind the event
    consumers, so that it visits a job again that one of them still needs."""
    job_ids, more = _after_recent_ends(tx, waiting)
    if len(job_ids) < BATCH_SIZE:
        more_ids, has_more = _from_full_walk(tx, waiting)
        job_ids += more_ids
        more = more or has_more
    return job_ids, more


def start_over(tx: Tx) -> None:
    """Restart the walk through all tasks and workflows."""
    installation.write(tx, FULL_WALK, f"{COLUMNS[0]}:")


def _after_recent_ends(tx: Tx, waiting: UnprocessedEvents) -> tuple[list[str], bool]:
    cursor = cursors.position(tx, ENDS_CURSOR)
    end = waiting.start
    if cursor is None:
        cursors.save(tx, ENDS_CURSOR, end)
        start_over(tx)
        return [], True
    rows = tx.rows(
        f"select xid, id, data from events where {tx.dialect.beyond_cursor}"
        f" and {tx.dialect.up_to_cursor} and object = 'job' order by"
        f" {tx.dialect.in_order} limit ?",
        *cursor,
        *end,
        EVENT_BATCH_SIZE,
    )
    keys, reached = _first_ended(rows)
    job_ids: list[str] = []
    for column, object_id in keys:
        job_ids += waiting.without_their_jobs(_batch_for(tx, column, object_id))
        if len(job_ids) >= BATCH_SIZE:
            return job_ids, True
    is_all = len(rows) < EVENT_BATCH_SIZE and reached == (rows[-1][:2] if rows else None)
    # Also past events of other objects, so that the next call starts after them.
    position = end if is_all else reached
    if position is not None:
        cursors.save(tx, ENDS_CURSOR, position)
    return job_ids, not is_all


def _first_ended(
    rows: Sequence[Row],
) -> tuple[list[tuple[str, str]], tuple[int, int] | None]:
    """The first tasks and workflows whose jobs ended here, and the event up to which they are
    all."""
    ended: dict[tuple[str, str], None] = {}
    reached = None
    for xid, event_id, data in rows:
        key = _history_key(data)
        if key is not None and key not in ended:
            if len(ended) == MAX_OBJECTS:
                break
            ended[key] = None
        reached = (xid, event_id)
    return list(ended), reached


def _history_key(data: str) -> tuple[str, str] | None:
    """The history that this event of a job belongs to, if the job has ended."""
    job = _job_data(data)
    if job.lifecycle not in FINAL:
        return None
    if job.task_id is not None:
        return "task_id", job.task_id
    return ("workflow_id", job.workflow_id) if job.type == WORKFLOW and job.workflow_id else None


def _from_full_walk(tx: Tx, waiting: UnprocessedEvents) -> tuple[list[str], bool]:
    reached = installation.read(tx, FULL_WALK)
    if reached is None:
        return [], False
    column, _, last = reached.partition(":")
    # The next value in the index, however many jobs each value has.
    object_id = tx.value(
        f"select {column} from jobs where {column} > ? and {column} is not null"
        f" order by {column} limit 1",
        last,
    )
    if object_id is not None:
        job_ids = waiting.without_their_jobs(_batch_for(tx, column, object_id))
        if len(job_ids) < BATCH_SIZE:
            # Complete; jobs that end meanwhile belong to the other walk.
            installation.write(tx, FULL_WALK, f"{column}:{object_id}")
        return job_ids, True
    if column == COLUMNS[-1]:
        installation.delete(tx, FULL_WALK)
        return [], False
    installation.write(tx, FULL_WALK, f"{COLUMNS[-1]}:")
    return [], True


def _batch_for(tx: Tx, column: str, object_id: str) -> list[str]:
    """One batch of a task, or of a workflow with its steps."""
    if column == "task_id":
        row = tx.row("select spec, customer_id from tasks where id = ?", object_id)
        assert row is not None, "a task's row outlives its deletion"
        history = _in_effect(tx, _spec(row[0]).history, row[1])
        return _over_limits(tx, "task_id = ?", object_id, history)
    owner = f"type = '{WORKFLOW}' and workflow_id = ?"
    customer_id = tx.value(f"select customer_id from jobs where {owner} limit 1", object_id)
    if customer_id is None:
        return []
    job_ids = _over_limits(tx, owner, object_id, _in_effect(tx, History(), customer_id))
    return [*job_ids, *_steps_of(tx, job_ids)]


def _in_effect(tx: Tx, history: History, customer_id: str) -> History:
    """Workflows and tasks without limits of their own have those of the organization."""
    default = history_limits.find(tx, customer_id)
    return history.effective(default.count, default.days)


def _steps_of(tx: Tx, workflow_job_ids: list[str]) -> list[str]:
    """Including the steps of nested workflows."""
    step_ids: list[str] = []
    while workflow_job_ids:
        rows = tx.rows(
            f"select id, type from jobs where workflow_job_id in {tx.dialect.in_texts}",
            store.json_array(workflow_job_ids),
        )
        step_ids += [job_id for job_id, _ in rows]
        workflow_job_ids = [job_id for job_id, kind in rows if kind == WORKFLOW]
    return step_ids


def _over_limits(tx: Tx, owner: str, object_id: str, history: History) -> list[str]:
    newest = _newest_surplus(tx, owner, object_id, history.count)
    by_count = tx.rows(
        f"select id from jobs where {owner} and id <= ? and {IS_DELETABLE} order by id limit ?",
        object_id,
        newest,
        BATCH_SIZE,
    )
    oldest_kept = tx.now - history.days * DAY
    by_age = tx.rows(
        f"select id from jobs where {owner} and id < ? and {IS_DELETABLE} and ended_at < ?"
        " order by id limit ?",
        object_id,
        # Ids begin with their time: a job that was created later cannot have ended before.
        f"{max(0, oldest_kept):012x}",
        oldest_kept,
        BATCH_SIZE,
    )
    return list(dict.fromkeys(job_id for (job_id,) in [*by_count, *by_age]))


def _newest_surplus(tx: Tx, owner: str, object_id: str, count: int) -> str:
    """The newest job beyond the limit, found by counting index entries; jobs that are kept at any
    age do not count."""
    row = tx.row(
        f"select id from jobs where {owner} order by id desc limit 1 offset ?",
        object_id,
        count + _count_kept(tx, owner, object_id),
    )
    return "" if row is None else row[0]


def _count_kept(tx: Tx, owner: str, object_id: str) -> int:
    """The jobs that are not `IS_DELETABLE` (open, lost, steps of open ones), by small indexes."""
    # `|| ''` keeps the database from using an index over the history.
    is_owned = owner.replace("_id = ?", "_id || '' = ?")
    conditions = (
        f"{IS_OPEN} and expires_at > 0",
        "lifecycle = 'terminated' and state = 'lost'",
        "lifecycle in ('finished', 'canceled', 'terminated', 'expired') and workflow_job_id in"
        f" (select w.id from jobs w where w.{IS_OPEN} and w.expires_at > 0)",
    )
    counts = " + ".join(
        f"(select count(*) from jobs where {condition} and {is_owned})" for condition in conditions
    )
    return int(tx.value(f"select {counts}", *[object_id] * len(conditions)))
