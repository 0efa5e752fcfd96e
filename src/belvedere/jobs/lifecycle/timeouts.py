"""Expiry, unreachable and lost jobs. Each operation processes a small batch."""

from collections.abc import Collection

import msgspec

from belvedere.base.clock import DAY, MINUTE, ClockStep, Millis
from belvedere.db import Tx, columns
from belvedere.db.ports import Port
from belvedere.jobs import events, specs, store
from belvedere.jobs.approvals import plan
from belvedere.jobs.approvals.votes import end_by_vote
from belvedere.jobs.lifecycle.finish import ReceivedReport, finish
from belvedere.jobs.model import (
    APPROVAL,
    IS_OPEN,
    LOST_AFTER,
    WORKFLOW,
    JobRow,
    JobState,
    Lifecycle,
    check_transition,
)
from belvedere.protocol import Report

BATCH_SIZE = 200
# For an agent that is connected but never reports the end of a job.
SILENT_AGENT_LIMIT: Millis = 10 * MINUTE
# Idempotency keys are stored this long.
KEY_LIFE: Millis = DAY
# An SQL condition on a host `h`: its agent is one of TheEye, which may never report an end.
may_not_report: Port[[], str] = Port("timeouts.may_not_report")


def expire(tx: Tx) -> int:
    """End jobs that waited too long."""
    jobs = tx.all(
        JobRow,
        f"select {columns(JobRow)} from jobs where {_IS_WAITING} and expires_at <= ?"
        f" order by expires_at limit ?{tx.dialect.skip_locked}",
        tx.now,
        BATCH_SIZE,
    )
    votes = [job for job in jobs if job.type == APPROVAL]
    others = [job for job in jobs if job.type != APPROVAL]
    for job in others:
        end_waiting(job, "expired_in_queue", tx.now)
    store.save(tx, others)
    for job in votes:
        _decide_by_default(tx, job)
    events.publish(tx, "expired", others)
    return len(jobs)


# A started workflow job does not expire: it ends with its steps, each of which may expire.
_IS_WAITING = (
    f"{IS_OPEN} and lifecycle in ('ready', 'onhold', 'syncing')"
    f" and (type <> '{WORKFLOW}' or lifecycle = 'onhold')"
)


def _decide_by_default(tx: Tx, job: JobRow) -> None:
    """Nobody voted in time: the default answer of the task applies."""
    answer = specs.for_job(tx, job).default_answer
    if answer == "approve" and void_approval(tx, job):
        return
    state = JobState.SUCCESS if answer == "approve" else JobState.FAILURE
    check_transition(job, "approve" if answer == "approve" else "reject", Lifecycle.FINISHED, state)
    job.reason = "default_answer"
    end_by_vote(tx, job, state, {"reason": "default_answer"})
    events.publish(tx, "decided_by_default", [job])


def recheck_approvals(tx: Tx, object_id: str) -> int:
    """This task, workflow, script or host has changed: void the approvals whose plan differs now.
    A vote that is earlier than this check is rejected by the vote itself."""
    rows = tx.rows(
        "select o.job_id from approval_objects o join jobs j on j.id = o.job_id"
        " where o.object_id = ? and j.lifecycle = 'onhold' union"
        # Triggers that were added after the approval was requested.
        " select j.id from triggers t join jobs j on j.task_id = t.source_id"
        " where t.target in ('task', 'workflow') and t.target_id = ? and t.source = 'task'"
        f" and j.lifecycle = 'onhold' and j.type = '{APPROVAL}'",
        object_id,
        object_id,
    )
    jobs = store.lock_many(tx, [job_id for (job_id,) in rows]) if rows else {}
    waiting = [job for job in jobs.values() if job.lifecycle == Lifecycle.ONHOLD]
    return sum(void_approval(tx, job) for job in waiting)


def void_approval(tx: Tx, job: JobRow) -> bool:
    """End a locked approval if its plan has changed."""
    changed = plan.find_changes(tx, job, specs.for_job(tx, job))
    if not changed:
        return False
    end_waiting(job, plan.change_message(changed), tx.now)
    store.save(tx, [job])
    events.publish(tx, "voided", [job])
    return True


def end_waiting(job: JobRow, reason: str, now: Millis) -> None:
    check_transition(job, "expire", Lifecycle.EXPIRED, JobState.CANCELED)
    store.apply_transition(job, Lifecycle.EXPIRED, JobState.CANCELED, now)
    job.reason = reason
    job.trigger_name = "canceled"
    job.ended_at = now


def expire_for(tx: Tx, column: str, object_id: str) -> int:
    """The host (`host_id`) or task (`task_id`) was deleted: end its waiting jobs at once."""
    assert column in ("host_id", "task_id")
    jobs = tx.all(
        JobRow,
        # `|| ''` keeps the database from using an index over the history; open jobs are few.
        f"select {columns(JobRow)} from jobs where {column} || '' = ? and {IS_OPEN}"
        " and expires_at > 0 and lifecycle in ('ready', 'onhold', 'syncing')"
        f" order by id || ''{tx.dialect.lock_rows}",
        object_id,
    )
    for job in jobs:
        end_waiting(job, f"{column.removesuffix('_id')}_deleted", tx.now)
    store.save(tx, jobs)
    events.publish(tx, "expired", jobs)
    return len(jobs)


def mark_unreachable(tx: Tx) -> int:
    """Mark running jobs of silent hosts; they do not end."""
    jobs = tx.all(
        JobRow,
        f"select {columns(JobRow)} from jobs j where {_IS_UNREACHABLE}"
        f" order by id || '' limit ?{tx.dialect.skip_locked}",
        BATCH_SIZE,
    )
    for job in jobs:
        job.unreachable_at = tx.now
        job.version += 1
        job.updated_at = tx.now
    store.save(tx, jobs)
    events.publish(tx, "unreachable", jobs)
    return len(jobs)


def mark_reachable(tx: Tx) -> int:
    """Remove the mark when a silent host sends again on the same connection."""
    jobs = tx.all(
        JobRow,
        f"select {columns(JobRow)} from jobs j where {_IS_REACHABLE_AGAIN}"
        f" order by id || '' limit ?{tx.dialect.skip_locked}",
        BATCH_SIZE,
    )
    for job in jobs:
        job.unreachable_at = None
        job.version += 1
        job.updated_at = tx.now
    store.save(tx, jobs)
    events.publish(tx, "reachable", jobs)
    return len(jobs)


_IS_UNREACHABLE = (
    "lifecycle = 'assigned' and unreachable_at is null"
    " and exists (select 1 from hosts h where h.id = j.host_id and h.gone_at is not null)"
)
_IS_REACHABLE_AGAIN = (
    "lifecycle = 'assigned' and unreachable_at is not null and exists (select 1 from hosts h"
    " where h.id = j.host_id and h.gone_at is null and h.connected_at is not null)"
)


class Overdue(msgspec.Struct):
    """An attempt past its deadline; `is_quiet`: its agent will probably not report."""

    host_id: str
    fence: int
    deadline_at: Millis
    timeout: Millis
    is_quiet: int

    @property
    def grace(self) -> Millis:
        """How long it must stay overdue, by the monotonic clock."""
        return LOST_AFTER if self.is_quiet else LOST_AFTER + SILENT_AGENT_LIMIT

    @property
    def lost_at(self) -> Millis:
        """By the wall clock, which may have been changed: an agent that is alive gets the whole
        timeout once more. The agent ends the script by its own clock; this is only the limit."""
        return self.deadline_at + self.grace + (0 if self.is_quiet else self.timeout)


def overdue(tx: Tx) -> list[Overdue]:
    """Attempts that may be lost soon."""
    return tx.all(
        Overdue,
        f"select {columns(Overdue)} from ({_overdue_attempts()}) late"
        " where is_quiet = 1 or deadline_at + timeout < ? order by fence limit ?",
        tx.now,
        tx.now,
        BATCH_SIZE,
    )


def _overdue_attempts() -> str:
    return (
        "select j.host_id, j.fence, j.deadline_at, j.timeout, case when h.gone_at is not null"
        f" or {may_not_report()} then 1 else 0 end"
        " as is_quiet from jobs j join hosts h on h.id = j.host_id"
        " where j.lifecycle = 'assigned' and j.deadline_at < ?"
    )


def mark_lost(tx: Tx, fences: Collection[int]) -> int:
    """Attempts that are overdue for too long without a report: lost, not failed."""
    report = Report(ending="unknown", reason="agent_unreachable")
    lost = [
        ReceivedReport(late.host_id, late.fence, report)
        for late in overdue(tx)
        if late.fence in fences and late.lost_at < tx.now
    ]
    finish(tx, lost)
    return len(lost)


def purge_old_keys(tx: Tx) -> int:
    return tx.execute(
        "delete from idempotency where (customer_id, principal, route, idempotency_key) in ("
        "select customer_id, principal, route, idempotency_key from idempotency"
        " where created_at < ? order by created_at limit ?)",
        tx.now - KEY_LIFE,
        BATCH_SIZE,
    )


# For the background loops: a cheap read saves an idle server empty write transactions.


def any_expired(tx: Tx) -> bool:
    return bool(
        tx.row(
            f"select 1 from jobs where {_IS_WAITING} and expires_at <= ? limit 1",
            tx.now,
        )
    )


def any_unreachable(tx: Tx) -> bool:
    return bool(tx.row(f"select 1 from jobs j where {_IS_UNREACHABLE} limit 1"))


def any_reachable(tx: Tx) -> bool:
    return bool(tx.row(f"select 1 from jobs j where {_IS_REACHABLE_AGAIN} limit 1"))


def move_clock(tx: Tx, step: ClockStep) -> None:
    """After a clock change: time limits, expiry and the pause before a retry are durations."""
    tx.execute(
        f"update jobs set expires_at = expires_at + ? where {IS_OPEN} and expires_at > 0",
        step.delta,
    )
    tx.execute(
        "update jobs set deadline_at = deadline_at + ? where lifecycle = 'assigned'"
        " and deadline_at is not null",
        step.delta,
    )
    tx.execute(
        "update jobs set not_before_at = not_before_at + ? where lifecycle = 'ready'"
        " and not_before_at > ?",
        step.delta,
        step.before,
    )
