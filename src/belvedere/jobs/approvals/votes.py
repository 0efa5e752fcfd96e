"""Approving and rejecting: one vote of one approver decides, about what was asked."""

from typing import Any

from belvedere.access import audit
from belvedere.access.actor import Actor
from belvedere.base.errors import Conflict, Forbidden, Invalid
from belvedere.db import Tx
from belvedere.db.crash import around_commit
from belvedere.jobs import events, permissions, specs, store
from belvedere.jobs.approvals import plan
from belvedere.jobs.model import APPROVAL, JobRow, Lifecycle, State, check_move


def approve(tx: Tx, actor: Actor, job_id: str, by: str = "") -> JobRow:
    """Only what was shown: when something of it is another now, the approval is void."""
    job = _to_decide(tx, actor, job_id, "approve", State.SUCCESS)
    changed = plan.changes(tx, job, specs.of_job(tx, job))
    if changed:
        raise Conflict(f"{plan.told(changed)} Ask for a new approval.", code="approval_void")
    return _vote(tx, actor, job, "approve", State.SUCCESS, by)


def reject(tx: Tx, actor: Actor, job_id: str, by: str = "") -> JobRow:
    job = _to_decide(tx, actor, job_id, "reject", State.FAILURE)
    return _vote(tx, actor, job, "reject", State.FAILURE, by)


def _to_decide(tx: Tx, actor: Actor, job_id: str, verb: str, state: State) -> JobRow:
    """The job, held, for somebody who may decide it now."""
    job = permissions.to_approve(tx, actor, job_id)
    if job.type != APPROVAL:
        raise Invalid("This job asks for no approval.", code="not_an_approval")
    if not permissions.is_approver(tx, actor, job):
        raise Forbidden("Only the job's approvers may decide it.", code="not_an_approver")
    if not permissions.may_decide(tx, actor, job):
        raise Forbidden(
            "You count as having started it (yourself, or because no person did and you could have"
            " caused it); another approver must decide.",
            code="four_eyes",
        )
    check_move(job, verb, Lifecycle.FINISHED, state)
    return job


def _vote(tx: Tx, actor: Actor, job: JobRow, verb: str, state: State, by: str) -> JobRow:
    """`by` is the way that the vote came, where it was no request of the approver's own."""
    end_by_vote(tx, job, state, {"user": _user_of(actor)})
    said = {"state": job.state, "will_run": [_said(one) for one in plan.of_job(tx, job.id)]}
    audit.record(tx, actor, f"job.{verb}", "job", job.id, None, said | ({"by": by} if by else {}))
    events.tell(tx, f"{verb.removesuffix('e')}ed", [job])
    around_commit(tx, "vote")
    return job


def end_by_vote(tx: Tx, job: JobRow, state: State, result: dict[str, Any]) -> None:
    """Finish an approval; its arguments go on to whatever follows."""
    store.step(job, Lifecycle.FINISHED, state, tx.now)
    job.trigger_name = "success" if state is State.SUCCESS else "failure"
    job.ended_at = tx.now
    output = store.heavy(tx, job.id).arguments
    store.save_ended(tx, [(job, store.End(store.encode(result).decode(), output))])


def _said(one: plan.Planned) -> dict[str, object]:
    """What was approved, for the audit; values are in the job."""
    named = {"task_id": one.task_id, "name": one.name, "task_version": one.task_version}
    return {**named, "hostname": one.hostname, "script_sha256": one.script_sha256}


def _user_of(actor: Actor) -> dict[str, str]:
    return {"id": actor.user_id, "username": actor.username, "email": actor.email}
