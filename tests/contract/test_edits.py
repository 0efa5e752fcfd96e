"""Edits: If-Match with a version; an outdated one is 412 and changes nothing."""

from typing import Any

from contract.client import Client, Response
from contract.world import World


async def edit(client: Client, target: str, body: Any, version: str) -> Response:
    return await client.patch(target, body, headers={"if-match": version})


async def test_an_edit_of_an_old_version_is_refused(world: World, ada: Client) -> None:
    target = f"/acme/task/{await world.task()}"
    assert (await edit(ada, target, {"description": "a"}, "1")).json["version"] == 2
    stale = await edit(ada, target, {"description": "b"}, "1")
    assert (stale.status, stale.code) == (412, "stale")
    assert (await ada.get(target)).json["description"] == "a"


async def test_the_version_may_be_quoted(world: World, ada: Client) -> None:
    target = f"/acme/task/{await world.task()}"
    assert (await edit(ada, target, {"description": "a"}, '"1"')).status == 200


async def test_a_star_matches_any(world: World, ada: Client) -> None:
    target = f"/acme/task/{await world.task()}"
    assert (await edit(ada, target, {"description": "a"}, "*")).status == 200


async def test_an_invalid_version_matches_nothing(world: World, ada: Client) -> None:
    target = f"/acme/task/{await world.task()}"
    for version in ("x", '"', "-1", "1.0", 'W/"1"', "\xb2", "9" * 30, "9" * 5_000, '"1", "2"', ""):
        refused = await edit(ada, target, {"description": "b"}, version)
        assert refused.status == 412, version
    assert (await ada.get(target)).json["version"] == 1


async def test_put_obeys_it_too(world: World, ada: Client) -> None:
    target = f"/acme/task/{await world.task()}"
    record = (await ada.get(target)).json
    changed = {**record, "description": "a"}
    assert (await ada.put(target, changed, headers={"if-match": "7"})).status == 412
    assert (await ada.put(target, changed, headers={"if-match": "1"})).status == 200


async def test_the_timeout_obeys_it(world: World, ada: Client) -> None:
    target = f"/api/task/{await world.task()}/timeout"
    body = {"timeout": 5_000}
    assert (await ada.put(target, body, headers={"if-match": "2"})).status == 412
    assert (await ada.put(target, body, headers={"if-match": "1"})).status == 200


async def test_hosts_files_and_members_obey_it(world: World, ada: Client) -> None:
    host = f"/acme/host/{world.things.hosts['web-1'].host_id}"
    version = (await ada.get(host)).json["version"]
    assert (await edit(ada, host, {"tags": ["a"]}, str(version + 1))).status == 412
    assert (await edit(ada, host, {"tags": ["a"]}, str(version))).status == 200
    record = (await ada.post("/acme/file", {"filename": "a.txt", "source": "x"})).json
    file, body = f"/acme/file/{record['id']}", {"description": "new"}
    assert (await ada.put(file, body, headers={"if-match": "9"})).status == 412
    assert (await ada.put(file, body, headers={"if-match": "1"})).status == 200
    member = f"/api/member/{world.actors.uma.member_id}"
    assert (await edit(ada, member, {"tags": ["team:a"]}, "9")).status == 412


async def test_an_edit_that_changes_nothing_keeps_the_version(world: World, ada: Client) -> None:
    target = f"/acme/task/{await world.task()}"
    record = (await ada.get(target)).json
    assert (await ada.patch(target, {"name": record["name"]})).json["version"] == 1
