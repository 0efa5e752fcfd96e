"""Routes of the original around a job: what went in, what came out, and what is not over."""

import asyncio

import pytest

from contract.client import Client
from contract.flowing import made, step
from contract.flowing import run as run_workflow
from contract.running import create, run
from contract.world import World

INPUT = {"type": "input", "label": "who"}
LAST = '{"state": "success", "output": ["{\\"a\\": 1}", "plain"]}'


async def test_it_works(world: World, uma: Client, vic: Client) -> None:
    task = await world.task()
    async with world.agent() as agent:
        job = await run(uma, agent, task, lastline=LAST, log=f"{LAST}\n")
    path = f"/acme/job/{job['id']}"
    assert (await vic.get(f"{path}/output")).json == ['{"a": 1}', "plain"]
    assert (await vic.get(f"{path}/result")).json == {"a": 1}
    assert (await vic.post(f"/job/{job['id']}/result?customer=acme&parse=1")).json == "plain"
    assert (await vic.get(f"{path}/result?parse=7")).json is None
    assert (await vic.get(f"{path}/result?output")).json == ['{"a": 1}', "plain"]
    assert (await vic.get(f"{path}/result?result=true")).json == job["result"]
    assert (await vic.get(f"{path}/result?full")).json == job


async def test_a_result_is_waited_for(world: World, uma: Client) -> None:
    task = await world.task()
    async with world.agent() as agent:
        job = await create(uma, task)
        waits = asyncio.create_task(uma.get(f"/acme/job/{job['id']}/result?full"))
        await agent.end(await agent.order())
        assert (await waits).json["lifecycle"] == "finished"


async def test_one_that_takes_longer_is_202_with_the_job(world: World, uma: Client) -> None:
    job = await create(uma, await world.task())
    late = await uma.get(f"/acme/job/{job['id']}/result?timeout=0")
    assert (late.status, late.json["id"]) == (202, job["id"])


async def test_nobody_is_waited_for_who_has_hung_up(world: World, uma: Client) -> None:
    """Else this test would take as long as the wait."""
    job = await create(uma, await world.task())
    gone = world.client("uma", hangs_up=True)
    assert (await gone.get(f"/acme/job/{job['id']}/result?timeout=300")).status == 202


async def test_a_failure_is_an_answer_too(world: World, uma: Client) -> None:
    async with world.agent() as agent:
        job = await run(uma, agent, await world.task(), code=3)
    found = await uma.get(f"/acme/job/{job['id']}/result?result")
    assert (found.status, found.json["code"]) == (200, 3)
    assert (await uma.get(f"/acme/job/{job['id']}/result")).json is None


@pytest.mark.parametrize("query", ["parse=x", "parse=1.5", "timeout=x", "timeout=301"])
async def test_a_bad_question_is_refused(world: World, uma: Client, query: str) -> None:
    job = await create(uma, await world.task())
    assert (await uma.get(f"/acme/job/{job['id']}/result?{query}")).status == 400


async def test_the_arguments_can_be_read(world: World, uma: Client) -> None:
    hidden = {"type": "input", "label": "key", "masked": True}
    task = await world.task(task_arguments=[INPUT, hidden])
    job = await create(uma, task, ["ada", "hunter2"])
    plain = await uma.get(f"/acme/job/{job['id']}/input")
    assert plain.json == ["ada", "***"]
    told = (await uma.get(f"/acme/job/{job['id']}/input?include_definitions")).json
    assert told["task_arguments_values"] == ["ada", "***"]
    assert [one["label"] for one in told["task"]["task_arguments"]] == ["who", "key"]


async def test_what_is_not_over_is_listed_and_counted(world: World, uma: Client) -> None:
    task, other = await world.task(), await world.task("other")
    async with world.agent() as agent:
        over = await run(uma, agent, task)
    ids = [(await create(uma, one))["id"] for one in (task, task, other)]
    listed = (await uma.get("/acme/job/running")).json
    assert [one["id"] for one in listed] == ids[::-1] and over["id"] not in ids
    assert len((await uma.get(f"/job/running?customer=acme&where[task_id]={task}")).json) == 2
    counts = (await uma.get("/acme/job/running_count")).json
    assert {"_id": {"task": task, "workflow": None}, "count": 2} in counts
    assert len(counts) == 2


async def test_what_a_workflow_was_started_with(world: World, ada: Client, uma: Client) -> None:
    tasks = [await world.task(name, task_arguments=[INPUT]) for name in "ab"]
    graph = {
        "nodes": [{"id": n, "task_id": t} for n, t in zip("ab", tasks, strict=True)],
        "edges": [{"source": "a", "target": "b"}],
    }
    flow = await made(world, ada, graph=graph)
    async with world.agent() as agent:
        first = await run_workflow(uma, flow, "one")
        await step(world, agent, lastline='["handed on"]', log='["handed on"]\n')
    second = await run_workflow(uma, flow, "two")
    path = f"workflows/{flow['id']}/jobs/input"
    found = (await uma.get(f"/acme/{path}")).json
    assert [(one["workflow_job_id"], one["task_arguments_values"]) for one in found] == [
        (second["id"], ["two"]),
        (first["id"], ["one"]),
    ]
    assert all("task" not in one for one in found)
    more = (await uma.get(f"/{path}?customer=acme&include_definitions&limit=1")).json
    assert [one["task"]["id"] for one in more] == [tasks[0]]


async def test_others_see_nothing_of_it(world: World, uma: Client, eve: Client) -> None:
    hidden = await world.task(acl=[])
    ada = world.client("ada")
    job = await create(ada, hidden)
    flow = await made(world, ada, acl=[])
    for what in ("input", "output", "result"):
        assert (await uma.get(f"/acme/job/{job['id']}/{what}")).status == 404
        assert (await eve.get(f"/globex/job/{job['id']}/{what}")).status == 404
    assert (await uma.get(f"/acme/workflows/{flow['id']}/jobs/input")).status == 404
    for what in ("running", "running_count"):
        assert (await uma.get(f"/acme/job/{what}")).json == []
        assert (await eve.get(f"/globex/job/{what}")).json == []
