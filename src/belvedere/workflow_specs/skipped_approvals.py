"""A run that starts after an approval skips it: that needs the permission to edit the workflow."""

from belvedere.base.errors import Conflict
from belvedere.db import Tx
from belvedere.workflow_specs import nesting
from belvedere.workflow_specs.model import Graph, Node


def refuse(tx: Tx, graph: Graph, start: Node) -> None:
    """Raise Conflict if a step before `start`, or a workflow that such a step runs, asks for an
    approval."""
    before = [node for node in graph.nodes if node.id in _steps_before(graph, start.id)]
    task_ids = {node.task_id for node in before if node.task_id}
    workflow_ids = {node.workflow_id for node in before if node.workflow_id}
    names = _approvals(tx, task_ids | nesting.tasks_inside(tx, workflow_ids))
    if names:
        raise Conflict(
            f"The step {start.id!r} follows the approval {names[0]!r}. Start from there or from a"
            " step before it; only an admin may skip an approval.",
            code="approval_needed",
        )


def _steps_before(graph: Graph, node_id: str) -> set[str]:
    """The steps from which an edge leads to this one, directly or over others."""
    sources: dict[str, list[str]] = {}
    for edge in graph.edges:
        sources.setdefault(edge.target, []).append(edge.source)
    before: set[str] = set()
    remaining = [node_id]
    while remaining:
        new = set(sources.get(remaining.pop(), ())) - before
        before |= new
        remaining += new
    return before - {node_id}


def _approvals(tx: Tx, task_ids: set[str]) -> list[str]:
    """The names of the approvals among these tasks."""
    rows = tx.rows(
        f"select name from tasks where id in {tx.dialect.in_texts} and type = 'approval'"
        " order by name limit 1",
        nesting.texts(sorted(task_ids)),
    )
    return [name for (name,) in rows]
