"""The rule of workflows told once more, as tokens that walk along the edges.

Slow and plain on purpose, and written without looking at `workflows/rule.py`: every end sends a
token along each edge that it opens; a node with `any` begins at the first token, one with `all`
when a token of every source lies there; when nobody runs, it is over.
"""

from dataclasses import dataclass, field


@dataclass
class Plan:
    """Nodes in order, those that wait for all, and edges (source, target, on) in order."""

    nodes: list[str]
    patient: set[str]
    edges: list[tuple[str, str, str]]


@dataclass
class Walk:
    plan: Plan
    tokens: dict[str, list[str]] = field(default_factory=dict)
    running: set[str] = field(default_factory=set)
    # Each node that began, with those whose output it got.
    began: dict[str, list[str]] = field(default_factory=dict)
    unhandled: bool = False

    def begin(self, node: str, fed_by: list[str]) -> None:
        assert node not in self.began, "a node begins once"
        self.began[node] = fed_by
        self.running.add(node)

    def end(self, node: str, event: str, good: bool) -> None:
        self.running.remove(node)
        sent = 0
        for source, target, on in self.plan.edges:
            if source != node or on not in (event, "always"):
                continue
            sent += 1
            lying = self.tokens.setdefault(target, [])
            if node not in lying:
                lying.append(node)
        if not sent and not good:
            self.unhandled = True
        for target in self.plan.nodes:
            self._try(target)

    def _try(self, node: str) -> None:
        lying = self.tokens.get(node, [])
        if node in self.began or not lying:
            return
        if node not in self.plan.patient:
            self.begin(node, lying[:1])
            return
        sources: list[str] = []
        for source, target, _ in self.plan.edges:
            if target == node and source not in sources:
                sources.append(source)
        if all(source in lying for source in sources):
            self.begin(node, sources)

    @property
    def is_over(self) -> bool:
        return not self.running

    @property
    def has_failed(self) -> bool:
        stuck = any(lying and node not in self.began for node, lying in self.tokens.items())
        return self.unhandled or stuck
