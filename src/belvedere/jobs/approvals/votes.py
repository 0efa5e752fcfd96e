"""Approve and reject: the vote of one approver decides."""

from typing import Any

from belvedere.access import audit
from belvedere.access.actor import Actor
from belvedere.base.errors import Conflict, Forbidden, Invalid
from belvedere.db import Tx
from belvedere.db.commit_hooks import around_commit
from belvedere.jobs import events, permissions, specs, store
from belvedere.jobs.approvals import plan
from belvedere.jobs.model import APPROVAL, JobRow, JobState, Lifecycle, check_transition
from belvedere.tasks.model import TaskSpec


def approve(tx: Tx, actor: Actor, job_id: str, by: str = "") -> JobRow:
    """Rejected if anything in the plan has changed since the approval was requested."""
    job = _lock_for_decision(tx, actor, job_id, "approve", JobState.SUCCESS)
    changed = plan.find_changes(tx, job, specs.for_job(tx, job))
    if changed:
        raise Conflict(
            f"{plan.change_message(changed)} Request a new approval.", code="approval_void"
        )
    return _vote(tx, actor, job, "approve", JobState.SUCCESS, by)


def reject(tx: Tx, actor: Actor, job_id: str, by: str = "") -> JobRow:
    job = _lock_for_decision(tx, actor, job_id, "reject", JobState.FAILURE)
    return _vote(tx, actor, job, "reject", JobState.FAILURE, by)


def _lock_for_decision(tx: Tx, actor: Actor, job_id: str, verb: str, state: JobState) -> JobRow:
    """The job, locked, if the actor may decide it now."""
    job = permissions.lock_visible(tx, actor, job_id)
    if job.type != APPROVAL:
        raise Invalid("This job is not an approval.", code="not_an_approval")
    if not permissions.is_approver(tx, actor, job):
        raise Forbidden("Only the job's approvers may decide it.", code="not_an_approver")
    if not permissions.may_decide(tx, actor, job):
        raise Forbidden(
            "You may not decide about your own job: you started it, or no person did and you could"
            " have caused it. Another approver must decide.",
            code="four_eyes",
        )
    check_transition(job, verb, Lifecycle.FINISHED, state)
    if verb not in enabled_answers(specs.for_job(tx, job)):
        raise Conflict(
            f"The task of this approval does not allow approvers to {verb} it.",
            code="answer_disabled",
        )
    return job


def enabled_answers(spec: TaskSpec) -> list[str]:
    """The answers that the task offers to its approvers."""
    switches = {"approve": spec.success_enabled, "reject": spec.failure_enabled}
    return [verb for verb, is_enabled in switches.items() if is_enabled]


def _vote(tx: Tx, actor: Actor, job: JobRow, verb: str, state: JobState, by: str) -> JobRow:
    """`by`: how the vote arrived, if not by a request of the approver."""
    end_by_vote(tx, job, state, {"user": _user_of(actor)})
    audit_fields = {
        "state": job.state,
        "will_run": [_audit_fields(task) for task in plan.for_job(tx, job.id)],
    }
    audit.record(
        tx, actor, f"job.{verb}", "job", job.id, None, audit_fields | ({"by": by} if by else {})
    )
    events.publish(tx, f"{verb.removesuffix('e')}ed", [job])
    around_commit(tx, "vote")
    return job


def end_by_vote(tx: Tx, job: JobRow, state: JobState, result: dict[str, Any]) -> None:
    """Finish an approval; its arguments are its output, for the next steps."""
    store.apply_transition(job, Lifecycle.FINISHED, state, tx.now)
    job.trigger_name = "success" if state is JobState.SUCCESS else "failure"
    job.ended_at = tx.now
    output = store.read_details(tx, job.id).arguments
    store.save_ended(tx, [(job, store.EndColumns(store.encode(result).decode(), output))])


def _audit_fields(task: plan.PlannedTask) -> dict[str, object]:
    """What was approved, for the audit log; the values are in the job."""
    named = {"task_id": task.task_id, "name": task.name, "task_version": task.task_version}
    return {**named, "hostname": task.hostname, "script_sha256": task.script_sha256}


def _user_of(actor: Actor) -> dict[str, str]:
    return {"id": actor.user_id, "username": actor.username, "email": actor.email}
