"""A job as its events tell it, held against its row: `belvedere doctor` asks this of every job."""

from collections.abc import Iterable, Sequence

import msgspec

from belvedere.db import Tx, columns
from belvedere.events import Event
from belvedere.jobs import store
from belvedere.jobs.attempts import Attempt
from belvedere.jobs.model import FINAL, MOVES, JobRow, Lifecycle, State

_PAIRS = frozenset((move.before, move.after) for move in MOVES)


class Folded(msgspec.Struct, frozen=True):
    """What the events of one job add up to."""

    lifecycle: str
    state: str
    fence: int
    version: int


class Broken(Exception):
    """The events of a job do not follow from each other; the text says where."""


_decode = msgspec.json.Decoder(Folded).decode


def fold(events: Iterable[Event]) -> Folded:
    """Add up the events of one job, oldest first; Broken when one does not follow the last."""
    folded: Folded | None = None
    for event in events:
        told = _decode(event.data)
        if folded is None:
            _check_first(event, told)
        else:
            _check_next(event, folded, told)
        folded = told
    if folded is None:
        raise Broken("it has no events")
    return folded


def _check_first(event: Event, told: Folded) -> None:
    if event.kind != "job.created" or told.version != 1:
        raise Broken(f"its events begin with {event.kind}, version {told.version}")


def _check_next(event: Event, last: Folded, told: Folded) -> None:
    if told.version != last.version + 1:
        raise Broken(f"{event.kind} has version {told.version} after {last.version}")
    if told.fence < last.fence:
        raise Broken(f"{event.kind} has the fence {told.fence} after {last.fence}")
    if (told.lifecycle, told.state) == (last.lifecycle, last.state):
        return
    only_lost = last.lifecycle == Lifecycle.TERMINATED and last.state != State.LOST
    if (last.lifecycle, told.lifecycle) not in _PAIRS or only_lost:
        raise Broken(f"{event.kind} moves it from {last.lifecycle} to {told.lifecycle}")


def check(tx: Tx, after_id: str, limit: int) -> list[str]:
    """What is wrong with the jobs behind this id, a sentence each; none is the right answer."""
    jobs = tx.all(
        JobRow,
        f"select {columns(JobRow)} from jobs where id > ? order by id limit ?",
        after_id,
        limit,
    )
    ids = store.json_list([job.id for job in jobs])
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
    found: dict[str, list[Event]] = {}
    for event in rows:
        found.setdefault(event.object_id, []).append(event)
    return found


def _attempts(tx: Tx, ids: str) -> dict[str, list[Attempt]]:
    rows = tx.all(
        Attempt,
        f"select {columns(Attempt)} from attempts where job_id in {tx.dialect.in_texts}"
        f" order by fence",
        ids,
    )
    found: dict[str, list[Attempt]] = {}
    for attempt in rows:
        found.setdefault(attempt.job_id, []).append(attempt)
    return found


def _against_events(job: JobRow, events: list[Event]) -> list[str]:
    row = Folded(job.lifecycle, job.state, job.fence, job.version)
    try:
        folded = fold(events)
    except Broken as fault:
        return [f"Job {job.id}: {fault}."]
    if folded != row:
        return [f"Job {job.id}: its events tell {_said(folded)}, its row {_said(row)}."]
    return []


def _said(folded: Folded) -> str:
    return f"{folded.lifecycle}/{folded.state} with fence {folded.fence}, version {folded.version}"


def _against_attempts(job: JobRow, attempts: list[Attempt]) -> list[str]:
    faults = []
    live = [attempt.fence for attempt in attempts if attempt.state == "live"]
    if job.lifecycle == Lifecycle.ASSIGNED and live != [job.fence]:
        faults.append(f"Job {job.id} is assigned with fence {job.fence}, live attempts: {live}.")
    if job.lifecycle != Lifecycle.ASSIGNED and live:
        faults.append(f"Job {job.id} is {job.lifecycle} but has live attempts: {live}.")
    if attempts and attempts[-1].fence != job.fence:
        faults.append(f"Job {job.id} has fence {job.fence}, its newest attempt another.")
    used = sum(attempt.state != "returned" for attempt in attempts)
    if job.attempts != used:
        faults.append(f"Job {job.id} counts {job.attempts} attempts, there are {used}.")
    return faults


def _against_itself(job: JobRow) -> list[str]:
    faults = []
    is_over = job.lifecycle in FINAL
    if is_over != (job.ended_at is not None):
        faults.append(f"Job {job.id} is {job.lifecycle}, but ended_at is {job.ended_at}.")
    if is_over == (job.state == State.IN_PROGRESS):
        faults.append(f"Job {job.id} is {job.lifecycle} and {job.state}.")
    if job.resolved_by is not None and job.lifecycle != Lifecycle.FINISHED:
        faults.append(f"Job {job.id} was resolved but is {job.lifecycle}.")
    return faults


# Logs live in a store of their own: whoever looks at both asks one, then the other.


def logged(tx: Tx, after_id: str, limit: int) -> list[str]:
    """In the log store: the jobs behind this id that have output there."""
    rows = tx.rows(
        "select distinct job_id from logs where job_id > ? order by job_id limit ?",
        after_id,
        limit,
    )
    return [job_id for (job_id,) in rows]


def strays(tx: Tx, job_ids: Sequence[str]) -> list[str]:
    """A sentence for each of these jobs that was purged while its log stayed."""
    rows = tx.rows(
        f"select id from jobs where id in {tx.dialect.in_texts}", store.json_list(job_ids)
    )
    there = {job_id for (job_id,) in rows}
    return [f"Job {job_id} is gone, its log is not." for job_id in job_ids if job_id not in there]
