"""Adds attempts that are in an agent's journal but not in the restored database to their jobs."""

from collections.abc import Sequence

from belvedere.db import Tx
from belvedere.jobs import events, specs, store
from belvedere.jobs.attempts import Attempt, attempts_by_fence, end_attempt, insert_attempts
from belvedere.jobs.model import JobRow, JobState, Lifecycle, check_transition
from belvedere.jobs.recovery import hold
from belvedere.protocol import JournaledAttempt


def unknown(
    tx: Tx, host_id: str, entries: Sequence[JournaledAttempt], forgotten_up_to: int
) -> tuple[list[JournaledAttempt], list[int]]:
    """Entries that are older than the restore and have no attempt in the database, and fences that
    were assigned to another host since, because their numbers were used again."""
    old = [entry for entry in entries if entry.fence <= forgotten_up_to]
    attempts = attempts_by_fence(tx, [entry.fence for entry in old]) if old else {}
    reused = [fence for fence, attempt in attempts.items() if attempt.host_id != host_id]
    return [entry for entry in old if entry.fence not in attempts], reused


def adopt(tx: Tx, host_id: str, journal_id: str, entries: Sequence[JournaledAttempt]) -> list[int]:
    """Add them to their jobs, oldest first, so that the newest attempt of a job counts. A script
    without a job here (created after the backup) continues, and its result is dropped. Returns the
    fences of jobs that a person has ended since: their scripts must be stopped."""
    jobs = store.lock_many(tx, sorted({entry.job_id for entry in entries if entry.job_id}))
    ended_by_person = []
    for entry in sorted(entries, key=lambda entry: entry.fence):
        job = jobs.get(entry.job_id)
        if job is None or job.host_id != host_id:
            continue
        if entry.fence > job.fence:
            _adopt(tx, job, entry.fence, journal_id)
        if job.lifecycle == Lifecycle.CANCELED or job.resolved_by is not None:
            ended_by_person.append(entry.fence)
    return ended_by_person


def _adopt(tx: Tx, job: JobRow, fence: int, journal_id: str) -> None:
    if job.is_held:
        hold.make_ready(tx, job)
    if job.is_lost:
        _expect(tx, job, fence, journal_id)
    elif job.lifecycle in (Lifecycle.READY, Lifecycle.ASSIGNED):
        _assign(tx, job, fence, journal_id)
    elif job.is_over and job.ran == "no":
        _correct(tx, job)


def _correct(tx: Tx, job: JobRow) -> None:
    """It expired or was canceled before this agent, which had accepted it, connected again."""
    job.ran = "maybe"
    job.version += 1
    job.updated_at = tx.now
    store.save(tx, [job])
    events.append(tx, "reachable", [job])


def _assign(tx: Tx, job: JobRow, fence: int, journal_id: str) -> None:
    if job.lifecycle == Lifecycle.READY:
        check_transition(job, "assign", Lifecycle.ASSIGNED, JobState.IN_PROGRESS)
    else:
        # The agent has a later attempt: the end of the known one was lost.
        end_attempt(tx, job, "lost")
        job.ran = job.may_have_run
    store.apply_transition(job, Lifecycle.ASSIGNED, JobState.IN_PROGRESS, tx.now)
    job.fence, job.attempts, job.reason = fence, job.attempts + 1, None
    job.assigned_at, job.started_at, job.unreachable_at = tx.now, None, None
    job.deadline_at = tx.now + job.timeout + specs.grace_ms(specs.for_job(tx, job))
    store.save(tx, [job])
    insert_attempts(tx, [_attempt(tx, job, journal_id, "live")])
    events.publish(tx, "assigned", [job])


def _expect(tx: Tx, job: JobRow, fence: int, journal_id: str) -> None:
    """A lost job stays lost until the result of this attempt arrives."""
    job.fence, job.attempts = fence, job.attempts + 1
    job.version += 1
    job.updated_at = tx.now
    store.save(tx, [job])
    insert_attempts(tx, [_attempt(tx, job, journal_id, "lost")])
    events.append(tx, "reachable", [job])


def _attempt(tx: Tx, job: JobRow, journal_id: str, state: str) -> Attempt:
    return Attempt(
        fence=job.fence,
        job_id=job.id,
        number=job.attempts,
        host_id=job.host_id or "",
        session=int(tx.value("select session from hosts where id = ?", job.host_id)),
        journal_id=journal_id,
        state=state,
        claimed_at=tx.now,
        started_at=None,
        ended_at=None if state == "live" else tx.now,
    )
