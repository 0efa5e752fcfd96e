"""Running an ended job again, and resolving a job whose outcome is unknown."""

from typing import Any

from belvedere.jobs.lifecycle import timeouts
from belvedere.protocol import JournaledAttempt, Stop
from contract.client import Client
from contract.fakeagent import FakeAgent
from contract.over_socket import every_transport
from contract.running import create, run, show
from contract.world import World

ONE = [{"type": "input", "label": "a"}]


async def test_a_failed_job_is_restarted(world: World, uma: Client) -> None:
    task = await world.task(task_arguments=ONE)
    async with world.agent() as agent:
        old = await create(uma, task, ["blue"])
        await agent.end(await agent.order(), code=1)
        response = await uma.put(f"/acme/job/{old['id']}/restart", {})
        assert response.status == 200
        assert response.json["restarted_from"] == old["id"] and response.json["id"] != old["id"]
        assert (response.json["lifecycle"], response.json["task_arguments_values"]) == (
            "ready",
            ["blue"],
        )
        assert (await agent.order()).arguments == ["blue"]


async def test_a_restart_may_use_other_values(world: World, uma: Client) -> None:
    task = await world.task(task_arguments=ONE)
    old = await create(uma, task, ["blue"])
    await uma.put(f"/acme/job/{old['id']}/cancel")
    response = await uma.put(f"/acme/job/{old['id']}/restart", {"task_arguments": ["red"]})
    assert response.json["task_arguments_values"] == ["red"]


async def test_a_restart_needs_no_body(world: World, uma: Client) -> None:
    old = await create(uma, await world.task())
    await uma.put(f"/acme/job/{old['id']}/cancel")
    assert (await uma.put(f"/acme/job/{old['id']}/restart")).status == 200


async def test_an_open_job_is_not_restarted(world: World, uma: Client) -> None:
    job = await create(uma, await world.task())
    refused = await uma.put(f"/acme/job/{job['id']}/restart", {})
    assert (refused.status, refused.code) == (409, "wrong_lifecycle")


async def test_a_viewer_may_not_restart(world: World, uma: Client, vic: Client) -> None:
    old = await create(uma, await world.task())
    await uma.put(f"/acme/job/{old['id']}/cancel")
    assert (await vic.put(f"/acme/job/{old['id']}/restart", {})).status == 403


async def lose_job(world: World, client: Client, agent: FakeAgent) -> dict[str, Any]:
    """A job whose agent reports that it does not know the outcome."""
    return await run(
        client, agent, await world.task(), ending="unknown", reason="host_rebooted", log=None
    )


async def test_a_lost_job_says_that_its_outcome_is_unknown(world: World, uma: Client) -> None:
    async with world.agent() as agent:
        job = await lose_job(world, uma, agent)
    assert (job["lifecycle"], job["state"]) == ("terminated", "lost")
    assert job["ran"] == "maybe" and job["trigger_name"] == "lost"
    assert job["waiting_reason"] == "lost" and "result" not in job


async def test_a_person_resolves_the_job(world: World, uma: Client) -> None:
    for outcome in ("normal", "success", "failure"):
        async with world.agent() as agent:
            job = await lose_job(world, uma, agent)
        body = {"outcome": outcome, "note": "seen in the logs"}
        done = await uma.put(f"/acme/job/{job['id']}/resolve", body)
        assert done.status == 200
        assert (done.json["lifecycle"], done.json["state"]) == ("finished", outcome)
        assert done.json["resolved_by"] == "uma@acme.test"


async def test_resolving_is_audited(world: World, uma: Client, ada: Client) -> None:
    async with world.agent() as agent:
        job = await lose_job(world, uma, agent)
    await uma.put(f"/acme/job/{job['id']}/resolve", {"outcome": "success", "note": "seen"})
    row = (await ada.get(f"/api/audit?object_id={job['id']}")).json[0]
    assert row["action"] == "job.resolve" and row["after"]["note"] == "seen"


BAD: list[dict[str, Any]] = [
    {},
    {"outcome": "lost"},
    {"outcome": 5},
    {"outcome": "success", "note": "a\0b"},
    {"outcome": "success", "unknown": 1},
]


async def test_a_bad_outcome_is_refused(world: World, uma: Client) -> None:
    async with world.agent() as agent:
        job = await lose_job(world, uma, agent)
    for body in BAD:
        assert (await uma.put(f"/acme/job/{job['id']}/resolve", body)).status == 400, body
    assert (await show(uma, job["id"]))["state"] == "lost"


async def test_a_job_whose_agent_is_online_cannot_be_resolved(world: World, uma: Client) -> None:
    async with world.agent() as agent:
        job = await create(uma, await world.task())
        await agent.order()
        refused = await uma.put(f"/acme/job/{job['id']}/resolve", {"outcome": "success"})
        assert (refused.status, refused.code) == (409, "still_reachable")


async def test_an_ended_job_is_not_resolved(world: World, uma: Client) -> None:
    async with world.agent() as agent:
        job = await run(uma, agent, await world.task())
    refused = await uma.put(f"/acme/job/{job['id']}/resolve", {"outcome": "failure"})
    assert (refused.status, refused.code) == (409, "wrong_lifecycle")


async def test_a_late_result_is_accepted(world: World, uma: Client) -> None:
    async with world.agent() as agent:
        job = await create(uma, await world.task())
        order = await agent.order()
        await agent.end(order, ending="unknown", reason="no_trace", log=None)
        await agent.end(order, code=0, lastline="ok", log="ok\n")
    record = await show(uma, job["id"])
    assert (record["lifecycle"], record["state"], record["reconciled"]) == (
        "finished",
        "success",
        True,
    )


@every_transport
async def test_a_reconnecting_agent_stops_a_resolved_job(world: World, uma: Client) -> None:
    async with world.agent() as agent:
        job = await create(uma, await world.task())
        order = await agent.order()
    await world.runtime.db.write(lambda tx: tx.execute("update hosts set gone_at = ?", tx.now))
    await world.runtime.db.write(timeouts.mark_unreachable)
    assert (await show(uma, job["id"]))["waiting_reason"] == "unreachable"
    done = await uma.put(f"/acme/job/{job['id']}/resolve", {"outcome": "failure"})
    assert done.status == 200
    async with world.agent(entries=(JournaledAttempt(order.fence, "live"),)) as agent:
        assert (await agent.hear(Stop)).fence == order.fence
