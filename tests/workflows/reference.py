"""The rules of workflows implemented once more, as tokens that move along the edges.

Slow and plain on purpose, and written without looking at `rule.py`: every end sends a
token along each edge that it opens, and the token knows all that it descends from; a node with
`any` begins at the first token, one with `all` when a token of every source lies there; a node that
has begun takes only tokens that descend from its latest visit; when nobody runs, it is over.
"""

from collections import Counter
from dataclasses import dataclass, field

Drawn = tuple[str, str, str]
Key = tuple[str, int]


@dataclass
class Plan:
    """Nodes in order, those that wait for all, edges (source, target, on) in order, and how often
    some of them may be followed."""

    nodes: list[str]
    patient: set[str]
    edges: list[Drawn]
    bounds: dict[Drawn, int] = field(default_factory=dict)

    def sources(self, node: str) -> list[str]:
        texts: list[str] = []
        for source, target, _ in self.edges:
            if target == node and source not in texts:
                texts.append(source)
        return texts

    def leads(self, start: str, goal: str, avoiding: str = "") -> bool:
        """Whether a path of one edge or more leads there."""
        fresh, result = [start], set()
        while fresh:
            here = fresh.pop()
            for source, target, _ in self.edges:
                if source == here and target != avoiding and target not in result:
                    result.add(target)
                    fresh.append(target)
        return goal in result


@dataclass
class ReferenceRun:
    plan: Plan
    start: str = "a"
    # Which visit of each node is the latest.
    visits: Counter[str] = field(default_factory=Counter)
    running: set[str] = field(default_factory=set)
    # Each visit that started, with those whose output it got, and with all that it descends from.
    started_visits: dict[Key, list[Key]] = field(default_factory=dict)
    past: dict[Key, set[Key]] = field(default_factory=dict)
    tokens: dict[str, dict[str, Key]] = field(default_factory=dict)
    followed: Counter[Drawn] = field(default_factory=Counter)
    unhandled: bool = False
    exhausted: set[Drawn] = field(default_factory=set)

    def begin(self, node: str, fed_by: list[Key]) -> None:
        assert node not in self.running, "one visit at a time"
        self.visits[node] += 1
        key = (node, self.visits[node])
        self.started_visits[key] = fed_by
        self.past[key] = {key}.union(*(self.past[item] for item in fed_by))
        self.running.add(node)
        for lying in self.tokens.values():
            lying.pop(node, None)

    def end(self, node: str, event: str, good: bool) -> None:
        self.running.remove(node)
        fitting = [edge for edge in self.plan.edges if edge[0] == node]
        fitting = [edge for edge in fitting if edge[2] in (event, "always")]
        for edge in fitting:
            self.followed[edge] += 1
            if self.followed[edge] > self.plan.bounds.get(edge, 1_000):
                self.exhausted.add(edge)
            else:
                self.tokens.setdefault(edge[1], {})[node] = (node, self.visits[node])
        if not fitting and not good:
            self.unhandled = True
        for target, fed_by in [(item, self._ready(item)) for item in self.plan.nodes]:
            if fed_by:
                self.begin(target, fed_by)

    def _current_tokens(self, node: str) -> dict[str, Key]:
        """The tokens that count, by source in the order of the edges."""
        if node in self.running:
            return {}
        lying, latest = self.tokens.get(node, {}), (node, self.visits[node])
        return {
            source: lying[source]
            for source in self.plan.sources(node)
            if source in lying and (latest[1] == 0 or latest in self.past[lying[source]])
        }

    def _ready(self, node: str) -> list[Key]:
        record = self._current_tokens(node)
        if not record or node not in self.plan.patient:
            return list(record.values())[:1]
        entering = [item for item in self.plan.sources(node) if not self._returns(item, node)]
        for source, key in record.items():
            if source not in entering:
                return [key]
        if self.visits[node]:
            for source, key in self.tokens[node].items():
                if not self.plan.leads(node, source):
                    record[source] = key
        return [record[item] for item in entering] if set(entering) <= record.keys() else []

    def _returns(self, source: str, node: str) -> bool:
        """Whether the source can be reached only through the node."""
        if source == node or node == self.start:
            return self.plan.leads(self.start, source) or source == self.start
        if source == self.start:
            return False
        there = self.plan.leads(self.start, source)
        return there and not self.plan.leads(self.start, source, avoiding=node)

    @property
    def is_over(self) -> bool:
        return not self.running

    @property
    def has_failed(self) -> bool:
        return (
            self.unhandled
            or bool(self.exhausted)
            or any(self._current_tokens(token) for token in self.tokens)
        )
