"""The four ACL rows of interface.md for tasks."""

import pytest

from contract.client import Client
from contract.world import World

UMA, VIC = "uma@acme.test", "vic@acme.test"


@pytest.fixture
def max_(world: World) -> Client:
    return world.client("max")


async def test_the_acl_of_a_task_is_read(world: World, max_: Client) -> None:
    task = await world.task(acl=[UMA])
    response = await max_.get(f"/task/{task}/acl?customer=acme")
    assert (response.status, response.json) == (200, {"users": [UMA], "acl": [UMA], "pending": []})


async def test_the_organization_may_be_in_the_path(world: World, max_: Client) -> None:
    task = await world.task(acl=[UMA])
    assert (await max_.get(f"/acme/task/{task}/acl")).json["users"] == [UMA]


async def test_put_replaces_it(world: World, max_: Client, uma: Client, vic: Client) -> None:
    task = await world.task(acl=[UMA])
    changed = await max_.put(f"/task/{task}/acl?customer=acme", {"users": [VIC]})
    assert (changed.status, changed.json) == (200, {"users": [VIC], "acl": [VIC], "pending": []})
    assert (await uma.get(f"/acme/task/{task}")).status == 404
    assert (await vic.get(f"/acme/task/{task}")).status == 200


async def test_put_requires_a_new_array(world: World, max_: Client) -> None:
    task = await world.task(acl=[UMA])
    assert (await max_.put(f"/task/{task}/acl?customer=acme", {})).status == 400
    assert (await max_.put(f"/task/{task}/acl?customer=acme", {"users": UMA})).status == 400
    assert (await max_.get(f"/acme/task/{task}/acl")).json["users"] == [UMA]
    emptied = await max_.put(f"/task/{task}/acl?customer=acme", {"users": []})
    assert (emptied.status, emptied.json["users"]) == (200, [])


async def test_patch_adds_entries(world: World, max_: Client) -> None:
    task = await world.task(acl=[UMA])
    body = {"users": [VIC], "action": "add"}
    changed = await max_.patch(f"/task/{task}/acl?customer=acme", body)
    assert (changed.status, changed.json["users"]) == (200, [UMA, VIC])


async def test_patch_removes_entries(world: World, max_: Client) -> None:
    task = await world.task(acl=[UMA, VIC])
    body = {"users": [UMA], "action": "remove"}
    changed = await max_.patch(f"/task/{task}/acl?customer=acme", body)
    assert (changed.status, changed.json["users"]) == (200, [VIC])


async def test_patch_knows_no_third_action(world: World, max_: Client) -> None:
    task = await world.task(acl=[UMA])
    for body in ({"users": [VIC], "action": "swap"}, {"users": [VIC]}):
        assert (await max_.patch(f"/task/{task}/acl?customer=acme", body)).status == 400
    assert (await max_.get(f"/acme/task/{task}/acl")).json["users"] == [UMA]


async def test_delete_leaves_it_empty(world: World, max_: Client, uma: Client) -> None:
    task = await world.task(acl=[UMA, VIC])
    cleared = await max_.delete(f"/task/{task}/acl?customer=acme")
    assert (cleared.status, cleared.json) == (200, {"users": [], "acl": [], "pending": []})
    assert (await uma.get(f"/acme/task/{task}")).status == 404


async def test_unknown_people_are_named_and_nothing_changes(world: World, max_: Client) -> None:
    task = await world.task(acl=[UMA])
    body = {"users": [VIC, "nobody", "team:none"]}
    refused = await max_.put(f"/acme/task/{task}/acl", body)
    assert (refused.status, refused.code) == (400, "unknown_members")
    assert [error["field"] for error in refused.json["errors"]] == ["users[1]", "users[2]"]
    assert (await max_.get(f"/acme/task/{task}/acl")).json["users"] == [UMA]


async def test_entries_may_be_user_names(world: World, max_: Client) -> None:
    task = await world.task(acl=[])
    changed = await max_.put(f"/acme/task/{task}/acl", {"users": ["uma", "UMA@acme.test"]})
    assert changed.json["users"] == [UMA]


@pytest.mark.parametrize("method", ["GET", "PUT", "PATCH", "DELETE"])
async def test_a_user_is_refused(world: World, uma: Client, method: str) -> None:
    task = await world.task()
    body = {"users": [UMA], "action": "add"}
    refused = await uma.request(method, f"/acme/task/{task}/acl", body)
    assert (refused.status, refused.code) == (403, "level")


@pytest.mark.parametrize("method", ["GET", "PUT", "PATCH", "DELETE"])
async def test_another_organization_finds_no_task(world: World, eve: Client, method: str) -> None:
    task = await world.task()
    body = {"users": ["eve@globex.test"], "action": "add"}
    response = await eve.request(method, f"/task/{task}/acl", body)
    assert (response.status, response.code) == (404, "task_not_found")


async def test_a_change_is_audited(world: World, ada: Client, max_: Client) -> None:
    task = await world.task(acl=[UMA])
    await max_.put(f"/acme/task/{task}/acl", {"users": [VIC]})
    row = (await ada.get(f"/api/audit?object_id={task}")).json[0]
    assert (row["action"], row["user"]) == ("task.acl", "max@acme.test")
    assert (row["before"], row["after"]) == ({"acl": [UMA]}, {"acl": [VIC]})
