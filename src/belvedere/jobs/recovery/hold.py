"""Jobs that may have run after the backup from which the database was restored, and releasing jobs
on hold."""

from collections.abc import Sequence

from belvedere.access import Level, audit, require
from belvedere.access.actor import Actor
from belvedere.base.errors import Conflict
from belvedere.db import Tx
from belvedere.db.signals import host_ready
from belvedere.jobs import events, permissions, store
from belvedere.jobs.lifecycle.timeouts import end_waiting
from belvedere.jobs.model import (
    HELD,
    IS_OPEN,
    RESTORED,
    WORKFLOW,
    JobRow,
    JobState,
    Lifecycle,
    check_transition,
)
from belvedere.jobs.queues import QUEUE

BATCH_SIZE = 500
# Jobs that one request releases.
MAX_RELEASED = 1_000
# A condition on the table `j`.
HELD_AFTER_RESTORE = f"j.{IS_OPEN} and j.lifecycle = 'onhold' and j.reason = '{RESTORED}'"
_HELD = HELD_AFTER_RESTORE.replace("j.", "")


def hold(tx: Tx, host_id: str | None = None) -> int:
    """Put all ready jobs, or those of this host, on hold, so that they are not claimed."""
    only, params = ("host_id is not null", ()) if host_id is None else ("host_id = ?", (host_id,))
    count = 0
    while jobs := tx.all(
        JobRow,
        f"select {store.JOB_COLUMNS} from jobs where {only} and lifecycle = 'ready'"
        f" order by host_id, {QUEUE}, id limit ?{tx.dialect.lock_rows}",
        *(*params, BATCH_SIZE),
    ):
        _hold(tx, jobs)
        count += len(jobs)
    return count


def _hold(tx: Tx, jobs: Sequence[JobRow]) -> None:
    for job in jobs:
        check_transition(job, "hold", Lifecycle.ONHOLD, JobState.IN_PROGRESS)
        store.apply_transition(job, Lifecycle.ONHOLD, JobState.IN_PROGRESS, tx.now)
        job.reason = RESTORED
        if job.ran == "no":
            job.ran = "maybe"
    store.save(tx, jobs)
    events.publish(tx, "held", jobs)


def end_queued_workflows(tx: Tx) -> int:
    """Queued workflow jobs may have started since the backup. They have no steps that could be
    held, and would start by themselves."""
    jobs = tx.all(
        JobRow,
        f"select {store.JOB_COLUMNS} from jobs where {IS_OPEN} and lifecycle = 'onhold'"
        f" and type = '{WORKFLOW}' order by id{tx.dialect.lock_rows}",
    )
    for job in jobs:
        end_waiting(job, RESTORED, tx.now)
        job.ran = "maybe"
    store.save(tx, jobs)
    events.publish(tx, "expired", jobs)
    return len(jobs)


def release_proved(tx: Tx, host_id: str) -> int:
    """The host's journal proves that it has accepted nothing since the backup."""
    rows = tx.rows(f"select id from jobs where {_HELD} and host_id || '' = ?", host_id)
    jobs = [job for job in store.lock_many(tx, _ids(rows)).values() if job.is_held]
    for job in jobs:
        job.ran = "no" if job.attempts == 0 else job.ran
        make_ready(tx, job)
    return len(jobs)


def make_ready(tx: Tx, job: JobRow) -> None:
    """Make a held, locked job ready."""
    check_transition(job, "release", Lifecycle.READY, JobState.IN_PROGRESS)
    store.apply_transition(job, Lifecycle.READY, JobState.IN_PROGRESS, tx.now)
    job.reason = None
    store.save(tx, [job])
    events.publish(tx, "released", [job])
    tx.signals.add(host_ready(job.host_id))


def release(tx: Tx, actor: Actor, job_id: str) -> JobRow:
    """Let a job on hold run: one that a person put on hold; for an admin also one that is held
    after a restore, although it may have run before."""
    job = permissions.require_runnable(tx, actor, job_id)
    is_paused = job.lifecycle == Lifecycle.ONHOLD and job.reason == HELD
    if not (is_paused or job.is_held):
        raise Conflict(
            f"The job is {job.lifecycle} and neither put on hold by a person nor held after a"
            " restore; there is nothing to release.",
            code="wrong_lifecycle",
        )
    if job.is_held:
        require(actor, Level.ADMIN)
    _release(tx, actor, [job])
    return job


def release_all(tx: Tx, actor: Actor) -> tuple[int, bool]:
    """The oldest held jobs of the organization, and whether more are left."""
    require(actor, Level.ADMIN)
    rows = tx.rows(
        f"select id from jobs where {_HELD} and customer_id || '' = ? order by id limit ?",
        actor.customer_id,
        MAX_RELEASED + 1,
    )
    jobs = store.lock_many(tx, _ids(rows[:MAX_RELEASED])).values()
    still_held = [job for job in jobs if job.is_held]
    _release(tx, actor, still_held)
    return len(still_held), len(rows) > MAX_RELEASED


def _release(tx: Tx, actor: Actor, jobs: Sequence[JobRow]) -> None:
    for job in jobs:
        before = {"lifecycle": Lifecycle.ONHOLD, "reason": job.reason}
        make_ready(tx, job)
        audit.record(tx, actor, "job.release", "job", job.id, before, {"lifecycle": job.lifecycle})


def count(tx: Tx) -> int:
    return int(tx.value(f"select count(*) from jobs where {_HELD}") or 0)


def count_by_host(tx: Tx, customer_id: str) -> dict[str, int]:
    """The held jobs of each host of the organization."""
    rows = tx.rows(
        "select host_id, count(*) from jobs where customer_id = ? and lifecycle = 'onhold'"
        f" and reason = '{RESTORED}' group by host_id",
        customer_id,
    )
    return {host_id: int(count) for host_id, count in rows}


def _ids(rows: Sequence[tuple[str, ...]]) -> list[str]:
    return [row[0] for row in rows]
