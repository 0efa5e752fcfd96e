"""The names of all objects of a kind, for forms."""

import pytest

from belvedere.overview import names
from contract.client import Client
from contract.world import World


async def read(client: Client, kind: str) -> list[tuple[str, str]]:
    response = await client.get(f"/-/names?kind={kind}")
    assert response.status == 200, response.body
    return [(record["name"], record["detail"]) for record in response.json]


async def test_names_are_listed_in_order_and_nothing_else_of_a_record(
    world: World, uma: Client
) -> None:
    await world.task("restore", tags=["storage"])
    await world.task("Backup")
    [backup, restore] = (await uma.get("/-/names?kind=task")).json
    assert set(backup) == {"id", "name", "detail", "state", "tags"}
    assert (backup["name"], backup["detail"], backup["state"]) == ("Backup", "web-1", "script")
    assert (restore["name"], restore["tags"]) == ("restore", ["storage"])


async def test_only_visible_objects_are_named(world: World, uma: Client) -> None:
    await world.task("private", acl=[])
    await world.task("shared")
    assert await read(uma, "task") == [("shared", "web-1")]
    assert len(await read(world.client("ada"), "task")) == 2
    response = await uma.get("/-/names?kind=script")
    assert (response.status, response.json["code"]) == (403, "level")


async def test_every_kind_has_names(world: World) -> None:
    ada = world.client("ada")
    for kind in names.KINDS:
        await read(ada, kind)


async def test_an_unknown_kind_is_refused(uma: Client) -> None:
    for query in ("", "?kind=job"):
        response = await uma.get(f"/-/names{query}")
        assert response.status == 400, response.body
        assert "kind must be one of task, workflow" in response.text


async def test_the_number_of_names_is_limited(
    world: World, uma: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(names, "MAX_NAMES", 1)
    await world.task("b")
    await world.task("a")
    assert await read(uma, "task") == [("a", "web-1")]


async def test_the_size_of_a_list_of_names_is_limited(
    world: World, uma: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(names, "MAX_LIST_BYTES", 200)
    tags = [f"tag-{number}" for number in range(10)]
    await world.task("b", tags=tags)
    await world.task("a", tags=tags)
    assert await read(uma, "task") == [("a", "web-1")]


async def test_a_long_description_is_cut_in_a_list_of_names(world: World) -> None:
    ada = world.client("ada")
    body = {"filename": "deploy.sh", "source": "true", "description": "x" * 60_000}
    response = await ada.post("/acme/file", body)
    assert response.status == 200, response.body
    assert await read(ada, "script") == [("deploy.sh", "x" * names.MAX_DETAIL)]
