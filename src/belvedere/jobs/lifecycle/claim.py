"""Handing ready jobs to the one agent that may run them."""

from collections.abc import Sequence
from functools import cache
from typing import TypeVar

import msgspec

from belvedere.base.clock import Millis
from belvedere.db import Dialect, Query, Tx, columns
from belvedere.db.signals import host_ready
from belvedere.jobs import events, specs, store
from belvedere.jobs.attempts import (
    Attempt,
    asking_fences,
    insert_attempts,
    reserve_fences,
    taken_fences,
)
from belvedere.jobs.model import JobRow, Lifecycle, State
from belvedere.jobs.taking import Ready, Taken
from belvedere.secrets import environment
from belvedere.secrets.model import SecretRow
from belvedere.tasks.model import TaskSpec

# Candidates looked at beyond the free slots: enough to pass over a task that is at its limit.
LOOKAHEAD = 64
# A host, and the one task that is asked for.
Wanted = tuple[str, str | None]
Job = TypeVar("Job", bound=JobRow)


class Claimed(msgspec.Struct):
    """A job that its agent may now run, with everything the order needs."""

    job: JobRow
    arguments: str
    spec: TaskSpec
    customer_name: str
    # Of the organization, still sealed; the order opens those that are for this task.
    secrets: Sequence[SecretRow] = ()
    # Environment from the workflow that it is a step of.
    constants: dict[str, str] = {}


class _Waiting(JobRow):
    """A ready job with its arguments."""

    arguments: str


class Candidate(_Waiting):
    """With the number that it gets when it is chosen, where that comes with the row."""

    next_fence: int | None


class _Host(msgspec.Struct):
    id: str
    session: int
    journal_id: str
    enabled: int
    draining: int
    slots: int
    customer_name: str
    secrets_version: int


def wake(tx: Tx, host_ids: list[str]) -> list[None]:
    """Let the end of this transaction look for work: it claims for every host that was rung."""
    tx.signals.update(host_ready(host_id) for host_id in host_ids)
    return [None for _ in host_ids]


def waiting_hosts(tx: Tx) -> list[str]:
    """Hosts with something to run now; the backstop for a doorbell that was missed."""
    return [
        host_id
        for (host_id,) in tx.rows(
            "select distinct host_id from jobs where lifecycle = 'ready' and not_before_at <= ?"
            # Workflow jobs wait for no host.
            " and host_id is not null",
            tx.now,
        )
    ]


def to_cancel(tx: Tx) -> list[tuple[str, int]]:
    """(host, fence) of running jobs that shall be stopped; again for a doorbell that was missed."""
    return [
        (host_id, fence)
        for host_id, fence in tx.rows(
            "select host_id, fence from jobs"
            " where lifecycle = 'assigned' and cancel_requested_at is not null"
        )
    ]


def claim(
    tx: Tx, host_id: str, session: int, task_id: str | None = None, most: int | None = None
) -> list[Claimed]:
    """Assign ready jobs to the free slots of this session of the host's agent, oldest first; only
    of one task, and only so many, where that is asked for."""
    wanted = (host_id, task_id)
    host, oldest = _look(tx, wanted) or (None, [])
    if host is None or host.session != session or not host.enabled or host.draining:
        return []
    jobs = _next(tx, wanted, oldest[:most])
    if not jobs:
        return []
    ready: list[Ready] = [(job, job.arguments) for job in jobs]
    claimed, taken = _assigned(tx, host, ready, _fences(tx, jobs))
    store.save_assigned(tx, jobs)
    insert_attempts(tx, taken.attempts)
    events.tell(tx, "assigned", taken.jobs)
    return claimed


def claim_new(
    tx: Tx, host_id: str, session: int, ready: Sequence[Ready]
) -> tuple[list[Claimed], Taken]:
    """The same for jobs that are not written yet. Where others wait already, the claim at the end
    of the transaction chooses."""
    lock = [_the_host(tx, host_id)] if tx.dialect.lock_rows else []
    looks = tx.pipeline(*lock, _the_room(tx, host_id), asking_fences(tx, len(ready)))
    is_held = not lock or bool(next(looks))
    found = next(looks)
    if not found or not is_held:
        return [], Taken()
    *of_host, places, is_anyone_waiting = found[0]
    host = _Host(*of_host)
    if host.session != session or not host.enabled or host.draining or is_anyone_waiting:
        return [], Taken()
    due = [(job, values) for job, values in ready if job.not_before_at <= tx.now]
    chosen = {job.id for job in _within_limits(tx, [job for job, _ in due], max(0, places))}
    # What is told of the creation stays as it was.
    jobs = [(msgspec.structs.replace(job), values) for job, values in due if job.id in chosen]
    fences = taken_fences(tx, next(looks), len(ready)) if jobs else []
    claimed, taken = _assigned(tx, host, jobs, fences[: len(jobs)])
    taken.settled.add(host_id)
    return claimed, taken


def _assigned(
    tx: Tx, host: _Host, jobs: Sequence[Ready], fences: Sequence[int]
) -> tuple[list[Claimed], Taken]:
    if not jobs:
        return [], Taken()
    rows = [job for job, _ in jobs]
    known = specs.of_jobs(tx, rows)
    for job, fence in zip(rows, fences, strict=True):
        _assign(job, fence, known[job.id], tx.now)
    secrets = environment.sealed(tx, rows[0].customer_id, host.secrets_version)
    constants = specs.constants_of(tx, rows)
    claimed = [
        Claimed(job, values, known[job.id], host.customer_name, secrets, constants.get(job.id, {}))
        for job, values in jobs
    ]
    return claimed, Taken(rows, [_attempt(job, host, tx.now) for job in rows])


def _look(tx: Tx, wanted: Wanted) -> tuple[_Host, list[Candidate]] | None:
    """The host, held, and its oldest ready jobs, as many as it has places for."""
    for _ in range(2):
        found = tx.pipeline(_the_host(tx, wanted[0], WAITED_FOR), _the_oldest(tx, wanted, 0))
        for row in next(found):
            return _Host(*row), [Candidate(*one) for one in next(found)]
        if not tx.dialect.lock_rows or not next(found):
            return None
        # A job became ready between the two looks. We hold it, so nobody else can take it: again.
    return None


# Most ends leave nothing to claim, and then nothing to lock and to count.
WAITED_FOR = " and exists (select 1 from jobs j where j.host_id = h.id and j.lifecycle = 'ready')"


_HOST = "h.id, h.session, h.journal_id, h.enabled, h.draining, h.slots, c.name, c.secrets_version"
_OF_HOST = (
    " from hosts h join customers c on c.id = h.customer_id"
    " where h.id = ? and h.deleted_at is null and c.enabled = 1"
)


def _the_host(tx: Tx, host_id: str, only: str = "") -> Query:
    # The row lock makes the counting of limits below safe on PostgreSQL: one claim per host.
    return (
        f"select"
        f" {_HOST}{_OF_HOST}{only}{tx.dialect.lock_rows}{' of h' if tx.dialect.lock_rows else ''}",
        (host_id,),
    )


def _the_room(tx: Tx, host_id: str) -> Query:
    """The host, free places, and whether anybody waits for one. A statement of its own, behind
    the lock: only then it sees what was done by whoever held the lock before."""
    return (
        f"select {_HOST}, h.slots - (select count(*) from jobs a where a.host_id = h.id"
        " and a.lifecycle = 'assigned'), exists (select 1 from jobs j where j.host_id = h.id"
        f" and j.lifecycle = 'ready' and j.not_before_at <= ?){_OF_HOST}",
        (tx.now, host_id),
    )


def _the_oldest(tx: Tx, wanted: Wanted, beyond: int) -> Query:
    """Ready jobs, with their arguments, of tasks that are below their limit."""
    host_id, task_id = wanted
    named = () if task_id is None else (task_id,)
    sql = _oldest(tx.dialect, "" if task_id is None else " and task_id = ?")
    return sql, (host_id, tx.now, host_id, *named, beyond, host_id)


@cache
def _oldest(sql: Dialect, of_task: str) -> str:
    return (
        f"select {columns(_Waiting, 'c.')}, {sql.next_fence} from ("
        f"select {columns(_Waiting)} from jobs where host_id = ? and lifecycle = 'ready'"
        " and not_before_at <= ? and (task_id is null or task_id not in ("
        "select task_id from jobs where host_id = ?"
        " and lifecycle = 'assigned' and concurrency is not null"
        " group by task_id having count(*) >= min(concurrency)))"
        f"{of_task} order by id limit {_PLACES}{sql.skip_locked}) c"
    )


# Counted from live rows in the very statement, never kept: a counter could drift, they cannot.
_PLACES = (
    "(select ? + max(n) from (select h.slots -"
    " (select count(*) from jobs a where a.host_id = h.id and a.lifecycle = 'assigned') as n"
    " from hosts h where h.id = ? union all select 0) places)"
)


def _next(tx: Tx, wanted: Wanted, oldest: list[Candidate]) -> list[Candidate]:
    """As many as there are places; further ones are read only where a task is at its limit."""
    chosen = _within_limits(tx, oldest, len(oldest))
    if len(chosen) == len(oldest):
        return chosen
    sql, params = _the_oldest(tx, wanted, LOOKAHEAD)
    return _within_limits(tx, tx.all(Candidate, sql, *params), len(oldest))


def _fences(tx: Tx, jobs: list[Candidate]) -> list[int]:
    numbers = [job.next_fence for job in jobs if job.next_fence is not None]
    return numbers or reserve_fences(tx, len(jobs))


def _within_limits(tx: Tx, candidates: Sequence[Job], limit: int) -> list[Job]:
    """The first ones that keep every task within its concurrency, counted from live rows."""
    running: dict[str, int] = {}
    chosen: list[Job] = []
    for job in candidates:
        if len(chosen) == limit:
            break
        if job.concurrency is not None:
            task = job.task_id or ""
            if task not in running:
                running[task] = _running(tx, job.host_id or "", task)
            if running[task] >= job.concurrency:
                continue
            running[task] += 1
        chosen.append(job)
    return chosen


def _running(tx: Tx, host_id: str, task_id: str) -> int:
    return int(
        tx.value(
            "select count(*) from jobs"
            " where host_id = ? and task_id = ? and lifecycle = 'assigned'",
            host_id,
            task_id,
        )
    )


def _assign(job: JobRow, fence: int, spec: TaskSpec, now: Millis) -> None:
    store.step(job, Lifecycle.ASSIGNED, State.IN_PROGRESS, now)
    job.fence = fence
    job.attempts += 1
    job.reason = None
    job.assigned_at = now
    job.started_at = None
    job.deadline_at = now + job.timeout + specs.grace_ms(spec)


def _attempt(job: JobRow, host: _Host, now: Millis) -> Attempt:
    return Attempt(
        fence=job.fence,
        job_id=job.id,
        number=job.attempts,
        host_id=host.id,
        session=host.session,
        journal_id=host.journal_id,
        state="live",
        claimed_at=now,
        started_at=None,
        ended_at=None,
    )
