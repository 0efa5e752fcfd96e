"""Operations on workflow jobs: show, list steps, cancel, restart from some steps."""

from collections.abc import Sequence
from typing import Any

from belvedere.access.actor import Actor
from belvedere.base.errors import Conflict, NotFound
from belvedere.db import Tx
from belvedere.jobs import permissions
from belvedere.jobs.lifecycle import actions, assignment
from belvedere.jobs.model import WORKFLOW, JobRow
from belvedere.workflow_specs import store, workflow_jobs
from belvedere.workflow_specs.model import StepRow
from belvedere.workflows.execution import step_store
from belvedere.workflows.execution.advance import advance
from belvedere.workflows.restart import restart_job


def require_visible(tx: Tx, actor: Actor, workflow_id: str, job_id: str) -> JobRow:
    """A job of this workflow, or of one of its steps."""
    job = permissions.require_visible(tx, actor, job_id)
    if job.workflow_id != workflow_id:
        raise NotFound("The workflow has no such job.", code="job_not_found")
    return job


def require_workflow_job(tx: Tx, actor: Actor, workflow_id: str, job_id: str) -> JobRow:
    """The same, only for a workflow job."""
    job = require_visible(tx, actor, workflow_id, job_id)
    if job.type != WORKFLOW:
        raise NotFound("The workflow has no such job.", code="job_not_found")
    return job


def list_steps(tx: Tx, actor: Actor, workflow_id: str, job_id: str) -> list[StepRow]:
    """The visits of nodes so far, in the order of the graph."""
    require_workflow_job(tx, actor, workflow_id, job_id)
    workflow_job = workflow_jobs.find(tx, job_id)
    graph = store.version_of(tx, workflow_job.workflow_id, workflow_job.version).graph
    order = {node.id: n for n, node in enumerate(graph.nodes)}
    steps = step_store.steps_of(tx, job_id)
    return sorted(steps, key=lambda step: (order[step.node_id], step.visit))


def cancel(tx: Tx, actor: Actor, workflow_id: str, job_id: str) -> None:
    """Cancel every open step; the workflow job ends with the last of them."""
    require_workflow_job(tx, actor, workflow_id, job_id)
    actions.cancel(tx, actor, job_id)
    advance(tx, job_id)


def replace_acl(
    tx: Tx, actor: Actor, workflow_id: str, job_id: str, entries: Sequence[str]
) -> list[str]:
    """Give the workflow job and its steps an ACL of their own."""
    require_workflow_job(tx, actor, workflow_id, job_id)
    return assignment.replace_acl(tx, actor, job_id, entries)


def restart(
    tx: Tx,
    actor: Actor,
    workflow_id: str,
    job_id: str,
    node_id: str | None = None,
    values: list[Any] | None = None,
) -> str:
    """A new job that keeps the steps that succeeded and runs the failed ones again, or this node,
    with the same or with other values, and all that followed it."""
    require_workflow_job(tx, actor, workflow_id, job_id)
    old = permissions.require_runnable(tx, actor, job_id)
    if not old.is_over:
        raise Conflict("Only a finished job can be restarted.", code="wrong_lifecycle")
    row = store.find(tx, actor.customer_id, workflow_id)
    if not row.enabled:
        raise Conflict("The workflow is disabled; enable it first.", code="workflow_disabled")
    if step_store.must_wait(tx, row):
        raise Conflict(
            "Another job of this workflow is running; wait until it ends.", code="workflow_busy"
        )
    return restart_job(tx, actor, old, node_id=node_id, values=values).id
