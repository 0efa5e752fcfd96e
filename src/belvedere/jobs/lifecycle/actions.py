"""What people do to jobs: cancel, resolve, give input, sync, restart. One transaction each."""

from typing import Any

from belvedere.access import audit
from belvedere.access.actor import Actor
from belvedere.base.errors import Conflict, Forbidden, Invalid
from belvedere.db import Tx
from belvedere.db.signals import host_ready, jobs_canceled
from belvedere.jobs import events, permissions, specs, store
from belvedere.jobs.approvals import plan
from belvedere.jobs.attempts import end_attempt
from belvedere.jobs.idempotency import Once
from belvedere.jobs.lifecycle.create import NewJob, arguments_of
from belvedere.jobs.model import WORKFLOW, JobRow, Lifecycle, State, check_move
from belvedere.rest import text_fields
from belvedere.tasks.definition import argument_values

OUTCOMES = {"normal": State.NORMAL, "success": State.SUCCESS, "failure": State.FAILURE}


def cancel(tx: Tx, actor: Actor, job_id: str) -> JobRow:
    """A waiting job ends now; a running one is stopped by its agent, which then says so."""
    return _cancel(tx, actor, permissions.to_run(tx, actor, job_id))


def _cancel(tx: Tx, actor: Actor, job: JobRow) -> JobRow:
    if not actor.runs_all and job.task_id and not specs.of_job(tx, job).cancellable:
        raise Forbidden("This task's jobs cannot be cancelled.", code="not_cancellable")
    if job.lifecycle == Lifecycle.ASSIGNED:
        return _request_cancel(tx, actor, job)
    if job.type == WORKFLOW and job.lifecycle in (Lifecycle.READY, Lifecycle.STARTED):
        return _cancel_steps(tx, actor, job)
    check_move(job, "cancel", Lifecycle.CANCELED, State.CANCELED)
    store.step(job, Lifecycle.CANCELED, State.CANCELED, tx.now)
    job.canceled_by = name_of(actor)
    job.trigger_name = "canceled"
    job.ended_at = tx.now
    return _saved(tx, job, "canceled")


def _request_cancel(tx: Tx, actor: Actor, job: JobRow) -> JobRow:
    if job.cancel_requested_at is not None:
        return job
    job.cancel_requested_at = tx.now
    job.canceled_by = name_of(actor)
    job.version += 1
    job.updated_at = tx.now
    if job.host_id is not None:
        tx.signals.add(jobs_canceled(job.host_id))
    return _saved(tx, job, "cancel_requested")


def _cancel_steps(tx: Tx, actor: Actor, job: JobRow) -> JobRow:
    """Every open job of a workflow job; it ends itself when the last of them has."""
    # Steps that cannot be cancelled refuse, and with them the whole. Whoever may cancel a workflow
    # may cancel what runs in it, other workflows too.
    for step in store.lock_many(tx, store.open_steps(tx, job.id)).values():
        # It may have ended while we waited for its lock.
        if not step.is_over:
            _cancel(tx, actor, step)
    return _request_cancel(tx, actor, job)


def resolve(tx: Tx, actor: Actor, job_id: str, outcome: str, note: str) -> JobRow:
    """A person says how a job ended that cannot tell any more."""
    job = permissions.to_run(tx, actor, job_id)
    if outcome not in OUTCOMES:
        raise Invalid(f"outcome is one of {', '.join(OUTCOMES)}.", code="invalid_outcome")
    text_fields.prose("note", note)
    if job.lifecycle == Lifecycle.ASSIGNED and job.unreachable_at is None:
        raise Conflict(
            "The job's agent can be reached and will tell the end itself; cancel it instead.",
            code="still_reachable",
        )
    state = OUTCOMES[outcome]
    if job.lifecycle == Lifecycle.ONHOLD and not job.is_held:
        raise Conflict("The job waits and has not run; cancel it instead.", code="wrong_lifecycle")
    check_move(job, "resolve", Lifecycle.FINISHED, state)
    before = {"lifecycle": job.lifecycle, "state": job.state}
    job.ran = job.may_have_run
    store.step(job, Lifecycle.FINISHED, state, tx.now)
    job.resolved_by = name_of(actor)
    job.reason = note or job.reason
    job.trigger_name = "failure" if state is State.FAILURE else "success"
    job.unreachable_at = None
    job.ended_at = tx.now
    end_attempt(tx, job, "resolved")
    after = {"lifecycle": job.lifecycle, "state": job.state, "note": note}
    audit.record(tx, actor, "job.resolve", "job", job.id, before, after)
    # An agent that still runs it is told to stop.
    tx.signals.add(jobs_canceled(job.host_id))
    return _saved(tx, job, "resolved")


def give_input(tx: Tx, actor: Actor, job_id: str, given: list[Any]) -> JobRow:
    """The values that a job on hold waits for."""
    job = permissions.to_run(tx, actor, job_id)
    if job.type not in ("ScriptJob", "DummyJob", "ScraperJob"):
        raise Invalid("This kind of job takes no input.", code="takes_no_input")
    if job.lifecycle != Lifecycle.ONHOLD or job.is_held:
        _check_not_held(job)
        check_move(job, "input", Lifecycle.READY, State.IN_PROGRESS)
    spec = specs.of_job(tx, job)
    values = argument_values.fit(spec.task_arguments, given)
    text = arguments_of(tx, job.customer_id, spec, values)
    store.save_arguments(tx, job.id, text)
    if job.type == "DummyJob":
        check_move(job, "input", Lifecycle.FINISHED, State.SUCCESS)
        store.step(job, Lifecycle.FINISHED, State.SUCCESS, tx.now)
        job.trigger_name, job.ended_at = "success", tx.now
        store.save_ended(tx, [(job, store.End(output=text))])
        events.tell(tx, "finished", [job])
        return job
    return _make_ready(tx, job, "input")


def _check_not_held(job: JobRow) -> None:
    if job.is_held:
        raise Conflict(
            "The job may have run before the database was restored; an admin releases it, or"
            " resolves or cancels it.",
            code="wrong_lifecycle",
        )


def sync(tx: Tx, actor: Actor, job_id: str) -> JobRow:
    """What the caller wanted to bring along is there: the job may run."""
    return _make_ready(tx, permissions.to_run(tx, actor, job_id), "sync")


def _make_ready(tx: Tx, job: JobRow, trigger: str) -> JobRow:
    check_move(job, trigger, Lifecycle.READY, State.IN_PROGRESS)
    store.step(job, Lifecycle.READY, State.IN_PROGRESS, tx.now)
    tx.signals.add(host_ready(job.host_id))
    return _saved(tx, job, "ready")


def _saved(tx: Tx, job: JobRow, event: str) -> JobRow:
    store.save(tx, [job])
    events.tell(tx, event, [job])
    return job


def name_of(actor: Actor) -> str:
    return actor.email or actor.username or actor.kind


def restart(
    tx: Tx, actor: Actor, job_id: str, given: list[Any] | None, once: Once | None
) -> NewJob:
    """The request that runs an ended job once more, with its own values unless others are given."""
    job = permissions.to_see(tx, actor, job_id)
    if not job.is_over:
        raise Conflict("Only a job that is over can be restarted.", code="wrong_lifecycle")
    if job.task_id is None:
        raise Invalid("This kind of job cannot be restarted.", code="not_restartable")
    kept = store.heavy(tx, job.id).arguments
    return NewJob(
        actor=actor,
        task_id=job.task_id,
        given=plan.clear_values(tx, job, kept) if given is None else given,
        once=once,
        restarted_from=job.id,
        kept=(job.task_version, kept) if given is None else None,
        by_index=given is None,
    )
