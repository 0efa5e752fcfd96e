"""DELETE /job/finished: the history is hidden for every reader when the response is sent."""

import pytest

from belvedere.jobs.history import deletion_steps
from belvedere.server.background import consumers, history, job_publishing
from belvedere.server.redis.connection import parse
from belvedere.server.redis.publisher import RedisPublisher
from contract.client import Client
from contract.running import create, process_events, run
from contract.world import World
from manual_clock import ManualClock


async def ids(client: Client) -> list[str]:
    return [job["id"] for job in (await client.get("/acme/job")).json]


async def test_finished_jobs_are_deleted(world: World, ada: Client, uma: Client) -> None:
    async with world.agent() as agent:
        task = await world.task()
        done = [await run(uma, agent, task, code=code) for code in (0, 1)]
    canceled = await create(uma, task)
    await uma.put(f"/acme/job/{canceled['id']}/cancel")
    await process_events(world.runtime)
    gone = await ada.delete("/job/finished?customer=acme")
    assert (gone.status, gone.json) == (200, {"deletedCount": 3})
    assert await ids(ada) == []
    for job in (*done, canceled):
        for tail in ("", "/lifecycle", "/log"):
            assert (await uma.get(f"/acme/job/{job['id']}{tail}")).status == 404
        assert (await uma.put(f"/acme/job/{job['id']}/restart", {})).status == 404


async def test_the_organization_may_be_in_the_path(ada: Client) -> None:
    assert (await ada.delete("/acme/job/finished")).json == {"deletedCount": 0}


async def test_open_and_lost_jobs_stay(world: World, ada: Client, uma: Client) -> None:
    task = await world.task()
    async with world.agent() as agent:
        lost = await run(uma, agent, task, ending="unknown", log=None)
        running = await create(uma, task)
        await agent.order()
        job = (await uma.post("/acme/job", {"task": task, "lifecycle": "onhold"})).json
    waiting = await create(uma, task)
    assert (await ada.delete("/acme/job/finished")).json == {"deletedCount": 0}
    items = [waiting["id"], job["id"], running["id"], lost["id"]]
    assert await ids(ada) == items


async def test_a_lost_job_can_still_be_resolved(
    world: World, ada: Client, uma: Client, clock: ManualClock
) -> None:
    async with world.agent() as agent:
        lost = await run(uma, agent, await world.task(), ending="unknown", log=None)
    await ada.delete("/acme/job/finished")
    clock.move(1)
    done = await uma.put(f"/acme/job/{lost['id']}/resolve", {"outcome": "success"})
    assert (done.status, done.json["state"]) == (200, "success")


async def test_jobs_that_end_later_are_visible(
    world: World, ada: Client, uma: Client, clock: ManualClock
) -> None:
    task = await world.task()
    async with world.agent() as agent:
        await run(uma, agent, task)
        await ada.delete("/acme/job/finished")
        clock.move(0.001)
        later = await run(uma, agent, task)
    assert await ids(uma) == [later["id"]]


async def test_the_deletion_may_be_limited_to_a_task(
    world: World, ada: Client, uma: Client
) -> None:
    task_id, other = await world.task("one"), await world.task("other")
    async with world.agent() as agent:
        await run(uma, agent, task_id)
        record = await run(uma, agent, other)
    await process_events(world.runtime)
    gone = await ada.delete(f"/job/finished?customer=acme&type=Task&id={task_id}")
    assert gone.json == {"deletedCount": 1}
    assert await ids(uma) == [record["id"]]


async def test_a_task_has_its_own_route(world: World, ada: Client, uma: Client) -> None:
    task = await world.task()
    async with world.agent() as agent:
        await run(uma, agent, task)
    await process_events(world.runtime)
    assert (await ada.delete(f"/acme/task/{task}/job")).json == {"deletedCount": 1}
    assert await ids(uma) == []


@pytest.mark.parametrize(
    "query", ["type=Task", f"id={'0' * 24}", "type=Host&id=" + "0" * 24, "type=Task&id=%00"]
)
async def test_an_invalid_filter_is_refused(ada: Client, query: str) -> None:
    assert (await ada.delete(f"/job/finished?customer=acme&{query}")).status == 400


async def test_another_organization_keeps_its_history(
    world: World, ada: Client, eve: Client
) -> None:
    task = await world.task(by="eve")
    async with world.agent("box-1") as agent:
        job = (await eve.post("/job", {"task": task})).json
        await agent.end(await agent.order())
    await ada.delete("/job/finished")
    await ada.delete(f"/job/finished?type=Task&id={task}")
    assert (await eve.get(f"/job/{job['id']}")).status == 200


async def test_only_admins_delete_history_and_it_is_audited(
    world: World, ada: Client, uma: Client
) -> None:
    assert (await uma.delete("/acme/job/finished")).status == 403
    assert (await world.client("max").delete("/acme/job/finished")).status == 403
    await ada.delete("/acme/job/finished")
    row = (await ada.get("/api/audit")).json[0]
    assert (row["action"], row["user"]) == ("job.delete_finished", "ada@acme.test")


async def test_a_long_history_is_deleted_in_the_background(
    world: World, ada: Client, uma: Client, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deletion_steps, "STEP_ROWS", 1)
    task = await world.task()
    async with world.agent() as agent:
        done = [await run(uma, agent, task) for _ in range(3)]
    await process_events(world.runtime)
    begun = (await ada.delete(f"/acme/task/{task}/job")).json
    assert begun == {"deletedCount": 3, "deletion": {"deleted": 1, "total": 3}}
    assert await ids(uma) == []
    assert (await uma.get(f"/acme/job/{done[2]['id']}")).status == 404
    for query in ("", f"?task={task}"):
        removed = (await ada.get(f"/acme/job/removed{query}")).json
        assert (removed["count"], removed["deletion"]) == (1, {"deleted": 1, "total": 3})
    assert "deletion" not in (await uma.get("/acme/job/removed")).json
    # The row in the database is all that a server needs to continue after a restart.
    await history.delete_requested(world.runtime)
    removed = (await ada.get(f"/acme/job/removed?task={task}")).json
    assert removed["count"] == 3 and "deletion" not in removed
    actions = [row["action"] for row in (await ada.get("/api/audit")).json[:2]]
    assert actions == ["job.history_deleted", "job.delete_finished"]


async def test_a_deletion_waits_for_event_consumers(
    world: World, ada: Client, uma: Client, clock: ManualClock
) -> None:
    task = await world.task()
    async with world.agent() as agent:
        job = await run(uma, agent, task, code=1)
    begun = (await ada.delete(f"/acme/task/{task}/job")).json
    assert begun == {"deletedCount": 1, "deletion": {"deleted": 0, "total": 1}}
    assert await ids(uma) == []
    clock.move(2)
    await history.delete_requested(world.runtime)
    removed = (await ada.get(f"/acme/job/removed?task={task}")).json
    assert (removed["count"], removed["deletion"]) == (0, {"deleted": 0, "total": 1})
    await process_events(world.runtime)
    (notification,) = (await uma.get("/acme/notification")).json
    assert notification["object_id"] == job["id"]
    clock.move(2)
    await history.delete_requested(world.runtime)
    removed = (await ada.get(f"/acme/job/removed?task={task}")).json
    assert removed["count"] == 1 and "deletion" not in removed


async def test_a_deletion_waits_for_the_redis_publisher(
    world: World, ada: Client, uma: Client, clock: ManualClock
) -> None:
    publisher = RedisPublisher(parse("redis://127.0.0.1:1"), world.runtime.clock)
    world.runtime.redis = publisher
    await world.runtime.db.write(job_publishing.start_at_end)
    canceled = await create(uma, await world.task())
    await uma.put(f"/acme/job/{canceled['id']}/cancel")
    for consumer in consumers.CONSUMERS:
        await consumers.catch_up(consumer, world.runtime)
    begun = (await ada.delete("/acme/job/finished")).json
    assert begun["deletion"] == {"deleted": 0, "total": 1}
    await process_events(world.runtime)
    assert [message.channel.split(":")[-1] for message in publisher._messages] == [canceled["id"]]
    clock.move(2)
    await history.delete_requested(world.runtime)
    assert "deletion" not in (await ada.get("/acme/job/removed")).json
