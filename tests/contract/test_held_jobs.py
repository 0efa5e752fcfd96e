"""The list of jobs that are held after a restore, and what their hosts have shown."""

from typing import Any
from urllib.parse import urlencode

from belvedere.base.ids import new_id
from belvedere.db import Tx
from belvedere.jobs.recovery import restore
from contract.client import Client
from contract.running import create
from contract.world import World


def restore_database(tx: Tx) -> None:
    """`belvedere restore`, and the start that follows it."""
    restore.mark_restored(tx)
    restore.hold_after_restore(tx)


async def held_jobs(client: Client, **query: Any) -> dict[str, Any]:
    response = await client.get(f"/acme/job/held?{urlencode(query)}")
    assert response.status == 200, response.json
    answer: dict[str, Any] = response.json
    return answer


async def evidence(client: Client) -> list[str]:
    return [job["evidence"] for job in (await held_jobs(client))["jobs"]]


async def test_held_jobs_are_listed_until_they_are_released(
    world: World, ada: Client, uma: Client, eve: Client
) -> None:
    async with world.agent(greeting=1):
        pass
    task_id = await world.task()
    jobs = [await create(ada, task_id) for _ in range(3)]
    assert (await held_jobs(ada)) == {"jobs": [], "total": 0, "restored_at": None}
    await world.runtime.db.write(restore_database)
    answer = await held_jobs(ada, limit=2)
    assert [job["id"] for job in answer["jobs"]] == [job["id"] for job in jobs[:2]]
    assert (answer["total"], answer["restored_at"] is None) == (3, False)
    assert answer["jobs"][0]["hostname"] == "web-1"
    rest = await held_jobs(ada, limit=2, after=jobs[1]["id"])
    assert [job["id"] for job in rest["jobs"]] == [jobs[2]["id"]]
    # Only people who may release them see them; other organizations do not.
    assert (await uma.get("/acme/job/held")).status == 403
    assert (await eve.get("/globex/job/held")).json["total"] == 0
    assert (await ada.put(f"/acme/job/{jobs[0]['id']}/release")).status == 200
    assert (await held_jobs(ada))["total"] == 2
    assert (await ada.post("/acme/job/release", {})).json == {"released": 2, "more": False}
    assert (await held_jobs(ada))["total"] == 0


async def test_the_list_shows_the_evidence_of_the_hosts(world: World, ada: Client) -> None:
    task_id = await world.task()
    await create(ada, task_id)
    await world.runtime.db.write(restore_database)
    assert await evidence(ada) == ["no_journal"]
    async with world.agent(greeting=1):
        assert await evidence(ada) == ["restarted"]
    await world.runtime.db.write(restore_database)
    assert await evidence(ada) == ["awaited"]
    newest = await world.runtime.db.read(lambda tx: tx.value(tx.dialect.newest_fence))
    async with world.agent(greeting=2, highest=newest - 1):
        assert await evidence(ada) == ["accepted"]
    await world.runtime.db.write(restore_database)
    async with world.agent(greeting=3, highest=0):
        assert await evidence(ada) == ["rolled_back"]


async def test_wrong_pages_are_refused(world: World, ada: Client) -> None:
    for query in ("limit=0", "limit=501", "limit=x", "after=x"):
        assert (await ada.get(f"/acme/job/held?{query}")).status == 400
    assert (await held_jobs(ada, after=new_id()))["jobs"] == []
