"""Starts waiting jobs of workflows that run one job at a time."""

from belvedere.base.text import json_text
from belvedere.db import Tx
from belvedere.jobs import events
from belvedere.jobs import store as jobs
from belvedere.jobs.lifecycle.timeouts import end_waiting
from belvedere.jobs.model import JobRow, JobState, Lifecycle, check_transition
from belvedere.workflow_specs import store, workflow_jobs
from belvedere.workflow_specs.model import WorkflowRow
from belvedere.workflows.execution import step_jobs, step_store
from belvedere.workflows.execution.requests import StepRequest


def admit_waiting(tx: Tx, row: WorkflowRow) -> None:
    """Start waiting jobs, oldest first, as many as allowed. The workflow's row is locked."""
    for job_id in step_store.waiting_ids(tx, row.id):
        if not row.multitasking and step_store.running_ids(tx, row.id):
            return
        job = step_store.lock_job(tx, job_id)
        if job is not None and job.lifecycle == Lifecycle.ONHOLD:
            _start(tx, job)


def admit_next(tx: Tx, customer_id: str, workflow_id: str) -> None:
    """A job has ended: start the next. Locks nothing if no job waits."""
    if not step_store.waiting_ids(tx, workflow_id):
        return
    row = store.look_up(tx, customer_id, workflow_id, lock=True)
    if row is not None:
        admit_waiting(tx, row)


def _start(tx: Tx, job: JobRow) -> None:
    check_transition(job, "admit", Lifecycle.READY, JobState.IN_PROGRESS)
    jobs.apply_transition(job, Lifecycle.READY, JobState.IN_PROGRESS, tx.now)
    jobs.save(tx, [job])
    events.publish(tx, "ready", [job])
    workflow_job = workflow_jobs.find(tx, job.id)
    node = store.version_of(tx, workflow_job.workflow_id, workflow_job.version).graph.node(
        workflow_job.start
    )
    values = json_text.parse(workflow_job.given or "[]")
    request = StepRequest(job, node, values, job.origin, bool(workflow_job.by_index))
    step_jobs.write_steps(tx, [step_jobs.prepare_or_fail(tx, request, {})])


def expire_waiting(tx: Tx, row: WorkflowRow) -> None:
    """The workflow is deleted: its waiting jobs expire."""
    locked = [step_store.lock_job(tx, job_id) for job_id in step_store.waiting_ids(tx, row.id)]
    waiting = [job for job in locked if job is not None and job.lifecycle == Lifecycle.ONHOLD]
    for job in waiting:
        end_waiting(job, "workflow_deleted", tx.now)
    jobs.save(tx, waiting)
    events.publish(tx, "expired", waiting)
