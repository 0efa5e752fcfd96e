"""What follows from the visits so far: which nodes start, or how the workflow job ends. Pure.

The decision depends only on the graph and on what has started and ended, so it can be made again at
any time, by any server, after any crash.
"""

from collections.abc import Collection, Iterable, Sequence

import msgspec

from belvedere.workflow_specs import graph_cycles
from belvedere.workflow_specs.model import Edge, Graph, Join, Node
from belvedere.workflows.execution.visits import Visit, VisitHistory, VisitKey


class NodeStart(msgspec.Struct, frozen=True):
    """A node that starts, with the visits whose outputs it gets, in this order."""

    node_id: str
    visit: int
    causes: tuple[VisitKey, ...]


class Decision(msgspec.Struct):
    """What to do now. Neither a start nor an end: wait."""

    starts: list[NodeStart] = []
    is_over: bool = False
    # A failure that no edge handled, a join that can no longer complete, or an exhausted edge.
    has_failed: bool = False
    # Edges that would have been followed more often than their limit allows.
    exhausted: list[Edge] = []


def decide(graph: Graph, first: str, visits: Sequence[Visit]) -> Decision:
    """`visits` are those that have started, `first` is the node that the job started with."""
    history = VisitHistory(graph, visits)
    arrivals = Arrivals(graph, first, history)
    starts = [start for node in graph.nodes if (start := arrivals.next_start(node))]
    if starts or history.is_under_way:
        return Decision(starts=starts)
    # A node that was reached and does not start is a join whose other branch never arrives.
    is_stuck = any(arrivals.is_stuck(node) for node in graph.nodes)
    has_failed = is_stuck or bool(unhandled(graph, visits))
    return Decision(is_over=True, has_failed=has_failed, exhausted=list(history.exhausted))


def unhandled(graph: Graph, visits: Sequence[Visit]) -> set[VisitKey]:
    """Failed visits that no edge follows, and visits beyond the limit of an edge."""
    history = VisitHistory(graph, visits)
    failed = {v.key for v in visits if v.end is not None and not v.end.is_good}
    return (failed - _keys(history.followed.values())) | _keys(history.exhausted.values())


def last(graph: Graph, visits: Sequence[Visit]) -> list[VisitKey]:
    """Visits that no edge follows, in the order of the graph."""
    history = VisitHistory(graph, visits)
    followed = _keys(history.followed.values())
    latest = [history.latest(node.id) for node in graph.nodes]
    return [v.key for v in latest if v and v.end is not None and v.key not in followed]


def supported(graph: Graph, first: str, visits: Sequence[Visit]) -> list[Visit]:
    """Those of the ended visits that would have started if only these had ended."""
    remaining = list(visits)
    while True:
        arrivals = Arrivals(graph, first, VisitHistory(graph, remaining))
        keys = {v.key for v in remaining}
        next_remaining = [
            v for v in remaining if v.key == (first, 1) or arrivals.is_supported(v, keys)
        ]
        if len(next_remaining) == len(remaining):
            return remaining
        remaining = next_remaining


def _keys(groups: Iterable[Sequence[Visit]]) -> set[VisitKey]:
    return {visit.key for visits in groups for visit in visits}


class Arrivals:
    """The ended visits that edges carry to each node."""

    def __init__(self, graph: Graph, first: str, history: VisitHistory) -> None:
        self.graph, self.first, self.history = graph, first, history
        # For each node its sources, each once in the order of the edges, with their ended visits.
        self.arrived: dict[str, dict[str, set[Visit]]] = {node.id: {} for node in graph.nodes}
        for edge in graph.edges:
            by_source = self.arrived[edge.target]
            by_source.setdefault(edge.source, set()).update(history.followed[edge])

    def next_start(self, node: Node) -> NodeStart | None:
        """The next visit of a node, if it can start."""
        before = self.history.latest(node.id)
        if before is not None and before.end is None:
            return None
        causes = self._causes(node, before)
        number = 1 if before is None else before.visit + 1
        return NodeStart(node.id, number, tuple(v.key for v in causes)) if causes else None

    def is_supported(self, visit: Visit, keys: set[VisitKey]) -> bool:
        """Whether the visits that led to this one are among `keys`."""
        if self.graph.has_cycles:
            return bool(visit.causes) and keys.issuperset(visit.causes)
        return bool(self._causes(self.graph.node(visit.node_id), None))

    def is_stuck(self, node: Node) -> bool:
        return bool(self._fresh(node, self.history.latest(node.id)))

    def _causes(self, node: Node, before: Visit | None) -> list[Visit]:
        """The visits that let this node start, in the order of the edges; empty: not yet."""
        fresh = self._fresh(node, before)
        if node.join is Join.ANY or not fresh:
            return list(fresh.values())[:1]
        loop_sources, descendants = self._loop_of(node)
        returned = [visit for source, visit in fresh.items() if source in loop_sources]
        if returned:
            return returned[:1]
        # A source outside the cycle ended once, and counts for every visit.
        constant = {} if before is None else self._latest(node, without=descendants)
        sources = [source for source in self.arrived[node.id] if source not in loop_sources]
        complete = constant | fresh
        if not complete.keys() >= set(sources):
            return []
        return [complete[source] for source in sources]

    def _loop_of(self, node: Node) -> tuple[set[str], set[str]]:
        """Nodes that are reached only through this one, and all that can follow it."""
        if not self.graph.has_cycles:
            return set(), set()
        successors = graph_cycles.successors_of(self.graph)
        return (
            graph_cycles.reachable_only_through(successors, self.first, node.id),
            graph_cycles.descendants(successors, node.id),
        )

    def _fresh(self, node: Node, before: Visit | None) -> dict[str, Visit]:
        """What may start a node, by source: anything for the first visit, later only what descends
        from its own latest visit. So visits never mix, however slow a branch is."""
        latest = self._latest(node)
        fresh: dict[str, Visit] = {}
        for source, arrived in self.arrived[node.id].items():
            candidates = [latest[source]] if source in latest else []
            if node.join is Join.ANY:
                candidates = sorted(arrived, key=lambda visit: visit.visit)
            candidates = [
                v for v in candidates if before is None or self.history.descends(v, before)
            ]
            fresh |= {source: candidates[0]} if candidates else {}
        return fresh

    def _latest(self, node: Node, without: Collection[str] = ()) -> dict[str, Visit]:
        """The latest visits that arrived; a source that has started again is waited for."""
        return {
            source: visit
            for source, arrived in self.arrived[node.id].items()
            if (visit := self.history.latest(source)) in arrived and visit and source not in without
        }
