"""Routes of TheEye's clients: versions of tasks, schemas of files, templates, host groups."""

from typing import Any

import pytest

from contract.client import Client
from contract.test_exec import tag
from contract.test_triggers import react
from contract.world import World

MISSING = "0" * 24
SCRIPT = {"filename": "backup.sh", "source": "#!/bin/sh\necho 1\n"}
TASK: dict[str, Any] = {"name": "backup", "type": "script", "script": SCRIPT}
MONITOR: dict[str, Any] = {"name": "health", "type": "dstat", "cpu": 80}


async def test_versions_of_tasks(world: World, ada: Client, uma: Client, eve: Client) -> None:
    task = await world.task(acl=["uma"])
    hidden = await world.task("hidden", acl=[])
    first = (await uma.get(f"/acme/task/{task}/version")).json
    assert {name: first[name] for name in ("id", "_type", "name", "type", "version")} == {
        "id": task,
        "_type": "ScriptTask",
        "name": "echo",
        "type": "script",
        "version": 1,
    }
    versions = (await ada.get("/acme/task/version")).json
    assert [version["id"] for version in versions] == [task, hidden]
    assert versions[0] == first
    await ada.patch(f"/acme/task/{task}", {"description": "changed"})
    second = (await uma.get(f"/acme/task/{task}/version")).json
    assert second["version"] == 2
    assert second["fingerprint"] != first["fingerprint"]
    assert (await uma.get("/acme/task/version")).status == 403
    for client, path in ((uma, f"/acme/task/{hidden}"), (eve, f"/globex/task/{task}")):
        missing = await client.get(f"{path}/version")
        assert (missing.status, missing.code) == (404, "task_not_found")


async def test_the_fingerprint_follows_the_script(world: World, ada: Client) -> None:
    task = await world.task()
    before = (await ada.get(f"/acme/task/{task}/version")).json
    script = (await ada.get(f"/acme/task/{task}")).json["script_id"]
    await ada.put(f"/acme/file/{script}/upload", {"source": "#!/bin/sh\necho other\n"})
    after = (await ada.get(f"/acme/task/{task}/version")).json
    assert after["fingerprint"] != before["fingerprint"]


async def stored_file(ada: Client) -> str:
    file_id: str = (await ada.post("/acme/file", {"filename": "a.csv", "source": "a,b\n"})).json[
        "id"
    ]
    return file_id


async def test_the_schema_of_a_file(ada: Client) -> None:
    file_id = await stored_file(ada)
    assert (await ada.get(f"/acme/file/{file_id}")).json["content_schema"] is None
    for schema in ({"type": "object"}, {"type": "array", "items": [1, None]}):
        stored = await ada.put(f"/acme/file/{file_id}/schema", schema)
        assert (stored.status, stored.json) == (200, schema)
        assert (await ada.get(f"/acme/file/{file_id}")).json["content_schema"] == schema
    rows = (await ada.get(f"/api/audit?object_id={file_id}")).json
    assert [row["action"] for row in rows][:2] == ["file.schema", "file.schema"]
    # The content and its version are the same.
    assert (await ada.get(f"/acme/file/{file_id}")).json["version"] == 1


@pytest.mark.parametrize("schema", [[], "text", 1, None, {"a": "x" * 70_000}])
async def test_an_invalid_schema_is_refused(ada: Client, schema: Any) -> None:
    refused = await ada.put(f"/acme/file/{await stored_file(ada)}/schema", schema)
    assert (refused.status, refused.code) == (400, "invalid_schema")


async def test_only_an_admin_of_the_organization_stores_a_schema(
    world: World, ada: Client, eve: Client
) -> None:
    file_id = await stored_file(ada)
    assert (await world.client("max").put(f"/acme/file/{file_id}/schema", {})).status == 403
    assert (await eve.put(f"/globex/file/{file_id}/schema", {})).status == 404


async def test_the_template_of_a_host(world: World, ada: Client, vic: Client, eve: Client) -> None:
    host = world.things.hosts["web-1"].host_id
    source = await world.task("first", hostname="web-2", acl=[])
    task = await world.task(acl=["vic"], triggers=[f"task:{source}:success"])
    await world.task("hidden", acl=[])
    await ada.post("/acme/monitor", {**MONITOR, "host_id": host})
    template = (await vic.get(f"/acme/host/{host}/template")).json
    assert [item["id"] for item in template["tasks"]] == [task]
    assert {item["name"] for item in template["resources"]} >= {"health"}
    assert template["triggers"] == [
        {
            "task_id": task,
            "emitter_type": "task",
            "emitter_id": source,
            "event_name": "success",
        }
    ]
    assert [file["filename"] for file in template["files"]] == ["echo.sh"]
    assert len((await ada.get(f"/acme/host/{host}/template")).json["tasks"]) == 2
    assert (await eve.get(f"/globex/host/{host}/template")).status == 404


async def group(ada: Client, **fields: Any) -> dict[str, Any]:
    body = {"name": "web", "tasks": [TASK], "resources": [MONITOR], **fields}
    answer = await ada.post("/acme/hostgroup", body)
    assert answer.status == 200, answer.body
    record: dict[str, Any] = answer.json
    return record


async def names(ada: Client, noun: str) -> set[str]:
    return {record["name"] for record in (await ada.get(f"/acme/{noun}")).json}


async def test_a_host_group_is_the_definitions_of_a_tag(world: World, ada: Client) -> None:
    host = world.things.hosts["web-1"].host_id
    record = await group(ada, hosts=[host], tasks=[{**TASK, "host_id": host, "hostname": "web-1"}])
    assert (record["name"], record["_type"], record["hosts"]) == ("web", "HostGroup", [host])
    assert [task["name"] for task in record["tasks"]] == ["backup"]
    assert [monitor["name"] for monitor in record["resources"]] == ["health"]
    await react(world)
    assert (await ada.get("/acme/task?where[name]=backup")).json[0]["hostname"] == "web-1"
    for path in ("/acme/hostgroup", f"/acme/hostgroup/{record['id']}"):
        answer = (await ada.get(path)).json
        assert (answer[0] if isinstance(answer, list) else answer) == record
    assert (await ada.get(f"/acme/hostgroup/{record['id']}/serialize")).json == record
    kinds = {item["kind"] for item in (await ada.get("/acme/definition")).json}
    assert kinds == {"task", "monitor"}


async def test_a_host_group_is_replaced(world: World, ada: Client) -> None:
    await tag(ada, world, "web-1", "web")
    record = await group(ada)
    other = {**TASK, "name": "restore"}
    body = {"name": "web", "tasks": [{**TASK, "description": "new"}, other]}
    changed = await ada.put(f"/acme/hostgroup/{record['id']}", body)
    assert changed.status == 200, changed.body
    assert {task["name"] for task in changed.json["tasks"]} == {"backup", "restore"}
    assert changed.json["tasks"][0]["id"] == record["tasks"][0]["id"]
    assert changed.json["resources"] == []
    assert await names(ada, "task") == {"backup", "restore"}
    assert "health" not in await names(ada, "monitor")


@pytest.mark.parametrize(("word", "left"), [("true", set()), ("false", {"backup"})])
async def test_a_host_group_is_deleted(
    world: World, ada: Client, word: str, left: set[str]
) -> None:
    await tag(ada, world, "web-1", "web")
    record = await group(ada)
    path = f"/acme/hostgroup/{record['id']}"
    refused = await ada.delete(path)
    assert (refused.status, refused.code) == (400, "invalid_query")
    assert (await ada.delete(f"{path}?deleteInstances={word}")).status == 200
    assert await names(ada, "task") == left
    assert (await ada.get(path)).code == "hostgroup_not_found"
    assert (await ada.get("/acme/definition")).json == []


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"hostname_regex": "web-.*"}, "tag the hosts"),
        ({"triggers": [{"task_id": MISSING}]}, "triggers"),
        ({"files": [{"filename": "a"}]}, "POST /file"),
        ({"tasks": [], "resources": []}, "Tag the hosts instead"),
    ],
)
async def test_features_that_definitions_lack_are_501(
    ada: Client, fields: dict[str, Any], words: str
) -> None:
    body = {"name": "web", "tasks": [TASK], "resources": [], **fields}
    refused = await ada.post("/acme/hostgroup", body)
    assert (refused.status, refused.code) == (501, "not_supported")
    assert words in refused.json["message"]
    assert (await ada.get("/acme/definition")).json == []


async def test_a_host_group_is_not_renamed(ada: Client) -> None:
    record = await group(ada)
    body = {"name": "other", "tasks": [TASK]}
    refused = await ada.put(f"/acme/hostgroup/{record['id']}", body)
    assert (refused.status, refused.code) == (501, "not_supported")


async def test_host_groups_are_of_one_organization(world: World, ada: Client, eve: Client) -> None:
    record = await group(ada)
    assert (
        await ada.post("/acme/hostgroup", {"name": "web", "tasks": [TASK]})
    ).code == "name_taken"
    foreign = world.things.hosts["box-1"].host_id
    body = {"name": "db", "tasks": [TASK], "hosts": [foreign]}
    assert (await ada.post("/acme/hostgroup", body)).status == 404
    assert (await ada.get("/acme/hostgroup")).json == [record]
    assert (await eve.get(f"/globex/hostgroup/{record['id']}")).status == 404
    assert (await eve.get("/globex/hostgroup")).json == []
    assert (await world.client("max").get("/acme/hostgroup")).status == 403
    many = {"name": "db", "tasks": [TASK] * 101}
    assert (await ada.post("/acme/hostgroup", many)).code == "group_too_large"
