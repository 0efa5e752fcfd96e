"""Graphs in the format of graphlib, which clients of TheEye read and send."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import msgspec

from belvedere.base.errors import Fault
from belvedere.tasks.model import KIND_NAMES, Retry, Type
from belvedere.workflow_specs.graph_validation import MAX_EDGES, invalid_workflow
from belvedere.workflow_specs.model import (
    ArgumentSource,
    Edge,
    Graph,
    Join,
    JsonValue,
    Node,
    Position,
)
from belvedere.workflow_specs.store import TaskName

Fields = dict[str, Any]
# Members of `value` that are fields of a node under the same names.
NODE_FIELDS = ("join", "retry", "position", "arguments", "workflow_id")


class NodeBody(msgspec.Struct):
    """A node: `id` and `task_id`, or `v` and `value` as graphlib writes it."""

    id: str = ""
    task_id: str = ""
    join: Join = Join.ANY
    retry: Retry | None = None
    position: Position | None = None
    workflow_id: str = ""
    arguments: list[ArgumentSource] = []
    v: str = ""
    value: Fields | None = None


class EdgeBody(msgspec.Struct):
    """An edge: `source`, `target` and `on`, or `v`, `w` and `value` as graphlib writes it."""

    source: str = ""
    target: str = ""
    on: str = "success"
    max_visits: int | None = None
    v: str = ""
    w: str = ""
    # The event that the edge follows; anything else than a text means success.
    value: JsonValue = None
    name: str | None = None


class GraphBody(msgspec.Struct):
    nodes: list[NodeBody] = []
    edges: list[EdgeBody] = []
    # Written by graphlib; every graph is directed here.
    options: Fields | None = None


class GraphlibNode(msgspec.Struct):
    v: str
    value: Fields


class GraphlibEdge(msgspec.Struct, omit_defaults=True):
    v: str
    w: str
    value: str
    # Only where several edges lead from one node to another.
    name: str = ""
    max_visits: int | None = None


class GraphlibGraph(msgspec.Struct):
    options: dict[str, bool]
    nodes: list[GraphlibNode]
    edges: list[GraphlibEdge]


def to_graphlib(graph: Graph, tasks: Sequence[TaskName]) -> GraphlibGraph:
    """`value.id` of a node is the id of its task or workflow, as in TheEye."""
    pairs = [(edge.source, edge.target) for edge in graph.edges]
    is_multigraph = len(set(pairs)) < len(pairs)
    tasks_by_id = {task.id: task for task in tasks}
    return GraphlibGraph(
        {"directed": True, "multigraph": is_multigraph, "compound": False},
        [GraphlibNode(node.id, _node_value(node, tasks_by_id)) for node in graph.nodes],
        [
            GraphlibEdge(
                edge.source, edge.target, edge.on, edge.on if is_multigraph else "", edge.bound
            )
            for edge in graph.edges
        ],
    )


def _node_value(node: Node, tasks_by_id: dict[str, TaskName]) -> Fields:
    fields: Fields = msgspec.to_builtins(node)
    if node.workflow_id:
        return {**fields, "id": node.workflow_id, "_type": "Workflow"}
    task = tasks_by_id[node.task_id]
    kind = KIND_NAMES[Type(task.type)]
    return {**fields, "id": task.id, "name": task.name, "_type": kind, "type": task.type}


def to_graph(body: GraphBody) -> Graph:
    """The graph of a body in either format."""
    events = {
        node.v: str((node.value or {}).get("name") or "success")
        for node in body.nodes
        if _is_event(node)
    }
    nodes = [_node(n, node) for n, node in enumerate(body.nodes) if not _is_event(node)]
    edges = [_edge(edge) for edge in body.edges]
    if events:
        # More edges are refused; paths through events can be many more than the edges to them.
        edges = list(dict.fromkeys(islice(_without_events(edges, events), MAX_EDGES + 1)))
    return Graph(nodes, edges)


def _is_event(node: NodeBody) -> bool:
    """Older graphs have events as nodes between the tasks."""
    return not node.id and str((node.value or {}).get("_type", "")).endswith("Event")


def _node(n: int, node: NodeBody) -> Node:
    if node.id or not node.v:
        return Node(**{name: getattr(node, name) for name in Node.__struct_fields__})
    value = node.value or {}
    fields = {name: value[name] for name in NODE_FIELDS if value.get(name) is not None}
    if not fields.get("workflow_id"):
        fields["task_id"] = value.get("task_id") or value.get("id") or node.v
    try:
        return msgspec.convert({"id": node.v, **fields}, Node)
    except msgspec.ValidationError as fault:
        raise invalid_workflow([Fault(f"graph.nodes[{n}].value", f"{fault}.")]) from None


def _edge(edge: EdgeBody) -> Edge:
    is_graphlib = not edge.source and bool(edge.v)
    if not is_graphlib:
        return Edge(edge.source, edge.target, edge.on, edge.max_visits)
    on = edge.value if isinstance(edge.value, str) and edge.value else edge.name or "success"
    return Edge(edge.v, edge.w, on, edge.max_visits)


def _without_events(edges: list[Edge], events: dict[str, str]) -> Iterator[Edge]:
    """Edges between tasks; a path through an event is an edge with the name of the event."""
    targets_of_event: dict[str, list[str]] = {}
    for edge in edges:
        if edge.source in events and edge.target not in events:
            targets_of_event.setdefault(edge.source, []).append(edge.target)
    for edge in edges:
        if edge.source in events:
            continue
        if edge.target not in events:
            yield edge
            continue
        for target in targets_of_event.get(edge.target, ()):
            yield Edge(edge.source, target, events[edge.target])
