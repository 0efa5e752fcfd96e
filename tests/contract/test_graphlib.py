"""Graphs of workflows in the format of graphlib, as clients of TheEye read and send them."""

from typing import Any

import pytest

from contract.client import Client
from contract.flowing import create_workflow
from contract.world import World

OPTIONS = {"directed": True, "multigraph": False, "compound": False}


async def _tasks(world: World, *names: str) -> list[str]:
    return [await world.task(name) for name in names]


async def test_a_graph_is_shown_in_the_format_of_graphlib(
    world: World, ada: Client, vic: Client
) -> None:
    a, b = await _tasks(world, "a", "b")
    nodes = [
        {"id": "first", "task_id": a, "position": {"x": 1, "y": 2}},
        {"id": "second", "task_id": b, "join": "all"},
    ]
    edges = [{"source": "first", "target": "second", "on": "failure"}]
    workflow = await create_workflow(world, ada, graph={"nodes": nodes, "edges": edges})
    target = f"/acme/workflows/{workflow['id']}/graph"
    graph = (await vic.get(f"{target}?format=graphlib")).json
    assert graph["options"] == OPTIONS
    assert graph["edges"] == [{"v": "first", "w": "second", "value": "failure"}]
    first, second = graph["nodes"]
    assert (first["v"], second["v"]) == ("first", "second")
    names = {"id": a, "name": "a", "_type": "ScriptTask", "type": "script"}
    assert first["value"] == {**names, "task_id": a, "position": {"x": 1.0, "y": 2.0}}
    assert second["value"]["join"] == "all"
    assert (await vic.get(f"{target}?format=")).json == workflow["graph"]
    refusal = await vic.get(f"{target}?format=dot")
    assert (refusal.status, refusal.json["errors"][0]["field"]) == (400, "format")


async def test_the_shown_graph_creates_an_equal_workflow(world: World, ada: Client) -> None:
    a, b = await _tasks(world, "a", "b")
    inner = await create_workflow(world, ada, name="inner")
    nodes = [
        {"id": "first", "task_id": a, "retry": {"times": 2, "delay": 1000}},
        {"id": "again", "task_id": a, "arguments": [{"node": "first"}]},
        {"id": "second", "task_id": b, "position": {"x": 1, "y": 2}},
        {"id": "third", "workflow_id": inner["id"]},
    ]
    edges = [
        {"source": "first", "target": "again"},
        {"source": "first", "target": "second", "on": "failure"},
        # Two edges between the same nodes.
        {"source": "first", "target": "second", "on": "timeout"},
        {"source": "second", "target": "third", "on": "deployed"},
        {"source": "third", "target": "first", "on": "failure", "max_visits": 3},
    ]
    workflow = await create_workflow(
        world, ada, graph={"nodes": nodes, "edges": edges}, start="first"
    )
    graph = (await ada.get(f"/acme/workflows/{workflow['id']}/graph?format=graphlib")).json
    assert graph["options"]["multigraph"] is True
    copy = await create_workflow(world, ada, name="copy", graph=graph, start="first")
    assert copy["graph"] == workflow["graph"]
    changed = await ada.patch(f"/acme/workflows/{copy['id']}", {"graph": graph})
    assert (changed.status, changed.json["version"]) == (200, copy["version"])


async def test_a_graph_of_theeye_creates_a_workflow(world: World, ada: Client) -> None:
    a, b = await _tasks(world, "a", "b")
    nodes = [
        {"v": a, "value": {"id": a, "name": "a", "_type": "ScriptTask", "type": "script"}},
        {"v": b},
    ]
    edges = [{"v": a, "w": b, "value": "success"}]
    body = {"name": "x", "graph": {"options": OPTIONS, "nodes": nodes, "edges": edges}}
    response = await ada.post("/acme/workflows", {**body, "start_task_id": a})
    assert (response.status, response.json["start"]) == (200, a), response.body
    assert [node["task_id"] for node in response.json["graph"]["nodes"]] == [a, b]
    assert response.json["graph"]["edges"] == [{"source": a, "target": b, "on": "success"}]


async def test_events_as_nodes_become_edges(world: World, ada: Client) -> None:
    """The format of older versions of TheEye: task, event, task."""
    a, b = await _tasks(world, "a", "b")
    nodes = [
        {"v": a, "value": {"_type": "ScriptTask"}},
        {"v": "e", "value": {"_type": "TaskEvent", "name": "failure"}},
        {"v": b, "value": {"_type": "ScriptTask"}},
    ]
    edges = [{"v": a, "w": "e"}, {"v": "e", "w": b}]
    body = {"name": "x", "graph": {"nodes": nodes, "edges": edges}}
    record = (await ada.post("/acme/workflows", body)).json
    assert record["graph"]["edges"] == [{"source": a, "target": b, "on": "failure"}]


@pytest.mark.parametrize(
    ("node", "field"),
    [
        ({"v": "temporary", "value": {"name": "x"}}, "graph.nodes[0].task_id"),
        ({"v": "x", "value": {"id": ["x"]}}, "graph.nodes[0].value"),
        ({"v": "x", "value": {"join": "some"}}, "graph.nodes[0].value"),
        ({"value": {"id": "x"}}, "graph.nodes[0].id"),
        ({"v": "x", "value": "x"}, "graph.nodes[0].value"),
    ],
)
async def test_a_wrong_node_is_named(ada: Client, node: dict[str, Any], field: str) -> None:
    response = await ada.post("/acme/workflows", {"name": "x", "graph": {"nodes": [node]}})
    assert (response.status, response.json["errors"][0]["field"]) == (400, field), response.body


async def test_a_task_of_another_organization_does_not_exist(world: World, eve: Client) -> None:
    (a,) = await _tasks(world, "a")
    response = await eve.post("/globex/workflows", {"name": "x", "graph": {"nodes": [{"v": a}]}})
    fields = [fault["field"] for fault in response.json["errors"]]
    assert (response.status, fields) == (400, ["graph.nodes[0].task_id"])


async def test_many_paths_through_one_event_are_refused(world: World, ada: Client) -> None:
    """The number of paths is the product of the edges to the event and from it."""
    (a,) = await _tasks(world, "a")
    nodes = [{"v": a}, {"v": "e", "value": {"_type": "TaskEvent"}}]
    edges = [{"v": f"s{n}", "w": "e"} for n in range(4_000)]
    edges += [{"v": "e", "w": f"t{n}"} for n in range(4_000)]
    response = await ada.post(
        "/acme/workflows", {"name": "x", "graph": {"nodes": nodes, "edges": edges}}
    )
    assert (response.status, response.json["code"]) == (400, "invalid_workflow")
