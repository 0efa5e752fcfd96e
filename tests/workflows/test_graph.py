"""Valid graphs, and the error for each invalid one."""

from typing import Any

import msgspec
import pytest

from belvedere.workflow_specs.graph_validation import faults_of, start_of
from belvedere.workflow_specs.model import Graph

TASK = "0" * 24


FIELDS = ("source", "target", "on", "max_visits")


def make_graph(nodes: list[Any], *edges: tuple[Any, ...]) -> Graph:
    items = [{"id": item} if isinstance(item, str) else item for item in nodes]
    return msgspec.convert(
        {
            "nodes": [{"task_id": TASK, **node} for node in items],
            "edges": [dict(zip(FIELDS, edge, strict=False)) for edge in edges],
        },
        Graph,
    )


def test_a_valid_graph_has_no_faults() -> None:
    graph = make_graph(["a", "b", "c"], ("a", "b"), ("a", "c", "failure"), ("b", "c", "always"))
    assert faults_of(graph, "a") == []
    assert start_of(graph, "") == "a"


@pytest.mark.parametrize(
    ("graph", "field", "message"),
    [
        (make_graph([]), "graph.nodes", "Must have 1 to 200 nodes."),
        (make_graph(["a", "a"]), "graph.nodes[1].id", "Another node has the id 'a'"),
        (make_graph([""]), "graph.nodes[0].id", "1 to 128"),
        (make_graph([" a"]), "graph.nodes[0].id", "Remove the spaces"),
        (make_graph(["a\x00"]), "graph.nodes[0].id", "printable"),
        (make_graph(["a"], ("a", "b")), "graph.edges[0].target", "no node 'b'"),
        (make_graph(["a", "b"], ("x", "b")), "graph.edges[0].source", "no node 'x'"),
        (make_graph(["a", "b"], ("a", "b", "")), "graph.edges[0].on", "1 to 128"),
        (make_graph(["a", "b"], ("a", "b", "lost")), "graph.edges[0].on", "waits for a lost job"),
        (
            make_graph(["a", "b"], ("a", "b"), ("a", "b")),
            "graph.edges[1]",
            "Another edge has the same",
        ),
        (make_graph(["a"], ("a", "a")), "graph.edges", "a → a. Set max_visits on one of them."),
        (make_graph(["a"], ("a", "a", "again", 0)), "graph.edges[0].max_visits", "1 to 100"),
        (make_graph(["a"], ("a", "a", "again", 101)), "graph.edges[0].max_visits", "1 to 100"),
        (
            make_graph(["a", "b"], ("a", "b"), ("b", "a", "x", 1), ("b", "a", "x", 2)),
            "graph.edges[2]",
            "Another edge has the same",
        ),
        (
            make_graph(["a", "b", "c"], ("a", "b"), ("b", "c"), ("c", "b", "failure")),
            "graph.edges",
            "b → c → b.",
        ),
        (
            # A cycle with a limit does not make another one valid.
            make_graph(["a", "b", "c"], ("a", "b"), ("b", "a", "x", 2), ("b", "c"), ("c", "b")),
            "graph.edges",
            "b → c → b.",
        ),
        (make_graph(["a", "b"]), "graph.nodes[1]", "'b' cannot be reached from 'a'."),
        (
            make_graph([{"id": "a", "retry": {"times": 101}}]),
            "graph.nodes[0].retry.times",
            "0 to 100",
        ),
    ],
)
def test_each_fault_names_its_field(graph: Graph, field: str, message: str) -> None:
    (fault,) = faults_of(graph, "a")
    assert fault.field == field
    assert message in fault.message


def test_the_start_must_be_named_unless_it_is_clear() -> None:
    two = make_graph(["a", "b", "c"], ("a", "c"), ("b", "c"))
    assert start_of(two, "") == ""
    assert [fault.field for fault in faults_of(two, "")] == ["start"]
    assert [fault.field for fault in faults_of(two, "x")] == ["start"]


def test_a_long_chain_is_accepted() -> None:
    names = [f"n{number}" for number in range(200)]
    graph = make_graph(list(names), *zip(names, names[1:], strict=False))
    assert faults_of(graph, "n0") == []
    ring = make_graph(list(names), *zip(names, names[1:], strict=False), (names[-1], names[0]))
    assert len(faults_of(ring, "n0")) == 1


def test_a_cycle_with_a_limit_is_valid() -> None:
    graph = make_graph(["a", "b", "c"], ("a", "b"), ("b", "c"), ("c", "a", "failure", 3))
    assert faults_of(graph, "a") == []
    # An edge that leads back does not hide where the graph starts.
    assert start_of(graph, "") == "a"
    assert faults_of(make_graph(["a"], ("a", "a", "again", 100)), "a") == []


def test_a_limit_of_null_means_no_limit() -> None:
    graph = make_graph(["a", "b"], ("a", "b", "success", None))
    assert graph == make_graph(["a", "b"], ("a", "b"))
    assert msgspec.to_builtins(graph.edges[0]) == {"source": "a", "target": "b", "on": "success"}
