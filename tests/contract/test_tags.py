"""GET /tag: every tag that is in use."""

from contract.client import Client
from contract.flowing import create_workflow
from contract.world import World


async def test_tags_of_visible_objects_are_listed(
    world: World, ada: Client, uma: Client, eve: Client
) -> None:
    await world.task("a", tags=["deploy", "Blue"])
    await world.task("hidden", tags=["secret"], acl=[])
    await create_workflow(world, ada, tags=["deploy", "release"])
    await ada.post("/acme/indicator", {"title": "x", "type": "text", "tags": ["tile"]})
    await ada.post("/acme/monitor", {"name": "x", "type": "push", "tags": ["watched"]})
    await ada.post("/acme/file", {"filename": "a.sh", "source": "x", "tags": ["lib"]})
    host_id = (await ada.get("/acme/host")).json[0]["id"]
    await ada.patch(f"/acme/host/{host_id}", {"tags": ["web"]})
    tags = (await ada.get("/acme/tag")).json
    names = ["Blue", "deploy", "lib", "release", "secret", "tile", "watched", "web"]
    assert [tag["name"] for tag in tags] == names
    assert tags[0] == {"id": "Blue", "_id": "Blue", "name": "Blue"}
    actual_names = [tag["name"] for tag in (await uma.get("/tag?customer=acme")).json]
    assert actual_names == ["Blue", "deploy", "release", "watched", "web"]
    assert (await eve.get("/globex/tag")).json == []


async def test_only_the_tags_of_one_kind_of_object(world: World, ada: Client) -> None:
    await world.task("a", tags=["deploy"])
    host_id = (await ada.get("/acme/host")).json[0]["id"]
    await ada.patch(f"/acme/host/{host_id}", {"tags": ["web"]})
    assert [tag["name"] for tag in (await ada.get("/acme/tag?object=host")).json] == ["web"]
    assert (await ada.get("/acme/tag?object=person")).status == 400


async def test_a_tag_disappears_with_its_last_object(world: World, ada: Client) -> None:
    task_id = await world.task("a", tags=["gone"])
    await ada.delete(f"/acme/task/{task_id}")
    assert (await ada.get("/acme/tag")).json == []
