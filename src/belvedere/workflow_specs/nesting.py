"""The workflows that a workflow runs as its nodes, and what of that is refused when it is saved."""

import msgspec

from belvedere.base.errors import Fault
from belvedere.base.ids import is_id
from belvedere.db import Tx
from belvedere.workflow_specs import store
from belvedere.workflow_specs.model import Graph, decode

# So many workflows may run within each other, the outermost counted.
MAX_DEPTH = 8


class WorkflowName(msgspec.Struct):
    """A workflow that another one runs, as a picture of the graph calls it."""

    id: str
    name: str


def names_of(tx: Tx, workflow_ids: list[str]) -> dict[str, list[WorkflowName]]:
    """The parts of several workflows, by name."""
    found: dict[str, list[WorkflowName]] = {workflow_id: [] for workflow_id in workflow_ids}
    for workflow_id, *part in tx.rows(
        "select u.workflow_id, w.id, w.name from workflow_parts u join workflows w"
        f" on w.id = u.part_id where u.workflow_id in {tx.sql.texts} order by w.name, w.id",
        _texts(workflow_ids),
    ):
        found[workflow_id].append(WorkflowName(*part))
    return found


def user_of(tx: Tx, workflow_id: str) -> str | None:
    """A workflow that runs this one."""
    found: str | None = tx.value(
        "select workflow_id from workflow_parts where part_id = ? order by workflow_id limit 1",
        workflow_id,
    )
    return found


def faults_of(tx: Tx, customer_id: str, workflow_id: str | None, graph: Graph) -> list[Fault]:
    """Nodes that cannot run what they name. Whoever changes a workflow holds the lock of rings, so
    that two changes cannot close a circle together."""
    found = {
        part_id: _fault(tx, customer_id, workflow_id, part_id)
        for part_id in sorted(graph.workflows)
    }
    return [
        Fault(f"graph.nodes[{n}].workflow_id", fault)
        for n, node in enumerate(graph.nodes)
        if (fault := found.get(node.workflow_id))
    ]


def _fault(tx: Tx, customer_id: str, workflow_id: str | None, part_id: str) -> str | None:
    # Held: what is deleted at this moment must not gain a user.
    if not is_id(part_id) or store.look_up(tx, customer_id, part_id, hold=True) is None:
        return "There is no such workflow."
    level = {part_id}
    for _ in range(1, MAX_DEPTH):
        if workflow_id in level:
            return "This workflow runs the one that you are changing: it would run itself."
        rows = tx.rows(
            f"select distinct part_id from workflow_parts where workflow_id in {tx.sql.texts}",
            _texts(sorted(level)),
        )
        level = {found for (found,) in rows}
        if not level:
            return None
    return f"Workflows may run each other {MAX_DEPTH} deep; this one is deeper."


def first_task(tx: Tx, customer_id: str, workflow_id: str) -> str:
    """The task that gets the arguments of the whole: of the first step, however deep it lies."""
    for _ in range(MAX_DEPTH):
        spec = decode(store.find(tx, customer_id, workflow_id).spec)
        node = spec.graph.node(spec.start)
        if not node.workflow_id:
            return node.task_id
        workflow_id = node.workflow_id
    return ""


def _texts(ids: list[str]) -> str:
    return msgspec.json.encode(ids).decode()
