"""What time does to jobs: nothing waits for ever. Each verb takes a small batch."""

from collections.abc import Collection

import msgspec

from belvedere.base.clock import DAY, MINUTE, Millis
from belvedere.db import Tx, columns
from belvedere.jobs import events, specs, store
from belvedere.jobs.approvals import plan
from belvedere.jobs.approvals.votes import end_by_vote
from belvedere.jobs.lifecycle.finish import Reported, finish
from belvedere.jobs.model import (
    APPROVAL,
    IS_OPEN,
    LOST_AFTER,
    WORKFLOW,
    JobRow,
    Lifecycle,
    State,
    check_move,
)
from belvedere.protocol import Report

BATCH = 200
# An agent that speaks but never tells the end of a job: the backstop.
SILENT_AGENT: Millis = 10 * MINUTE
# Idempotency keys are remembered this long.
KEY_LIFE: Millis = DAY


def expire(tx: Tx) -> int:
    """End jobs that waited too long, or whose host or task is gone."""
    jobs = tx.all(
        JobRow,
        f"select {columns(JobRow)} from jobs where {_WAITED} and expires_at <= ?"
        f" order by expires_at limit ?{tx.dialect.skip_locked}",
        tx.now,
        BATCH,
    )
    votes = [job for job in jobs if job.type == APPROVAL]
    others = [job for job in jobs if job.type != APPROVAL]
    for job in others:
        end_waiting(job, "expired_in_queue", tx.now)
    store.save(tx, others)
    for job in votes:
        _answer_by_default(tx, job)
    events.tell(tx, "expired", others)
    return len(jobs)


# A workflow that has begun ends with its jobs, each of which expires by itself.
_WAITED = (
    f"{IS_OPEN} and lifecycle in ('ready', 'onhold', 'syncing')"
    f" and (type <> '{WORKFLOW}' or lifecycle = 'onhold')"
)


def _answer_by_default(tx: Tx, job: JobRow) -> None:
    """Nobody voted in time: the task's own answer counts."""
    verb = specs.of_job(tx, job).default_answer
    if verb == "approve" and void(tx, job):
        return
    state = State.SUCCESS if verb == "approve" else State.FAILURE
    check_move(job, "approve" if verb == "approve" else "reject", Lifecycle.FINISHED, state)
    job.reason = "default_answer"
    end_by_vote(tx, job, state, {"reason": "default_answer"})
    events.tell(tx, "decided_by_default", [job])


def look_again(tx: Tx, object_id: str) -> int:
    """This task, workflow, script or host has changed: approvals that were asked for something
    else are void. Whoever is faster than we are is refused in the vote itself."""
    rows = tx.rows(
        "select o.job_id from approval_objects o join jobs j on j.id = o.job_id"
        " where o.object_id = ? and j.lifecycle = 'onhold' union"
        # What was attached to an approval after it was asked for.
        " select j.id from triggers t join jobs j on j.task_id = t.source_id"
        " where t.target in ('task', 'workflow') and t.target_id = ? and t.source = 'task'"
        f" and j.lifecycle = 'onhold' and j.type = '{APPROVAL}'",
        object_id,
        object_id,
    )
    held = store.lock_many(tx, [job_id for (job_id,) in rows]) if rows else {}
    waiting = [job for job in held.values() if job.lifecycle == Lifecycle.ONHOLD]
    return sum(void(tx, job) for job in waiting)


def void(tx: Tx, job: JobRow) -> bool:
    """End an approval, held, whose question is no longer the one that was asked."""
    changed = plan.changes(tx, job, specs.of_job(tx, job))
    if not changed:
        return False
    end_waiting(job, plan.told(changed), tx.now)
    store.save(tx, [job])
    events.tell(tx, "voided", [job])
    return True


def end_waiting(job: JobRow, reason: str, now: Millis) -> None:
    check_move(job, "expire", Lifecycle.EXPIRED, State.CANCELED)
    store.step(job, Lifecycle.EXPIRED, State.CANCELED, now)
    job.reason = reason
    job.trigger_name = "canceled"
    job.ended_at = now


def abandon(tx: Tx, column: str, object_id: str) -> int:
    """Its host (`host_id`) or task (`task_id`) was deleted: what waits for it ends at once."""
    assert column in ("host_id", "task_id")
    jobs = tx.all(
        JobRow,
        # Written so that no index of all history fits, here and below: open jobs are few.
        f"select {columns(JobRow)} from jobs where {column} || '' = ? and {IS_OPEN}"
        " and expires_at > 0 and lifecycle in ('ready', 'onhold', 'syncing')"
        f" order by id || ''{tx.dialect.lock_rows}",
        object_id,
    )
    for job in jobs:
        end_waiting(job, f"{column.removesuffix('_id')}_deleted", tx.now)
    store.save(tx, jobs)
    events.tell(tx, "expired", jobs)
    return len(jobs)


def mark_unreachable(tx: Tx) -> int:
    """Jobs of hosts that fell silent get a mark, not a verdict."""
    jobs = tx.all(
        JobRow,
        f"select {columns(JobRow, 'j.')} from jobs j join hosts h on h.id = j.host_id"
        " where j.lifecycle = 'assigned' and j.unreachable_at is null and h.gone_at is not null"
        f" order by j.id || '' limit ?{tx.dialect.skip_locked_jobs}",
        BATCH,
    )
    for job in jobs:
        job.unreachable_at = tx.now
        job.version += 1
        job.updated_at = tx.now
    store.save(tx, jobs)
    events.tell(tx, "unreachable", jobs)
    return len(jobs)


def mark_reachable(tx: Tx) -> int:
    """A host that was silent speaks again on the connection it had: its jobs lose the mark."""
    jobs = tx.all(
        JobRow,
        f"select {columns(JobRow, 'j.')} from jobs j join hosts h on h.id = j.host_id"
        f" where {_BACK} order by j.id || '' limit ?{tx.dialect.skip_locked_jobs}",
        BATCH,
    )
    for job in jobs:
        job.unreachable_at = None
        job.version += 1
        job.updated_at = tx.now
    store.save(tx, jobs)
    events.tell(tx, "reachable", jobs)
    return len(jobs)


_BACK = (
    "j.lifecycle = 'assigned' and j.unreachable_at is not null"
    " and h.gone_at is null and h.connected_at is not null"
)


class Overdue(msgspec.Struct):
    """An attempt past its deadline; `is_quiet`: nothing can be expected of its agent."""

    host_id: str
    fence: int
    deadline_at: Millis
    timeout: Millis
    is_quiet: int

    @property
    def patience(self) -> Millis:
        """How long it must stay so, by a clock that cannot jump."""
        return LOST_AFTER if self.is_quiet else LOST_AFTER + SILENT_AGENT

    @property
    def lost_at(self) -> Millis:
        """By the wall clock, which may have been set: so an agent that is alive gets the job's
        whole time once more. Its own clock ends the script; we only do not wait for ever."""
        return self.deadline_at + self.patience + (0 if self.is_quiet else self.timeout)


def overdue(tx: Tx) -> list[Overdue]:
    """What may soon be lost."""
    return tx.all(
        Overdue,
        f"select {columns(Overdue)} from ({_LATE}) late"
        " where is_quiet = 1 or deadline_at + timeout < ? order by fence limit ?",
        tx.now,
        tx.now,
        BATCH,
    )


_LATE = (
    "select j.host_id, j.fence, j.deadline_at, j.timeout, case when h.gone_at is not null"
    # It may be alive and never tell: agent-protocol.md knows five ways.
    " or exists (select 1 from original_agents o where o.host_id = h.id) then 1 else 0 end"
    " as is_quiet from jobs j join hosts h on h.id = j.host_id"
    " where j.lifecycle = 'assigned' and j.deadline_at < ?"
)


def lose(tx: Tx, fences: Collection[int]) -> int:
    """Their deadlines have gone by without a word for too long: lost, never failed."""
    report = Report(ending="unknown", reason="agent_unreachable")
    lost = [
        Reported(late.host_id, late.fence, report)
        for late in overdue(tx)
        if late.fence in fences and late.lost_at < tx.now
    ]
    finish(tx, lost)
    return len(lost)


def forget_keys(tx: Tx) -> int:
    return tx.execute(
        "delete from idempotency where (customer_id, principal, route, idempotency_key) in ("
        "select customer_id, principal, route, idempotency_key from idempotency"
        " where created_at < ? order by created_at limit ?)",
        tx.now - KEY_LIFE,
        BATCH,
    )


# Questions for the loops: a cheap read spares an idle server its empty writes.


def any_expired(tx: Tx) -> bool:
    return bool(
        tx.row(
            f"select 1 from jobs where {_WAITED} and expires_at <= ? limit 1",
            tx.now,
        )
    )


def any_unreachable(tx: Tx) -> bool:
    return bool(
        tx.row(
            "select 1 from jobs j join hosts h on h.id = j.host_id where j.lifecycle = 'assigned'"
            " and j.unreachable_at is null and h.gone_at is not null limit 1"
        )
    )


def any_reachable(tx: Tx) -> bool:
    return bool(
        tx.row(f"select 1 from jobs j join hosts h on h.id = j.host_id where {_BACK} limit 1")
    )
