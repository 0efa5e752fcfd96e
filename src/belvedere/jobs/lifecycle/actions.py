"""Operations of people on jobs: cancel, resolve, hold, give input, sync, restart."""

from typing import Any

from belvedere.access import audit
from belvedere.access.actor import Actor
from belvedere.base.errors import Conflict, Forbidden, Invalid
from belvedere.db import Tx
from belvedere.db.signals import host_ready, jobs_canceled
from belvedere.jobs import events, permissions, specs, store
from belvedere.jobs.approvals import plan
from belvedere.jobs.attempts import end_attempt
from belvedere.jobs.idempotency import IdempotencyKey
from belvedere.jobs.lifecycle import job_arguments
from belvedere.jobs.lifecycle.create import JobRequest
from belvedere.jobs.model import HELD, WORKFLOW, JobRow, JobState, Lifecycle, check_transition
from belvedere.rest import text_fields
from belvedere.tasks.definition import argument_values

OUTCOMES = {"normal": JobState.NORMAL, "success": JobState.SUCCESS, "failure": JobState.FAILURE}


def cancel(tx: Tx, actor: Actor, job_id: str) -> JobRow:
    """A waiting job ends now; a running one is stopped by its agent, which then reports the end."""
    return _cancel(tx, actor, permissions.require_runnable(tx, actor, job_id))


def _cancel(tx: Tx, actor: Actor, job: JobRow) -> JobRow:
    if not actor.runs_all and job.task_id and not specs.for_job(tx, job).cancellable:
        raise Forbidden("Jobs of this task cannot be canceled.", code="not_cancellable")
    if job.lifecycle == Lifecycle.ASSIGNED:
        return _request_cancel(tx, actor, job)
    if job.type == WORKFLOW and job.lifecycle in (Lifecycle.READY, Lifecycle.STARTED):
        return _cancel_steps(tx, actor, job)
    check_transition(job, "cancel", Lifecycle.CANCELED, JobState.CANCELED)
    store.apply_transition(job, Lifecycle.CANCELED, JobState.CANCELED, tx.now)
    job.canceled_by = display_name(actor)
    job.trigger_name = "canceled"
    job.ended_at = tx.now
    return _save_and_publish(tx, job, "canceled")


def _request_cancel(tx: Tx, actor: Actor, job: JobRow) -> JobRow:
    if job.cancel_requested_at is not None:
        return job
    job.cancel_requested_at = tx.now
    job.canceled_by = display_name(actor)
    job.version += 1
    job.updated_at = tx.now
    if job.host_id is not None:
        tx.signals.add(jobs_canceled(job.host_id))
    return _save_and_publish(tx, job, "cancel_requested")


def _cancel_steps(tx: Tx, actor: Actor, job: JobRow) -> JobRow:
    """Cancel the open steps of a workflow job; it ends when the last of them has ended."""
    # A step that cannot be canceled rejects the whole request. The permission to cancel a workflow
    # includes everything that runs in it, nested workflows too.
    for step in store.lock_many(tx, store.open_steps(tx, job.id)).values():
        # It may have ended while this transaction waited for the lock.
        if not step.is_over:
            _cancel(tx, actor, step)
    return _request_cancel(tx, actor, job)


def resolve(tx: Tx, actor: Actor, job_id: str, outcome: str, note: str) -> JobRow:
    """A person sets the result of a job whose agent cannot report it."""
    job = permissions.require_runnable(tx, actor, job_id)
    if outcome not in OUTCOMES:
        raise Invalid(f"outcome must be one of {', '.join(OUTCOMES)}.", code="invalid_outcome")
    text_fields.prose("note", note)
    if job.lifecycle == Lifecycle.ASSIGNED and job.unreachable_at is None:
        raise Conflict(
            "The agent is online and will report the result; cancel the job instead.",
            code="still_reachable",
        )
    state = OUTCOMES[outcome]
    if job.lifecycle == Lifecycle.ONHOLD and not job.is_held:
        raise Conflict(
            "The job is on hold and has not run; cancel it instead.", code="wrong_lifecycle"
        )
    check_transition(job, "resolve", Lifecycle.FINISHED, state)
    before = {"lifecycle": job.lifecycle, "state": job.state}
    job.ran = job.may_have_run
    store.apply_transition(job, Lifecycle.FINISHED, state, tx.now)
    job.resolved_by = display_name(actor)
    job.reason = note or job.reason
    job.trigger_name = "failure" if state is JobState.FAILURE else "success"
    job.unreachable_at = None
    job.ended_at = tx.now
    end_attempt(tx, job, "resolved")
    after = {"lifecycle": job.lifecycle, "state": job.state, "note": note}
    audit.record(tx, actor, "job.resolve", "job", job.id, before, after)
    # If the agent still runs the script, it stops it.
    tx.signals.add(jobs_canceled(job.host_id))
    return _save_and_publish(tx, job, "resolved")


def give_input(
    tx: Tx, actor: Actor, job_id: str, arguments: list[Any], *, ignores_extra: bool = False
) -> JobRow:
    """The values that a job on hold waits for."""
    job = permissions.require_runnable(tx, actor, job_id)
    if job.type not in ("ScriptJob", "DummyJob", "ScraperJob"):
        raise Invalid("A job of this type takes no input.", code="takes_no_input")
    if job.lifecycle != Lifecycle.ONHOLD or job.is_held:
        _check_not_held(job)
        check_transition(job, "input", Lifecycle.READY, JobState.IN_PROGRESS)
    spec = specs.for_job(tx, job)
    values = argument_values.fit(spec.task_arguments, arguments, ignores_extra=ignores_extra)
    ignored = job_arguments.extra_values(spec.task_arguments, arguments)
    if ignored:
        store.save_warning(tx, job.id, job_arguments.ignored_text(ignored))
    text = job_arguments.encode(tx, job.customer_id, spec, values)
    store.save_arguments(tx, job.id, text)
    if job.type == "DummyJob":
        check_transition(job, "input", Lifecycle.FINISHED, JobState.SUCCESS)
        store.apply_transition(job, Lifecycle.FINISHED, JobState.SUCCESS, tx.now)
        job.trigger_name, job.ended_at = "success", tx.now
        store.save_ended(tx, [(job, store.EndColumns(output=text))])
        events.publish(tx, "finished", [job])
        return job
    return _make_ready(tx, job, "input")


def _check_not_held(job: JobRow) -> None:
    if job.is_held:
        raise Conflict(
            "The job may have run before the database was restored. An admin can release it, set"
            " its result or cancel it.",
            code="wrong_lifecycle",
        )


def hold(tx: Tx, actor: Actor, job_id: str) -> JobRow:
    """Keep a queued job from starting until it is released or gets input. A job that is on hold
    already stays as it is."""
    job = permissions.require_runnable(tx, actor, job_id)
    if job.lifecycle == Lifecycle.ONHOLD:
        return job
    if job.type == WORKFLOW:
        raise Conflict(
            "A workflow job cannot be put on hold; put the job of a waiting step on hold.",
            code="wrong_lifecycle",
        )
    check_transition(job, "hold", Lifecycle.ONHOLD, JobState.IN_PROGRESS)
    store.apply_transition(job, Lifecycle.ONHOLD, JobState.IN_PROGRESS, tx.now)
    job.reason = HELD
    after = {"lifecycle": job.lifecycle, "reason": HELD}
    audit.record(tx, actor, "job.hold", "job", job.id, {"lifecycle": Lifecycle.READY}, after)
    return _save_and_publish(tx, job, "held")


def sync(tx: Tx, actor: Actor, job_id: str) -> JobRow:
    """The caller has prepared what the job needs: it may run."""
    return _make_ready(tx, permissions.require_runnable(tx, actor, job_id), "sync")


def _make_ready(tx: Tx, job: JobRow, trigger: str) -> JobRow:
    check_transition(job, trigger, Lifecycle.READY, JobState.IN_PROGRESS)
    store.apply_transition(job, Lifecycle.READY, JobState.IN_PROGRESS, tx.now)
    job.reason = None
    tx.signals.add(host_ready(job.host_id))
    return _save_and_publish(tx, job, "ready")


def _save_and_publish(tx: Tx, job: JobRow, event: str) -> JobRow:
    store.save(tx, [job])
    events.publish(tx, event, [job])
    return job


def display_name(actor: Actor) -> str:
    return actor.email or actor.username or actor.kind


def restart(
    tx: Tx,
    actor: Actor,
    job_id: str,
    arguments: list[Any] | None,
    idempotency_key: IdempotencyKey | None,
    *,
    ignores_extra: bool = False,
) -> JobRequest:
    """The request that runs an ended job again, with its own values unless there are others."""
    job = permissions.require_visible(tx, actor, job_id)
    if not job.is_over:
        raise Conflict("Only a job that has ended can be restarted.", code="wrong_lifecycle")
    if job.task_id is None:
        message = (
            "Only jobs of tasks can be restarted here; restart a workflow job with its workflow."
        )
        raise Invalid(message, code="not_restartable")
    stored = store.read_details(tx, job.id).arguments
    return JobRequest(
        actor=actor,
        task_id=job.task_id,
        values=plan.clear_values(tx, job, stored) if arguments is None else arguments,
        idempotency_key=idempotency_key,
        restarted_from=job.id,
        fitted_values=(job.task_version, stored) if arguments is None else None,
        by_index=arguments is None,
        ignores_extra=ignores_extra and arguments is not None,
    )
