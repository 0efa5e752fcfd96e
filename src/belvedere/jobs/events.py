"""Events of jobs: each change is one event, and replaying the events gives the job's row."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from belvedere import events
from belvedere.db import Tx
from belvedere.db.signals import job_finished
from belvedere.jobs.model import FINAL, WORKFLOW, JobRow
from belvedere.jobs.tallies import TALLIES
from belvedere.triggers import store
from belvedere.triggers.store import ActiveTriggers


def data_of(job: JobRow) -> dict[str, Any]:
    """The fields that consoles update, and those that decide who may see the event."""
    return {
        "lifecycle": job.lifecycle,
        "state": job.state,
        "version": job.version,
        "fence": job.fence,
        "name": job.name,
        "type": job.type,
        "task_id": job.task_id,
        "workflow_id": job.workflow_id,
        "workflow_job_id": job.workflow_job_id,
        "host_id": job.host_id,
        "user_id": job.user_id,
        "trigger_name": job.trigger_name,
    }


def append(tx: Tx, event: str, jobs: Sequence[JobRow]) -> None:
    """Append `job.<event>` for each job, without signals and triggers."""
    events.append_each(tx, _entries(event, jobs))


def _entries(event: str, jobs: Sequence[JobRow]) -> list[tuple[str, str, str, dict[str, Any]]]:
    kind = f"job.{event}"
    return [(kind, job.customer_id, job.id, data_of(job)) for job in jobs]


def publish(
    tx: Tx, event: str, jobs: Sequence[JobRow], active_triggers: ActiveTriggers | None = None
) -> None:
    """The same; also signal ended jobs to waiting requests, and fire triggers. `active_triggers`:
    those of the jobs' tasks, if the caller has read them already."""
    append(tx, event, jobs)
    _signal_and_fire(tx, event, jobs, active_triggers)


def publish_created(tx: Tx, jobs: Sequence[JobRow], assigned: Sequence[JobRow]) -> None:
    """New jobs, and those of them that were claimed at once, in one write."""
    events.append_each(tx, [*_entries("created", jobs), *_entries("assigned", assigned)])
    _signal_and_fire(tx, "created", jobs)
    _signal_and_fire(tx, "assigned", assigned)


def _signal_and_fire(
    tx: Tx, event: str, jobs: Sequence[JobRow], active_triggers: ActiveTriggers | None = None
) -> None:
    ended = [job for job in jobs if job.lifecycle in FINAL]
    if ended or event in ("created", "assigned", "started"):
        tx.after_commit(partial(TALLIES.count, event, jobs))
    if ended:
        tx.signals.update([job_finished(job.id) for job in ended])
        # Usually the caller has read the triggers, and there are none.
        if active_triggers is None or active_triggers:
            _fire(tx, "task", [(job.task_id, job) for job in ended], active_triggers)
    steps = [job for job in jobs if job.workflow_id is not None]
    if steps:
        ended_workflows = [
            (job.workflow_id, job) for job in steps if job.type == WORKFLOW and job.is_over
        ]
        _fire(tx, "workflow", ended_workflows)
        _publish_steps(tx, event, steps)


def _publish_steps(tx: Tx, event: str, steps: Sequence[JobRow]) -> None:
    events.append_all(
        tx,
        "workflow.step",
        [
            (
                job.customer_id,
                job.workflow_id,
                {"workflow_job_id": workflow_job_id, "job_id": job.id},
            )
            for job in steps
            if job.workflow_id is not None
            for workflow_job_id in _workflow_jobs_to_advance(event, job)
        ],
    )


def _fire(
    tx: Tx,
    source: str,
    ended: Sequence[tuple[str | None, JobRow]],
    active_triggers: ActiveTriggers | None = None,
) -> None:
    occurrences = [
        (job.customer_id, source_id, job.trigger_name, {"job_id": job.id})
        for source_id, job in ended
        if source_id is not None and job.trigger_name is not None
    ]
    store.fire(tx, source, occurrences, active_triggers)


def _workflow_jobs_to_advance(event: str, job: JobRow) -> list[str]:
    """The workflow jobs that must process this event: the parent of a step when the step starts
    or ends, and a workflow job itself when its cancellation is requested."""
    is_workflow = job.type == WORKFLOW
    job_ids = [job.id] if is_workflow and event == "cancel_requested" else []
    first_event = "started" if is_workflow else "assigned"
    if job.workflow_job_id is not None and (job.is_over or event == first_event):
        job_ids.append(job.workflow_job_id)
    return job_ids
