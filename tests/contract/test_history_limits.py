"""How many ended jobs are kept: the organization's default, limits of a task, removed jobs."""

import pytest

from belvedere.jobs.history import limits, retention
from contract.client import Client
from contract.running import process_events, run
from contract.world import World

DEFAULT = {"count": 1_000, "days": 90}


async def purge(world: World) -> None:
    await world.runtime.db.write(limits.start_over)
    while await world.runtime.db.write(retention.purge, {}):
        pass


async def test_the_organization_sets_a_default_retention(
    world: World, ada: Client, uma: Client
) -> None:
    olga = world.client("olga")
    assert (await ada.get("/api/customer?customer=acme")).json["history"] == DEFAULT
    changed = await olga.put("/api/customer?customer=acme", {"history": {"count": 1}})
    assert changed.json["history"] == {"count": 1, "days": 90}
    first_task_id, own = await world.task("one"), await world.task("own", history={"count": 5})
    fields = {
        task_id: (await ada.get(f"/acme/task/{task_id}")).json["history"]
        for task_id in (first_task_id, own)
    }
    assert fields[first_task_id] == {"count": 1, "days": 90, "inherited": True}
    assert fields[own] == {"count": 5, "days": 90, "inherited": False}
    async with world.agent() as agent:
        for task_id in (first_task_id, first_task_id, first_task_id, own, own):
            await run(uma, agent, task_id)
    await purge(world)
    assert len((await ada.get(f"/acme/job?where[task_id]={first_task_id}")).json) == 1
    assert len((await ada.get(f"/acme/job?where[task_id]={own}")).json) == 2
    gone = (await ada.get(f"/acme/job/removed?task={first_task_id}")).json
    assert gone["count"] == 2 and gone["last_date"]
    assert (await ada.get("/acme/job/removed")).json["count"] == 2
    assert (await ada.get(f"/acme/job/removed?task={own}")).json == {"count": 0, "last_date": None}


async def test_jobs_that_a_person_removed_are_counted_for_those_who_see_the_task(
    world: World, ada: Client, uma: Client, vic: Client
) -> None:
    task_id = await world.task("seen")
    hidden = await world.task("hidden", acl=["olga"])
    async with world.agent() as agent:
        await run(uma, agent, task_id)
        await run(ada, agent, hidden)
    await process_events(world.runtime)
    for deleted_id in (task_id, hidden):
        await ada.delete(f"/acme/task/{deleted_id}/job")
    assert (await uma.get(f"/acme/job/removed?task={task_id}")).json["count"] == 1
    assert (await vic.get(f"/acme/job/removed?task={hidden}")).json["count"] == 0
    for member, count in ((ada, 2), (uma, 1), (vic, 1)):
        response = (await member.get("/acme/job/removed")).json
        assert response["count"] == count and response["last_date"]


async def test_only_the_owner_sets_the_default(world: World, ada: Client) -> None:
    body = {"history": {"count": 5}}
    assert (await ada.put("/api/customer?customer=acme", body)).status == 403


@pytest.mark.parametrize(
    "history", [{"cuont": 5}, {"count": -1}, {"days": 40_000}, {"count": "many"}, "all", 7, [7]]
)
async def test_malformed_limits_are_refused(world: World, ada: Client, history: object) -> None:
    olga = world.client("olga")
    task_id = await world.task("one", history={"count": 7, "days": 3})
    refused = await ada.patch(f"/acme/task/{task_id}", {"history": history})
    assert refused.status == 400
    response = (await ada.get(f"/acme/task/{task_id}")).json["history"]
    assert response == {"count": 7, "days": 3, "inherited": False}
    assert (await olga.put("/api/customer?customer=acme", {"history": history})).status == 400


async def test_a_part_leaves_the_rest_as_it_is(world: World, ada: Client) -> None:
    task_id = await world.task("one", history={"count": 7, "days": 3})
    target = f"/acme/task/{task_id}"
    changed = (await ada.patch(target, {"history": {"count": 8}})).json["history"]
    assert changed == {"count": 8, "days": 3, "inherited": False}
    inherited = (await ada.patch(target, {"history": {"inherited": True}})).json["history"]
    assert inherited == {**DEFAULT, "inherited": True}


async def test_a_record_that_is_sent_back_still_follows_the_default(
    world: World, ada: Client
) -> None:
    olga = world.client("olga")
    task_id = await world.task("one")
    target = f"/acme/task/{task_id}"
    record = (await ada.get(target)).json
    assert (await ada.patch(target, {"history": record["history"]})).status == 200
    await olga.put("/api/customer?customer=acme", {"history": {"count": 9}})
    assert (await ada.get(target)).json["history"]["count"] == 9
    own = await ada.patch(target, {"history": {**record["history"], "count": 4}})
    assert own.json["history"] == {"count": 4, "days": 90, "inherited": False}
