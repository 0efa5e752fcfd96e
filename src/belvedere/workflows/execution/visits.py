"""The visits of the nodes of a graph so far, and which visit led to which. Pure."""

from collections.abc import Iterable

import msgspec

from belvedere.workflow_specs.model import ALWAYS, Edge, Graph, StepRow, StepState

# A node, and the number of its visit.
VisitKey = tuple[str, int]
_decode_keys = msgspec.json.Decoder(tuple[VisitKey, ...]).decode


class VisitEnd(msgspec.Struct, frozen=True):
    """How a visit ended. Good: in the state normal or success."""

    trigger_name: str
    is_good: bool


class Visit(msgspec.Struct, frozen=True):
    """A node that has started; `causes` are the visits whose ends started it."""

    node_id: str
    visit: int = 1
    # None: it has not ended.
    end: VisitEnd | None = None
    causes: tuple[VisitKey, ...] = ()

    @property
    def key(self) -> VisitKey:
        return (self.node_id, self.visit)


def visits_from_steps(steps: Iterable[StepRow]) -> list[Visit]:
    return [Visit(step.node_id, step.visit, _end(step), causes_of(step)) for step in steps]


def causes_of(step: StepRow) -> tuple[VisitKey, ...]:
    return _decode_keys(step.causes)


def _end(step: StepRow) -> VisitEnd | None:
    is_over = step.state == StepState.ENDED
    return VisitEnd(step.trigger_name or "", bool(step.is_good)) if is_over else None


class VisitHistory:
    """The visits of each node, the ends that edges followed, and those beyond an edge's limit."""

    def __init__(self, graph: Graph, visits: Iterable[Visit]) -> None:
        self.by_node: dict[str, list[Visit]] = {}
        for visit in sorted(visits, key=lambda visit: visit.visit):
            self.by_node.setdefault(visit.node_id, []).append(visit)
        # For each edge the visits whose ends it follows, oldest first, and those beyond its limit.
        self.followed: dict[Edge, list[Visit]] = {}
        self.exhausted: dict[Edge, list[Visit]] = {}
        for edge in graph.edges:
            ended = [v for v in self.by_node.get(edge.source, ()) if _is_followed(edge, v)]
            self.followed[edge] = ended[: edge.bound]
            if beyond := ended[len(self.followed[edge]) :]:
                self.exhausted[edge] = beyond
        # Without cycles no node starts twice, so that nothing reads the ancestors.
        self._ancestors = _ancestors(self.by_node) if graph.has_cycles else {}

    def latest(self, node_id: str) -> Visit | None:
        visits = self.by_node.get(node_id)
        return visits[-1] if visits else None

    @property
    def is_under_way(self) -> bool:
        return any(visits[-1].end is None for visits in self.by_node.values())

    def descends(self, visit: Visit, ancestor: Visit) -> bool:
        """Whether it started because the ancestor ended, directly or through others."""
        return self._ancestors.get(visit.key, {}).get(ancestor.node_id, 0) >= ancestor.visit


def _is_followed(edge: Edge, visit: Visit) -> bool:
    return visit.end is not None and edge.on in (ALWAYS, visit.end.trigger_name)


def _ancestors(by_node: dict[str, list[Visit]]) -> dict[VisitKey, dict[str, int]]:
    """For every visit the latest visit of each node that it descends from, including itself. That
    covers all earlier visits: every visit of a node descends from the one before."""
    by_key = {visit.key: visit for visits in by_node.values() for visit in visits}
    ancestors: dict[VisitKey, dict[str, int]] = {}
    todo = list(by_key)
    while todo:
        visit = by_key[todo[-1]]
        missing = [key for key in visit.causes if key in by_key and key not in ancestors]
        if missing and visit.key not in ancestors:
            todo += missing
            continue
        todo.pop()
        inherited = _latest_of(ancestors.get(key, {}) for key in visit.causes)
        ancestors[visit.key] = inherited | {visit.node_id: visit.visit}
    return ancestors


def _latest_of(numbers: Iterable[dict[str, int]]) -> dict[str, int]:
    latest: dict[str, int] = {}
    for by_node in numbers:
        for node_id, number in by_node.items():
            latest[node_id] = max(number, latest.get(node_id, 0))
    return latest
