"""What has been taken of a graph so far, and what descends from what. Pure."""

from collections.abc import Iterable

import msgspec

from belvedere.workflow_specs.model import ALWAYS, Edge, Graph, Step, StepState

# A node, and which visit of it.
Key = tuple[str, int]
_keys = msgspec.json.Decoder(tuple[Key, ...]).decode


class End(msgspec.Struct, frozen=True):
    """How a visit ended. Good: in the state normal or success."""

    trigger_name: str
    is_good: bool


class Visit(msgspec.Struct, frozen=True):
    """A node that has begun; `causes` are the visits whose ends let it begin."""

    node_id: str
    visit: int = 1
    # None: it is under way.
    end: End | None = None
    causes: tuple[Key, ...] = ()

    @property
    def key(self) -> Key:
        return (self.node_id, self.visit)


def visits(taken: Iterable[Step]) -> list[Visit]:
    return [Visit(one.node_id, one.visit, _end(one), causes_of(one)) for one in taken]


def causes_of(step: Step) -> tuple[Key, ...]:
    return _keys(step.causes)


def _end(step: Step) -> End | None:
    is_over = step.state == StepState.ENDED
    return End(step.trigger_name or "", bool(step.is_good)) if is_over else None


def follows(edge: Edge, end: End) -> bool:
    return edge.on in (ALWAYS, end.trigger_name)


class Past:
    """The visits of each node, the ends that were followed, and those that met a bound."""

    def __init__(self, graph: Graph, taken: Iterable[Visit]) -> None:
        self.visits: dict[str, list[Visit]] = {}
        for one in sorted(taken, key=lambda one: one.visit):
            self.visits.setdefault(one.node_id, []).append(one)
        # Of each edge the visits whose ends it follows, oldest first, and those beyond its bound.
        self.followed: dict[Edge, list[Visit]] = {}
        self.spent: dict[Edge, list[Visit]] = {}
        for edge in graph.edges:
            ended = [one for one in self.visits.get(edge.source, ()) if _is_followed(edge, one)]
            self.followed[edge] = ended[: edge.bound]
            if beyond := ended[len(self.followed[edge]) :]:
                self.spent[edge] = beyond
        # Without circles nothing begins again, so that nobody asks.
        self._seen = _seen(self.visits) if graph.has_circles else {}

    def latest(self, node_id: str) -> Visit | None:
        found = self.visits.get(node_id)
        return found[-1] if found else None

    @property
    def is_under_way(self) -> bool:
        return any(found[-1].end is None for found in self.visits.values())

    def descends(self, one: Visit, other: Visit) -> bool:
        """Whether it began because the other one ended, over however many others."""
        return self._seen.get(one.key, {}).get(other.node_id, 0) >= other.visit


def _is_followed(edge: Edge, one: Visit) -> bool:
    return one.end is not None and follows(edge, one.end)


def _seen(taken: dict[str, list[Visit]]) -> dict[Key, dict[str, int]]:
    """Of every visit the newest visit of each node that it descends from, itself too. That tells
    of all older ones: every visit descends from the one before."""
    known = {one.key: one for found in taken.values() for one in found}
    seen: dict[Key, dict[str, int]] = {}
    todo = list(known)
    while todo:
        one = known[todo[-1]]
        lacking = [key for key in one.causes if key in known and key not in seen]
        if lacking and one.key not in seen:
            todo += lacking
            continue
        todo.pop()
        seen[one.key] = _newest(seen.get(key, {}) for key in one.causes) | {one.node_id: one.visit}
    return seen


def _newest(found: Iterable[dict[str, int]]) -> dict[str, int]:
    newest: dict[str, int] = {}
    for one in found:
        for node_id, visit in one.items():
            newest[node_id] = max(visit, newest.get(node_id, 0))
    return newest
