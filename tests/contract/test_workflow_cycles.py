"""Workflows with cycles, over HTTP."""

from typing import Any

from contract.client import Client
from contract.flowing import create_workflow, run, step
from contract.world import World

AGAIN = {"source": "b", "target": "a", "on": "failure", "max_visits": 1}


async def round_trip(world: World, ada: Client, back: dict[str, Any]) -> dict[str, Any]:
    """The body of a workflow in which b leads back to a."""
    tasks = [await world.task(name) for name in ("a", "b")]
    nodes = [{"id": n, "task_id": t} for n, t in zip("ab", tasks, strict=True)]
    return {"nodes": nodes, "edges": [{"source": "a", "target": "b"}, back]}


async def test_a_cycle_runs_to_its_limit(world: World, ada: Client) -> None:
    flow = await create_workflow(world, ada, graph=await round_trip(world, ada, AGAIN))
    assert (flow["start"], flow["graph"]["edges"][1]) == ("a", AGAIN)
    assert flow["graph"]["edges"][0] == {"source": "a", "target": "b", "on": "success"}
    job = await run(ada, flow)
    target = f"/acme/workflows/{flow['id']}/job/{job['id']}"
    async with world.agent() as agent:
        for code in (0, 1, 0, 1):
            await step(world, agent, code=code)
    over = (await ada.get(target)).json
    assert (over["lifecycle"], over["state"]) == ("finished", "failure")
    text = "The edge b → a (failure) reached its limit of 1 visit (max_visits)."
    assert over["reason"] == text
    records = (await ada.get(f"{target}/steps")).json
    visits = [(record["node_id"], record["visit"]) for record in records]
    assert visits == [("a", 1), ("a", 2), ("b", 1), ("b", 2)]
    assert records[1]["causes"] == [{"node_id": "b", "visit": 1}]
    jobs = (await ada.get(f"{target}/jobs")).json
    assert {record["id"] for record in jobs} == {record["job_id"] for record in records}


async def test_a_cycle_without_a_limit_is_400_with_its_nodes(world: World, ada: Client) -> None:
    graph = await round_trip(world, ada, {**AGAIN, "max_visits": None})
    refused = await ada.post("/acme/workflows", {"name": "x", "start": "a", "graph": graph})
    assert (refused.status, refused.code) == (400, "invalid_workflow")
    (fault,) = refused.json["errors"]
    assert fault["field"] == "graph.edges" and "a → b → a" in fault["message"]
    for bound in (0, -1, 101, 1.5, "often"):
        graph["edges"][1]["max_visits"] = bound
        refused = await ada.post("/acme/workflows", {"name": "x", "graph": graph})
        assert refused.status == 400, bound


async def test_a_recipe_contains_the_limit_of_a_cycle(world: World, ada: Client) -> None:
    flow = await create_workflow(world, ada, graph=await round_trip(world, ada, AGAIN))
    recipe = (await ada.get(f"/acme/workflows/{flow['id']}/serialize")).json
    (host,) = (await ada.get("/acme/host")).json[:1]
    there = f"/acme/workflows/import?hostname={host['hostname']}"
    answer = await ada.post(there, recipe)
    assert answer.status == 200, answer.body
    assert answer.json["workflow"]["graph"]["edges"] == flow["graph"]["edges"]
    recipe["graph"]["edges"][1]["max_visits"] = "often"
    refused = await ada.post(there, recipe)
    assert (refused.status, refused.code) == (400, "invalid_recipe")
