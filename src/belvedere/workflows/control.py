"""What people do to a workflow job: look, cancel all of it, go on from where it failed."""

import msgspec

from belvedere.access.model import Actor
from belvedere.base.errors import Conflict, NotFound
from belvedere.base.ids import new_id
from belvedere.db import Tx
from belvedere.jobs import changes, sight
from belvedere.jobs import service as job_service
from belvedere.jobs import store as jobs
from belvedere.jobs.model import WORKFLOW, JobRow, Lifecycle, State
from belvedere.workflows import children, rule, steps, store, turns
from belvedere.workflows.advance import advance
from belvedere.workflows.model import Graph, Node, Step, StepState, WorkflowJobRow
from belvedere.workflows.rule import End


def to_see(tx: Tx, actor: Actor, workflow_id: str, job_id: str) -> JobRow:
    """A workflow job, or one of its steps; of this workflow, or it is not there."""
    job = sight.to_see(tx, actor, job_id)
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
    """The nodes that were reached, in the order of the graph."""
    whole(tx, actor, workflow_id, job_id)
    mine = steps.workflow_job(tx, job_id)
    graph = store.version_of(tx, mine.workflow_id, mine.version).graph
    found = {step.node_id: step for step in steps.of_job(tx, job_id)}
    return [found[node.id] for node in graph.nodes if node.id in found]


def cancel(tx: Tx, actor: Actor, workflow_id: str, job_id: str) -> None:
    """Every open step is cancelled; when the last is gone, so is the whole."""
    whole(tx, actor, workflow_id, job_id)
    job_service.cancel(tx, actor, job_id)
    advance(tx, job_id)


def restart(tx: Tx, actor: Actor, workflow_id: str, job_id: str) -> str:
    """A new job that takes over what went well and goes on from the steps that did not."""
    whole(tx, actor, workflow_id, job_id)
    old = sight.to_run(tx, actor, job_id)
    if not old.is_over:
        raise Conflict("Only a job that is over can be restarted.", code="wrong_lifecycle")
    row = store.find(tx, actor.customer_id, workflow_id)
    if not row.enabled:
        raise Conflict("The workflow is disabled; enable it first.", code="workflow_disabled")
    if turns.is_taken(tx, row):
        raise Conflict("Another job of this workflow runs; wait for its end.", code="workflow_busy")
    mine = steps.workflow_job(tx, job_id)
    graph = store.version_of(tx, mine.workflow_id, mine.version).graph
    taken = {step.node_id: step for step in steps.of_job(tx, job_id)}
    kept = _kept(graph, mine.start, old, list(taken.values()))
    new = _row(tx, old, actor)
    jobs.insert(tx, [(new, "[]", None)])
    changes.tell(tx, "created", [new])
    steps.insert_job(tx, msgspec.structs.replace(mine, job_id=new.id))
    over = [msgspec.structs.replace(taken[n], workflow_job_id=new.id) for n in kept]
    steps.insert(tx, over)
    if mine.start not in kept:
        _start(tx, new, graph.node(mine.start), mine, taken.get(mine.start))
    advance(tx, new.id)
    return new.id


def _kept(graph: Graph, start: str, old: JobRow, taken: list[Step]) -> dict[str, End]:
    """The steps that need not be taken again."""
    ended = {
        step.node_id: End(step.trigger_name or "", bool(step.is_good))
        for step in taken
        if step.state == StepState.ENDED
    }
    bad = {node_id for node_id, end in ended.items() if not end.is_good}
    # Where every bad end was handled and it failed all the same, those ends keep a join waiting.
    again = rule.unhandled(graph, ended) or bad
    if old.lifecycle == Lifecycle.FINISHED and (old.state != State.FAILURE or not again):
        raise Conflict(
            "No step of it failed that could be taken again; run the workflow anew.",
            code="nothing_failed",
        )
    left = {node_id: end for node_id, end in ended.items() if node_id not in again}
    return rule.supported(graph, start, left)


def _row(tx: Tx, old: JobRow, actor: Actor) -> JobRow:
    return msgspec.structs.replace(
        old,
        id=new_id(),
        lifecycle=Lifecycle.READY.value,
        state=State.IN_PROGRESS.value,
        version=1,
        origin="user",
        user_id=actor.user_id,
        username=actor.username,
        email=actor.email,
        ran="no",
        reason=None,
        trigger_name=None,
        cancel_requested_at=None,
        canceled_by=None,
        restarted_from=old.id,
        created_at=tx.now,
        updated_at=tx.now,
        started_at=None,
        ended_at=None,
    )


def _start(tx: Tx, new: JobRow, node: Node, mine: WorkflowJobRow, step: Step | None) -> None:
    """The first step once more, with the values that it had."""
    first = None if step is None else steps.jobs_of(tx, [step]).get(step.job_id)
    kept = (mine.given or "[]") if first is None else jobs.heavy(tx, first.id).arguments
    item = children.wanted(
        new,
        node,
        msgspec.json.decode(kept),
        origin=new.origin,
        kept=None if first is None else (first.task_version, kept),
        restarted_from=None if first is None else first.id,
    )
    children.write(tx, [(node, item.given or [], children.prepare_anyhow(tx, node, item, {}))])
