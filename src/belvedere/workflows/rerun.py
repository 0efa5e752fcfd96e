"""Runs a workflow again from its first step, with the values of an earlier job."""

from belvedere.access.actor import Actor
from belvedere.base.errors import Conflict
from belvedere.base.text import json_text
from belvedere.db import Tx
from belvedere.jobs import store as jobs
from belvedere.jobs.approvals import plan
from belvedere.jobs.idempotency import IdempotencyKey
from belvedere.jobs.model import WORKFLOW, JobRow
from belvedere.workflow_specs import store, workflow_jobs
from belvedere.workflow_specs.model import Node, WorkflowJobRow, decode
from belvedere.workflows import control
from belvedere.workflows.execution import step_store
from belvedere.workflows.start import WorkflowJobRequest


def request_for(
    tx: Tx, actor: Actor, workflow_id: str, job_id: str, idempotency_key: IdempotencyKey | None
) -> WorkflowJobRequest:
    """The request that runs the workflow as it is now, with the values of this ended job."""
    old = control.require_workflow_job(tx, actor, workflow_id, job_id)
    if not old.is_over:
        raise Conflict("Only a finished job can be restarted.", code="wrong_lifecycle")
    workflow_job = workflow_jobs.find(tx, old.id)
    request = WorkflowJobRequest(
        actor, workflow_id, None, idempotency_key=idempotency_key, restarted_from=old.id
    )
    node = _start(tx, actor, workflow_job)
    request.start = None if node is None else node.id
    _take_values(tx, request, node, workflow_job)
    return request


def _start(tx: Tx, actor: Actor, workflow_job: WorkflowJobRow) -> Node | None:
    """The node that the job started with; None if the workflow no longer has it."""
    spec = decode(store.find(tx, actor.customer_id, workflow_job.workflow_id).spec)
    return next((node for node in spec.graph.nodes if node.id == workflow_job.start), None)


def _take_values(
    tx: Tx, request: WorkflowJobRequest, node: Node | None, workflow_job: WorkflowJobRow
) -> None:
    first = _first_job(tx, workflow_job)
    if first is not None and first.type == WORKFLOW:
        workflow_job = workflow_jobs.find(tx, first.id)
        first = None
    if first is None:
        request.values = json_text.parse(workflow_job.given or "[]")
        request.by_index = bool(workflow_job.by_index)
        return
    arguments = jobs.read_details(tx, first.id).arguments
    request.values, request.by_index = plan.clear_values(tx, first, arguments), True
    # Stored arguments fit only a version of the same task.
    if node is not None and node.task_id == first.task_id:
        request.stored_arguments = (first.task_version, arguments)


def _first_job(tx: Tx, workflow_job: WorkflowJobRow) -> JobRow | None:
    """The job of the first step; None if the workflow job never started one."""
    steps = step_store.steps_of(tx, workflow_job.job_id)
    first = next((s for s in steps if (s.node_id, s.visit) == (workflow_job.start, 1)), None)
    return None if first is None else step_store.jobs_of(tx, [first]).get(first.job_id)
