"""Compares the journal of a reconnecting agent with the jobs that are assigned to its host."""

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
from belvedere.jobs.lifecycle.finish import ReceivedReport, finish, return_job
from belvedere.jobs.model import JobRow, Lifecycle
from belvedere.jobs.recovery import adoption
from belvedere.protocol import JournaledAttempt, Report


class ResyncResult(msgspec.Struct):
    """The server's response to the agent's hello."""

    # Fences that are no longer current: the agent stops their scripts and deletes the entries.
    stop: list[int] = []
    # Live fences whose job is to be canceled.
    cancel: list[int] = []
    # Live attempts that continue; each uses a slot.
    live: list[int] = []


def resync_host(
    tx: Tx,
    host_id: str,
    journal_id: str,
    entries: Sequence[JournaledAttempt],
    doubtful_until: Millis = 0,
    forgotten_up_to: int = 0,
    attempts: Sequence[Attempt] | None = None,
) -> ResyncResult:
    """Compare the journal with the live attempts of the host: each continues, returns to the queue
    or is lost. A missing journal entry proves nothing about attempts that were claimed up to
    `doubtful_until`, nor about fences up to `forgotten_up_to`, whose end the database may have
    lost. `attempts`: the live ones, if they were read after the host was locked."""
    unknown, reused = adoption.unknown(tx, host_id, entries, forgotten_up_to)
    ended_by_person = adoption.adopt(tx, host_id, journal_id, unknown) if unknown else []
    journal_states = {entry.fence: entry.state for entry in entries}
    if attempts is None or unknown:
        attempts = live_attempts(tx, host_id)
    jobs = store.lock_many(tx, [attempt.job_id for attempt in attempts]) if attempts else {}
    result = ResyncResult(stop=[], cancel=[], live=[])
    for attempt in attempts:
        job = jobs[attempt.job_id]
        if job.fence != attempt.fence or job.lifecycle != Lifecycle.ASSIGNED:
            # It ended while this transaction waited for the lock.
            continue
        if attempt.fence in journal_states:
            _mark_reachable(tx, job)
            result.live.append(attempt.fence)
            if job.cancel_requested_at is not None:
                result.cancel.append(attempt.fence)
        elif attempt.fence > forgotten_up_to and _is_proof(
            attempt, job, journal_id, doubtful_until
        ):
            _return_unaccepted(tx, job, attempt)
        else:
            _mark_lost(tx, attempt)
    # A script that the database has lost and only the agent knows is not stopped, unless a person
    # has canceled its job or set its result.
    expected = {attempt.fence for attempt in attempts} | {entry.fence for entry in unknown}
    expected.difference_update(ended_by_person)
    expected.update(reused)
    result.stop = _superseded_fences(tx, journal_states, expected)
    if not doubtful_until:
        _mark_not_run(tx, host_id, journal_id, journal_states, forgotten_up_to)
    return result


def _is_proof(attempt: Attempt, job: JobRow, journal_id: str, doubtful_until: Millis) -> bool:
    """Whether a journal without the attempt proves that the agent never accepted it: only the same
    journal, if it was not rolled back, and if the agent has not reported the start."""
    is_same = attempt.journal_id == journal_id and attempt.claimed_at > doubtful_until
    return is_same and attempt.started_at is None and job.started_at is None


def return_unsent(tx: Tx, host_id: str, job_ids: Sequence[str]) -> None:
    """Jobs that were claimed for an agent that disconnected before the orders were sent."""
    jobs = store.lock_many(tx, job_ids)
    attempts = {attempt.job_id: attempt for attempt in live_attempts(tx, host_id)}
    for job in jobs.values():
        if job.id in attempts and job.fence == attempts[job.id].fence:
            _return_unaccepted(tx, job, attempts[job.id])


def _mark_reachable(tx: Tx, job: JobRow) -> None:
    if job.unreachable_at is None:
        return
    job.unreachable_at = None
    job.version += 1
    job.updated_at = tx.now
    store.save(tx, [job])
    events.publish(tx, "reachable", [job])


def _return_unaccepted(tx: Tx, job: JobRow, attempt: Attempt) -> None:
    """The journal would contain the fence if the agent had accepted it."""
    event = return_job(job, tx.now)
    store.save(tx, [job])
    end_attempt(tx, job, "returned")
    events.publish(tx, event, [job])
    tx.signals.add(host_ready(job.host_id))


def _mark_not_run(
    tx: Tx, host_id: str, journal_id: str, journal_states: Mapping[int, str], forgotten_up_to: int
) -> None:
    """Jobs that were lost because the agent was silent, were never reported and are not in the same
    journal, which keeps entries until their report is acknowledged: the agent never had them. They
    stay lost, because triggers may have fired, but it is certain that they did not run."""
    rows = tx.rows(
        "select j.id, j.fence from jobs j join attempts a on a.fence = j.fence"
        " where j.host_id = ? and j.lifecycle = 'terminated' and j.state = 'lost'"
        " and j.ran = 'maybe' and j.attempts = 1 and j.started_at is null"
        # Written by mark_lost; a report of the agent would have replaced it.
        " and a.report like ? and a.journal_id = ? and j.fence > ?",
        host_id,
        '%"reason":"agent_unreachable"%',
        journal_id,
        forgotten_up_to,
    )
    jobs = store.lock_many(tx, [job_id for job_id, fence in rows if fence not in journal_states])
    proven = [job for job in jobs.values() if job.is_lost]
    for job in proven:
        job.ran = "no"
        job.version += 1
        job.updated_at = tx.now
    store.save(tx, proven)
    events.append(tx, "reachable", proven)


def _mark_lost(tx: Tx, attempt: Attempt) -> None:
    report = Report(ending="unknown", reason="journal_lost")
    finish(tx, [ReceivedReport(attempt.host_id, attempt.fence, report)])


def _superseded_fences(tx: Tx, journal_states: Mapping[int, str], live: set[int]) -> list[int]:
    """Live on the agent, but not current. A lost attempt may still be reported."""
    unexpected = [
        fence for fence, state in journal_states.items() if state == "live" and fence not in live
    ]
    if not unexpected:
        return []
    attempts = attempts_by_fence(tx, unexpected)
    return [fence for fence in unexpected if not _may_be_reported(tx, attempts.get(fence))]


def _may_be_reported(tx: Tx, attempt: Attempt | None) -> bool:
    if attempt is None or attempt.state != "lost":
        return False
    job = store.lock_many(tx, [attempt.job_id]).get(attempt.job_id)
    return job is not None and job.is_lost and job.fence == attempt.fence


def record_started(tx: Tx, starts: list[tuple[str, int, int]]) -> list[None]:
    """(host, fence, milliseconds ago) of started processes; the deadline counts from the start."""
    jobs, attempts, *_ = lock_reported(tx, [fence for _, fence, _ in starts])
    specs_by_job = specs.for_jobs(tx, list(jobs.values())) if jobs else {}
    changed = []
    for host_id, fence, ago_ms in starts:
        attempt = attempts.get(fence)
        job = jobs.get(attempt.job_id) if attempt else None
        if attempt is None or job is None or attempt.host_id != host_id:
            continue
        if job.fence != fence or job.lifecycle != Lifecycle.ASSIGNED or job.started_at:
            continue
        job.started_at = tx.now - ago_ms
        job.deadline_at = job.started_at + job.timeout + specs.grace_ms(specs_by_job[job.id])
        job.version += 1
        job.updated_at = tx.now
        changed.append(job)
    store.save(tx, changed)
    tx.execute_many(
        "update attempts set started_at = ? where fence = ?",
        [(job.started_at, job.fence) for job in changed],
    )
    events.publish(tx, "started", changed)
    return [None for _ in starts]
