"""What the text index contains: jobs from an id on, except those whose events it has not read yet.

New and changed jobs are read from the event log, so that their own transactions do no more work.
The jobs of older versions are added from the newest to the oldest.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from belvedere import events
from belvedere.base.clock import SECOND
from belvedere.db import Tx
from belvedere.events import cursors
from belvedere.jobs.search import index

# Never changed: it names the cursor.
CONSUMER = "jobs are added to the search index"
# The text of a job is complete when it is created, gets its input, or ends.
KINDS = frozenset(
    {"job.created", "job.ready", "job.finished", "job.canceled", "job.expired", "job.lost"}
    | {"job.reconciled", "job.resolved", "job.approved", "job.rejected"}
    | {"job.decided_by_default", "job.voided"}
)
# Jobs of one transaction: other writers wait for it.
BATCH_SIZE = 50
# Each may be of another job.
EVENT_BATCH_SIZE = BATCH_SIZE
# Events that a search reads to know which jobs have changed.
MAX_FRESH = 500
# If there are more, ids of different servers are in this order only roughly.
CLOCK_MARGIN = 10 * SECOND
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
    tx.execute("insert into job_search_progress (reached) values (?)", _END)


def add_changed(tx: Tx, job_ids: Sequence[str]) -> None:
    index.write(tx, sorted(set(job_ids)))


def add_older(tx: Tx, count: int | None = None) -> bool:
    """Add the next jobs of older versions; whether there may be more. Nothing if another server is
    doing it."""
    limit = count or BATCH_SIZE
    progress = f"select reached from job_search_progress{tx.dialect.skip_locked}"
    reached = tx.value(progress)
    if not reached:
        return False
    rows = tx.rows("select id from jobs where id < ? order by id desc limit ?", *(reached, limit))
    job_ids = [job_id for (job_id,) in rows]
    index.write(tx, job_ids)
    is_complete = len(job_ids) < limit
    tx.execute("update job_search_progress set reached = ?", "" if is_complete else job_ids[-1])
    return not is_complete


def is_complete(tx: Tx) -> bool:
    return reached_id(tx) == ""


def reached_id(tx: Tx) -> str:
    reached: str | None = tx.value("select reached from job_search_progress")
    return _END if reached is None else reached


def coverage(tx: Tx) -> Coverage:
    low = reached_id(tx)
    fresh = cursors.waiting_objects(tx, CONSUMER, KINDS, MAX_FRESH)
    if len(fresh) < MAX_FRESH:
        return Coverage(low, _END, frozenset(fresh))
    oldest = min(fresh)
    high = f"{max(0, int(oldest[:12], 16) - CLOCK_MARGIN):012x}"
    return Coverage(low, high, frozenset(fresh))
