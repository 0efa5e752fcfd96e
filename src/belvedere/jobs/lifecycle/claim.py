"""Claims: ready jobs are assigned to the agent that may run them."""

from collections.abc import Sequence
from typing import TypeVar

import msgspec

from belvedere.base.clock import Millis
from belvedere.db import Query, Tx
from belvedere.db.signals import host_ready
from belvedere.jobs import events, specs, store
from belvedere.jobs.attempts import (
    Attempt,
    ClaimResult,
    ReadyJob,
    fences_from_rows,
    fences_query,
    insert_attempts,
    reserve_fences,
)
from belvedere.jobs.model import JobRow, JobState, Lifecycle
from belvedere.jobs.queues import Candidate, Queue, oldest, oldest_queries
from belvedere.secrets import environment
from belvedere.secrets.model import SecretRow
from belvedere.tasks.model import TaskSpec

# Candidates that are read beyond the free slots, to skip tasks that are at their limit.
LOOKAHEAD = 64
Job = TypeVar("Job", bound=JobRow)


class Claimed(msgspec.Struct):
    """A job that its agent may now run, with everything the order needs."""

    job: JobRow
    arguments: str
    spec: TaskSpec
    customer_name: str
    # Secrets of the organization, still sealed; the order opens those of this task.
    secrets: Sequence[SecretRow] = ()
    # Environment from the workflow that it is a step of.
    constants: dict[str, str] = {}


class _Host(msgspec.Struct):
    id: str
    session: int
    journal_id: str
    enabled: int
    draining: int
    slots: int
    customer_name: str
    secrets_version: int


def signal_hosts(tx: Tx, host_ids: list[str]) -> list[None]:
    """Signal those of these hosts that have ready jobs: the end of this transaction claims them.
    After a restart thousands of hosts connect, and few have any."""
    rows = tx.rows(
        f"select h.id from hosts h where h.id in {tx.dialect.in_texts}{_HAS_READY_JOB}",
        store.json_array(host_ids),
    )
    tx.signals.update(host_ready(host_id) for (host_id,) in rows)
    return [None for _ in host_ids]


def hosts_with_ready_jobs(tx: Tx) -> list[str]:
    """Hosts with jobs to run now; the fallback for a signal that was missed."""
    return [host_id for (host_id,) in tx.rows(_HOSTS_WITH_READY_JOBS, tx.now)]


# It runs every second: it looks up one host after the other in the index, instead of reading all
# ready jobs. Workflow jobs have no host; ids are never empty. `exists` would become a join that
# reads all ready jobs of the host.
_HOSTS_WITH_READY_JOBS = (
    "with recursive queues (host_id) as (select '' union all"
    " select (select j.host_id from jobs j where j.lifecycle = 'ready' and j.host_id > q.host_id"
    " order by j.host_id limit 1) from queues q where q.host_id is not null)"
    " select host_id from queues where (select 1 from jobs d where d.host_id = queues.host_id"
    " and d.lifecycle = 'ready' and d.not_before_at <= ? limit 1) is not null"
)


def cancel_requests(tx: Tx) -> list[tuple[str, int]]:
    """(host, fence) of running jobs to stop; the fallback for a signal that was missed."""
    return [
        (host_id, fence)
        for host_id, fence in tx.rows(
            "select host_id, fence from jobs"
            " where lifecycle = 'assigned' and cancel_requested_at is not null"
        )
    ]


def claim(
    tx: Tx, host_id: str, session: int, task_id: str | None = None, limit: int | None = None
) -> list[Claimed]:
    """Assign ready jobs to the free slots of this session of the host's agent, oldest first;
    only of `task_id` and at most `limit`, if given."""
    queue = (host_id, task_id)
    host, candidates = _lock_host(tx, queue) or (None, [])
    if host is None or host.session != session or not host.enabled or host.draining:
        return []
    jobs = _choose(tx, queue, candidates[:limit])
    if not jobs:
        return []
    ready: list[ReadyJob] = [(job, job.arguments) for job in jobs]
    claimed, result = _assign_all(tx, host, ready, _fences(tx, jobs))
    store.save_assigned(tx, jobs)
    insert_attempts(tx, result.attempts)
    events.publish(tx, "assigned", result.jobs)
    return claimed


def claim_unwritten(
    tx: Tx, host_id: str, session: int, ready: Sequence[ReadyJob]
) -> tuple[list[Claimed], ClaimResult]:
    """The same for jobs that are not written yet. If there are free slots and other jobs wait for
    them already, nothing is claimed here: the claim at the end of the transaction chooses the
    oldest."""
    answers = tx.pipeline(*unwritten_queries(tx, host_id, len(ready)))
    is_locked = not tx.dialect.lock_rows or bool(next(answers))
    host_rows = next(answers)
    if not host_rows or not is_locked:
        return [], ClaimResult()
    *host_fields, free_slots, has_ready_jobs = host_rows[0]
    host = _Host(*host_fields)
    if host.session != session or not host.enabled or host.draining:
        return [], ClaimResult()
    if has_ready_jobs and free_slots > 0:
        return [], ClaimResult()
    due = [(job, values) for job, values in ready if job.not_before_at <= tx.now]
    chosen = {job.id for job in _within_limits(tx, [job for job, _ in due], max(0, free_slots))}
    # Copies: the response to the creation shows the job as ready.
    jobs = [(msgspec.structs.replace(job), values) for job, values in due if job.id in chosen]
    fences = fences_from_rows(tx, next(answers), len(ready)) if jobs else []
    claimed, result = _assign_all(tx, host, jobs, fences[: len(jobs)])
    result.claimed_hosts.add(host_id)
    if tx.dialect.lock_rows and free_slots <= len(jobs) < len(due):
        # A job may end now: its transaction does not see those that wait here.
        tx.signal_if(host_ready(host_id), (_HAS_FREE_SLOT, (host_id, tx.now)))
    return claimed, result


def unwritten_queries(tx: Tx, host_id: str, count: int) -> list[Query]:
    """The statements of `claim_unwritten`."""
    lock = [_host_query(tx, host_id)] if tx.dialect.lock_rows else []
    return [*lock, _free_slots_query(tx, host_id), fences_query(tx, count)]


def _assign_all(
    tx: Tx, host: _Host, jobs: Sequence[ReadyJob], fences: Sequence[int]
) -> tuple[list[Claimed], ClaimResult]:
    if not jobs:
        return [], ClaimResult()
    rows = [job for job, _ in jobs]
    specs_by_job = specs.for_jobs(tx, rows)
    for job, fence in zip(rows, fences, strict=True):
        _assign(job, fence, specs_by_job[job.id], tx.now)
    secrets = environment.sealed_rows(tx, rows[0].customer_id, host.secrets_version)
    constants = specs.constants_of(tx, rows)
    claimed = [
        Claimed(
            job,
            values,
            specs_by_job[job.id],
            host.customer_name,
            secrets,
            constants.get(job.id, {}),
        )
        for job, values in jobs
    ]
    return claimed, ClaimResult(rows, [_attempt(job, host, tx.now) for job in rows])


def _lock_host(tx: Tx, queue: Queue) -> tuple[_Host, list[Candidate]] | None:
    """The host, locked, and its oldest ready jobs, as many as it has free slots."""
    for _ in range(2):
        answers = tx.pipeline(
            _host_query(tx, queue[0], _HAS_READY_JOB), *oldest_queries(tx, queue, 0)
        )
        for row in next(answers):
            return _Host(*row), oldest(tx, queue, 0, answers)
        if not tx.dialect.lock_rows or not (next(answers) or next(answers)):
            return None
        # A job became ready between the statements. It is locked now, so repeat them.
    return None


# Most ends leave nothing to claim, and then there is nothing to lock or to count. PostgreSQL turns
# `exists` into a join that reads all ready jobs of the host.
_HAS_READY_JOB = (
    " and (select 1 from jobs j where j.host_id = h.id and j.lifecycle = 'ready' limit 1)"
    " is not null"
)


_HOST_COLUMNS = (
    "h.id, h.session, h.journal_id, h.enabled, h.draining, h.slots, c.name, c.secrets_version"
)
_FROM_HOST = (
    " from hosts h join customers c on c.id = h.customer_id"
    " where h.id = ? and h.deleted_at is null and c.enabled = 1"
)


def _host_query(tx: Tx, host_id: str, condition: str = "") -> Query:
    # The row lock makes the counting of limits below safe on PostgreSQL: one claim per host.
    lock = f"{tx.dialect.lock_rows} of h" if tx.dialect.lock_rows else ""
    return f"select {_HOST_COLUMNS}{_FROM_HOST}{condition}{lock}", (host_id,)


# Whether a ready job could use a slot of the host.
_HAS_FREE_SLOT = (
    "select 1 from hosts h where h.id = ? and h.slots > (select count(*) from jobs a where"
    " a.host_id = h.id and a.lifecycle = 'assigned') and (select 1 from jobs j where j.host_id ="
    " h.id and j.lifecycle = 'ready' and j.not_before_at <= ? limit 1) is not null"
)


def _free_slots_query(tx: Tx, host_id: str) -> Query:
    """The host, its free slots, and whether other jobs are ready. A separate statement after the
    lock: only then does it see the changes of the transaction that held the lock before."""
    return (
        f"select {_HOST_COLUMNS}, h.slots - (select count(*) from jobs a where a.host_id = h.id"
        " and a.lifecycle = 'assigned'), exists (select 1 from jobs j where j.host_id = h.id"
        f" and j.lifecycle = 'ready' and j.not_before_at <= ?){_FROM_HOST}",
        (tx.now, host_id),
    )


def _choose(tx: Tx, queue: Queue, candidates: list[Candidate]) -> list[Candidate]:
    """As many as there are free slots; more are read only if a task is at its limit."""
    limit = len(candidates)
    chosen = _within_limits(tx, candidates, limit)
    if len(chosen) == limit:
        return chosen
    answers = tx.pipeline(*oldest_queries(tx, queue, LOOKAHEAD))
    return _within_limits(tx, oldest(tx, queue, LOOKAHEAD, answers), limit)


def _fences(tx: Tx, jobs: list[Candidate]) -> list[int]:
    # In the order of the jobs, which can come from two statements.
    numbers = sorted(job.next_fence for job in jobs if job.next_fence is not None)
    return numbers or reserve_fences(tx, len(jobs))


def _within_limits(tx: Tx, candidates: Sequence[Job], limit: int) -> list[Job]:
    """The first jobs that keep every task within its concurrency limit, counted from live rows."""
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
    store.apply_transition(job, Lifecycle.ASSIGNED, JobState.IN_PROGRESS, now)
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
