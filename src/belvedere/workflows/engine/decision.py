"""What has come to the nodes of a graph, and lets them begin. Pure."""

from collections.abc import Collection

import msgspec

from belvedere.workflow_specs import graph_cycles
from belvedere.workflow_specs.model import Graph, Join, Node
from belvedere.workflows.engine.visits import Key, Past, Visit


class Begin(msgspec.Struct, frozen=True):
    """A node that begins, with the visits whose outputs it gets, one after the other."""

    node_id: str
    visit: int
    causes: tuple[Key, ...]


class Arriving:
    """What has come to each node."""

    def __init__(self, graph: Graph, first: str, past: Past) -> None:
        self.graph, self.first, self.past = graph, first, past
        # Of each node its sources, each once in the order of the edges, with what came from them.
        self.came: dict[str, dict[str, set[Visit]]] = {node.id: {} for node in graph.nodes}
        for edge in graph.edges:
            self.came[edge.target].setdefault(edge.source, set()).update(past.followed[edge])

    def begin(self, node: Node) -> Begin | None:
        """The next visit of a node, if it can begin."""
        before = self.past.latest(node.id)
        if before is not None and before.end is None:
            return None
        feeds = self._feeds(node, before)
        visit = 1 if before is None else before.visit + 1
        return Begin(node.id, visit, tuple(one.key for one in feeds)) if feeds else None

    def bears(self, one: Visit, known: set[Key]) -> bool:
        """Whether a visit stands on visits that are known."""
        if self.graph.has_circles:
            return bool(one.causes) and known.issuperset(one.causes)
        return bool(self._feeds(self.graph.node(one.node_id), None))

    def is_stuck(self, node: Node) -> bool:
        return bool(self._fresh(node, self.past.latest(node.id)))

    def _feeds(self, node: Node, before: Visit | None) -> list[Visit]:
        """The visits that let this node start, in the order of the edges; none: it cannot yet."""
        fresh = self._fresh(node, before)
        if node.join is Join.ANY or not fresh:
            return list(fresh.values())[:1]
        back, ahead = self._around(node)
        returned = [one for source, one in fresh.items() if source in back]
        if returned:
            return returned[:1]
        # What lies outside the circle came once, for every visit.
        standing = {} if before is None else self._latest(node, without=ahead)
        wanted = [source for source in self.came[node.id] if source not in back]
        here = standing | fresh
        return [here[source] for source in wanted] if here.keys() >= set(wanted) else []

    def _around(self, node: Node) -> tuple[set[str], set[str]]:
        """Nodes that come only after this one, and all that can come after it."""
        if not self.graph.has_circles:
            return set(), set()
        ways = graph_cycles.ways(self.graph)
        return graph_cycles.behind(ways, self.first, node.id), graph_cycles.ahead_of(ways, node.id)

    def _fresh(self, node: Node, before: Visit | None) -> dict[str, Visit]:
        """What may let a node begin, by source: anything at first, then only what has come about
        by its own latest visit. So visits never mix, however slow one branch is."""
        latest = self._latest(node)
        found: dict[str, Visit] = {}
        for source, came in self.came[node.id].items():
            may = [latest[source]] if source in latest else []
            if node.join is Join.ANY:
                may = sorted(came, key=lambda one: one.visit)
            may = [one for one in may if before is None or self.past.descends(one, before)]
            found |= {source: may[0]} if may else {}
        return found

    def _latest(self, node: Node, without: Collection[str] = ()) -> dict[str, Visit]:
        """What came from the latest visits; a source that has begun again is waited for."""
        return {
            source: one
            for source, came in self.came[node.id].items()
            if (one := self.past.latest(source)) in came and one and source not in without
        }
