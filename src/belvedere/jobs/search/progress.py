"""What the text index contains: jobs from an id on, except those whose events it has not read yet.

New and changed jobs are read from the event log, so that their own transactions do no more work.
The jobs of older versions are added from the newest to the oldest.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from belvedere import events
from belvedere.base.clock import SECOND
from belvedere.db import Tx
from belvedere.events import Event, cursors
from belvedere.jobs import store
from belvedere.jobs.people import participants
from belvedere.jobs.search import index

# Never changed: it names the cursor.
CONSUMER = "jobs are added to the search index"
# The text of a job is complete when it is created, gets its input, or ends; the others change who
# may see it.
KINDS = frozenset(
    {"job.created", "job.ready", "job.finished", "job.canceled", "job.expired", "job.lost"}
    | {"job.reconciled", "job.resolved", "job.approved", "job.rejected"}
    | {"job.decided_by_default", "job.voided", "job.acl_changed", "job.assignees_changed"}
)
# They also change the steps of a workflow job.
_PEOPLE_KINDS = frozenset({"job.acl_changed", "job.assignees_changed"})
# A job that an agent ran gets another event when it ends.
_KINDS_BEFORE_END = frozenset({"job.created", "job.ready"})
# Jobs of one transaction: other writers wait for it.
BATCH_SIZE = 50
# Each may be of another job.
EVENT_BATCH_SIZE = BATCH_SIZE
# Events that a search reads to know which jobs have changed.
MAX_FRESH = 500
# If there are more, ids of different servers are in this order only roughly.
CLOCK_MARGIN = 10 * SECOND
# Jobs that took longer are added when they are created, too: those that were created meanwhile may
# be in the index before their end is read, and the index must then be complete up to them.
_MAX_DURATION = CLOCK_MARGIN // 2
# After every id.
_END = "g"


@dataclass(frozen=True, slots=True)
class Coverage:
    """Jobs with ids from `low` up to `high` are in the index as they are now, except `fresh`."""

    low: str
    high: str
    fresh: frozenset[str]


def start(tx: Tx) -> None:
    """Begin to fill the index, unless that has begun: on the first start, or after a restore."""
    if tx.value("select count(*) from job_search_progress"):
        return
    cursors.save(tx, CONSUMER, events.newest(tx))
    # Without older jobs it is complete: every later job has an event.
    reached = _END if tx.value("select 1 from jobs limit 1") else ""
    tx.execute(
        "insert into job_search_progress (reached, members_reached) values (?, ?)",
        *(reached, reached),
    )


def add_changed(tx: Tx, batch: Sequence[Event]) -> None:
    job_ids = {event.object_id for event in batch}
    changed_ids = {event.object_id for event in batch if event.kind not in _KINDS_BEFORE_END}
    job_ids -= _ended(tx, job_ids - changed_ids)
    for job_id in {event.object_id for event in batch if event.kind in _PEOPLE_KINDS}:
        job_ids.update(participants.with_steps(tx, job_id))
    index.write(tx, sorted(job_ids))


def _ended(tx: Tx, job_ids: Collection[str]) -> set[str]:
    """Jobs that have ended already, because the index is behind: the event of their end adds
    them."""
    rows = tx.rows(
        f"select id from jobs where id in {tx.dialect.in_texts}"
        " and ended_at - created_at <= ? and fence > 0",
        *(store.json_array(sorted(job_ids)), _MAX_DURATION),
    )
    return {job_id for (job_id,) in rows}


def add_older(tx: Tx, count: int | None = None) -> bool:
    """Add the next jobs of older versions; whether there may be more. Nothing if another server is
    doing it."""
    limit = count or BATCH_SIZE
    progress = f"select members_reached from job_search_progress{tx.dialect.skip_locked}"
    reached = tx.value(progress)
    if not reached:
        return False
    rows = tx.rows("select id from jobs where id < ? order by id desc limit ?", *(reached, limit))
    job_ids = [job_id for (job_id,) in rows]
    index.write(tx, job_ids)
    is_complete = len(job_ids) < limit
    reached = "" if is_complete else job_ids[-1]
    tx.execute(
        "update job_search_progress set members_reached = ?,"
        " reached = case when reached < ? then reached else ? end",
        *(reached, reached, reached),
    )
    return not is_complete


def is_complete(tx: Tx) -> bool:
    return _reached_id(tx, "members_reached") == ""


def _reached_id(tx: Tx, column: str) -> str:
    reached: str | None = tx.value(f"select {column} from job_search_progress")
    return _END if reached is None else reached


def coverage(tx: Tx, *, for_members: bool = False) -> Coverage:
    """`for_members`: jobs with the scopes for searches of members, which the rows of older versions
    do not have."""
    low = _reached_id(tx, "members_reached" if for_members else "reached")
    fresh = cursors.waiting_objects(tx, CONSUMER, KINDS, MAX_FRESH)
    if len(fresh) < MAX_FRESH:
        return Coverage(low, _END, frozenset(fresh))
    oldest = min(fresh)
    high = f"{max(0, int(oldest[:12], 16) - CLOCK_MARGIN):012x}"
    return Coverage(low, high, frozenset(fresh))
