"""ACL entries of people who are not members yet: addresses that take effect when they join."""

from typing import Any

import pytest

from contract.client import Client
from contract.sse import Stream
from contract.world import World

EVENTS = "/-/events"
NEW = "new@acme.test"
PASSWORD = "a long enough password 7"
KINDS = ("task", "workflow", "indicator", "monitor")
PATHS = {"task": "task", "workflow": "workflows", "indicator": "indicator", "monitor": "monitor"}


async def _body(world: World, kind: str) -> dict[str, Any]:
    if kind == "task":
        return {"name": "x", "type": "dummy"}
    if kind == "workflow":
        return {"name": "x", "graph": {"nodes": [{"id": "a", "task_id": await world.task()}]}}
    if kind == "indicator":
        return {"title": "x", "type": "text"}
    return {"name": "x", "type": "scraper", "url": "http://x.test/", "hostname": "web-1"}


async def _create(world: World, ada: Client, kind: str, acl: list[str]) -> dict[str, Any]:
    body = {**await _body(world, kind), "acl": acl}
    response = await ada.post(f"/acme/{PATHS[kind]}", body)
    assert response.status == 200, response.body
    record: dict[str, Any] = response.json
    return record


async def _join(world: World, inviter: Client, email: str) -> tuple[str, Client]:
    """The id of the member, and a client that is signed in as the member."""
    body = {"user": {"email": email}, "credential": "user"}
    member = (await inviter.post("/api/member", body)).json
    accepted = {"token": member["invitation"]["token"], "password": PASSWORD}
    session = await world.client().post("/api/auth/invitation", accepted)
    assert session.status in (200, 201), session.body
    return member["id"], Client(world.app, session.json["access_token"], check=world.conformity)


@pytest.mark.parametrize("kind", KINDS)
async def test_an_address_takes_effect_when_a_member_with_it_joins(
    world: World, ada: Client, vic: Client, quick_passwords: None, kind: str
) -> None:
    record = await _create(world, ada, kind, [" New@ACME.test", "vic"])
    assert record["acl"] == [NEW, "vic@acme.test"]
    assert record["acl_pending"] == [NEW]
    target = f"/acme/{PATHS[kind]}/{record['id']}"
    listed = (await ada.get(f"/acme/{PATHS[kind]}")).json
    assert [row["acl_pending"] for row in listed if row["id"] == record["id"]] == [[NEW]]
    assert (await ada.get(f"{target}/acl")).json["pending"] == [NEW]
    report = (await ada.get(f"/access/explain?object={kind}&id={record['id']}")).json
    assert report["pending"] == [NEW]
    _, new = await _join(world, ada, NEW)
    assert (await new.get(target)).status == 200
    assert (await ada.get(target)).json["acl_pending"] == []
    assert (await ada.get(f"{target}/acl")).json["pending"] == []


@pytest.mark.parametrize("kind", KINDS)
async def test_a_viewer_sees_no_addresses_of_others(
    world: World, ada: Client, vic: Client, kind: str
) -> None:
    record = await _create(world, ada, kind, [NEW, "uma", "vic"])
    response = (await vic.get(f"/acme/{PATHS[kind]}/{record['id']}")).json
    assert response["acl_pending"] == []
    assert set(response["acl"]) <= {"vic@acme.test"}
    (listed,) = (
        row for row in (await vic.get(f"/acme/{PATHS[kind]}")).json if row["id"] == record["id"]
    )
    assert (listed["acl"], listed["acl_pending"]) == (response["acl"], [])
    assert (await vic.get(f"/acme/{PATHS[kind]}/{record['id']}/acl")).status == 403


async def test_a_monitor_for_an_address_alone_is_not_open(
    world: World, ada: Client, vic: Client
) -> None:
    record = await _create(world, ada, "monitor", [NEW])
    assert (await vic.get(f"/acme/monitor/{record['id']}")).status == 404


@pytest.mark.parametrize(
    "entry",
    [
        "nobody",
        "team:none",
        "a@b@c.test",
        "two words@acme.test",
        # Lower case would turn these into another person's address.
        "\u212aelvin@acme.test",
        "\uff41da@acme.test",
        "a\u200bb@acme.test",
        f"{'x' * 65}@acme.test",
        f"x@{'y' * 190}.test",
        "role:a@b.test",
        "",
    ],
)
async def test_an_invalid_address_is_refused_and_nothing_changes(
    world: World, ada: Client, entry: str
) -> None:
    record = await _create(world, ada, "indicator", ["vic"])
    target = f"/acme/indicator/{record['id']}"
    refusal = await ada.put(f"{target}/acl", {"users": ["uma", entry]})
    assert (refusal.status, refusal.code) == (400, "unknown_members")
    assert [fault["field"] for fault in refusal.json["errors"]] == ["users[1]"]
    assert len(refusal.body) < 1_000
    assert (await ada.patch(target, {"acl": [entry]})).status == 400
    assert (await ada.get(f"{target}/acl")).json["acl"] == ["vic@acme.test"]


async def test_an_address_is_one_entry_in_any_case(world: World, ada: Client) -> None:
    record = await _create(world, ada, "indicator", ["A\u00c9@acme.test", "a\u00e9@ACME.test"])
    assert record["acl_pending"] == ["a\u00e9@acme.test"]


async def test_an_address_can_be_removed(world: World, ada: Client) -> None:
    record = await _create(world, ada, "task", [NEW, "vic"])
    body = {"users": [NEW.upper()], "action": "remove"}
    response = await ada.patch(f"/acme/task/{record['id']}/acl", body)
    assert response.json == {"users": ["vic@acme.test"], "acl": ["vic@acme.test"], "pending": []}


async def test_the_address_of_a_removed_member_is_deleted(
    world: World, ada: Client, quick_passwords: None
) -> None:
    """A person who joins with the address of one who left does not get that person's access."""
    record = await _create(world, ada, "task", [NEW])
    member_id, new = await _join(world, ada, NEW)
    assert (await new.get(f"/acme/task/{record['id']}")).status == 200
    assert (await ada.delete(f"/api/member/{member_id}")).status == 200
    acl = (await ada.get(f"/acme/task/{record['id']}/acl")).json
    assert acl == {"users": [], "acl": [], "pending": []}
    _, again = await _join(world, ada, NEW)
    assert (await again.get(f"/acme/task/{record['id']}")).status == 404


async def test_the_address_counts_in_its_own_organization_only(
    world: World, ada: Client, eve: Client, quick_passwords: None
) -> None:
    record = await _create(world, ada, "task", [NEW, "eve@globex.test"])
    # A member of another organization cannot be distinguished from anyone else.
    assert record["acl_pending"] == ["eve@globex.test", NEW]
    _, new = await _join(world, eve, NEW)
    assert (await new.get(f"/task/{record['id']}")).status == 404
    assert (await ada.get(f"/acme/task/{record['id']}")).json["acl_pending"] == [
        "eve@globex.test",
        NEW,
    ]


async def test_an_acl_does_not_grow_without_limit(world: World, ada: Client) -> None:
    record = await _create(world, ada, "task", [f"p{n}@acme.test" for n in range(999)])
    target = f"/acme/task/{record['id']}/acl"
    for users, status in ((["a@acme.test", "b@acme.test"], 400), (["a@acme.test"], 200)):
        response = await ada.patch(target, {"users": users, "action": "add"})
        assert response.status == status
    assert response.json["acl"][0] == "a@acme.test"
    refusal = await ada.patch(target, {"users": ["b@acme.test"], "action": "add"})
    assert (refusal.status, refusal.code) == (400, "acl_too_long")


async def test_an_approver_must_be_a_member(ada: Client) -> None:
    """A person who joins with an address must not find a decision that waits for it."""
    body = {"name": "x", "type": "approval", "approvers": [NEW]}
    assert (await ada.post("/acme/task", body)).status == 400


async def test_the_change_is_audited_with_the_address(world: World, ada: Client) -> None:
    record = await _create(world, ada, "task", [])
    await ada.put(f"/acme/task/{record['id']}/acl", {"users": [NEW]})
    row = (await ada.get(f"/api/audit?object_id={record['id']}")).json[0]
    assert (row["action"], row["after"]) == ("task.acl", {"acl": [NEW]})


async def test_the_event_of_a_change_shows_addresses_to_managers_only(
    world: World, ada: Client
) -> None:
    task = await world.task(acl=["vic"])
    async with Stream(world.client("vic"), EVENTS) as stream, Stream(ada, EVENTS) as admin:
        await ada.patch(f"/acme/task/{task}/acl", {"users": [NEW], "action": "add"})
        assert (await stream.until("task.acl_changed")).data["data"] == {}
        assert (await admin.until("task.acl_changed")).data["data"]["acl"] == [NEW, "vic@acme.test"]


@pytest.mark.parametrize("path", [*PATHS.values(), "job", "-/board/indicators", "-/board/tasks"])
async def test_a_viewer_cannot_search_for_parts_of_addresses(
    world: World, ada: Client, vic: Client, path: str
) -> None:
    await _create(world, ada, "task", [NEW, "vic"])
    target = f"/{path}?customer=acme"
    for condition in ("[acl][$text]=new", "[acl][$ne]=vic@acme.test"):
        assert (await vic.get(f"{target}&where{condition}")).status == 403, condition
        assert (await ada.get(f"{target}&where{condition}")).status == 200, condition
    assert (await vic.get(f"{target}&where[acl]=vic@acme.test")).status == 200
