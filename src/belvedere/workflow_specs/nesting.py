"""Workflows that run other workflows as nodes, and the limits checked when they are saved."""

import msgspec

from belvedere.base.errors import Fault
from belvedere.base.ids import is_id
from belvedere.db import Tx
from belvedere.workflow_specs import store
from belvedere.workflow_specs.model import Graph, decode

# Levels of nested workflows, including the outermost.
MAX_DEPTH = 8


class WorkflowName(msgspec.Struct):
    """A workflow that another one runs, with the name that the console shows."""

    id: str
    name: str


def names_of(tx: Tx, workflow_ids: list[str]) -> dict[str, list[WorkflowName]]:
    """The workflows that each of these runs, sorted by name."""
    names: dict[str, list[WorkflowName]] = {workflow_id: [] for workflow_id in workflow_ids}
    for workflow_id, *part in tx.rows(
        "select u.workflow_id, w.id, w.name from workflow_parts u join workflows w"
        f" on w.id = u.part_id where u.workflow_id in {tx.dialect.in_texts} order by w.name, w.id",
        texts(workflow_ids),
    ):
        names[workflow_id].append(WorkflowName(*part))
    return names


def parent_of(tx: Tx, workflow_id: str) -> str | None:
    """A workflow that runs this one, if any."""
    parent_id: str | None = tx.value(
        "select workflow_id from workflow_parts where part_id = ? order by workflow_id limit 1",
        workflow_id,
    )
    return parent_id


def faults_of(tx: Tx, customer_id: str, workflow_id: str | None, graph: Graph) -> list[Fault]:
    """Nodes that cannot run the workflow they name. The caller has locked the triggers of the
    customer, so that two concurrent changes cannot form a cycle together."""
    messages = {
        nested_id: _fault(tx, customer_id, workflow_id, nested_id)
        for nested_id in sorted(graph.workflows)
    }
    return [
        Fault(f"graph.nodes[{n}].workflow_id", message)
        for n, node in enumerate(graph.nodes)
        if (message := messages.get(node.workflow_id))
    ]


def _fault(tx: Tx, customer_id: str, workflow_id: str | None, nested_id: str) -> str | None:
    # Locked: a workflow that is being deleted must not get a new user.
    if not is_id(nested_id) or store.look_up(tx, customer_id, nested_id, lock=True) is None:
        return "There is no such workflow."
    level = {nested_id}
    for _ in range(1, MAX_DEPTH):
        if workflow_id in level:
            return "This workflow runs the one you are changing, which would then run itself."
        rows = tx.rows(
            f"select distinct part_id from workflow_parts where workflow_id in"
            f" {tx.dialect.in_texts}",
            texts(sorted(level)),
        )
        level = {child_id for (child_id,) in rows}
        if not level:
            return None
    return f"Workflows can be nested at most {MAX_DEPTH} levels deep."


def first_task(tx: Tx, customer_id: str, workflow_id: str) -> str:
    """The task of the first step, on whatever level: it gets the arguments of the workflow job."""
    for _ in range(MAX_DEPTH):
        spec = decode(store.find(tx, customer_id, workflow_id).spec)
        node = spec.graph.node(spec.start)
        if not node.workflow_id:
            return node.task_id
        workflow_id = node.workflow_id
    return ""


def tasks_inside(tx: Tx, workflow_ids: set[str]) -> set[str]:
    """The tasks of these workflows and of all workflows that they run."""
    task_ids: set[str] = set()
    level = workflow_ids
    for _ in range(MAX_DEPTH):
        if not level:
            break
        tasks, parts = tx.pipeline(
            *(
                (
                    f"select distinct {column} from {table}"
                    f" where workflow_id in {tx.dialect.in_texts}",
                    (texts(sorted(level)),),
                )
                for column, table in (("task_id", "workflow_tasks"), ("part_id", "workflow_parts"))
            )
        )
        task_ids |= {task_id for (task_id,) in tasks}
        level = {part_id for (part_id,) in parts}
    return task_ids


def texts(ids: list[str]) -> str:
    return msgspec.json.encode(ids).decode()
