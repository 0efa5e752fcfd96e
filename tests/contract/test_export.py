"""An exported recipe can be imported again, with the same result."""

from typing import Any

import pytest

from contract.client import Client
from contract.flowing import create_workflow, run
from contract.world import SOURCE, World

PLACE = ("id", "task_id", "host_id", "script_id", "version", "creation_date", "last_update")


def essence(record: dict[str, Any]) -> dict[str, Any]:
    """Without values that depend on the place and the time."""
    remaining = {*PLACE, "acl", "triggers", "host", "script", "hostname", "tasks", "start_task_id"}
    remaining |= {"notes", "not_imported"}
    return {field: value for field, value in record.items() if field not in remaining}


async def test_a_task_is_exported_with_its_fields(world: World, ada: Client) -> None:
    fields: dict[str, Any] = {
        "description": "Greets.",
        "script_runas": "bash -e %script%",
        "task_arguments": [{"type": "input", "label": "who", "charsmax": 9}],
        "env": {"MODE": "fast"},
        "timeout": 5_000,
        "retry": {"times": 2, "delay": 100},
        "history": {"count": 7, "days": 3},
        "concurrency": 3,
    }
    task_id = await world.task("greet", **fields)
    recipe = (await ada.get(f"/acme/task/{task_id}/serialize")).json
    assert recipe["file"]["filename"] == "greet.sh"
    again = await ada.post("/acme/task/import?hostname=web-2", recipe)
    assert again.status == 200, again.body
    before = (await ada.get(f"/acme/task/{task_id}")).json
    assert again.json["id"] != task_id and again.json["hostname"] == "web-2"
    assert essence(again.json) == essence(before)
    stored = await ada.get(f"/acme/file/{again.json['script_id']}/download")
    assert stored.text == SOURCE


async def test_a_workflow_comes_with_its_tasks(world: World, ada: Client) -> None:
    a, task_id = await world.task("a"), await world.task("ask", type="approval", approvers=["max"])
    graph = {
        "nodes": [
            {"id": "first", "task_id": a, "position": {"x": 1.5, "y": 2.0}},
            {"id": "yes?", "task_id": task_id},
            {
                "id": "again",
                "task_id": a,
                "join": "all",
                "retry": {"times": 3, "delay": 10},
                "arguments": [{"node": "yes?", "index": 1, "keys": ["k"]}, {"value": "x"}],
            },
        ],
        "edges": [
            {"source": "first", "target": "yes?", "on": "always"},
            {"source": "first", "target": "again", "on": "hotfix"},
            {"source": "yes?", "target": "again", "on": "success"},
        ],
    }
    more = {"global_constants": {"REGION": "eu", "SIZE": 3}, "expires": 60_000, "tags": ["x"]}
    flow = await create_workflow(world, ada, graph=graph, description="Ships.", **more)
    recipe = (await ada.get(f"/workflows/{flow['id']}/serialize?customer=acme")).json
    answer = await ada.post("/acme/workflows/import?hostname=web-1", recipe)
    assert answer.status == 200, answer.body
    assert [task["name"] for task in answer.json["tasks"]] == ["a", "ask"]
    again = answer.json["workflow"]
    assert again["global_constants"] == {"REGION": "eu", "SIZE": "3"}
    ids = dict(zip([a, task_id], [task["id"] for task in answer.json["tasks"]], strict=True))
    for node in flow["graph"]["nodes"]:
        node["task_id"] = ids[node["task_id"]]
    assert essence(again) == essence(flow)


async def test_a_shallow_export_contains_no_scripts(world: World, ada: Client) -> None:
    task_id = await world.task()
    recipe = (await ada.get(f"/acme/task/{task_id}/serialize?mode=shallow")).json
    assert recipe["file"] == {"filename": "echo.sh"}
    refused = await ada.post("/acme/task/import?hostname=web-1", recipe)
    assert (refused.status, refused.code) == (400, "invalid_recipe")
    bad = await ada.get(f"/acme/task/{task_id}/serialize?mode=half")
    assert (bad.status, bad.code) == (400, "invalid_query")


async def test_masked_values_and_people_stay_here(world: World, ada: Client) -> None:
    argument = {"type": "fixed", "label": "key", "value": "hunter2-hunter2", "masked": True}
    members: dict[str, Any] = {"assigned_users": ["max"], "user_inputs_members": ["uma"]}
    task_id = await world.task("hidden", task_arguments=[argument], **members)
    answer = await ada.get(f"/acme/task/{task_id}/serialize")
    for word in ("hunter2", '"max"', '"uma"', "acme.test"):
        assert word not in answer.text
    made_again = await ada.post("/acme/workflows/import?hostname=web-1", answer.json)
    assert made_again.status == 200
    assert any("masked" in note for note in made_again.json["notes"])


async def test_constants_reach_the_scripts_of_a_workflow(world: World, ada: Client) -> None:
    task_id = await world.task("a", env={"OWN": "task", "BOTH": "task"})
    graph = {"nodes": [{"id": "a", "task_id": task_id}], "edges": []}
    constants = {"BOTH": "workflow", "REGION": "eu", "LIST": [1, 2]}
    flow = await create_workflow(world, ada, graph=graph, global_constants=constants)
    assert flow["global_constants"]["LIST"] == "[1,2]"
    record = (await world.client("uma").get(f"/acme/workflows/{flow['id']}")).json
    assert record["global_constants"] == {}
    async with world.agent() as agent:
        await run(ada, flow)
        # A running job keeps the constants that it started with.
        await ada.patch(f"/acme/workflows/{flow['id']}", {"global_constants": {}})
        env = (await agent.order()).env
    assert (env["OWN"], env["BOTH"], env["REGION"], env["LIST"]) == ("task", "task", "eu", "[1,2]")
    audit = (await ada.get(f"/api/audit?object_id={flow['id']}")).text
    assert "REGION" in audit and '"eu"' not in audit


@pytest.mark.parametrize("name", ["1x", "a b", "", "a=b"])
async def test_a_constant_needs_a_name_that_scripts_can_read(
    world: World, ada: Client, name: str
) -> None:
    task_id = await world.task("a")
    body = {"name": "x", "graph": {"nodes": [{"id": "a", "task_id": task_id}], "edges": []}}
    refused = await ada.post("/acme/workflows", {**body, "global_constants": {name: "x"}})
    assert (refused.status, refused.code) == (400, "invalid_workflow")
    recipe = (
        await ada.get(f"/acme/workflows/{(await create_workflow(world, ada))['id']}/serialize")
    ).json
    recipe["global_constants"] = {name: "x", "GOOD": 1}
    answer = await ada.post("/acme/workflows/import?hostname=web-1", recipe)
    assert answer.json["workflow"]["global_constants"] == {"GOOD": "1"}
    (skipped,) = answer.json["not_imported"]
    assert skipped["field"] == f"global_constants.{name}"


async def test_only_admins_export(world: World, uma: Client, eve: Client) -> None:
    flow = await create_workflow(world, world.client("ada"))
    for path in (f"task/{flow['start_task_id']}", f"workflows/{flow['id']}"):
        for client in (uma, world.client("max")):
            assert (await client.get(f"/acme/{path}/serialize")).status == 403
        assert (await eve.get(f"/globex/{path}/serialize")).status == 404
