"""Workflows that run workflows, over HTTP."""

from typing import Any

from contract.client import Client
from contract.flowing import create_workflow, run, step
from contract.world import World


async def create_nested(
    world: World, ada: Client, **more: Any
) -> tuple[dict[str, Any], dict[str, Any]]:
    inner = await create_workflow(world, ada, name="inner")
    graph = {"nodes": [{"id": "whole", "workflow_id": inner["id"]}], "edges": []}
    return inner, await create_workflow(world, ada, name="outer", graph=graph, **more)


async def test_a_nested_workflow_runs(world: World, ada: Client) -> None:
    inner, outer = await create_nested(world, ada)
    assert outer["workflows"] == [{"id": inner["id"], "name": "inner"}]
    assert outer["graph"]["nodes"] == [{"id": "whole", "workflow_id": inner["id"]}]
    assert (outer["tasks"], outer["start_task_id"]) == ([], inner["start_task_id"])
    job = await run(ada, outer)
    target = f"/acme/workflows/{outer['id']}/job/{job['id']}"
    (within,) = (await ada.get(f"{target}/jobs")).json
    assert (within["_type"], within["workflow_id"]) == ("WorkflowJob", inner["id"])
    assert within["workflow_job_id"] == job["id"]
    (node,) = (await ada.get(f"{target}/steps")).json
    assert (node["node_id"], node["job_id"]) == ("whole", within["id"])
    async with world.agent() as agent:
        for _ in range(2):
            await step(world, agent)
    assert (await ada.get(target)).json["state"] == "normal"
    (run_input,) = (await ada.get(f"/acme/workflows/{outer['id']}/jobs/input")).json
    assert run_input["workflow_job_id"] == job["id"]


async def test_canceling_the_outer_workflow_cancels_the_inner_one(
    world: World, ada: Client
) -> None:
    _, outer = await create_nested(world, ada)
    job = await run(ada, outer)
    target = f"/acme/workflows/{outer['id']}/job/{job['id']}"
    assert (await ada.put(f"{target}/cancel", {})).status == 200
    (within,) = (await ada.get(f"{target}/jobs")).json
    assert within["cancel_requested"]


async def test_bad_nodes_are_400_with_their_field(world: World, ada: Client) -> None:
    inner, outer = await create_nested(world, ada)
    task = inner["graph"]["nodes"][0]["task_id"]
    for node, field in (
        ({"id": "x"}, "graph.nodes[0].task_id"),
        ({"id": "x", "task_id": task, "workflow_id": inner["id"]}, "graph.nodes[0].task_id"),
        ({"id": "x", "workflow_id": "0" * 24}, "graph.nodes[0].workflow_id"),
        ({"id": "x", "workflow_id": "nonsense"}, "graph.nodes[0].workflow_id"),
        ({"id": "x", "workflow_id": outer["id"]}, "graph.nodes[0].workflow_id"),
    ):
        body = {"graph": {"nodes": [node], "edges": []}}
        refused = await ada.request("PATCH", f"/acme/workflows/{inner['id']}", body)
        assert (refused.status, refused.code) == (400, "invalid_workflow"), refused.body
        assert refused.json["errors"][0]["field"] == field


async def test_an_end_that_starts_the_outer_workflow_is_a_cycle(world: World, ada: Client) -> None:
    inner, outer = await create_nested(world, ada)
    body = {"triggers": [f"workflow:{inner['id']}:success"]}
    refused = await ada.request("PATCH", f"/acme/workflows/{outer['id']}", body)
    assert (refused.status, refused.code) == (400, "trigger_ring")


async def test_a_workflow_that_another_runs_cannot_be_deleted(world: World, ada: Client) -> None:
    inner, outer = await create_nested(world, ada)
    refused = await ada.delete(f"/acme/workflows/{inner['id']}")
    assert (refused.status, refused.code) == (409, "workflow_in_use")
    assert outer["id"] in refused.json["message"]
    await ada.delete(f"/acme/workflows/{outer['id']}")
    assert (await ada.delete(f"/acme/workflows/{inner['id']}")).status == 200


async def test_running_needs_permission_for_the_inner_workflow(
    world: World, ada: Client, uma: Client
) -> None:
    inner, outer = await create_nested(world, ada)
    await ada.put(f"/acme/workflows/{inner['id']}/acl", {"users": ["vic"]})
    refused = await uma.post(f"/acme/workflows/{outer['id']}/job", {})
    assert (refused.status, refused.code) == (403, "may_not_run")


async def test_a_recipe_contains_the_workflow_that_it_runs(world: World, ada: Client) -> None:
    _, outer = await create_nested(world, ada)
    recipe = (await ada.get(f"/acme/workflows/{outer['id']}/serialize")).json
    assert [workflow["name"] for workflow in recipe["workflows"]] == ["inner"]
    (host,) = (await ada.get("/acme/host")).json[:1]
    answer = await ada.post(f"/acme/workflows/import?hostname={host['hostname']}", recipe)
    assert answer.status == 200, answer.body
    copy = answer.json["workflow"]
    assert [workflow["name"] for workflow in copy["workflows"]] == ["inner"]
    assert copy["workflows"][0]["id"] != recipe["workflows"][0]["id"]
    del recipe["workflows"]
    refused = await ada.post(f"/acme/workflows/import?hostname={host['hostname']}", recipe)
    assert (refused.status, refused.code) == (400, "invalid_recipe")
