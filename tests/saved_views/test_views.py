"""Saved views: create, share, change, delete."""

from typing import Any

import pytest

from contract.client import Client
from contract.world import World

FAILED = {"name": "Failed", "page": "jobs", "query": "state=failure&q=%C3%A4"}


async def save(client: Client, **more: Any) -> dict[str, Any]:
    response = await client.post("/view", {**FAILED, **more})
    assert response.status == 201, response.body
    record: dict[str, Any] = response.json
    return record


async def names(client: Client) -> list[tuple[str, bool]]:
    return [(view["name"], view["mine"]) for view in (await client.get("/acme/view")).json]


async def test_a_view_is_saved_and_changed(uma: Client) -> None:
    view = await save(uma)
    assert {name: view[name] for name in FAILED} == FAILED
    assert (view["mine"], view["shared"], view["user"]) == (True, False, "uma@acme.test")
    assert (await uma.get("/view")).json == [view]
    changed = await uma.patch(f"/view/{view['id']}", {"name": "Bad ones"})
    assert (changed.json["name"], changed.json["version"]) == ("Bad ones", 2)
    assert (await uma.delete(f"/view/{view['id']}")).status == 200
    assert (await uma.get("/view")).json == []


async def test_a_view_is_private_until_it_is_shared(uma: Client, vic: Client, eve: Client) -> None:
    view = await save(uma)
    assert (await vic.get("/view")).json == []
    assert (await vic.patch(f"/view/{view['id']}", {"name": "x"})).code == "view_not_found"
    await uma.patch(f"/view/{view['id']}", {"shared": True})
    await save(vic, name="zz")
    assert await names(vic) == [("zz", True), ("Failed", False)]
    assert (await eve.get("/view")).json == []
    assert (await eve.delete(f"/view/{view['id']}")).code == "view_not_found"


async def test_a_shared_view_is_changed_by_its_creator_or_a_manager(
    world: World, uma: Client, vic: Client
) -> None:
    view = await save(uma, shared=True)
    assert (await vic.delete(f"/view/{view['id']}")).code == "not_your_view"
    response = await world.client("max").patch(f"/view/{view['id']}", {"name": "Tidy"})
    assert (response.json["name"], response.json["mine"], response.json["user"]) == (
        *("Tidy", False, "uma@acme.test"),
    )
    assert (await world.client("max").delete(f"/view/{view['id']}")).status == 200


async def test_a_stale_edit_is_refused(uma: Client) -> None:
    view = await save(uma)
    stale = {"if-match": "7"}
    refused = await uma.patch(f"/view/{view['id']}", {"name": "x"}, headers=stale)
    assert (refused.status, refused.code) == (412, "stale")


async def test_a_person_has_at_most_a_hundred_views(uma: Client, vic: Client) -> None:
    for n in range(100):
        await save(uma, name=f"v{n}")
    refused = await uma.post("/view", FAILED)
    assert (refused.status, refused.code) == (409, "too_many_views")
    await save(vic)


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": ""},
        {"name": "x" * 65},
        {"name": "a\nb"},
        {"page": ""},
        {"page": "Jobs"},
        {"page": "../x"},
        {"query": "x" * 4_001},
        {"query": "a\0"},
        {"color": "red"},
        {"shared": "perhaps"},
    ],
)
async def test_an_invalid_view_is_refused(uma: Client, wrong: dict[str, Any]) -> None:
    assert (await uma.post("/view", {**FAILED, **wrong})).code == "invalid_body"
    assert (await uma.get("/view")).json == []


async def test_a_token_has_no_views(world: World) -> None:
    assert (await world.client("token").get("/view")).code == "person_only"
