"""The timeout of a task: set when it is created, changed by one route only."""

from typing import Any

from contract.client import Client
from contract.world import World


async def test_the_timeout_of_a_task_is_changed(world: World, ada: Client) -> None:
    task = await world.task()
    changed = await ada.put(f"/api/task/{task}/timeout", {"timeout": 30_000})
    assert changed.status == 200
    assert changed.json["timeout"] == 30_000
    assert (await ada.get(f"/acme/task/{task}")).json["timeout"] == 30_000


async def test_null_is_ten_minutes(world: World, ada: Client) -> None:
    task = await world.task(timeout=5_000)
    changed = await ada.put(f"/api/task/{task}/timeout", {"timeout": None})
    assert changed.json["timeout"] is None
    response = await ada.post("/acme/job", {"task": task})
    assert response.json["timeout"] == 600_000


async def test_the_interface_cannot_change_it(world: World, ada: Client) -> None:
    task = await world.task(timeout=5_000)
    record = (await ada.get(f"/acme/task/{task}")).json
    for refused in (
        await ada.patch(f"/acme/task/{task}", {"timeout": 6_000}),
        await ada.patch(f"/acme/task/{task}", {"timeout": None}),
        await ada.put(f"/acme/task/{task}", {**record, "timeout": 6_000}),
    ):
        assert (refused.status, refused.code) == (400, "timeout_fixed")
        assert "/timeout" in refused.json["message"]
        assert refused.json["errors"][0]["field"] == "timeout"
    assert (await ada.get(f"/acme/task/{task}")).json == record


async def test_sending_the_same_one_back_is_no_change(world: World, ada: Client) -> None:
    task = await world.task(timeout=5_000)
    assert (await ada.patch(f"/acme/task/{task}", {"timeout": 5_000})).status == 200


async def test_the_timeout_must_be_in_range(world: World, ada: Client) -> None:
    task = await world.task()
    strange: list[Any] = [0, -1, 10**15, "soon", 1.5, [], True]
    for item in strange:
        assert (await ada.put(f"/api/task/{task}/timeout", {"timeout": item})).status == 400
    assert (await ada.put(f"/api/task/{task}/timeout", {})).status == 400


async def test_a_job_keeps_the_timeout_it_was_created_with(world: World, ada: Client) -> None:
    task = await world.task(timeout=5_000)
    job = (await ada.post("/acme/job", {"task": task})).json
    await ada.put(f"/api/task/{task}/timeout", {"timeout": 9_000})
    assert (await ada.get(f"/acme/job/{job['id']}")).json["timeout"] == 5_000
