"""Idempotency-Key: the same request again gives the same job, for a day."""

import asyncio
from typing import Any

import pytest

from belvedere.jobs.lifecycle import timeouts
from contract.client import FORM, Client
from contract.flowing import create_workflow
from contract.running import create
from contract.test_triggers import react
from contract.world import World
from manual_clock import ManualClock

KEY = {"idempotency-key": "k-1"}
REPLAYED = "idempotency-replayed"


async def count(client: Client) -> int:
    return len((await client.get("/acme/job")).json)


async def test_a_repeated_request_returns_the_first_response(world: World, uma: Client) -> None:
    body = {"task": await world.task(), "task_arguments": []}
    first = await uma.post("/acme/job", body, headers=KEY)
    second = await uma.post("/acme/job", body, headers=KEY)
    assert (first.status, second.status) == (200, 200)
    assert second.body == first.body
    assert REPLAYED not in first.headers and second.headers[REPLAYED] == "true"
    assert await count(uma) == 1


async def test_without_a_key_every_request_creates_a_job(world: World, uma: Client) -> None:
    task = await world.task()
    assert (await create(uma, task))["id"] != (await create(uma, task))["id"]


async def test_another_body_is_refused(world: World, uma: Client) -> None:
    task = await world.task()
    await uma.post("/acme/job", {"task": task}, headers=KEY)
    refused = await uma.post("/acme/job", {"task": task, "task_arguments": []}, headers=KEY)
    assert (refused.status, refused.code) == (422, "idempotency_key_reused")
    assert await count(uma) == 1


async def test_another_query_is_another_request(world: World, uma: Client) -> None:
    task_id, other = await world.task("one"), await world.task("other")
    await uma.post(f"/acme/job?task={task_id}", headers=KEY)
    assert (await uma.post(f"/acme/job?task={other}", headers=KEY)).status == 422


async def test_another_task_in_the_path_is_another_request(world: World, uma: Client) -> None:
    task_id, other = await world.task("one"), await world.task("other")
    first = await uma.post(f"/acme/task/{task_id}/job", {}, headers=KEY)
    assert (await uma.post(f"/acme/task/{task_id}/job", {}, headers=KEY)).json["id"] == first.json[
        "id"
    ]
    assert (await uma.post(f"/acme/task/{other}/job", {}, headers=KEY)).status == 422


async def test_a_restart_takes_a_key_too(world: World, uma: Client) -> None:
    task = await world.task()
    old = [await create(uma, task) for _ in range(2)]
    for job in old:
        await uma.put(f"/acme/job/{job['id']}/cancel")
    first = await uma.put(f"/acme/job/{old[0]['id']}/restart", {}, headers=KEY)
    again = await uma.put(f"/acme/job/{old[0]['id']}/restart", {}, headers=KEY)
    assert again.json["id"] == first.json["id"] and again.headers[REPLAYED] == "true"
    assert (await uma.put(f"/acme/job/{old[1]['id']}/restart", {}, headers=KEY)).status == 422
    assert await count(uma) == 3


async def test_keys_belong_to_one_principal(world: World, uma: Client, ada: Client) -> None:
    body = {"task": await world.task()}
    answers = [
        await client.post("/acme/job", body, headers=KEY)
        for client in (uma, ada, world.client("token"))
    ]
    assert len({answer.json["id"] for answer in answers}) == 3
    assert all(REPLAYED not in answer.headers for answer in answers)


async def test_keys_belong_to_one_route(world: World, uma: Client) -> None:
    task = await world.task()
    first = await uma.post(f"/acme/task/{task}/job", {}, headers=KEY)
    second = await uma.post("/acme/job", {"task": task}, headers=KEY)
    assert first.json["id"] != second.json["id"]


async def test_both_url_styles_are_one_route(world: World, uma: Client) -> None:
    body = {"task": await world.task()}
    first = await uma.post("/acme/job", body, headers=KEY)
    assert (await uma.post("/job", body, headers=KEY)).json["id"] == first.json["id"]


async def test_a_refused_request_leaves_the_key_free(world: World, uma: Client) -> None:
    task = await world.task(task_arguments=[{"type": "input"}])
    assert (await uma.post("/acme/job", {"task": task}, headers=KEY)).status == 400
    body = {"task": task, "task_arguments": ["x"]}
    assert (await uma.post("/acme/job", body, headers=KEY)).status == 200


async def test_twenty_concurrent_requests_create_one_job(world: World, uma: Client) -> None:
    body = {"task": await world.task()}
    answers = await asyncio.gather(*(uma.post("/acme/job", body, headers=KEY) for _ in range(20)))
    assert {answer.status for answer in answers} == {200}
    assert len({answer.json["id"] for answer in answers}) == 1
    assert sum(REPLAYED in answer.headers for answer in answers) == 19
    assert await count(uma) == 1


async def test_at_once_with_two_bodies_makes_one_job(world: World, uma: Client) -> None:
    task = await world.task()
    bodies = [{"task": task}, {"task": task, "task_arguments": []}] * 5
    answers = await asyncio.gather(*(uma.post("/acme/job", b, headers=KEY) for b in bodies))
    assert sorted({answer.status for answer in answers}) == [200, 422]
    assert await count(uma) == 1


async def test_a_key_is_forgotten_after_a_day(
    world: World, uma: Client, clock: ManualClock
) -> None:
    body = {"task": await world.task()}
    first = (await uma.post("/acme/job", body, headers=KEY)).json["id"]
    token = world.client("token")
    theirs = (await token.post("/acme/job", body, headers=KEY)).json["id"]
    clock.move(23 * 3600)
    await world.runtime.db.write(timeouts.purge_old_keys)
    assert (await token.post("/acme/job", body, headers=KEY)).json["id"] == theirs
    clock.move(2 * 3600)
    await world.runtime.db.write(timeouts.purge_old_keys)
    assert (await token.post("/acme/job", body, headers=KEY)).json["id"] not in (first, theirs)


async def test_a_job_that_left_the_history_is_not_started_again(
    world: World, uma: Client, ada: Client
) -> None:
    task = await world.task()
    flow = await create_workflow(world, ada)
    items: list[tuple[Client, str, dict[str, Any]]] = [
        (uma, "/acme/job", {"task": task}),
        (uma, f"/acme/workflows/{flow['id']}/job", {}),
        (ada, "/acme/exec", {"command": ["true"], "hosts": ["web-1"]}),
    ]
    for client, target, body in items:
        first = await client.post(target, body, headers=KEY)
        assert first.status in (200, 201), first.body
    for job in (await ada.get("/acme/job")).json:
        await ada.put(f"/acme/job/{job['id']}/cancel")
    await react(world)
    assert (await ada.delete("/acme/job/finished")).json["deletedCount"] == 4
    for client, target, body in items:
        again = await client.post(target, body, headers=KEY)
        assert (again.status, again.code) == (409, "replayed_job_gone")
    assert await count(uma) == 0


async def test_wait_result_is_no_part_of_the_request(world: World, uma: Client) -> None:
    body = {"task": await world.task()}
    first = await uma.post("/acme/job", body, headers=KEY)
    target = "/acme/job?wait_result=true&wait_timeout=0"
    second = await uma.post(target, body, headers=KEY)
    assert (second.status, second.json["id"]) == (202, first.json["id"])
    assert second.headers[REPLAYED] == "true"


@pytest.mark.parametrize("key", ["", "x" * 256])
async def test_a_key_has_a_sensible_length(world: World, uma: Client, key: str) -> None:
    body = {"task": await world.task()}
    refused = await uma.post("/acme/job", body, headers={"idempotency-key": key})
    assert refused.status == 400
    assert await count(uma) == 0


async def test_a_secret_has_keys_of_its_own(world: World, ada: Client, anonymous: Client) -> None:
    task = await world.task()
    secret = (await ada.get(f"/acme/task/{task}/credentials")).json["secret"]
    target = f"/job/secret/{secret}?customer=acme&task={task}"
    form = {"content-type": FORM, **KEY}
    first = await anonymous.post(target, raw=b"", headers=form)
    again = await world.client(address="198.51.100.9").post(target, raw=b"", headers=form)
    assert again.json["id"] == first.json["id"] and again.headers[REPLAYED] == "true"
    assert (await ada.post("/acme/job", {"task": task}, headers=KEY)).json["id"] != first.json["id"]


async def test_an_idempotency_key_does_not_replace_the_secret(
    world: World, ada: Client, anonymous: Client
) -> None:
    task = await world.task()
    secret = (await ada.get(f"/acme/task/{task}/credentials")).json["secret"]
    query = f"customer=acme&task={task}"
    await anonymous.post(f"/job/secret/{secret}?{query}", headers=KEY)
    refused = await anonymous.post(f"/job/secret/{'0' * 64}?{query}", headers=KEY)
    assert (refused.status, refused.code) == (403, "wrong_secret")
    await ada.post(f"/acme/task/{task}/credentials/rotate", {})
    assert (await anonymous.post(f"/job/secret/{secret}?{query}", headers=KEY)).status == 403
