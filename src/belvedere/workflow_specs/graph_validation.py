"""Checking a graph before anything is written: every fault at once, each by its field."""

import math
from collections.abc import Iterator

from belvedere.base.errors import Fault, Invalid
from belvedere.rest import text_fields
from belvedere.tasks.definition.validation import retry_faults
from belvedere.workflow_specs import graph_cycles
from belvedere.workflow_specs.model import Graph

MAX_NODES = 200
MAX_EDGES = 1_000
MAX_NAME = 128
# Of one answer.
MAX_FAULTS = 100
# Of one edge in one job: what goes round more often belongs into a script or a schedule.
MAX_VISITS = 100
# A job that is lost is waited for, so nothing can follow from it.
NEVER = "lost"

Faults = Iterator[Fault]


def refusal(faults: list[Fault]) -> Invalid:
    more = f" {len(faults) - 1} more fields are wrong." if len(faults) > 1 else ""
    told = f"{faults[0].field}: {faults[0].message}{more}"
    return Invalid(told, code="invalid_workflow", faults=tuple(faults))


def start_of(graph: Graph, start: str) -> str:
    """The node to begin with: the one that is named, or the only one that nothing leads to, or
    nothing but edges with a bound."""
    if start:
        return start
    for edges in (graph.edges, [edge for edge in graph.edges if edge.bound is None]):
        targets = {edge.target for edge in edges}
        first = [node.id for node in graph.nodes if node.id not in targets]
        if first:
            return first[0] if len(first) == 1 else ""
    return ""


def is_too_large(graph: Graph) -> bool:
    return len(graph.nodes) > MAX_NODES or len(graph.edges) > MAX_EDGES


def faults_of(graph: Graph, start: str) -> list[Fault]:
    """What is wrong with it; what hangs together is looked at once the parts are right."""
    found = [*_nodes(graph), *_edges(graph)]
    if found:
        return found[:MAX_FAULTS]
    ring = graph_cycles.unbounded(graph)
    if ring:
        told = f"The edges lead round in a circle without end: {' → '.join(ring)}."
        return [Fault("graph.edges", f"{told} Give one of them max_visits.")]
    if start not in {node.id for node in graph.nodes}:
        return [Fault("start", "Name the node to begin with.")]
    return list(_unreachable(graph, start))


def _nodes(graph: Graph) -> Faults:
    if not 1 <= len(graph.nodes) <= MAX_NODES:
        yield Fault("graph.nodes", f"Give 1 to {MAX_NODES} nodes.")
        return
    seen: set[str] = set()
    for n, node in enumerate(graph.nodes):
        field = f"graph.nodes[{n}]"
        yield from _name(f"{field}.id", node.id)
        if node.id in seen:
            yield Fault(f"{field}.id", f"There is another node {node.id!r}.")
        seen.add(node.id)
        if bool(node.task_id) == bool(node.workflow_id):
            yield Fault(f"{field}.task_id", "Give a task_id, or a workflow_id instead.")
        if node.retry is not None:
            for fault in retry_faults(node.retry):
                yield Fault(f"{field}.{fault.field}", fault.message)
        at = node.position
        if at is not None and not (math.isfinite(at.x) and math.isfinite(at.y)):
            yield Fault(f"{field}.position", "Give two numbers.")


def _edges(graph: Graph) -> Faults:
    if len(graph.edges) > MAX_EDGES:
        yield Fault("graph.edges", f"Give at most {MAX_EDGES} edges.")
        return
    known = {node.id for node in graph.nodes}
    seen = set()
    for n, edge in enumerate(graph.edges):
        field = f"graph.edges[{n}]"
        for end in ("source", "target"):
            if getattr(edge, end) not in known:
                yield Fault(f"{field}.{end}", f"There is no node {getattr(edge, end)[:64]!r}.")
        yield from _name(f"{field}.on", edge.on)
        if edge.on == NEVER:
            yield Fault(f"{field}.on", "A lost job is waited for; nothing can follow from it.")
        if edge.bound is not None and not 1 <= edge.bound <= MAX_VISITS:
            yield Fault(f"{field}.max_visits", f"Give 1 to {MAX_VISITS}.")
        drawn = (edge.source, edge.target, edge.on)
        if drawn in seen:
            yield Fault(field, "The same edge is given twice.")
        seen.add(drawn)


def _name(field: str, text: str) -> Faults:
    try:
        is_right = text_fields.line(field, text, most=MAX_NAME, least=1) == text
    except Invalid as refused:
        yield refused.faults[0]
        return
    if not is_right:
        yield Fault(field, "Give it without blanks around it.")


def _unreachable(graph: Graph, start: str) -> Faults:
    reached = graph_cycles.reached(graph_cycles.ways(graph), [start])
    for n, node in enumerate(graph.nodes):
        if node.id not in reached:
            yield Fault(f"graph.nodes[{n}]", f"No edge leads from {start!r} to {node.id!r}.")
