"""What an approval in a workflow lets run: the steps up to the next approval."""

from collections.abc import Collection, Iterator
from typing import Any

from belvedere.db import Tx
from belvedere.jobs.approvals import plan
from belvedere.jobs.approvals.plan import Plan
from belvedere.jobs.lifecycle.create import CreatedJob
from belvedere.tasks.store import Runnable, runnable
from belvedere.workflow_specs import store, workflow_jobs
from belvedere.workflow_specs.graph_cycles import nodes_on_cycles
from belvedere.workflow_specs.model import ALWAYS, Graph, Node
from belvedere.workflows.engine import step_store


def plan_after(tx: Tx, node: Node, step_values: list[Any], created: CreatedJob) -> Plan:
    """Each step with its values if they are known already: those that the approval passes on."""
    job, spec = created.job, created.task.spec
    assert job.workflow_job_id is not None
    workflow_job = workflow_jobs.find(tx, job.workflow_job_id)
    graph = store.version_of(tx, workflow_job.workflow_id, workflow_job.version).graph
    # A node on a cycle may start again.
    started = {
        step.node_id for step in step_store.steps_of(tx, job.workflow_job_id)
    } - nodes_on_cycles(graph)
    values = plan.clear_values(tx, job, created.arguments) if spec.task_arguments else step_values
    steps: Plan = []
    for target, task, is_next in _reachable(tx, job.customer_id, graph, node.id, started):
        if task is None:
            steps += plan.for_workflow(tx, job.customer_id, target.workflow_id, target.id)
            continue
        has_values = is_next and len(_sources(graph, target.id)) == 1
        known_values = values if has_values else None
        steps.append(
            plan.plan_task(tx, task, known_values, plan.masked_positions(spec), node_id=target.id)
        )
    return steps


def _reachable(
    tx: Tx, customer_id: str, graph: Graph, start: str, started: Collection[str]
) -> Iterator[tuple[Node, Runnable | None, bool]]:
    """Nodes in the order of the graph, and whether they follow directly. Without a task: all of
    another workflow, including its approvals."""
    direct = _targets(graph, start, on=("success", ALWAYS))
    visited, queue = {start, *started}, list(direct)
    while queue:
        node_id = queue.pop(0)
        if node_id in visited:
            continue
        visited.add(node_id)
        node = graph.node(node_id)
        task = runnable(tx, customer_id, node.task_id) if node.task_id else None
        # The steps after another approval belong to that approval.
        if node.workflow_id or (task is not None and task.type != "approval"):
            yield node, task, node_id in direct
            queue += _targets(graph, node_id)


def _targets(graph: Graph, node_id: str, on: Collection[str] = ()) -> list[str]:
    return [
        edge.target for edge in graph.edges if edge.source == node_id and (not on or edge.on in on)
    ]


def _sources(graph: Graph, node_id: str) -> set[str]:
    return {edge.source for edge in graph.edges if edge.target == node_id}
