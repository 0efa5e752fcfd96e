"""What of history is more than its task or workflow keeps, by number or by age.

Two walks. The first follows the event log: a task or workflow whose job has ended may have one too
many. (Not the creation of jobs: those that wait in a long queue end when the walk has long passed
them.) From time to time every task and workflow that has jobs is looked at once, because those that
no longer run grow old all the same. Neither walks through the history that is kept.
"""

from collections.abc import Sequence

import msgspec

from belvedere import events
from belvedere.base.clock import DAY
from belvedere.db import Row, Tx
from belvedere.jobs import store
from belvedere.jobs.model import FINAL, IS_OPEN, WORKFLOW
from belvedere.tasks.model import History, TaskSpec

BATCH = 500
# Events that are read at once, and how many tasks of theirs are looked at in one transaction.
SLICE = 5_000
LOOKS = 25
_spec = msgspec.json.Decoder(TaskSpec).decode


class JobData(msgspec.Struct):
    """The part of a job event's data that says whose history it belongs to."""

    lifecycle: str
    type: str
    task_id: str | None = None
    workflow_id: str | None = None


_job_data = msgspec.json.Decoder(JobData).decode

# What a workflow job that is still open has done stays until it is over, too.
OVER = (
    "lifecycle in ('finished', 'canceled', 'terminated', 'expired') and state <> 'lost'"
    " and (workflow_job_id is null or not exists (select 1 from jobs w"
    " where w.id = jobs.workflow_job_id and w.ended_at is null))"
)
# The cursor of the first walk; where the second is, as column and value of the last look.
ENDED, ALL = "history limits", "retention of all"
# The second one goes through the tasks first.
COLUMNS = ("task_id", "workflow_id")


def beyond(tx: Tx) -> tuple[list[str], bool]:
    """One batch of jobs that may go, and whether to look again. Both walks go on in each look: the
    first may never come to an end where jobs never cease."""
    found, more = _of_recent(tx)
    if len(found) < BATCH:
        others, goes_on = _of_all(tx)
        found += others
        more = more or goes_on
    return found, more


def start_over(tx: Tx) -> None:
    """Look at everything once more."""
    _remember(tx, ALL, f"{COLUMNS[0]}:")


def _of_recent(tx: Tx) -> tuple[list[str], bool]:
    cursor = tx.row("select xid, id from cursors where name = ?", ENDED)
    end = events.newest(tx)
    if cursor is None:
        _follow(tx, end)
        start_over(tx)
        return [], True
    rows = tx.rows(
        f"select xid, id, data from events where {tx.dialect.beyond_cursor}"
        f" and xid < {tx.dialect.xid_horizon} and object = 'job' order by"
        f" {tx.dialect.in_order} limit ?",
        *cursor,
        SLICE,
    )
    ran, reached = _first_to_end(rows)
    found: list[str] = []
    for column, object_id in ran:
        found += _of(tx, column, object_id)
        if len(found) >= BATCH:
            return found, True
    is_all = len(rows) < SLICE and reached == (rows[-1][:2] if rows else None)
    # Also over events of other things, so that the next look begins behind them.
    place = end if is_all else reached
    if place is not None:
        _follow(tx, place)
    return found, not is_all


def _first_to_end(
    rows: Sequence[Row],
) -> tuple[list[tuple[str, str]], tuple[int, int] | None]:
    """The first tasks and workflows whose jobs ended here, and the event up to which they are
    all."""
    ended: dict[tuple[str, str], None] = {}
    reached = None
    for xid, event_id, data in rows:
        key = _ended(data)
        if key is not None and key not in ended:
            if len(ended) == LOOKS:
                break
            ended[key] = None
        reached = (xid, event_id)
    return list(ended), reached


def _ended(data: str) -> tuple[str, str] | None:
    """Whose history grew by this event of a job, if it was its last."""
    job = _job_data(data)
    if job.lifecycle not in FINAL:
        return None
    if job.task_id is not None:
        return "task_id", job.task_id
    return ("workflow_id", job.workflow_id) if job.type == WORKFLOW and job.workflow_id else None


def _follow(tx: Tx, place: tuple[int, int]) -> None:
    tx.execute(
        "insert into cursors (name, xid, id) values (?, ?, ?)"
        " on conflict (name) do update set xid = excluded.xid, id = excluded.id",
        ENDED,
        *place,
    )


def _of_all(tx: Tx) -> tuple[list[str], bool]:
    reached = _reached(tx, ALL)
    if reached is None:
        return [], False
    column, _, last = reached.partition(":")
    # From one value of the index to the next, however many jobs each has.
    object_id = tx.value(
        f"select {column} from jobs where {column} > ? and {column} is not null"
        f" order by {column} limit 1",
        last,
    )
    if object_id is not None:
        found = _of(tx, column, object_id)
        if len(found) < BATCH:
            # That was all of it; what comes meanwhile is the other walk's.
            _remember(tx, ALL, f"{column}:{object_id}")
        return found, True
    if column == COLUMNS[-1]:
        tx.execute("delete from meta where name = ?", ALL)
        return [], False
    _remember(tx, ALL, f"{COLUMNS[-1]}:")
    return [], True


def _of(tx: Tx, column: str, object_id: str) -> list[str]:
    """One batch of one task, or of one workflow with its steps."""
    if column == "task_id":
        spec = tx.value("select spec from tasks where id = ?", object_id)
        return _beyond(tx, "task_id = ?", object_id, _spec(spec).history)
    found = _beyond(tx, f"type = '{WORKFLOW}' and workflow_id = ?", object_id, History())
    return [*found, *_steps_of(tx, found)]


def _steps_of(tx: Tx, workflow_job_ids: list[str]) -> list[str]:
    """Also those of the workflows that ran in them."""
    found: list[str] = []
    while workflow_job_ids:
        rows = tx.rows(
            f"select id, type from jobs where workflow_job_id in {tx.dialect.in_texts}",
            store.json_list(workflow_job_ids),
        )
        found += [job_id for job_id, _ in rows]
        workflow_job_ids = [job_id for job_id, kind in rows if kind == WORKFLOW]
    return found


def _beyond(tx: Tx, of: str, object_id: str, history: History) -> list[str]:
    edge = _edge(tx, of, object_id, history.count)
    by_count = tx.rows(
        f"select id from jobs where {of} and id <= ? and {OVER} order by id limit ?",
        object_id,
        edge,
        BATCH,
    )
    long_ago = tx.now - history.days * DAY
    by_age = tx.rows(
        f"select id from jobs where {of} and id < ? and {OVER} and ended_at < ?"
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
    """Those that are open, lost, or steps of what is open: all but `OVER`, by indexes of few."""
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


def _reached(tx: Tx, walk: str) -> str | None:
    found: str | None = tx.value("select value from meta where name = ?", walk)
    return found


def _remember(tx: Tx, walk: str, place: str) -> None:
    tx.execute(
        "insert into meta (name, value) values (?, ?)"
        " on conflict (name) do update set value = excluded.value",
        walk,
        place,
    )
