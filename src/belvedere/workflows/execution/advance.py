"""Advances a workflow job: records the ends of its steps, starts what follows, or ends it.

Each call is one transaction under the lock of the workflow job and depends only on rows: it may be
called twice, by two servers or after a crash, and does what remains to be done.
"""

from typing import Any

import msgspec

from belvedere.access.crypto import sealed_values
from belvedere.base.clock import DAY, Millis
from belvedere.base.errors import Refused
from belvedere.base.text import json_text
from belvedere.db import Tx
from belvedere.db.commit_hooks import around_commit
from belvedere.events import Event
from belvedere.jobs import events, specs
from belvedere.jobs import store as jobs
from belvedere.jobs.lifecycle.create import TaskCache
from belvedere.jobs.model import WORKFLOW, JobRow, JobState, Lifecycle, check_transition
from belvedere.tasks.model import Retry
from belvedere.workflow_specs import store, workflow_jobs
from belvedere.workflow_specs.model import (
    Edge,
    Graph,
    Node,
    StepRow,
    StepState,
    WorkflowJobRow,
    WorkflowSpec,
)
from belvedere.workflows.execution import (
    admission,
    decision,
    mapped_arguments,
    step_jobs,
    step_store,
)
from belvedere.workflows.execution.decision import NodeStart
from belvedere.workflows.execution.requests import StepJob, StepRequest
from belvedere.workflows.execution.visits import visits_from_steps

GOOD_STATES = (JobState.NORMAL, JobState.SUCCESS)
# What a node retries, besides `lost`. A rejected approval or a cancelled job is intended.
RETRYABLE = (JobState.FAILURE, JobState.TIMEOUT, JobState.ERROR)
MAX_RETRY_DELAY: Millis = DAY


def consume(tx: Tx, event: Event) -> None:
    """Advance the job that a `workflow.step` event names."""
    advance(tx, msgspec.json.decode(event.data)["workflow_job_id"])


def advance(tx: Tx, workflow_job_id: str) -> None:
    """As far as the ends of its steps allow."""
    job = step_store.lock_job(tx, workflow_job_id)
    if job is None or job.lifecycle not in (Lifecycle.READY, Lifecycle.STARTED):
        return
    workflow_job = workflow_jobs.find(tx, job.id)
    spec = store.version_of(tx, workflow_job.workflow_id, workflow_job.version)
    steps = step_store.steps_of(tx, job.id)
    _record_ends(tx, job, spec, steps)
    if job.cancel_requested_at is None:
        _continue(tx, job, workflow_job, spec.graph, steps)
    elif not any(step.state == StepState.OPEN for step in steps):
        # A cancelled workflow job does not wait for the outcome of a lost step.
        _end(tx, job, Lifecycle.TERMINATED, JobState.CANCELED, "canceled")
    around_commit(tx, "advance")


def abandon_lost(tx: Tx, limit: int = 100) -> int:
    """Count steps whose jobs have been lost for too long as failed."""
    job_ids = step_store.overdue_ids(tx, limit)
    for job_id in job_ids:
        step_store.lock_job(tx, job_id)
        for step in step_store.steps_of(tx, job_id):
            if step.state == StepState.LOST:
                step.state, step.trigger_name = StepState.ENDED.value, "lost"
                step_store.save(tx, step)
        advance(tx, job_id)
    return len(job_ids)


def has_overdue(tx: Tx) -> bool:
    return bool(step_store.overdue_ids(tx, 1))


def _record_ends(tx: Tx, job: JobRow, spec: WorkflowSpec, steps: list[StepRow]) -> None:
    """Update the steps from their jobs."""
    pending = [step for step in steps if step.state != StepState.ENDED]
    step_jobs_by_id = step_store.jobs_of(tx, pending)
    has_begun = any(
        step_job.assigned_at or step_job.started_at or step_job.is_over
        for step_job in step_jobs_by_id.values()
    )
    if has_begun and job.lifecycle == Lifecycle.READY:
        _start(tx, job)
    for step in pending:
        step_job = step_jobs_by_id[step.job_id]
        if step_job.is_over and not _retry(tx, job, spec.graph.node(step.node_id), step, step_job):
            _record_end(tx, job, spec, step, step_job)


def _record_end(tx: Tx, job: JobRow, spec: WorkflowSpec, step: StepRow, step_job: JobRow) -> None:
    if step_job.is_lost:
        if step.state == StepState.OPEN:
            step.state = StepState.LOST.value
            step_store.save(tx, step)
            _wait_until(tx, job, tx.now + spec.expires)
        return
    step.state = StepState.ENDED.value
    step.trigger_name = step_job.trigger_name or "failure"
    step.is_good = int(step_job.state in GOOD_STATES)
    step.output = _output(tx, step, step_job)
    step_store.save(tx, step)


def _output(tx: Tx, step: StepRow, step_job: JobRow) -> str | None:
    if step_job.type == WORKFLOW:
        return _sealed(tx, step_job, step_store.output_of(tx, step_job.id))
    if _passes_values_on(tx, step_job):
        return step.given
    output = jobs.read_details(tx, step_job.id).output
    if output is None or step_job.fence:
        return output
    # The job's own arguments, some of them masked: opened, then sealed as one text.
    return _sealed(tx, step_job, step_store.open_output(tx, step_job.customer_id, output))


def _sealed(tx: Tx, step_job: JobRow, values: list[Any]) -> str:
    return sealed_values.seal_text(
        tx, sealed_values.values_context(step_job.customer_id), json_text.compact(values)
    )


def _passes_values_on(tx: Tx, step_job: JobRow) -> bool:
    return (
        step_job.type in step_jobs.PASSES_VALUES_ON
        and not specs.for_job(tx, step_job).task_arguments
    )


def _wait_until(tx: Tx, job: JobRow, until: Millis) -> None:
    job.expires_at = until
    jobs.set_expiry(tx, job.id, until)


def _retry(tx: Tx, job: JobRow, node: Node, step: StepRow, step_job: JobRow) -> bool:
    """The node's own retry: another job with the same values, after the delay."""
    retry = node.retry
    if retry is None or step.tries >= retry.times or job.cancel_requested_at is not None:
        return False
    if not _is_retryable(retry, step_job):
        return False
    retried = step_jobs.prepare_or_fail(tx, _retry_request(tx, job, node, step, step_job), {})
    step_jobs.create_jobs(tx, [retried])
    step.job_id, step.tries, step.state = retried.job.id, step.tries + 1, StepState.OPEN.value
    step_store.save(tx, step)
    return True


def _is_retryable(retry: Retry, step_job: JobRow) -> bool:
    """Not a job that was refused or that waited for a person: it never had an attempt."""
    if step_job.type == WORKFLOW:
        return step_job.state == JobState.FAILURE
    is_failure = step_job.state in RETRYABLE or (step_job.is_lost and retry.on_lost)
    return is_failure and step_job.attempts > 0


def _retry_request(tx: Tx, job: JobRow, node: Node, step: StepRow, step_job: JobRow) -> StepRequest:
    assert node.retry is not None
    request = step_jobs.repeat_request(tx, job, node, step_job)
    request.delay = _delay(node.retry, step.tries)
    return request


def _delay(retry: Retry, tries: int) -> Millis:
    return min(round(retry.delay * retry.backoff**tries), MAX_RETRY_DELAY)


def _continue(
    tx: Tx, job: JobRow, workflow_job: WorkflowJobRow, graph: Graph, steps: list[StepRow]
) -> None:
    outcome = decision.decide(graph, workflow_job.start, visits_from_steps(steps))
    tasks: TaskCache = {}
    prepared = [_prepare(tx, job, graph, start, steps, tasks) for start in outcome.starts]
    if prepared:
        step_jobs.write_steps(tx, prepared)
    if outcome.is_over:
        job.reason = _exhausted_reason(outcome.exhausted)
        state, trigger_name = (
            (JobState.FAILURE, "failure") if outcome.has_failed else (JobState.NORMAL, "success")
        )
        _end(tx, job, Lifecycle.FINISHED, state, trigger_name)


def _prepare(
    tx: Tx, job: JobRow, graph: Graph, start: NodeStart, steps: list[StepRow], tasks: TaskCache
) -> StepJob:
    request = StepRequest(job, graph.node(start.node_id), [])
    request.visit, request.causes = start.visit, start.causes
    try:
        request.values = _values(tx, job, request, steps)
    except Refused as refusal:
        return step_jobs.failed_step(tx, request, refusal)
    return step_jobs.prepare_or_fail(tx, request, tasks)


def _values(tx: Tx, job: JobRow, request: StepRequest, steps: list[StepRow]) -> list[Any]:
    if request.node.arguments:
        return mapped_arguments.values_for(tx, job, request.node, request.causes, steps)
    outputs = {(step.node_id, step.visit): step.output for step in steps}
    return [
        value
        for key in request.causes
        for value in step_store.open_output(tx, job.customer_id, outputs[key])
    ]


def _exhausted_reason(exhausted: list[Edge]) -> str | None:
    """Why a loop stopped."""
    reasons = [
        f"The edge {edge.source} → {edge.target} ({edge.on}) reached its limit of"
        f" {edge.bound} {'visit' if edge.bound == 1 else 'visits'} (max_visits)."
        for edge in exhausted
    ]
    return " ".join(reasons) or None


def _start(tx: Tx, job: JobRow) -> None:
    check_transition(job, "start", Lifecycle.STARTED, JobState.IN_PROGRESS)
    jobs.apply_transition(job, Lifecycle.STARTED, JobState.IN_PROGRESS, tx.now)
    job.started_at = tx.now
    job.ran = "yes"
    jobs.save(tx, [job])
    events.publish(tx, "started", [job])


def _end(tx: Tx, job: JobRow, lifecycle: Lifecycle, state: JobState, trigger_name: str) -> None:
    if job.lifecycle == Lifecycle.READY:
        _start(tx, job)
    check_transition(job, "end" if lifecycle is Lifecycle.FINISHED else "stop", lifecycle, state)
    jobs.apply_transition(job, lifecycle, state, tx.now)
    job.trigger_name, job.ended_at = trigger_name, tx.now
    jobs.save(tx, [job])
    events.publish(tx, "finished", [job])
    assert job.workflow_id is not None
    admission.admit_next(tx, job.customer_id, job.workflow_id)
