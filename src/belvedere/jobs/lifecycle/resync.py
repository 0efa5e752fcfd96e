"""What a returning agent's journal says about the jobs that it holds, or never had."""

from collections.abc import Mapping, Sequence

import msgspec

from belvedere.base.clock import Millis
from belvedere.db import Tx
from belvedere.db.signals import host_ready
from belvedere.jobs import events, specs, store
from belvedere.jobs.attempts import (
    Attempt,
    attempts_by_fence,
    end_attempt,
    live_attempts,
    lock_reported,
)
from belvedere.jobs.lifecycle.finish import Reported, finish, return_job
from belvedere.jobs.model import JobRow, Lifecycle
from belvedere.jobs.recovery import adoption
from belvedere.protocol import Entry, Report


class Reunion(msgspec.Struct):
    """What the server tells the agent after its hello."""

    # Fences that nobody waits for any more: stop what still runs, forget them.
    stop: list[int] = []
    # Live fences whose job is to be cancelled.
    cancel: list[int] = []
    # Live attempts that go on: their number is taken from the free slots.
    live: list[int] = []


def reunite(
    tx: Tx,
    host_id: str,
    journal_id: str,
    entries: Sequence[Entry],
    doubtful_until: Millis = 0,
    forgotten_up_to: int = 0,
) -> Reunion:
    """Compare the journal with the live attempts of the host; each ends up certain or lost.
    `doubtful_until`: attempts claimed up to then are not proved by what the journal lacks;
    `forgotten_up_to`: nor are those up to this fence, whose end may have been lost here."""
    unknown, reused = adoption.unknown(tx, host_id, entries, forgotten_up_to)
    if unknown:
        adoption.adopt(tx, host_id, journal_id, unknown)
    held = {entry.fence: entry.state for entry in entries}
    attempts = live_attempts(tx, host_id)
    jobs = store.lock_many(tx, [attempt.job_id for attempt in attempts])
    told = Reunion(stop=[], cancel=[], live=[])
    for attempt in attempts:
        job = jobs[attempt.job_id]
        if job.fence != attempt.fence or job.lifecycle != Lifecycle.ASSIGNED:
            # It was settled while we waited for the lock.
            continue
        if attempt.fence in held:
            _still_there(tx, job)
            told.live.append(attempt.fence)
            if job.cancel_requested_at is not None:
                told.cancel.append(attempt.fence)
        elif attempt.fence > forgotten_up_to and _is_proof(
            attempt, job, journal_id, doubtful_until
        ):
            _never_accepted(tx, job, attempt)
        else:
            _without_trace(tx, attempt)
    # A script that only the agent knows is not stopped because the database has lost it.
    expected = {attempt.fence for attempt in attempts} | {entry.fence for entry in unknown}
    expected.update(reused)
    told.stop = _superseded(tx, held, expected)
    if not doubtful_until:
        _never_ran(tx, host_id, journal_id, held, forgotten_up_to)
    return told


def _is_proof(attempt: Attempt, job: JobRow, journal_id: str, doubtful_until: Millis) -> bool:
    """Whether a journal that lacks the attempt proves that it was never accepted. Not another
    journal than the one it was given to, not one that was rolled back, and none against the agent's
    own word that the script had started."""
    is_same = attempt.journal_id == journal_id and attempt.claimed_at > doubtful_until
    return is_same and attempt.started_at is None and job.started_at is None


def never_sent(tx: Tx, host_id: str, job_ids: Sequence[str]) -> None:
    """Jobs that were claimed for an agent which was gone before the answer left."""
    jobs = store.lock_many(tx, job_ids)
    attempts = {one.job_id: one for one in live_attempts(tx, host_id)}
    for job in jobs.values():
        if job.id in attempts and job.fence == attempts[job.id].fence:
            _never_accepted(tx, job, attempts[job.id])


def _still_there(tx: Tx, job: JobRow) -> None:
    if job.unreachable_at is None:
        return
    job.unreachable_at = None
    job.version += 1
    job.updated_at = tx.now
    store.save(tx, [job])
    events.tell(tx, "reachable", [job])


def _never_accepted(tx: Tx, job: JobRow, attempt: Attempt) -> None:
    """Certain: this journal would know the fence had the agent accepted it."""
    event = return_job(job, tx.now)
    store.save(tx, [job])
    end_attempt(tx, job, "returned")
    events.tell(tx, event, [job])
    tx.signals.add(host_ready(job.host_id))


def _never_ran(
    tx: Tx, host_id: str, journal_id: str, held: Mapping[int, str], forgotten_up_to: int
) -> None:
    """Given up after a silence, never reported, and unknown to the journal of that time, which
    would name them until their report is taken: the agent never had them. They stay lost, for
    others may have built on it; but nobody has to wonder any more whether they ran."""
    rows = tx.rows(
        "select j.id, j.fence from jobs j join attempts a on a.fence = j.fence"
        " where j.host_id = ? and j.lifecycle = 'terminated' and j.state = 'lost'"
        " and j.ran = 'maybe' and j.attempts = 1 and j.started_at is null"
        # Our own words; whatever the agent told later stands in their place.
        " and a.report like ? and a.journal_id = ? and j.fence > ?",
        host_id,
        '%"reason":"agent_unreachable"%',
        journal_id,
        forgotten_up_to,
    )
    jobs = store.lock_many(tx, [job_id for job_id, fence in rows if fence not in held])
    proven = [job for job in jobs.values() if job.is_lost]
    for job in proven:
        job.ran = "no"
        job.version += 1
        job.updated_at = tx.now
    store.save(tx, proven)
    events.note(tx, "reachable", proven)


def _without_trace(tx: Tx, attempt: Attempt) -> None:
    report = Report(ending="unknown", reason="journal_lost")
    finish(tx, [Reported(attempt.host_id, attempt.fence, report)])


def _superseded(tx: Tx, held: Mapping[int, str], live: set[int]) -> list[int]:
    """Live on the agent, but not what the server waits for. A lost one may still come true."""
    strangers = [fence for fence, state in held.items() if state == "live" and fence not in live]
    if not strangers:
        return []
    attempts = attempts_by_fence(tx, strangers)
    return [fence for fence in strangers if not _may_come_true(tx, attempts.get(fence))]


def _may_come_true(tx: Tx, attempt: Attempt | None) -> bool:
    if attempt is None or attempt.state != "lost":
        return False
    job = store.lock_many(tx, [attempt.job_id]).get(attempt.job_id)
    return job is not None and job.is_lost and job.fence == attempt.fence


def started(tx: Tx, begun: list[tuple[str, int, int]]) -> list[None]:
    """(host, fence, milliseconds ago): the process runs; its deadline counts from then."""
    jobs, attempts, _ = lock_reported(tx, [fence for _, fence, _ in begun])
    known = specs.of_jobs(tx, list(jobs.values())) if jobs else {}
    moved = []
    for host_id, fence, ago in begun:
        attempt = attempts.get(fence)
        job = jobs.get(attempt.job_id) if attempt else None
        if attempt is None or job is None or attempt.host_id != host_id:
            continue
        if job.fence != fence or job.lifecycle != Lifecycle.ASSIGNED or job.started_at:
            continue
        job.started_at = tx.now - ago
        job.deadline_at = job.started_at + job.timeout + specs.grace_ms(known[job.id])
        job.version += 1
        job.updated_at = tx.now
        moved.append(job)
    store.save(tx, moved)
    tx.execute_many(
        "update attempts set started_at = ? where fence = ?",
        [(job.started_at, job.fence) for job in moved],
    )
    events.tell(tx, "started", moved)
    return [None for _ in begun]
