"""What people do to a workflow job: look, cancel all of it, go on from where it failed."""

from belvedere.access.actor import Actor
from belvedere.base.errors import Conflict, NotFound
from belvedere.db import Tx
from belvedere.jobs import permissions
from belvedere.jobs.lifecycle import actions as job_service
from belvedere.jobs.model import WORKFLOW, JobRow
from belvedere.workflow_specs import store
from belvedere.workflow_specs.model import Step
from belvedere.workflows import restart as again
from belvedere.workflows.engine import step_store
from belvedere.workflows.engine.advance import advance


def to_see(tx: Tx, actor: Actor, workflow_id: str, job_id: str) -> JobRow:
    """A workflow job, or one of its steps; of this workflow, or it is not there."""
    job = permissions.to_see(tx, actor, job_id)
    if job.workflow_id != workflow_id:
        raise NotFound("The workflow has no such job.", code="job_not_found")
    return job


def whole(tx: Tx, actor: Actor, workflow_id: str, job_id: str) -> JobRow:
    """The same, a workflow job only."""
    job = to_see(tx, actor, workflow_id, job_id)
    if job.type != WORKFLOW:
        raise NotFound("The workflow has no such job.", code="job_not_found")
    return job


def taken(tx: Tx, actor: Actor, workflow_id: str, job_id: str) -> list[Step]:
    """The visits of the nodes that were reached, in the order of the graph."""
    whole(tx, actor, workflow_id, job_id)
    mine = step_store.workflow_job(tx, job_id)
    graph = store.version_of(tx, mine.workflow_id, mine.version).graph
    place = {node.id: n for n, node in enumerate(graph.nodes)}
    return sorted(step_store.of_job(tx, job_id), key=lambda one: (place[one.node_id], one.visit))


def cancel(tx: Tx, actor: Actor, workflow_id: str, job_id: str) -> None:
    """Every open step is cancelled; when the last is gone, so is the whole."""
    whole(tx, actor, workflow_id, job_id)
    job_service.cancel(tx, actor, job_id)
    advance(tx, job_id)


def restart(tx: Tx, actor: Actor, workflow_id: str, job_id: str) -> str:
    """A new job that takes over what went well and goes on from the steps that did not."""
    whole(tx, actor, workflow_id, job_id)
    old = permissions.to_run(tx, actor, job_id)
    if not old.is_over:
        raise Conflict("Only a job that is over can be restarted.", code="wrong_lifecycle")
    row = store.find(tx, actor.customer_id, workflow_id)
    if not row.enabled:
        raise Conflict("The workflow is disabled; enable it first.", code="workflow_disabled")
    if step_store.is_taken(tx, row):
        raise Conflict("Another job of this workflow runs; wait for its end.", code="workflow_busy")
    return again.restarted(tx, actor, old).id
