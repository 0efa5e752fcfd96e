"""Restarts a workflow job: a new job keeps the successful steps and runs the failed ones again, or
a chosen step and all that followed it."""

from typing import Any

import msgspec

from belvedere.access.actor import Actor
from belvedere.base.errors import Conflict, Refused
from belvedere.base.ids import new_id
from belvedere.db import Tx
from belvedere.jobs import events
from belvedere.jobs import store as jobs
from belvedere.jobs.model import APPROVAL, JobRow, JobState, Lifecycle
from belvedere.jobs.people import participants
from belvedere.workflow_specs import store, workflow_jobs
from belvedere.workflow_specs.model import Graph, Node, StepRow, WorkflowJobRow
from belvedere.workflows.execution import (
    decision,
    mapped_arguments,
    nested,
    step_jobs,
    step_store,
)
from belvedere.workflows.execution.advance import advance
from belvedere.workflows.execution.decision import NodeStart
from belvedere.workflows.execution.requests import StepRequest
from belvedere.workflows.execution.visits import Visit, VisitKey, visits_from_steps


def restart_job(
    tx: Tx,
    actor: Actor,
    old: JobRow,
    parent: JobRow | None = None,
    node_id: str | None = None,
    values: list[Any] | None = None,
) -> JobRow:
    """The new job; `parent` is the workflow job that it is a step of. With `node_id` it runs again
    from this node, with these values if there are any, otherwise from the failed ones."""
    workflow_job = workflow_jobs.find(tx, old.id)
    graph = store.version_of(tx, workflow_job.workflow_id, workflow_job.version).graph
    steps = {(step.node_id, step.visit): step for step in step_store.steps_of(tx, old.id)}
    visits = visits_from_steps(steps.values())
    if node_id is None:
        reused = _reusable(graph, workflow_job.start, old, visits)
    else:
        reused = _visits_kept(tx, graph, workflow_job.start, node_id, steps)
    new = _row(tx, old, actor, parent)
    jobs.insert(tx, [(new, "[]", None)])
    participants.begin(tx, [(new, ())])
    events.publish(tx, "created", [new])
    workflow_jobs.insert(tx, msgspec.structs.replace(workflow_job, job_id=new.id))
    step_store.insert(
        tx, [msgspec.structs.replace(steps[visit.key], workflow_job_id=new.id) for visit in reused]
    )
    if node_id is not None and values is not None:
        _start_with(tx, new, graph.node(node_id), _first(graph, workflow_job, reused), values)
    elif not _restart_nested(tx, actor, new, graph, workflow_job, steps, reused) and not reused:
        _start(
            tx,
            new,
            graph.node(workflow_job.start),
            workflow_job,
            steps.get((workflow_job.start, 1)),
        )
    advance(tx, new.id)
    return new


def _first(graph: Graph, workflow_job: WorkflowJobRow, reused: list[Visit]) -> list[NodeStart]:
    """What starts after the reused visits."""
    if not reused:
        return [NodeStart(workflow_job.start, 1, ())]
    return decision.decide(graph, workflow_job.start, reused).starts


def _start_with(
    tx: Tx, new: JobRow, node: Node, starts: list[NodeStart], values: list[Any]
) -> None:
    """Run the chosen step with these values. Values that do not fit are refused: nothing starts."""
    start = next((start for start in starts if start.node_id == node.id), None)
    if start is None:
        message = f"The step {node.id!r} cannot start with the results of the steps before it."
        raise Conflict(message, code="step_not_reached")
    request = StepRequest(new, node, values, by_index=False, visit=start.visit, causes=start.causes)
    step_jobs.write_steps(tx, [step_jobs.prepare_approved(tx, request, {})])


def _restart_nested(
    tx: Tx,
    actor: Actor,
    new: JobRow,
    graph: Graph,
    workflow_job: WorkflowJobRow,
    steps: dict[VisitKey, StepRow],
    reused: list[Visit],
) -> bool:
    """Nodes that run a workflow which failed: it is restarted from its failed steps, too."""
    new_steps = []
    for start in _first(graph, workflow_job, reused):
        step = steps.get((start.node_id, start.visit))
        if step is not None and graph.node(start.node_id).workflow_id:
            inner = _restart_inner(tx, actor, new, graph.node(start.node_id), step)
            new_steps += [] if inner is None else [_step(new, start, inner)]
    step_store.insert(tx, new_steps)
    return bool(new_steps)


def _step(new: JobRow, start: NodeStart, inner: JobRow) -> StepRow:
    causes = msgspec.json.encode(start.causes).decode()
    return StepRow(new.id, start.node_id, inner.id, visit=start.visit, causes=causes)


def _restart_inner(tx: Tx, actor: Actor, new: JobRow, node: Node, step: StepRow) -> JobRow | None:
    """None: nothing of it can be reused, so it starts from the beginning and reports its errors."""
    inner = step_store.jobs_of(tx, [step]).get(step.job_id)
    if inner is None or inner.state not in (JobState.FAILURE, JobState.CANCELED):
        return None
    try:
        row, _ = nested.check_start(tx, StepRequest(new, node, []))
        if inner.started_at is None or step_store.must_wait(tx, row):
            return None
        return restart_job(tx, actor, inner, new)
    except Refused:
        return None


def _reusable(graph: Graph, start: str, old: JobRow, visits: list[Visit]) -> list[Visit]:
    """The visits that need not run again."""
    ended = [visit for visit in visits if visit.end is not None]
    # If every failure was handled and the job still failed, these failures keep a join waiting.
    failed = decision.unhandled(graph, ended) or _latest_failures(ended)
    if old.lifecycle == Lifecycle.FINISHED and (old.state != JobState.FAILURE or not failed):
        raise Conflict(
            "The job has no failed step to resume from. Run it again from the start: from=start, or"
            " --from-start on the command line.",
            code="nothing_failed",
        )
    return decision.supported(graph, start, [visit for visit in ended if visit.key not in failed])


def _visits_kept(
    tx: Tx, graph: Graph, start: str, node_id: str, steps: dict[VisitKey, StepRow]
) -> list[Visit]:
    """All ended visits except the latest one of this node and those that it led to."""
    visits = visits_from_steps(steps.values())
    latest = max((visit.visit for visit in visits if visit.node_id == node_id), default=0)
    if not latest:
        message = f"The job has no step {node_id[:64]!r} to start from: it was not reached."
        raise Conflict(message, code="step_not_reached")
    first = (node_id, latest)
    _check_approvals(tx, mapped_arguments.visits_before([first], steps.values()), node_id)
    followers = _followers(first, visits)
    ended = [visit for visit in visits if visit.end is not None and visit.key not in followers]
    return decision.supported(graph, start, ended)


def _followers(first: VisitKey, visits: list[Visit]) -> set[VisitKey]:
    """A visit, and all that it led to."""
    followers = {first}
    while new := {v.key for v in visits if followers.intersection(v.causes)} - followers:
        followers |= new
    return followers


def _check_approvals(tx: Tx, before: dict[str, StepRow], node_id: str) -> None:
    """People approve one run of the steps after the approval, not a second one."""
    steps = [step for step in before.values() if step.node_id != node_id]
    by_id = step_store.jobs_of(tx, steps)
    for step in steps:
        job = by_id.get(step.job_id)
        if job is not None and job.type == APPROVAL:
            raise Conflict(
                f"The step {node_id!r} follows the approval {step.node_id!r}, which covers one run"
                f" of it. Start from {step.node_id!r} to ask again.",
                code="approval_needed",
            )


def _latest_failures(ended: list[Visit]) -> set[VisitKey]:
    """Failed latest visits: earlier failures were followed by another round of the loop."""
    latest = {visit.node_id: visit for visit in sorted(ended, key=lambda visit: visit.visit)}
    return {visit.key for visit in latest.values() if visit.end and not visit.end.is_good}


def _row(tx: Tx, old: JobRow, actor: Actor, parent: JobRow | None) -> JobRow:
    return msgspec.structs.replace(
        old,
        id=new_id(),
        # A step that is restarted alone: its workflow job has continued without it.
        workflow_job_id=None if parent is None else parent.id,
        lifecycle=Lifecycle.READY.value,
        state=JobState.IN_PROGRESS.value,
        version=1,
        origin="user" if parent is None else "workflow",
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


def _start(
    tx: Tx, new: JobRow, node: Node, workflow_job: WorkflowJobRow, step: StepRow | None
) -> None:
    """Run the first step again with its earlier values."""
    first = None if step is None else step_store.jobs_of(tx, [step]).get(step.job_id)
    if first is None:
        request = StepRequest(new, node, msgspec.json.decode(workflow_job.given or "[]"))
    else:
        request = step_jobs.repeat_request(tx, new, node, first)
    request.origin = new.origin
    step_jobs.write_steps(tx, [step_jobs.prepare_or_fail(tx, request, {})])
