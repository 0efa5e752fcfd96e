"""Who may decide an approval: named in every possible way, and not the person who started it."""

from typing import Any

import pytest

from belvedere.access.customers import member_changes
from contract.client import Client
from contract.running import create
from contract.world import World


async def approval(world: World, **more: Any) -> str:
    fields = {"type": "approval", "approvers": ["uma", "max"], "acl": ["uma", "max"], **more}
    return await world.task("release", **fields)


async def test_the_starter_cannot_approve_with_four_eyes(world: World, uma: Client) -> None:
    job = await create(uma, await approval(world, four_eyes=True))
    for verb in ("approve", "reject"):
        refused = await uma.put(f"/acme/job/{job['id']}/{verb}")
        assert (refused.status, refused.code) == (403, "four_eyes")
    assert (await world.client("max").put(f"/acme/job/{job['id']}/approve")).status == 200


async def test_four_eyes_is_off_by_default(world: World, uma: Client, ada: Client) -> None:
    task = await approval(world)
    assert (await ada.get(f"/acme/task/{task}")).json["four_eyes"] is False
    job = await create(uma, task)
    assert (await uma.put(f"/acme/job/{job['id']}/approve")).status == 200


async def test_the_own_token_cannot_approve_the_own_job(world: World, ada: Client) -> None:
    """A person who starts it with a token of their own counts as the same person."""
    task = await approval(world, approvers=["ada", "max"], four_eyes=True)
    job = await create(world.client("token"), task)
    refused = await ada.put(f"/acme/job/{job['id']}/approve")
    assert (refused.status, refused.code) == (403, "four_eyes")
    assert (await world.client("max").put(f"/acme/job/{job['id']}/approve")).status == 200


async def test_a_job_without_a_starter_is_decided_by_any_approver(
    world: World, ada: Client, uma: Client, anonymous: Client
) -> None:
    task = await approval(world, four_eyes=True)
    secret = (await ada.get(f"/acme/task/{task}/credentials")).json["secret"]
    response = await anonymous.post(f"/job/secret/{secret}?customer=acme&task={task}")
    assert (await uma.put(f"/acme/job/{response.json['id']}/approve")).status == 200


@pytest.mark.parametrize(
    "more",
    [
        {"approvals_target": "initiator", "approvers": []},
        {"approvers": ["uma"], "default_answer": "approve"},
    ],
)
async def test_a_setting_that_would_defeat_it_is_refused(ada: Client, more: dict[str, Any]) -> None:
    body = {"name": "release", "type": "approval", "four_eyes": True, **more}
    refused = await ada.post("/acme/task", body)
    assert refused.status == 400
    assert [fault["field"] for fault in refused.json["errors"]] == ["four_eyes"]


@pytest.mark.parametrize("way", ["email", "username", "user id", "member id", "tag"])
async def test_an_approver_is_named_in_any_way(world: World, ada: Client, way: str) -> None:
    vic = world.actors.vic
    tags = ["team:blue"]
    await world.runtime.db.write(member_changes.change, world.actors.olga, vic.member_id, tags=tags)
    named = {
        "email": "VIC@acme.test",
        "username": vic.username,
        "user id": vic.user_id,
        "member id": vic.member_id,
        "tag": "Team:Blue",
    }
    job = await create(ada, await approval(world, approvers=[named[way]], acl=[]))
    client = world.client("vic")
    assert (await client.get(f"/acme/job/{job['id']}")).status == 200
    assert (await client.put(f"/acme/job/{job['id']}/approve")).status == 200


async def test_a_removed_tag_gives_no_permission(world: World, ada: Client) -> None:
    vic = world.actors.vic
    for tags in (["team:blue"], []):
        await world.runtime.db.write(
            member_changes.change, world.actors.olga, vic.member_id, tags=tags
        )
        if tags:
            job = await create(ada, await approval(world, approvers=["team:blue"], acl=[]))
    world.runtime.credentials.clear()
    assert (await world.client("vic").put(f"/acme/job/{job['id']}/approve")).status == 404
