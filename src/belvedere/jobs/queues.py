"""The ready jobs of a host, as queues: one for the jobs of all tasks without a concurrency limit,
and one for each task with a limit. A claim reads the head of each queue, and never past the
thousands of jobs that a task at its limit may have."""

from collections.abc import Iterator
from functools import cache
from typing import Any

from belvedere.db import Dialect, Query, Row, Tx, columns
from belvedere.jobs.model import JobRow

# A host, and the only task to claim, if any.
Queue = tuple[str, str | None]

# The second column of the index `jobs_ready`.
_QUEUE = "case when {0}concurrency is null then '' else coalesce({0}task_id, '') end"
QUEUE = f"({_QUEUE.format('')})"
QUEUE_OF_J = f"({_QUEUE.format('j.')})"

# The queues of the host that have jobs, for a recursive `with`; one parameter: the host. The first
# is '', whether it has jobs or not.
QUEUES = (
    "queues (queue) as (select '' union all"
    f" select (select {QUEUE_OF_J} from jobs j where j.host_id = ? and j.lifecycle = 'ready'"
    f" and {QUEUE_OF_J} > q.queue order by {QUEUE_OF_J} limit 1)"
    " from queues q where q.queue is not null)"
)


class _ReadyRow(JobRow):
    """A ready job with its arguments."""

    arguments: str = "[]"


class Candidate(_ReadyRow):
    """With the fence that it gets if it is claimed, where the statement returns one, and the free
    slots of the host."""

    next_fence: int | None = None
    free_slots: int = 0


def oldest_queries(tx: Tx, queue: Queue, extra: int) -> tuple[Query, Query]:
    """Ready jobs of tasks without a concurrency limit, with their arguments, as many as there are
    free slots; and whether there are ready jobs of tasks with a limit."""
    condition, ready = _ready_params(tx, queue)
    host_id = queue[0]
    unlimited = _unlimited_sql(tx.dialect, condition), (extra, host_id, *ready)
    return unlimited, (_HAS_LIMITED_JOB, (host_id,))


def oldest(tx: Tx, queue: Queue, extra: int, answers: Iterator[list[Row]]) -> list[Candidate]:
    """The oldest of all queues, from the answers to `oldest_queries`."""
    candidates = [Candidate(*row) for row in next(answers)]
    if not next(answers):
        return candidates
    condition, ready = _ready_params(tx, queue)
    host_id = queue[0]
    params = (extra, host_id, host_id, *ready, host_id, *ready)
    candidates += tx.all(Candidate, _limited_sql(tx.dialect, condition), *params)
    candidates.sort(key=lambda candidate: candidate.id)
    return candidates[: candidates[0].free_slots] if candidates else []


def _ready_params(tx: Tx, queue: Queue) -> tuple[str, tuple[Any, ...]]:
    host_id, task_id = queue
    if task_id is None:
        return "", (host_id, tx.now)
    # `|| ''` keeps the database from reading the history of the task along the index of its jobs.
    return " and j.task_id || '' = ?", (host_id, tx.now, task_id)


_HAS_LIMITED_JOB = (
    "select 1 from jobs j where j.host_id = ? and j.lifecycle = 'ready'"
    f" and {QUEUE_OF_J} > '' limit 1"
)


@cache
def _unlimited_sql(dialect: Dialect, condition: str) -> str:
    jobs = _ready("''", condition)
    return (
        f"with places (n) as ({_FREE_SLOTS}) {_candidates(dialect)}{jobs}"
        f" order by j.id limit (select n from places){dialect.skip_locked}) c"
    )


@cache
def _limited_sql(dialect: Dialect, condition: str) -> str:
    """The oldest jobs of each queue, as many as there are free slots; then the oldest of these."""
    head = f"select j.id {_ready('q.queue', condition)}"
    return (
        f"with recursive places (n) as ({_FREE_SLOTS}), {QUEUES},"
        f" heads (queue, id, place) as (select q.queue, ({head} order by j.id limit 1), 1"
        " from queues q where q.queue > '' and (select n from places) > 0"
        f" and q.queue not in ({_TASKS_AT_LIMIT}) union all"
        f" select q.queue, ({head} and j.id > q.id order by j.id limit 1), q.place + 1 from heads q"
        " where q.id is not null and q.place < (select n from places)"
        " and q.place < (select h.concurrency from jobs h where h.id = q.id))"
        f" {_candidates(dialect)}"
        "from jobs j where j.id in (select id from heads where id is not null order by id"
        # Checked again after the lock; `|| ''` keeps the database to the ids.
        " limit (select n from places)) and j.lifecycle || '' = 'ready'"
        f" order by j.id{dialect.skip_locked}) c"
    )


def _candidates(dialect: Dialect) -> str:
    chosen = columns(_ReadyRow, "c.")
    return (
        f"select {chosen}, {dialect.next_fence}, (select n from places)"
        f" from (select {columns(_ReadyRow, 'j.')} "
    )


def _ready(queue: str, condition: str) -> str:
    return (
        "from jobs j where j.host_id = ? and j.lifecycle = 'ready'"
        f" and {QUEUE_OF_J} = {queue} and j.not_before_at <= ?{condition}"
    )


_TASKS_AT_LIMIT = (
    "select task_id from jobs where host_id = ? and lifecycle = 'assigned'"
    " and concurrency is not null group by task_id having count(*) >= min(concurrency)"
)
# Counted from live rows in the same statement: a stored counter could drift.
_FREE_SLOTS = (
    "select ? + max(n) from (select h.slots -"
    " (select count(*) from jobs a where a.host_id = h.id and a.lifecycle = 'assigned') as n"
    " from hosts h where h.id = ? union all select 0) counts"
)
