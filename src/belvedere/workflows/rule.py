"""What follows from the ends so far: which nodes start, or how the whole ends. Pure.

The answer depends on nothing but the graph and what has begun and ended, so it can be asked again
at any time, by anybody, after any crash.
"""

from collections.abc import Collection, Mapping, Sequence

import msgspec

from belvedere.workflows.model import ALWAYS, Edge, Graph, Join, Node


class End(msgspec.Struct, frozen=True):
    """How a node ended. Good: in the state normal or success."""

    trigger_name: str
    is_good: bool


class Next(msgspec.Struct):
    """What to do now. Neither: wait."""

    # Each with the nodes whose outputs it gets, one after the other.
    start: list[tuple[str, list[str]]] = []
    is_over: bool = False
    # A bad end that no edge handled, or a join that cannot be complete any more.
    has_failed: bool = False


def follows(edge: Edge, end: End) -> bool:
    return edge.on in (ALWAYS, end.trigger_name)


def decide(graph: Graph, ended: Mapping[str, End], is_open: Collection[str]) -> Next:
    """`ended` and `is_open` are the nodes that have begun."""
    here = _sources(_arrived(graph, ended))
    wanted = _sources(graph.edges)
    waiting = [node for node in graph.nodes if node.id not in ended and node.id not in is_open]
    start = [(node.id, feeds) for node in waiting if (feeds := _feeds(node, here, wanted))]
    if start or is_open:
        return Next(start=start)
    # A node that was reached and does not start is a join whose other branch never comes.
    is_stuck = any(node.id in here for node in waiting)
    return Next(is_over=True, has_failed=is_stuck or bool(unhandled(graph, ended)))


def unhandled(graph: Graph, ended: Mapping[str, End]) -> set[str]:
    """Nodes that ended badly where no edge says what then."""
    handled = {edge.source for edge in _arrived(graph, ended)}
    return {node_id for node_id, end in ended.items() if not end.is_good} - handled


def last(graph: Graph, ended: Mapping[str, End]) -> list[str]:
    """Nodes that no edge was followed from, in the order of the graph."""
    left = {edge.source for edge in _arrived(graph, ended)}
    return [node.id for node in graph.nodes if node.id in ended and node.id not in left]


def supported(graph: Graph, start: str, ended: Mapping[str, End]) -> dict[str, End]:
    """Those of the ended nodes that would have begun if only these had ended, from `start` on."""
    kept = dict(ended)
    wanted = _sources(graph.edges)
    while True:
        here = _sources(_arrived(graph, kept))
        gone = [
            node.id
            for node in graph.nodes
            if node.id in kept and node.id != start and not _feeds(node, here, wanted)
        ]
        if not gone:
            return kept
        for node_id in gone:
            del kept[node_id]


def _arrived(graph: Graph, ended: Mapping[str, End]) -> list[Edge]:
    return [
        edge for edge in graph.edges if edge.source in ended and follows(edge, ended[edge.source])
    ]


def _sources(edges: Sequence[Edge]) -> dict[str, list[str]]:
    """Of each target, each once, in the order of the edges."""
    found: dict[str, dict[str, None]] = {}
    for edge in edges:
        found.setdefault(edge.target, {})[edge.source] = None
    return {target: list(sources) for target, sources in found.items()}


def _feeds(node: Node, here: dict[str, list[str]], wanted: dict[str, list[str]]) -> list[str]:
    """The sources that let this node start, in the order of the edges; none: it cannot yet."""
    arrived = here.get(node.id, [])
    if node.join is Join.ANY:
        return arrived[:1]
    return arrived if len(arrived) == len(wanted.get(node.id, ())) else []
