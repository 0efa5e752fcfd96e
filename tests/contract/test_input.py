"""Jobs that wait for input from a person, and jobs that wait for their files."""

from typing import Any

from contract.client import Client
from contract.running import create, show
from contract.world import World

TWO = [{"type": "input", "label": "a"}, {"type": "boolean", "label": "b"}]


async def create_held(client: Client, task: str, lifecycle: str) -> dict[str, Any]:
    response = await client.post("/acme/job", {"task": task, "lifecycle": lifecycle})
    assert response.status == 200, response.body
    job: dict[str, Any] = response.json
    return job


async def test_a_job_on_hold_gets_its_input(world: World, uma: Client) -> None:
    job = await create_held(uma, await world.task(task_arguments=TWO), "onhold")
    assert (job["lifecycle"], job["state"]) == ("onhold", "in_progress")
    response = await uma.put(f"/job/{job['id']}/input?customer=acme", {"args": ["x", True]})
    assert response.status == 200
    assert (response.json["lifecycle"], response.json["task_arguments_values"]) == (
        "ready",
        ["x", "true"],
    )
    async with world.agent() as agent:
        assert (await agent.order()).arguments == ["x", "true"]


async def test_the_values_may_be_called_task_arguments(world: World, uma: Client) -> None:
    job = await create_held(uma, await world.task(task_arguments=TWO), "onhold")
    body = {"task_arguments": ["x", "false"]}
    assert (await uma.put(f"/acme/job/{job['id']}/input", body)).status == 200


async def test_values_that_do_not_fit_are_refused(world: World, uma: Client) -> None:
    job = await create_held(uma, await world.task(task_arguments=TWO), "onhold")
    bodies: list[Any] = [
        {},
        {"args": None},
        {"args": []},
        {"args": ["x"]},
        {"args": ["x", "y"]},
        [1],
    ]
    for body in bodies:
        assert (await uma.put(f"/acme/job/{job['id']}/input", body)).status == 400, body
    assert (await show(uma, job["id"]))["lifecycle"] == "onhold"


async def test_numbers_keep_their_spelling(world: World, uma: Client) -> None:
    job = await create_held(uma, await world.task(task_arguments=TWO), "onhold")
    raw, kind = b'{"args": [1.0, true]}', {"content-type": "application/json"}
    response = await uma.put(f"/acme/job/{job['id']}/input", raw=raw, headers=kind)
    assert response.json["task_arguments_values"] == ["1.0", "true"]


async def test_a_job_that_runs_takes_no_input(world: World, uma: Client) -> None:
    job = await create(uma, await world.task())
    refused = await uma.put(f"/acme/job/{job['id']}/input", {"args": []})
    assert (refused.status, refused.code) == (409, "wrong_lifecycle")


async def test_a_viewer_is_refused(world: World, uma: Client, vic: Client) -> None:
    job = await create_held(uma, await world.task(), "onhold")
    assert (await vic.put(f"/acme/job/{job['id']}/input", {"args": []})).status == 403


async def test_a_job_that_waits_for_input_says_so(world: World, uma: Client) -> None:
    job = await create_held(uma, await world.task(task_arguments=TWO), "onhold")
    assert (await show(uma, job["id"]))["waiting_reason"] == "input"


async def test_a_job_of_a_secret_waits_for_the_persons_input(
    world: World, ada: Client, uma: Client, anonymous: Client
) -> None:
    task = await world.task(task_arguments=TWO, user_inputs=True)
    secret = (await ada.get(f"/acme/task/{task}/credentials")).json["secret"]
    response = await anonymous.post(f"/job/secret/{secret}?customer=acme", {"task": task})
    assert (response.status, response.json["lifecycle"]) == (200, "onhold")
    assert (
        await uma.put(f"/acme/job/{response.json['id']}/input", {"args": ["x", "true"]})
    ).status == 200


async def test_a_dummy_started_by_a_person_is_done_at_once(world: World, uma: Client) -> None:
    job = await create(uma, await world.task(type="dummy", task_arguments=TWO), ["x", "true"])
    assert (job["lifecycle"], job["state"], job["_type"]) == ("finished", "success", "DummyJob")
    assert (await show(uma, job["id"]))["output"] == ["x", "true"]
    assert job["output"] == ["x", "true"]


async def test_a_dummy_of_a_secret_is_done_by_its_input(
    world: World, ada: Client, uma: Client, anonymous: Client
) -> None:
    task = await world.task(type="dummy", task_arguments=TWO)
    secret = (await ada.get(f"/acme/task/{task}/credentials")).json["secret"]
    job = (await anonymous.post(f"/job/secret/{secret}?customer=acme", {"task": task})).json
    assert job["lifecycle"] == "onhold"
    done = await uma.put(f"/acme/job/{job['id']}/input", {"args": ["x", "true"]})
    assert (done.json["lifecycle"], done.json["state"]) == ("finished", "success")
    assert done.json["output"] == ["x", "true"]


async def test_a_notification_is_done_at_once(world: World, uma: Client) -> None:
    job = await create(uma, await world.task(type="notification", subject="Hello"))
    assert (job["lifecycle"], job["state"]) == ("finished", "success")


async def test_a_syncing_job_waits_for_synced(world: World, uma: Client) -> None:
    job = await create_held(uma, await world.task(), "syncing")
    assert (job["lifecycle"], (await show(uma, job["id"]))["waiting_reason"]) == (
        "syncing",
        "syncing",
    )
    async with world.agent() as agent:
        done = await uma.put(f"/acme/job/{job['id']}/synced")
        assert done.status == 200
        assert (await agent.order()).job_id == job["id"]


async def test_a_ready_job_cannot_be_synced(world: World, uma: Client) -> None:
    job = await create(uma, await world.task())
    refused = await uma.put(f"/acme/job/{job['id']}/synced")
    assert (refused.status, refused.code) == (409, "wrong_lifecycle")
