"""GET /workflows/triggers: what starts what, as one graph."""

from typing import Any

from contract.client import Client
from contract.flowing import create_workflow
from contract.world import World

MISSING = "0" * 24


async def chain(world: World, ada: Client, **more: Any) -> dict[str, str]:
    """A webhook starts a, which starts b and, when it fails, the workflow c."""
    ids = {"a": await world.task("a"), "b": await world.task("b", **more)}
    ids["c"] = (
        await create_workflow(
            world, ada, name="c", graph={"nodes": [{"id": "x", "task_id": ids["b"]}]}
        )
    )["id"]
    hook = await ada.post("/acme/webhook", {"name": "push", "tasks": [ids["a"]]})
    ids["push"] = hook.json["id"]
    await ada.patch(f"/acme/task/{ids['b']}", {"triggers": [f"task:{ids['a']}:success"]})
    await ada.patch(f"/acme/workflows/{ids['c']}", {"triggers": [f"task:{ids['a']}:failure"]})
    return ids


def edge_names(graph: Any) -> set[tuple[str, str]]:
    """Its edges, by the names of what they join."""
    names = {node["v"]: node["value"]["name"] for node in graph["nodes"]}
    return {(names[edge["v"]], names[edge["w"]]) for edge in graph["edges"]}


async def test_the_trigger_graph_is_returned(world: World, ada: Client) -> None:
    ids = await chain(world, ada)
    graph = (await ada.get("/acme/workflows/triggers")).json
    assert edge_names(graph) == {
        *{("push", "trigger"), ("trigger", "a")},
        *{("a", "success"), ("success", "b")},
        *{("a", "failure"), ("failure", "c")},
    }
    kinds = {node["value"]["name"]: node["value"]["_type"] for node in graph["nodes"]}
    assert (kinds["a"], kinds["success"], kinds["c"]) == ("ScriptTask", "TaskEvent", "Workflow")
    assert (await ada.get("/workflows/triggers?customer=acme")).json == graph
    assert {node["v"] for node in graph["nodes"]} > set(ids.values())


async def test_the_graph_of_one_object_shows_its_sources_and_targets(
    world: World, ada: Client
) -> None:
    ids = await chain(world, ada)
    part = (await ada.get(f"/acme/workflows/triggers?node={ids['b']}")).json
    assert edge_names(part) == {
        *{("push", "trigger"), ("trigger", "a"), ("a", "success"), ("success", "b")}
    }
    all_of_it = (await ada.get(f"/acme/workflows/triggers?node={ids['a']}")).json
    assert len(edge_names(all_of_it)) == 6
    for missing in (MISSING, "x"):
        assert (await ada.get(f"/acme/workflows/triggers?node={missing}")).status == 404


async def test_the_graph_shows_only_visible_objects(world: World, ada: Client, uma: Client) -> None:
    ids = await chain(world, ada, acl=[])
    result = edge_names((await uma.get("/acme/workflows/triggers")).json)
    assert ("success", "b") not in result and ("failure", "c") in result
    assert (await uma.get(f"/acme/workflows/triggers?node={ids['b']}")).status == 404
    empty = (await world.client("eve").get("/globex/workflows/triggers")).json
    assert (empty["nodes"], empty["edges"]) == ([], [])
