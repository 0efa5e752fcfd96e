"""Approval jobs: PUT /job/{id}/approve and /reject."""

from typing import Any

import pytest

from belvedere.jobs.lifecycle import timeouts
from contract.client import Client
from contract.running import create, show
from contract.world import World
from manual_clock import ManualClock


async def approval(world: World, **more: Any) -> str:
    fields = {"type": "approval", "approvers": ["vic@acme.test"], "acl": ["uma"], **more}
    return await world.task("release", **fields)


async def test_an_approver_approves_a_job(world: World, uma: Client, vic: Client) -> None:
    job = await create(uma, await approval(world))
    assert (job["lifecycle"], job["state"], job["_type"]) == (
        "onhold",
        "in_progress",
        "ApprovalJob",
    )
    done = await vic.put(f"/job/{job['id']}/approve?customer=acme")
    assert done.status == 200
    assert (done.json["lifecycle"], done.json["state"]) == ("finished", "success")
    assert done.json["trigger_name"] == "success"


async def test_reject_ends_it_as_a_failure(world: World, uma: Client, vic: Client) -> None:
    job = await create(uma, await approval(world))
    done = await vic.put(f"/job/{job['id']}/reject?customer=acme")
    assert done.status == 200
    assert (done.json["lifecycle"], done.json["state"]) == ("finished", "failure")
    assert done.json["trigger_name"] == "failure"


@pytest.mark.parametrize("verb", ["approve", "reject"])
async def test_original_clients_put_the_organization_into_the_path(
    world: World, uma: Client, vic: Client, verb: str
) -> None:
    job = await create(uma, await approval(world))
    assert (await vic.put(f"/acme/job/{job['id']}/{verb}")).status == 200


async def test_an_approver_sees_the_job_to_approve(world: World, uma: Client, vic: Client) -> None:
    job = await create(uma, await approval(world))
    assert (await vic.get(f"/acme/job/{job['id']}")).status == 200
    assert [record["id"] for record in (await vic.get("/acme/job")).json] == [job["id"]]


async def test_a_waiting_approval_names_its_approvers(world: World, uma: Client) -> None:
    job = await show(uma, (await create(uma, await approval(world)))["id"])
    assert job["waiting_reason"] == "approval"
    assert job["waiting_detail"]["approvers"] == [world.actors.vic.user_id]
    assert job["waiting_detail"]["until"] == job["expires_at"]


async def test_only_approvers_decide_not_even_admins(
    world: World, uma: Client, ada: Client
) -> None:
    job = await create(uma, await approval(world))
    for client in (ada, uma, world.client("token")):
        refused = await client.put(f"/acme/job/{job['id']}/approve")
        assert (refused.status, refused.code) == (403, "not_an_approver")
    assert (await show(uma, job["id"]))["lifecycle"] == "onhold"


async def test_one_vote_decides(world: World, uma: Client, vic: Client) -> None:
    job = await create(uma, await approval(world, approvers=["vic", "max"]))
    await vic.put(f"/acme/job/{job['id']}/reject")
    late = await world.client("max").put(f"/acme/job/{job['id']}/approve")
    assert (late.status, late.code) == (409, "wrong_lifecycle")
    assert (await show(uma, job["id"]))["state"] == "failure"


async def test_a_script_job_asks_for_no_approval(world: World, ada: Client) -> None:
    job = await create(ada, await world.task())
    refused = await ada.put(f"/acme/job/{job['id']}/approve")
    assert (refused.status, refused.code) == (400, "not_an_approval")


async def test_the_person_who_started_it_may_be_the_approver(
    world: World, uma: Client, vic: Client
) -> None:
    task = await approval(world, approvals_target="initiator", acl=["uma", "vic"])
    job = await create(uma, task)
    assert (await vic.put(f"/acme/job/{job['id']}/approve")).status == 403
    assert (await uma.put(f"/acme/job/{job['id']}/approve")).status == 200


async def test_a_body_is_ignored(world: World, uma: Client, vic: Client) -> None:
    job = await create(uma, await approval(world))
    assert (await vic.put(f"/acme/job/{job['id']}/approve", {"whatever": 1})).status == 200


async def test_a_waiting_approval_can_be_canceled(world: World, uma: Client, vic: Client) -> None:
    job = await create(uma, await approval(world))
    assert (await uma.put(f"/acme/job/{job['id']}/cancel")).json["lifecycle"] == "canceled"
    assert (await vic.put(f"/acme/job/{job['id']}/approve")).status == 409


async def test_another_organization_finds_no_job(world: World, uma: Client, eve: Client) -> None:
    job = await create(uma, await approval(world))
    assert (await eve.put(f"/job/{job['id']}/approve")).status == 404


@pytest.mark.parametrize(("answer", "state"), [("approve", "success"), ("reject", "failure")])
async def test_without_a_vote_the_default_answer_counts(
    world: World, uma: Client, clock: ManualClock, answer: str, state: str
) -> None:
    job = await create(uma, await approval(world, expires=60_000, default_answer=answer))
    clock.move(61)
    await world.runtime.db.write(timeouts.expire)
    record = await show(uma, job["id"])
    assert (record["lifecycle"], record["state"]) == ("finished", state)
