"""A workflow job once more: a new one takes over what went well and goes on from what did not."""

import msgspec

from belvedere.access.actor import Actor
from belvedere.base.errors import Conflict, Refused
from belvedere.base.ids import new_id
from belvedere.db import Tx
from belvedere.jobs import events
from belvedere.jobs import store as jobs
from belvedere.jobs.model import JobRow, Lifecycle, State
from belvedere.workflow_specs import store
from belvedere.workflow_specs.model import Graph, Node, Step, WorkflowJobRow
from belvedere.workflows.engine import nested, rule, step_jobs, step_store
from belvedere.workflows.engine.advance import advance
from belvedere.workflows.engine.decision import Begin
from belvedere.workflows.engine.requests import Wanted
from belvedere.workflows.engine.visits import Key, Visit, visits


def restarted(tx: Tx, actor: Actor, old: JobRow, above: JobRow | None = None) -> JobRow:
    """The new job; `above` is the one that it is a step of."""
    mine = step_store.workflow_job(tx, old.id)
    graph = store.version_of(tx, mine.workflow_id, mine.version).graph
    taken = {(step.node_id, step.visit): step for step in step_store.of_job(tx, old.id)}
    kept = _kept(graph, mine.start, old, visits(taken.values()))
    new = _row(tx, old, actor, above)
    jobs.insert(tx, [(new, "[]", None)])
    events.tell(tx, "created", [new])
    step_store.insert_job(tx, msgspec.structs.replace(mine, job_id=new.id))
    over = [msgspec.structs.replace(taken[one.key], workflow_job_id=new.id) for one in kept]
    step_store.insert(tx, over)
    has_begun = _inside(tx, actor, new, graph, mine, taken, kept)
    if not kept and not has_begun:
        _start(tx, new, graph.node(mine.start), mine, taken.get((mine.start, 1)))
    advance(tx, new.id)
    return new


def _inside(
    tx: Tx,
    actor: Actor,
    new: JobRow,
    graph: Graph,
    mine: WorkflowJobRow,
    taken: dict[Key, Step],
    kept: list[Visit],
) -> bool:
    """Nodes that begin with a workflow which failed: that goes on from where it failed, too."""
    first = [] if kept else [Begin(mine.start, 1, ())]
    found = []
    for begin in first or rule.decide(graph, mine.start, kept).start:
        step = taken.get((begin.node_id, begin.visit))
        if step is not None and graph.node(begin.node_id).workflow_id:
            inner = _goes_on(tx, actor, new, graph.node(begin.node_id), step)
            found += [] if inner is None else [_step(new, begin, inner)]
    step_store.insert(tx, found)
    return bool(found)


def _step(new: JobRow, begin: Begin, inner: JobRow) -> Step:
    causes = msgspec.json.encode(begin.causes).decode()
    return Step(new.id, begin.node_id, inner.id, visit=begin.visit, causes=causes)


def _goes_on(tx: Tx, actor: Actor, new: JobRow, node: Node, step: Step) -> JobRow | None:
    """None: nothing of it can be taken over, so that it begins anew and says what is wrong."""
    inner = step_store.jobs_of(tx, [step]).get(step.job_id)
    if inner is None or inner.state not in (State.FAILURE, State.CANCELED):
        return None
    try:
        row, _ = nested.to_start(tx, Wanted(new, node, []))
        if inner.started_at is None or step_store.is_taken(tx, row):
            return None
        return restarted(tx, actor, inner, new)
    except Refused:
        return None


def _kept(graph: Graph, start: str, old: JobRow, taken: list[Visit]) -> list[Visit]:
    """The steps that need not be taken again."""
    ended = [one for one in taken if one.end is not None]
    # Where every bad end was handled and it failed all the same, those ends keep a join waiting.
    again = rule.unhandled(graph, ended) or _bad(ended)
    if old.lifecycle == Lifecycle.FINISHED and (old.state != State.FAILURE or not again):
        raise Conflict(
            "No step of it failed that could be taken again; run the workflow anew.",
            code="nothing_failed",
        )
    return rule.supported(graph, start, [one for one in ended if one.key not in again])


def _bad(ended: list[Visit]) -> set[Key]:
    """Bad ends of latest visits: those before were what led round."""
    latest = {one.node_id: one for one in sorted(ended, key=lambda one: one.visit)}
    return {one.key for one in latest.values() if one.end and not one.end.is_good}


def _row(tx: Tx, old: JobRow, actor: Actor, above: JobRow | None) -> JobRow:
    return msgspec.structs.replace(
        old,
        id=new_id(),
        # One that was a step of another and is restarted alone: that one has gone on without it.
        workflow_job_id=None if above is None else above.id,
        lifecycle=Lifecycle.READY.value,
        state=State.IN_PROGRESS.value,
        version=1,
        origin="user" if above is None else "workflow",
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
    first = None if step is None else step_store.jobs_of(tx, [step]).get(step.job_id)
    if first is None:
        wanted = Wanted(new, node, msgspec.json.decode(mine.given or "[]"))
    else:
        wanted = step_jobs.as_before(tx, new, node, first)
    wanted.origin = new.origin
    step_jobs.write(tx, [step_jobs.prepare_anyhow(tx, wanted, {})])
