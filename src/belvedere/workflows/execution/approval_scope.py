"""What an approval in a workflow covers: the steps up to the next approval, which are compared
with the approved plan before they start."""

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
from belvedere.workflow_specs.templates import sources_in
from belvedere.workflows.execution import mapped_arguments, step_store


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
        hidden: Collection[int] = plan.masked_positions(spec)
        known_values = values if has_values else None
        if target.arguments:
            known_values, hidden = _mapped(target, node.id, values, hidden)
        steps.append(plan.plan_task(tx, task, known_values, hidden, node_id=target.id))
    return steps


def _mapped(
    target: Node, approval_id: str, values: list[Any], hidden: Collection[int]
) -> tuple[list[Any] | None, Collection[int]]:
    """The arguments of a node that chooses them, if they come only from the approval and from
    fixed values, and the positions of those that nobody may see."""
    used = [(n, part) for n, each in enumerate(target.arguments) for part in sources_in(each)]
    if any(source.node not in ("", approval_id) for _, source in used):
        return None, ()
    positions = {n for n, source in used if source.node == approval_id and source.index in hidden}
    return mapped_arguments.resolve(target, lambda *_: values), positions


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


def check_step(tx: Tx, workflow_job_id: str, node_id: str, task: Runnable) -> None:
    """Reject a step that differs from the approved plan; the approval may also be in an outer
    workflow."""
    approved = _approved(tx, workflow_job_id, node_id)
    outer_id: str | None = workflow_job_id
    while outer_id is not None:
        row = tx.row("select workflow_id, workflow_job_id from jobs where id = ?", outer_id)
        workflow_id, outer_id = row or (None, None)
        if outer_id is not None:
            outer_tasks = _approved(tx, outer_id, _node_of(tx, outer_id, workflow_job_id))
            approved += [
                approved_task
                for approved_task in outer_tasks
                if (approved_task.workflow_id, approved_task.task_id) == (workflow_id, task.id)
            ]
            workflow_job_id = outer_id
    plan.reject_changes(
        [
            change
            for approved_task in approved
            for change in plan.differences(tx, approved_task, task)
        ]
    )


def _node_of(tx: Tx, workflow_job_id: str, job_id: str) -> str:
    node_id: str | None = tx.value(
        "select node_id from workflow_steps where workflow_job_id = ? and job_id = ?",
        workflow_job_id,
        job_id,
    )
    return node_id or ""


def _approved(tx: Tx, workflow_job_id: str, node_id: str) -> Plan:
    """The approved tasks of one node in this workflow job; of an approval that ran several times,
    those of its newest run."""
    rows = tx.rows(
        "select s.node_id, a.plan from workflow_steps s join approvals a on a.job_id = s.job_id"
        " join jobs j on j.id = a.job_id where s.workflow_job_id = ? and j.state = 'success'"
        " order by s.visit",
        workflow_job_id,
    )
    plans: dict[str, str] = dict(rows)
    return [
        task for text in plans.values() for task in plan.decode(tx, text) if task.node_id == node_id
    ]


def check_workflow(
    tx: Tx, workflow_job_id: str, node_id: str, customer_id: str, workflow_id: str
) -> None:
    """The same for a node that runs another workflow, with all of its tasks."""
    approved = _approved(tx, workflow_job_id, node_id)
    if approved:
        plan.reject_changes(
            plan.changes_between(approved, plan.for_workflow(tx, customer_id, workflow_id))
        )
