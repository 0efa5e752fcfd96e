"""What lies ahead of an approval in its workflow: what its yes lets run, up to the next one."""

from collections.abc import Collection, Iterator
from typing import Any

from belvedere.db import Tx
from belvedere.jobs.approvals import plan
from belvedere.jobs.approvals.plan import Plan
from belvedere.jobs.lifecycle.create import Created
from belvedere.tasks.store import Runnable, runnable
from belvedere.workflow_specs import store
from belvedere.workflow_specs.graph_cycles import on_circles
from belvedere.workflow_specs.model import ALWAYS, Graph, Node
from belvedere.workflows.engine import step_store


def of_approval(tx: Tx, node: Node, given: list[Any], made: Created) -> Plan:
    """Each with its values where they are known already: those that the approval hands on."""
    job, spec = made.job, made.task.spec
    assert job.workflow_job_id is not None
    mine = step_store.workflow_job(tx, job.workflow_job_id)
    graph = store.version_of(tx, mine.workflow_id, mine.version).graph
    # What lies on a circle may begin again.
    begun = {step.node_id for step in step_store.of_job(tx, job.workflow_job_id)} - on_circles(
        graph
    )
    values = plan.clear_values(tx, job, made.arguments) if spec.task_arguments else given
    found: Plan = []
    for target, task, is_next in _reached(tx, job.customer_id, graph, node.id, begun):
        if task is None:
            found += plan.of_workflow(tx, job.customer_id, target.workflow_id, target.id)
            continue
        is_known = is_next and len(_sources(graph, target.id)) == 1
        known = values if is_known else None
        found.append(plan.planned(tx, task, known, plan.hidden_in(spec), node_id=target.id))
    return found


def _reached(
    tx: Tx, customer_id: str, graph: Graph, start: str, begun: Collection[str]
) -> Iterator[tuple[Node, Runnable | None, bool]]:
    """In the order in which they come, and whether they follow at once; without a task: all of
    another workflow, whatever approvals are in it."""
    first = _targets(graph, start, on=("success", ALWAYS))
    seen, queue = {start, *begun}, list(first)
    while queue:
        node_id = queue.pop(0)
        if node_id in seen:
            continue
        seen.add(node_id)
        node = graph.node(node_id)
        task = runnable(tx, customer_id, node.task_id) if node.task_id else None
        # From another approval on it is that one's business.
        if node.workflow_id or (task is not None and task.type != "approval"):
            yield node, task, node_id in first
            queue += _targets(graph, node_id)


def _targets(graph: Graph, node_id: str, on: Collection[str] = ()) -> list[str]:
    return [
        edge.target for edge in graph.edges if edge.source == node_id and (not on or edge.on in on)
    ]


def _sources(graph: Graph, node_id: str) -> set[str]:
    return {edge.source for edge in graph.edges if edge.target == node_id}
