"""Routes of TheEye for a job: input, output, result, and open jobs."""

import asyncio
from typing import Any

import pytest

from contract.client import Client
from contract.flowing import create_workflow, step
from contract.flowing import run as run_workflow
from contract.running import create, run
from contract.world import World

INPUT = {"type": "input", "label": "who"}
LAST = '{"state": "success", "output": ["{\\"a\\": 1}", "plain"]}'


async def test_output_and_result_of_a_job_are_read(world: World, uma: Client, vic: Client) -> None:
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


async def test_a_job_that_takes_longer_returns_202_with_the_job(world: World, uma: Client) -> None:
    job = await create(uma, await world.task())
    late = await uma.get(f"/acme/job/{job['id']}/result?timeout=0")
    assert (late.status, late.json["id"]) == (202, job["id"])


async def test_a_client_that_disconnected_is_not_waited_for(world: World, uma: Client) -> None:
    """Otherwise this test would take as long as the wait."""
    job = await create(uma, await world.task())
    gone = world.client("uma", hangs_up=True)
    assert (await gone.get(f"/acme/job/{job['id']}/result?timeout=300")).status == 202


async def test_a_failure_is_returned_as_a_result(world: World, uma: Client) -> None:
    async with world.agent() as agent:
        job = await run(uma, agent, await world.task(), code=3)
    response = await uma.get(f"/acme/job/{job['id']}/result?result")
    assert (response.status, response.json["code"]) == (200, 3)
    assert (await uma.get(f"/acme/job/{job['id']}/result")).json is None


@pytest.mark.parametrize("query", ["parse=x", "parse=1.5", "timeout=x", "timeout=301"])
async def test_an_invalid_query_parameter_is_refused(world: World, uma: Client, query: str) -> None:
    job = await create(uma, await world.task())
    assert (await uma.get(f"/acme/job/{job['id']}/result?{query}")).status == 400


async def test_the_arguments_can_be_read(world: World, uma: Client) -> None:
    hidden = {"type": "input", "label": "key", "masked": True}
    task = await world.task(task_arguments=[INPUT, hidden])
    job = await create(uma, task, ["ada", "hunter2"])
    plain = await uma.get(f"/acme/job/{job['id']}/input")
    assert plain.json == ["ada", "***"]
    record = (await uma.get(f"/acme/job/{job['id']}/input?include_definitions")).json
    assert record["task_arguments_values"] == ["ada", "***"]
    assert [task_argument["label"] for task_argument in record["task"]["task_arguments"]] == [
        "who",
        "key",
    ]


async def test_open_jobs_are_listed_and_counted(world: World, uma: Client) -> None:
    task, other = await world.task(), await world.task("other")
    async with world.agent() as agent:
        over = await run(uma, agent, task)
    ids = [(await create(uma, item))["id"] for item in (task, task, other)]
    listed = (await uma.get("/acme/job/running")).json
    assert [item["id"] for item in listed] == ids[::-1] and over["id"] not in ids
    assert len((await uma.get(f"/job/running?customer=acme&where[task_id]={task}")).json) == 2
    counts = (await uma.get("/acme/job/running_count")).json
    assert {"_id": {"task": task, "workflow": None}, "count": 2} in counts
    assert len(counts) == 2


async def test_the_input_of_a_workflow_job_is_shown(world: World, ada: Client, uma: Client) -> None:
    tasks = [await world.task(name, task_arguments=[INPUT]) for name in "ab"]
    graph = {
        "nodes": [{"id": n, "task_id": t} for n, t in zip("ab", tasks, strict=True)],
        "edges": [{"source": "a", "target": "b"}],
    }
    flow = await create_workflow(world, ada, graph=graph)
    async with world.agent() as agent:
        first = await run_workflow(uma, flow, "one")
        await step(world, agent, lastline='["handed on"]', log='["handed on"]\n')
    second = await run_workflow(uma, flow, "two")
    path = f"workflows/{flow['id']}/jobs/input"
    records = (await uma.get(f"/acme/{path}")).json
    assert [(record["workflow_job_id"], record["task_arguments_values"]) for record in records] == [
        (second["id"], ["two"]),
        (first["id"], ["one"]),
    ]
    assert all("task" not in record for record in records)
    more = (await uma.get(f"/{path}?customer=acme&include_definitions&limit=1")).json
    assert [record["task"]["id"] for record in more] == [tasks[0]]


async def test_results_are_hidden_with_their_job(world: World, uma: Client, eve: Client) -> None:
    hidden = await world.task(acl=[])
    ada = world.client("ada")
    job = await create(ada, hidden)
    flow = await create_workflow(world, ada, acl=[])
    for item in ("input", "output", "result"):
        assert (await uma.get(f"/acme/job/{job['id']}/{item}")).status == 404
        assert (await eve.get(f"/globex/job/{job['id']}/{item}")).status == 404
    assert (await uma.get(f"/acme/workflows/{flow['id']}/jobs/input")).status == 404
    for item in ("running", "running_count"):
        assert (await uma.get(f"/acme/job/{item}")).json == []
        assert (await eve.get(f"/globex/job/{item}")).json == []


async def started_by_secret(world: World, ada: Client, anonymous: Client) -> dict[str, Any]:
    task = await world.task(acl=[])
    secret = (await ada.get(f"/acme/task/{task}/credentials")).json["secret"]
    job: dict[str, Any] = (await anonymous.post(f"/task/{task}/secret/{secret}/job", {})).json
    return job


async def test_the_secret_of_a_job_reads_its_result(
    world: World, ada: Client, anonymous: Client
) -> None:
    async with world.agent() as agent:
        job = await started_by_secret(world, ada, anonymous)
        path = f"/job/{job['id']}/secret/{job['secret']}/result"
        late = await anonymous.post(f"{path}?timeout=0")
        assert (late.status, late.json["lifecycle"]) == (202, "assigned")
        await agent.end(await agent.order(), lastline=LAST, log=f"{LAST}\n")
    assert (await anonymous.get(path)).json == {"a": 1}
    assert (await anonymous.get(f"/acme{path}?output")).json == ['{"a": 1}', "plain"]
    assert (await anonymous.get(f"{path}?result")).json["lastline"] == LAST


async def test_a_secret_reads_one_job_only(world: World, ada: Client, anonymous: Client) -> None:
    job, other = [await started_by_secret(world, ada, anonymous) for _ in range(2)]
    for path in (
        f"/job/{job['id']}/secret/{other['secret']}/result",
        f"/job/{job['id']}/secret/x/result",
        f"/job/{'0' * 24}/secret/{job['secret']}/result",
        f"/globex/job/{job['id']}/secret/{job['secret']}/result",
        f"/job/{job['id']}/secret/{job['secret']}/result?customer=nowhere",
    ):
        refused = await anonymous.get(path)
        assert (refused.status, refused.code) == (403, "wrong_secret"), path


async def test_readers_of_a_job_do_not_see_its_secret(
    world: World, ada: Client, anonymous: Client
) -> None:
    job = await started_by_secret(world, ada, anonymous)
    assert "secret" not in (await ada.get(f"/acme/job/{job['id']}")).json
    assert "secret" not in (await ada.post("/acme/job", {"task": job["task_id"]})).json


async def test_guessed_secrets_are_limited(world: World, ada: Client, anonymous: Client) -> None:
    job = await started_by_secret(world, ada, anonymous)
    path = f"/job/{job['id']}/secret/{{:064x}}/result"
    statuses = [(await anonymous.get(path.format(number))).status for number in range(25)]
    assert statuses[:20] == [403] * 20 and statuses[-1] == 429
