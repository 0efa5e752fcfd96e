"""The decision compared with the reference: random graphs, random ends, in every order."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from belvedere.workflow_specs import graph_validation
from belvedere.workflow_specs.model import Edge, Graph, Join, Node
from belvedere.workflows.execution import decision
from belvedere.workflows.execution.visits import Visit, VisitEnd, VisitKey
from workflows.reference import Plan, ReferenceRun

EVENTS = ("success", "failure", "blue")
ENDS = (
    VisitEnd("success", True),
    VisitEnd("failure", False),
    VisitEnd("timeout", False),
    VisitEnd("blue", True),
    VisitEnd("blue", False),
)


NAMES = "abcdefgh"


@st.composite
def plans(draw: st.DrawFn, circles: bool = False) -> Plan:
    """Any graph; every node is reached from the first by some edge, and edges that lead back have a
    limit."""
    nodes = list(NAMES[: draw(st.integers(1, 6 if circles else 8))])
    edges: list[tuple[str, str, str]] = []
    events = st.sampled_from((*EVENTS, "always"))
    for n, target in enumerate(nodes[1:], 1):
        for source in draw(st.lists(st.sampled_from(nodes[:n]), min_size=1, max_size=3)):
            edges.append((source, target, draw(events)))
    bounds = {}
    for _ in range(draw(st.integers(1, 3)) if circles else 0):
        place = draw(st.integers(0, len(nodes) - 1))
        edge = (nodes[place], nodes[draw(st.integers(0, place))], draw(events))
        edges.append(edge)
        bounds[edge] = draw(st.integers(1, 3))
    patient = draw(st.sets(st.sampled_from(nodes[not circles :]))) if len(nodes) > 1 else set()
    shuffled = draw(st.permutations(list(dict.fromkeys(edges))))
    return Plan(draw(st.permutations(nodes)), patient, shuffled, bounds)


def graph_of(plan: Plan) -> Graph:
    join = {True: Join.ALL, False: Join.ANY}
    return Graph(
        [Node(name, "0" * 24, join[name in plan.patient]) for name in plan.nodes],
        [Edge(*edge, plan.bounds.get(edge)) for edge in plan.edges],
    )


class Progress:
    """The rows of a job, as the decision function gets them."""

    def __init__(self) -> None:
        self.visits: dict[VisitKey, Visit] = {("a", 1): Visit("a")}

    def end(self, node: str, end: VisitEnd) -> None:
        (item,) = [
            item for item in self.visits.values() if item.node_id == node and item.end is None
        ]
        self.visits[item.key] = replace(item, end=end)

    def request(self, graph: Graph) -> decision.Decision:
        """A node that starts has started. The order of the rows means nothing."""
        todo = decision.decide(graph, "a", list(self.visits.values())[::-1])
        for start in todo.starts:
            assert (start.node_id, start.visit) not in self.visits
            key = (start.node_id, start.visit)
            self.visits[key] = Visit(start.node_id, start.visit, None, start.causes)
        return todo


def play(plan: Plan, data: st.DataObject) -> tuple[ReferenceRun, Progress]:
    """In whatever order steps end: the same visits start, with the same sources."""
    graph, walk, progress = graph_of(plan), ReferenceRun(plan), Progress()
    walk.begin("a", [])
    while not walk.is_over:
        node = data.draw(st.sampled_from(sorted(walk.running)))
        end = data.draw(st.sampled_from(ENDS))
        before = set(walk.started_visits)
        walk.end(node, end.trigger_name, end.is_good)
        progress.end(node, end)
        todo = progress.request(graph)
        fresh = {key: feeds for key, feeds in walk.started_visits.items() if key not in before}
        assert {(start.node_id, start.visit): list(start.causes) for start in todo.starts} == fresh
        assert todo.is_over is walk.is_over
        # Called again, it has nothing more to start.
        assert progress.request(graph).starts == []
    assert todo.has_failed is walk.has_failed
    assert {(edge.source, edge.target, edge.on) for edge in todo.exhausted} == walk.exhausted
    return walk, progress


@given(plans(), st.data())
def test_no_node_starts_twice(plan: Plan, data: st.DataObject) -> None:
    """It ends, and no node has started twice."""
    walk, _ = play(plan, data)
    assert {visit for _, visit in walk.started_visits} == {1}


@given(plans(circles=True), st.data())
def test_cycles_end_within_their_limits(plan: Plan, data: st.DataObject) -> None:
    """Whatever the cycles and joins are: the limits hold, and visits never mix."""
    assert graph_validation.faults_of(graph_of(plan), "a") == []
    walk, progress = play(plan, data)
    most = 1 + sum(plan.bounds.values())
    assert max(visit for _, visit in walk.started_visits) <= most
    for (source, target, on), bound in plan.bounds.items():
        took = [item for item in progress.visits.values() if item.node_id == target]
        by_it = [
            key for item in took for key in item.causes if _goes(progress.visits[key], source, on)
        ]
        others = [edge for edge in plan.edges if edge[:2] == (source, target)]
        assert len(by_it) <= bound or len(others) > 1


def _goes(visit: Visit, source: str, on: str) -> bool:
    return (
        visit.node_id == source
        and visit.end is not None
        and on in (visit.end.trigger_name, "always")
    )


@given(plans(), st.data())
def test_ends_that_are_processed_together_start_the_same_nodes(
    plan: Plan, data: st.DataObject
) -> None:
    """A server that was stopped finds many ends at once."""
    graph = graph_of(plan)
    how = {name: data.draw(st.sampled_from(ENDS)) for name in plan.nodes}

    def run(at_once: bool) -> set[VisitKey]:
        progress = Progress()
        while is_open := sorted(
            item.node_id for item in progress.visits.values() if item.end is None
        ):
            for node in is_open if at_once else is_open[:1]:
                progress.end(node, how[node])
            progress.request(graph)
        return set(progress.visits)

    assert run(at_once=True) == run(at_once=False)


@given(st.booleans(), st.data())
def test_the_steps_that_a_restart_keeps_are_consistent(circles: bool, data: st.DataObject) -> None:
    """Kept steps could have started from kept steps alone, and no failed step is among them."""
    plan = data.draw(plans(circles=circles))
    graph, (walk, progress) = graph_of(plan), play(plan, data)
    visits = list(progress.visits.values())
    again = decision.unhandled(graph, visits)
    assert bool(again) is (walk.unhandled or bool(walk.exhausted))
    actual_visits = decision.supported(
        graph, "a", [item for item in visits if item.key not in again]
    )
    keys = {item.key for item in actual_visits}
    assert not again & keys
    assert decision.supported(graph, "a", actual_visits) == actual_visits
    # Every visit exists only together with those before it.
    assert all((node, visit - 1) in keys for node, visit in keys if visit > 1)
    # From there on, exactly the steps that were dropped or never started can start.
    if keys:
        todo = decision.decide(graph, "a", actual_visits)
        assert not {(item.node_id, item.visit) for item in todo.starts} & keys
        if not circles:
            begins: set[Any] = {(item.node_id, item.visit) for item in todo.starts}
            assert again <= begins | again - _reachable(graph, actual_visits)


def _reachable(graph: Graph, visits: list[Visit]) -> set[VisitKey]:
    ends = {item.node_id: item.end for item in visits}
    return {
        (edge.target, 1)
        for edge in graph.edges
        if (end := ends.get(edge.source)) and edge.on in ("always", end.trigger_name)
    }
