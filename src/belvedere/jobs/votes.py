"""Approving and rejecting: one vote of one approver decides."""

from typing import Any

from belvedere.access import audit
from belvedere.access.model import Actor
from belvedere.base.errors import Forbidden, Invalid
from belvedere.db import Tx
from belvedere.jobs import changes, sight, store
from belvedere.jobs.model import JobRow, Lifecycle, State, check_move


def approve(tx: Tx, actor: Actor, job_id: str) -> JobRow:
    return _vote(tx, actor, job_id, "approve", State.SUCCESS)


def reject(tx: Tx, actor: Actor, job_id: str) -> JobRow:
    return _vote(tx, actor, job_id, "reject", State.FAILURE)


def _vote(tx: Tx, actor: Actor, job_id: str, verb: str, state: State) -> JobRow:
    job = sight.to_approve(tx, actor, job_id)
    if job.type != "ApprovalJob":
        raise Invalid("This job asks for no approval.", code="not_an_approval")
    if not sight.is_approver(tx, actor, job):
        raise Forbidden("Only the job's approvers may decide it.", code="not_an_approver")
    check_move(job, verb, Lifecycle.FINISHED, state)
    end_by_vote(tx, job, state, {"user": _user_of(actor)})
    audit.record(tx, actor, f"job.{verb}", "job", job.id, None, {"state": job.state})
    changes.tell(tx, f"{verb.removesuffix('e')}ed", [job])
    return job


def end_by_vote(tx: Tx, job: JobRow, state: State, result: dict[str, Any]) -> None:
    """Finish an approval; its arguments go on to whatever follows."""
    store.step(job, Lifecycle.FINISHED, state, tx.now)
    job.trigger_name = "success" if state is State.SUCCESS else "failure"
    job.ended_at = tx.now
    output = store.heavy(tx, job.id).arguments
    store.save_ended(tx, [(job, store.End(store.encode(result).decode(), output))])


def _user_of(actor: Actor) -> dict[str, str]:
    return {"id": actor.user_id, "username": actor.username, "email": actor.email}
