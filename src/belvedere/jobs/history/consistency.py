"""Compares each job with the replay of its events, for `belvedere doctor`."""

from collections.abc import Iterable, Sequence

import msgspec

from belvedere.db import Tx, columns
from belvedere.events import Event
from belvedere.jobs import store
from belvedere.jobs.attempts import Attempt
from belvedere.jobs.model import FINAL, TRANSITIONS, JobRow, JobState, Lifecycle

_PAIRS = frozenset((move.before, move.after) for move in TRANSITIONS)


class ReplayedJob(msgspec.Struct, frozen=True):
    """The state of a job after replaying its events."""

    lifecycle: str
    state: str
    fence: int
    version: int


class Inconsistency(Exception):
    """The events of a job contradict each other; the text says where."""


_decode = msgspec.json.Decoder(ReplayedJob).decode


def replay(events: Iterable[Event]) -> ReplayedJob:
    """Replay the events of one job, oldest first; Inconsistency if one cannot follow the last."""
    job: ReplayedJob | None = None
    for event in events:
        current = _decode(event.data)
        if job is None:
            _check_first(event, current)
        else:
            _check_next(event, job, current)
        job = current
    if job is None:
        raise Inconsistency("it has no events")
    return job


def _check_first(event: Event, current: ReplayedJob) -> None:
    if event.kind != "job.created" or current.version != 1:
        raise Inconsistency(f"its events begin with {event.kind}, version {current.version}")


def _check_next(event: Event, previous: ReplayedJob, current: ReplayedJob) -> None:
    if current.version != previous.version + 1:
        raise Inconsistency(f"{event.kind} has version {current.version} after {previous.version}")
    if current.fence < previous.fence:
        raise Inconsistency(f"{event.kind} has the fence {current.fence} after {previous.fence}")
    if (current.lifecycle, current.state) == (previous.lifecycle, previous.state):
        return
    only_lost = previous.lifecycle == Lifecycle.TERMINATED and previous.state != JobState.LOST
    if (previous.lifecycle, current.lifecycle) not in _PAIRS or only_lost:
        raise Inconsistency(
            f"{event.kind} moves it from {previous.lifecycle} to {current.lifecycle}"
        )


def check(tx: Tx, after_id: str, limit: int) -> list[str]:
    """The faults of the jobs after this id, one sentence each."""
    jobs = tx.all(
        JobRow,
        f"select {columns(JobRow)} from jobs where id > ? order by id limit ?",
        after_id,
        limit,
    )
    ids = store.json_array([job.id for job in jobs])
    events = _events(tx, ids)
    attempts = _attempts(tx, ids)
    faults = []
    for job in jobs:
        faults += _against_events(job, events.get(job.id, []))
        faults += _against_attempts(job, attempts.get(job.id, []))
        faults += _against_itself(job)
    return faults


def _events(tx: Tx, ids: str) -> dict[str, list[Event]]:
    rows = tx.all(
        Event,
        f"select {columns(Event)} from events where object_id in {tx.dialect.in_texts}"
        " and object = 'job' order by id",
        ids,
    )
    events_by_job: dict[str, list[Event]] = {}
    for event in rows:
        events_by_job.setdefault(event.object_id, []).append(event)
    return events_by_job


def _attempts(tx: Tx, ids: str) -> dict[str, list[Attempt]]:
    rows = tx.all(
        Attempt,
        f"select {columns(Attempt)} from attempts where job_id in {tx.dialect.in_texts}"
        f" order by fence",
        ids,
    )
    attempts_by_job: dict[str, list[Attempt]] = {}
    for attempt in rows:
        attempts_by_job.setdefault(attempt.job_id, []).append(attempt)
    return attempts_by_job


def _against_events(job: JobRow, events: list[Event]) -> list[str]:
    row = ReplayedJob(job.lifecycle, job.state, job.fence, job.version)
    try:
        replayed = replay(events)
    except Inconsistency as fault:
        return [f"Job {job.id}: {fault}."]
    if replayed != row:
        return [
            f"Job {job.id}: its events give {_describe(replayed)}, its row has {_describe(row)}."
        ]
    return []


def _describe(job: ReplayedJob) -> str:
    return f"{job.lifecycle}/{job.state} with fence {job.fence}, version {job.version}"


def _against_attempts(job: JobRow, attempts: list[Attempt]) -> list[str]:
    faults = []
    live = [attempt.fence for attempt in attempts if attempt.state == "live"]
    if job.lifecycle == Lifecycle.ASSIGNED and live != [job.fence]:
        faults.append(f"Job {job.id} is assigned with fence {job.fence}, live attempts: {live}.")
    if job.lifecycle != Lifecycle.ASSIGNED and live:
        faults.append(f"Job {job.id} is {job.lifecycle} but has live attempts: {live}.")
    if attempts and attempts[-1].fence != job.fence:
        faults.append(f"Job {job.id} has fence {job.fence}, but its newest attempt has another.")
    used = sum(attempt.state != "returned" for attempt in attempts)
    if job.attempts != used:
        faults.append(f"Job {job.id} counts {job.attempts} attempts, but there are {used}.")
    return faults


def _against_itself(job: JobRow) -> list[str]:
    faults = []
    is_over = job.lifecycle in FINAL
    if is_over != (job.ended_at is not None):
        faults.append(f"Job {job.id} is {job.lifecycle}, but ended_at is {job.ended_at}.")
    if is_over == (job.state == JobState.IN_PROGRESS):
        faults.append(f"Job {job.id} is {job.lifecycle} and {job.state}.")
    if job.resolved_by is not None and job.lifecycle != Lifecycle.FINISHED:
        faults.append(f"Job {job.id} was resolved but is {job.lifecycle}.")
    return faults


# The log store is a separate database: `doctor` reads one, then the other.


def jobs_with_logs(tx: Tx, after_id: str, limit: int) -> list[str]:
    """In the log store: ids of jobs after this one that have output."""
    rows = tx.rows(
        "select distinct job_id from logs where job_id > ? order by job_id limit ?",
        after_id,
        limit,
    )
    return [job_id for (job_id,) in rows]


def orphaned_logs(tx: Tx, job_ids: Sequence[str]) -> list[str]:
    """A sentence for each of these jobs that was purged while its log was kept."""
    rows = tx.rows(
        f"select id from jobs where id in {tx.dialect.in_texts}", store.json_array(job_ids)
    )
    existing = {job_id for (job_id,) in rows}
    return [
        f"Job {job_id} is gone, its log is not." for job_id in job_ids if job_id not in existing
    ]
