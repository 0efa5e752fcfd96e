"""The rule against a reference: random graphs, random ends, in every order."""

from hypothesis import given
from hypothesis import strategies as st

from belvedere.workflows import rule
from belvedere.workflows.model import Edge, Graph, Join, Node
from belvedere.workflows.rule import End
from workflows.reference import Plan, Walk

EVENTS = ("success", "failure", "blue")
ENDS = (
    End("success", True),
    End("failure", False),
    End("timeout", False),
    End("blue", True),
    End("blue", False),
)


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    """Any graph without circles; every node is reached from the first by some edge."""
    nodes = [chr(97 + n) for n in range(draw(st.integers(1, 8)))]
    edges: list[tuple[str, str, str]] = []
    for n, target in enumerate(nodes[1:], 1):
        for source in draw(st.lists(st.sampled_from(nodes[:n]), min_size=1, max_size=3)):
            edges.append((source, target, draw(st.sampled_from((*EVENTS, "always")))))
    patient = draw(st.sets(st.sampled_from(nodes[1:]))) if len(nodes) > 1 else set()
    shuffled = draw(st.permutations(list(dict.fromkeys(edges))))
    return Plan(draw(st.permutations(nodes)), patient, shuffled)


def graph_of(plan: Plan) -> Graph:
    join = {True: Join.ALL, False: Join.ANY}
    return Graph(
        [Node(name, "0" * 24, join[name in plan.patient]) for name in plan.nodes],
        [Edge(*edge) for edge in plan.edges],
    )


@given(plans(), st.data())
def test_it_works(plan: Plan, data: st.DataObject) -> None:
    """Whatever ends in whatever order: the same nodes begin, with the same feeds, and it ends."""
    graph, walk = graph_of(plan), Walk(plan)
    walk.begin("a", [])
    ended: dict[str, End] = {}
    begun = {"a"}
    while not walk.is_over:
        node = data.draw(st.sampled_from(sorted(walk.running)))
        end = data.draw(st.sampled_from(ENDS))
        before = set(walk.began)
        walk.end(node, end.trigger_name, end.is_good)
        ended[node] = end
        todo = rule.decide(graph, ended, begun - ended.keys())
        fresh = {name: feeds for name, feeds in walk.began.items() if name not in before}
        assert dict(todo.start) == fresh
        begun |= fresh.keys()
        assert todo.is_over is walk.is_over
        # Asked again, it has nothing more to start.
        again = rule.decide(graph, ended, begun - ended.keys())
        assert again.start == []
    assert todo.has_failed is walk.has_failed


@given(plans(), st.data())
def test_ends_that_are_taken_together_start_the_same_nodes(plan: Plan, data: st.DataObject) -> None:
    """A server that was away finds many ends at once."""
    graph = graph_of(plan)
    how = {name: data.draw(st.sampled_from(ENDS)) for name in plan.nodes}

    def played(at_once: bool) -> set[str]:
        ended: dict[str, End] = {}
        begun = {"a"}
        while is_open := sorted(begun - ended.keys()):
            for node in is_open if at_once else is_open[:1]:
                ended[node] = how[node]
            todo = rule.decide(graph, ended, begun - ended.keys())
            begun |= {name for name, _ in todo.start}
        return begun

    assert played(at_once=True) == played(at_once=False)


@given(plans(), st.data())
def test_what_a_restart_keeps_stands_by_itself(plan: Plan, data: st.DataObject) -> None:
    """Kept steps could have begun from kept steps alone, and nothing bad is among them."""
    graph = graph_of(plan)
    walk = Walk(plan)
    walk.begin("a", [])
    ended: dict[str, End] = {}
    while not walk.is_over:
        node = min(walk.running)
        ended[node] = data.draw(st.sampled_from(ENDS))
        walk.end(node, ended[node].trigger_name, ended[node].is_good)
    again = rule.unhandled(graph, ended)
    left = {name: end for name, end in ended.items() if name not in again}
    kept = rule.supported(graph, "a", left)
    assert not again & kept.keys()
    assert rule.supported(graph, "a", kept) == kept
    # From there on, exactly what was dropped or never begun can begin.
    if "a" in kept:
        todo = rule.decide(graph, kept, set())
        assert not {name for name, _ in todo.start} & kept.keys()
        assert again <= {name for name, _ in todo.start} | again - _reached(graph, kept)


def _reached(graph: Graph, kept: dict[str, End]) -> set[str]:
    return {e.target for e in graph.edges if e.source in kept and rule.follows(e, kept[e.source])}
