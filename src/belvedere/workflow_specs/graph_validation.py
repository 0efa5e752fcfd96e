"""Validates a graph before anything is written: all faults at once, each with its field."""

import math
from collections.abc import Iterator

from belvedere.base.errors import Fault, Invalid
from belvedere.rest import text_fields
from belvedere.tasks.definition.validation import retry_faults
from belvedere.workflow_specs import argument_sources, graph_cycles
from belvedere.workflow_specs.model import Graph

MAX_NODES = 200
MAX_EDGES = 1_000
MAX_NAME = 128
# In one response.
MAX_FAULTS = 100
# Repetitions of one edge in one job: a longer loop belongs in a script or a schedule.
MAX_VISITS = 100
# The workflow waits for a job that is lost, so no edge can follow it.
UNFOLLOWABLE = "lost"

Faults = Iterator[Fault]


def invalid_workflow(faults: list[Fault]) -> Invalid:
    others = f" {len(faults) - 1} more fields are invalid." if len(faults) > 1 else ""
    message = f"{faults[0].field}: {faults[0].message}{others}"
    return Invalid(message, code="invalid_workflow", faults=tuple(faults))


def start_of(graph: Graph, start: str) -> str:
    """The node to start with: the one that is named, or the only node without incoming edges,
    or the only one whose incoming edges all have a limit."""
    if start:
        return start
    for edges in (graph.edges, [edge for edge in graph.edges if edge.bound is None]):
        targets = {edge.target for edge in edges}
        candidates = [node.id for node in graph.nodes if node.id not in targets]
        if candidates:
            return candidates[0] if len(candidates) == 1 else ""
    return ""


def is_too_large(graph: Graph) -> bool:
    return len(graph.nodes) > MAX_NODES or len(graph.edges) > MAX_EDGES


def faults_of(graph: Graph, start: str) -> list[Fault]:
    """What is wrong; cycles and reachability are checked once the nodes and edges are valid."""
    faults = [*_nodes(graph), *_edges(graph)]
    if faults:
        return faults[:MAX_FAULTS]
    cycle = graph_cycles.find_unbounded_cycle(graph)
    if cycle:
        message = f"The edges form a cycle without a limit: {' → '.join(cycle)}."
        return [Fault("graph.edges", f"{message} Set max_visits on one of them.")]
    if start not in {node.id for node in graph.nodes}:
        return [Fault("start", "Name the node to start with.")]
    return [*_unreachable(graph, start), *argument_sources.faults_of(graph)][:MAX_FAULTS]


def _nodes(graph: Graph) -> Faults:
    if not 1 <= len(graph.nodes) <= MAX_NODES:
        yield Fault("graph.nodes", f"Must have 1 to {MAX_NODES} nodes.")
        return
    node_ids: set[str] = set()
    for n, node in enumerate(graph.nodes):
        field = f"graph.nodes[{n}]"
        yield from _name(f"{field}.id", node.id)
        if node.id in node_ids:
            yield Fault(f"{field}.id", f"Another node has the id {node.id!r}.")
        node_ids.add(node.id)
        if bool(node.task_id) == bool(node.workflow_id):
            yield Fault(f"{field}.task_id", "Set either task_id or workflow_id.")
        if node.retry is not None:
            for fault in retry_faults(node.retry):
                yield Fault(f"{field}.{fault.field}", fault.message)
        position = node.position
        if position is not None and not (math.isfinite(position.x) and math.isfinite(position.y)):
            yield Fault(f"{field}.position", "Must be two numbers.")


def _edges(graph: Graph) -> Faults:
    if len(graph.edges) > MAX_EDGES:
        yield Fault("graph.edges", f"At most {MAX_EDGES} edges are allowed.")
        return
    node_ids = {node.id for node in graph.nodes}
    edge_keys = set()
    for n, edge in enumerate(graph.edges):
        field = f"graph.edges[{n}]"
        for end in ("source", "target"):
            if getattr(edge, end) not in node_ids:
                yield Fault(f"{field}.{end}", f"There is no node {getattr(edge, end)[:64]!r}.")
        yield from _name(f"{field}.on", edge.on)
        if edge.on == UNFOLLOWABLE:
            yield Fault(f"{field}.on", "A workflow waits for a lost job; no edge can follow it.")
        if edge.bound is not None and not 1 <= edge.bound <= MAX_VISITS:
            yield Fault(f"{field}.max_visits", f"Must be 1 to {MAX_VISITS}.")
        edge_key = (edge.source, edge.target, edge.on)
        if edge_key in edge_keys:
            yield Fault(field, "Another edge has the same source, target and on.")
        edge_keys.add(edge_key)


def _name(field: str, text: str) -> Faults:
    try:
        is_valid = text_fields.line(field, text, most=MAX_NAME, least=1) == text
    except Invalid as error:
        yield error.faults[0]
        return
    if not is_valid:
        yield Fault(field, "Remove the spaces at the beginning and the end.")


def _unreachable(graph: Graph, start: str) -> Faults:
    reached = graph_cycles.reachable(graph_cycles.successors_of(graph), [start])
    for n, node in enumerate(graph.nodes):
        if node.id not in reached:
            yield Fault(f"graph.nodes[{n}]", f"{node.id!r} cannot be reached from {start!r}.")
