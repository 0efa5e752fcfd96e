"""Cancelling many jobs in one call."""

from typing import Any

import pytest

from contract.client import Client
from contract.running import create, show
from contract.world import World

MISSING = "0" * 24


async def cancel(client: Client, *ids: str) -> list[dict[str, Any]]:
    done = await client.post("/acme/job/cancel", {"ids": list(ids)})
    assert done.status == 200, done.body
    results: list[dict[str, Any]] = done.json["results"]
    return results


async def test_several_jobs_are_canceled(world: World, uma: Client) -> None:
    task = await world.task()
    jobs = [(await create(uma, task))["id"] for _ in range(3)]
    items = await cancel(uma, *jobs)
    assert [(item["id"], item["done"], item["lifecycle"]) for item in items] == [
        (job, True, "canceled") for job in jobs
    ]
    assert [(await show(uma, job))["lifecycle"] for job in jobs] == ["canceled"] * 3


async def test_each_has_its_own_answer(world: World, uma: Client) -> None:
    ready = (await create(uma, await world.task()))["id"]
    over = (await create(uma, await world.task("other")))["id"]
    await uma.put(f"/job/{over}/cancel")
    fixed = (await create(uma, await world.task("fixed", cancellable=False)))["id"]
    items = await cancel(uma, MISSING, over, fixed, ready, ready)
    assert [(item["id"], item["done"], item["code"]) for item in items] == [
        (MISSING, False, "job_not_found"),
        (over, False, "wrong_lifecycle"),
        (fixed, False, "not_cancellable"),
        (ready, True, ""),
    ]
    assert all(item["done"] or item["message"] for item in items)


async def test_a_running_job_is_stopped(world: World, uma: Client) -> None:
    job = await create(uma, await world.task())
    async with world.agent() as agent:
        await agent.order()
        (item,) = await cancel(uma, job["id"])
    assert (item["done"], item["lifecycle"]) == (True, "assigned")
    assert (await show(uma, job["id"]))["cancel_requested"]


async def test_canceling_needs_permission_for_each_job(
    world: World, vic: Client, eve: Client
) -> None:
    job = await create(world.client("uma"), await world.task())
    hidden = await create(world.client("ada"), await world.task("hidden", acl=[]))
    refused = await vic.post("/job/cancel", {"ids": [job["id"]]})
    assert (refused.status, refused.code) == (403, "level")
    assert (await eve.post("/job/cancel", {"ids": [job["id"]]})).json["results"][0]["code"] == (
        "job_not_found"
    )
    (item,) = await cancel(world.client("uma"), hidden["id"])
    assert item["code"] == "job_not_found"
    assert (await show(world.client("ada"), job["id"]))["lifecycle"] == "ready"


@pytest.mark.parametrize(
    "ids", [[], ["x"], [MISSING[1:]], [f"{n:024x}" for n in range(1_001)], "x"]
)
async def test_invalid_ids_are_refused(uma: Client, ids: Any) -> None:
    assert (await uma.post("/job/cancel", {"ids": ids})).code == "invalid_body"
