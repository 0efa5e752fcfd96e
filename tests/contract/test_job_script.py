"""GET /job/{id}/script, and the position in a queue."""

from typing import Any

from contract.client import Client
from contract.running import create, run, show
from contract.world import SOURCE, World

NEW = "#!/bin/sh\nexit 1\n"


async def script(client: Client, job_id: str) -> dict[str, Any]:
    response = await client.get(f"/acme/job/{job_id}/script")
    assert response.status == 200, response.body
    record: dict[str, Any] = response.json
    return record


async def test_a_job_shows_its_script_and_the_last_good_one(world: World, ada: Client) -> None:
    task = await world.task()
    async with world.agent() as agent:
        good = await run(ada, agent, task, code=0)
        await ada.put(f"/file/{good['script_id']}/upload", {"source": NEW})
        bad = await run(ada, agent, task, code=1)
    actual_script = await script(ada, bad["id"])
    assert (actual_script["job"]["source"], actual_script["last_good"]["source"]) == (NEW, SOURCE)
    assert (actual_script["job"]["version"], actual_script["last_good"]["version"]) == (2, 1)
    assert (actual_script["last_good"]["job_id"], actual_script["same"]) == (good["id"], False)
    assert actual_script["job"]["sha256"] == bad["script_sha256"]


async def test_arguments_that_differ_from_the_last_successful_job_are_listed(
    world: World, ada: Client
) -> None:
    target = {"type": "input", "label": "target", "order": 1}
    key = {"type": "input", "label": "key", "order": 2, "masked": True}
    task = await world.task(task_arguments=[target, key])
    async with world.agent() as agent:
        for values, code in ((["prod", "one"], 0), (["x" * 300, "two"], 1)):
            job = await create(ada, task, values)
            await agent.end(await agent.order(), code=code)
    changes = (await script(ada, job["id"]))["arguments"]
    expected = {"position": 0, "name": "target", "before": "prod", "after": "x" * 200}
    assert changes == [expected]


async def test_without_a_good_one_there_is_nothing_to_compare(world: World, ada: Client) -> None:
    task = await world.task()
    async with world.agent() as agent:
        bad = await run(ada, agent, task, code=1)
        again = await run(ada, agent, task, code=0)
        last = await run(ada, agent, task, code=0)
    assert (await script(ada, bad["id"]))["last_good"] is None
    assert (await script(ada, again["id"]))["last_good"] is None
    assert (await script(ada, last["id"]))["same"]


async def test_users_and_viewers_do_not_read_scripts(world: World, uma: Client) -> None:
    job = await create(uma, await world.task())
    for who, expected in (("uma", None), ("vic", None), ("max", SOURCE)):
        assert (await script(world.client(who), job["id"]))["job"]["source"] == expected


async def test_a_binary_script_is_not_shown(world: World, ada: Client) -> None:
    task = await world.task()
    file = (await ada.get(f"/task/{task}")).json["script_id"]
    await ada.put(f"/file/{file}/upload", {"data": "/wD+"})
    job = await create(ada, task)
    actual_script = await script(ada, job["id"])
    assert actual_script["job"]["source"] is None and actual_script["job"]["version"] == 2


async def test_a_job_without_a_script_has_none(world: World, ada: Client) -> None:
    job = await create(ada, await world.task("nothing", type="dummy"))
    actual_script = await script(ada, job["id"])
    assert (
        actual_script["job"]["sha256"],
        actual_script["job"]["version"],
        actual_script["last_good"],
    ) == (None, None, None)


async def test_a_script_is_hidden_with_its_job(world: World, ada: Client, vic: Client) -> None:
    job = await create(ada, await world.task(acl=[]))
    assert (await vic.get(f"/job/{job['id']}/script")).status == 404
    assert (await world.client("eve").get(f"/job/{job['id']}/script")).status == 404


async def test_a_queued_job_knows_its_place(world: World, uma: Client) -> None:
    task = await world.task()
    jobs = [(await create(uma, task))["id"] for _ in range(3)]
    details = [(await show(uma, job))["waiting_detail"] for job in jobs]
    assert [detail["ahead"] for detail in details] == [0, 1, 2]
