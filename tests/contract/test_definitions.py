"""One task or monitor for every host with a tag, kept identical on all of them."""

from typing import Any

import pytest

from belvedere.protocol import MonitorConfig
from contract.client import Client
from contract.running import create as run
from contract.test_exec import tag
from contract.test_triggers import react
from contract.world import World

SCRIPT = {"filename": "backup.sh", "source": "#!/bin/sh\necho 1\n"}
TASK: dict[str, Any] = {"name": "backup", "type": "script", "script": SCRIPT}
WEB: dict[str, Any] = {"name": "health", "type": "dstat", "cpu": 80}


async def define(ada: Client, kind: str = "task", **more: Any) -> dict[str, Any]:
    body = {"kind": kind, "host_tag": "web", "definition": TASK if kind == "task" else WEB, **more}
    response = await ada.post("/acme/definition", body)
    assert response.status == 201, response.body
    record: dict[str, Any] = response.json
    return record


async def redefine(ada: Client, record: dict[str, Any], **more: Any) -> dict[str, Any]:
    body = {**{name: record[name] for name in ("kind", "host_tag", "definition")}, **more}
    done = await ada.put(f"/acme/definition/{record['id']}", body)
    assert done.status == 200, done.body
    changed: dict[str, Any] = done.json
    return changed


async def on(ada: Client, noun: str = "task", name: str = "backup") -> dict[str, dict[str, Any]]:
    """The objects by the name of their host."""
    listed = (await ada.get(f"/acme/{noun}?where[name]={name}")).json
    return {item["hostname"]: item for item in listed}


async def test_hosts_with_the_tag_get_the_defined_task(world: World, ada: Client) -> None:
    await tag(ada, world, "web-1", "web")
    definition = await define(ada)
    assert [instance["hostname"] for instance in definition["instances"]] == ["web-1"]
    there = await on(ada)
    assert there["web-1"]["id"] == definition["instances"][0]["id"]
    # A host that gets the tag gets the object too; a host that loses the tag loses it.
    await tag(ada, world, "web-2", "web")
    await tag(ada, world, "web-1", "old")
    await react(world)
    assert list(await on(ada)) == ["web-2"]
    record = (await ada.get(f"/acme/definition/{definition['id']}")).json
    assert [instance["hostname"] for instance in record["instances"]] == ["web-2"]
    async with world.agent("web-2") as agent:
        job = await run(ada, (await on(ada))["web-2"]["id"])
        order = await agent.order()
        assert order.job_id == job["id"] and await agent.fetch(order.sha256) is not None


async def test_a_change_reaches_every_host_at_once(world: World, ada: Client) -> None:
    for hostname in ("web-1", "web-2"):
        await tag(ada, world, hostname, "web")
    definition = await define(ada)
    before = await on(ada)
    script = {"filename": "backup.sh", "source": "#!/bin/sh\necho 2\n"}
    other = {**TASK, "script": script, "timeout": 5_000, "env": {"A": "b"}}
    changed = await redefine(ada, definition, definition=other)
    assert changed["version"] == 2
    after = await on(ada)
    assert {name: item["id"] for name, item in after.items()} == {
        name: item["id"] for name, item in before.items()
    }
    for item in after.values():
        assert (item["timeout"], item["env"]) == (5_000, {"A": "b"})
    # One script for all, with a new version.
    assert len({item["script_id"] for item in (*before.values(), *after.values())}) == 1
    versions = await ada.get(f"/acme/file/{after['web-1']['script_id']}/versions")
    assert [item["version"] for item in versions.json] == [2, 1]


async def test_another_tag_moves_it(world: World, ada: Client) -> None:
    await tag(ada, world, "web-1", "web")
    await tag(ada, world, "web-2", "db")
    definition = await define(ada)
    await redefine(ada, definition, host_tag="db")
    assert list(await on(ada)) == ["web-2"]


async def test_monitors_are_defined_the_same_way(world: World, ada: Client) -> None:
    await tag(ada, world, "web-1", "web")
    definition = await define(ada, "monitor")
    await tag(ada, world, "web-2", "web")
    await react(world)
    there = await on(ada, "monitor", "health")
    assert set(there) == {"web-1", "web-2"}
    await redefine(ada, definition, definition={**WEB, "cpu": 70, "looptime": 5_000})
    for item in (await on(ada, "monitor", "health")).values():
        assert (item["config"]["limit"]["cpu"], item["looptime"]) == (70, 5_000)
    # Pausing and muting apply to one host only.
    assert (await ada.put(f"/acme/monitor/{there['web-1']['id']}/pause", {})).status == 200
    assert (await ada.delete(f"/acme/definition/{definition['id']}")).status == 200
    assert await on(ada, "monitor", "health") == {}


async def test_objects_of_a_definition_cannot_be_changed_directly(
    world: World, ada: Client
) -> None:
    await tag(ada, world, "web-1", "web")
    task = (await define(ada))["instances"][0]["id"]
    monitor = (await define(ada, "monitor"))["instances"][0]["id"]
    for refused in (
        await ada.patch(f"/acme/task/{task}", {"description": "x"}),
        await ada.put(f"/acme/task/{task}", {**TASK, "hostname": "web-1"}),
        await ada.put(f"/api/task/{task}/timeout", {"timeout": 5_000}),
        await ada.delete(f"/acme/task/{task}"),
        await ada.patch(f"/acme/monitor/{monitor}", {"description": "x"}),
        await ada.delete(f"/acme/monitor/{monitor}"),
    ):
        assert (refused.status, refused.code) == (409, "follows_definition"), refused.body
    # Each has its own ACL and its own secret key.
    assert (await ada.put(f"/acme/task/{task}/acl", {"users": ["uma"]})).status == 200
    assert (await ada.post(f"/acme/task/{task}/credentials/rotate", {})).status == 200


async def test_a_host_is_deleted_with_all_its_data(world: World, ada: Client) -> None:
    await tag(ada, world, "web-1", "web")
    definition = await define(ada)
    assert (await ada.delete(f"/acme/host/{definition['instances'][0]['host_id']}")).status == 200
    await react(world)
    assert (await ada.get("/acme/task?where[name]=backup&unassigned=true")).json == []
    assert (await ada.get(f"/acme/definition/{definition['id']}")).json["instances"] == []


async def test_an_object_that_is_in_use_stays_and_leaves_the_definition(
    world: World, ada: Client
) -> None:
    await tag(ada, world, "web-1", "web")
    definition = await define(ada)
    task = definition["instances"][0]["id"]
    hook = (await ada.post("/acme/webhook", {"name": "hook", "tasks": [task]})).json
    refused = await ada.delete(f"/acme/definition/{definition['id']}")
    assert (refused.status, refused.code) == (409, "task_in_use")
    await tag(ada, world, "web-1")
    await react(world)
    assert (await ada.get(f"/acme/definition/{definition['id']}")).json["instances"] == []
    assert (await ada.patch(f"/acme/task/{task}", {"description": "mine"})).status == 200
    assert (await ada.delete(f"/acme/webhook/{hook['id']}")).status == 200
    assert (await ada.delete(f"/acme/definition/{definition['id']}")).status == 200


async def test_a_script_that_others_use_is_left_alone(world: World, ada: Client) -> None:
    await tag(ada, world, "web-1", "web")
    definition = await define(ada)
    script_id = definition["definition"]["script_id"]
    other = await world.task("other", script_id=script_id, script=None)
    script = {"filename": "backup.sh", "source": "#!/bin/sh\necho 2\n"}
    changed = await redefine(ada, definition, definition={**TASK, "script": script})
    assert changed["definition"]["script_id"] != script_id
    assert (await ada.get(f"/acme/task/{other}")).json["script_id"] == script_id


async def test_hidden_values_stay_hidden_and_are_kept(world: World, ada: Client) -> None:
    await tag(ada, world, "web-1", "web")
    secret = {"type": "fixed", "label": "key", "value": "canary-value", "masked": True}
    definition = await define(ada, definition={**TASK, "task_arguments": [secret]})
    assert definition["definition"]["task_arguments"][0]["value"] == "***"
    changed = await redefine(ada, definition)
    assert changed["definition"]["task_arguments"][0]["value"] == "***"
    async with world.agent() as agent:
        await run(ada, definition["instances"][0]["id"])
        assert (await agent.order()).arguments == ["canary-value"]
    headers = {"Authorization": "canary", "Accept": "x"}
    web = {"name": "w", "type": "scraper", "url": "http://x.test/", "headers": headers}
    new_definition = await define(ada, "monitor", definition=web)
    assert new_definition["definition"]["headers"] == {"Authorization": "***", "Accept": "x"}
    await redefine(ada, new_definition)
    async with world.agent() as agent:
        watch = await agent.hear(MonitorConfig)
        assert watch.monitors[-1].config["headers"] == headers


@pytest.mark.parametrize(
    "body",
    [
        {"kind": "webhook"},
        {"host_tag": ""},
        {"definition": {"name": "x", "type": "dummy"}},
        {"definition": {"type": "script", "script": SCRIPT}},
        {"definition": {"name": "x"}},
        {"definition": {**TASK, "hostname": "web-1"}},
        {"definition": {**TASK, "script": None, "script_id": "0" * 24}},
        {"definition": {**TASK, "timeout": "soon"}},
        {"definition": {**TASK, "script": None}},
        {"definition": {**TASK, "env": {"1": "x"}}},
        {"definition": {**TASK, "acl": ["nobody"]}},
        {"definition": {**TASK, "triggers": ["webhook:000000000000000000000000:trigger"]}},
        {"kind": "monitor", "definition": {"name": "x", "type": "push"}},
        {"kind": "monitor", "definition": {"name": "x", "type": "scraper", "url": "no"}},
        {"kind": "monitor", "definition": {"type": "dstat"}},
        {"extra": 1},
    ],
)
@pytest.mark.parametrize("is_tagged", [True, False])
async def test_an_invalid_definition_is_refused(
    world: World, ada: Client, body: dict[str, Any], is_tagged: bool
) -> None:
    """Also while no host has the tag: it must not fail when one gets it."""
    if is_tagged:
        await tag(ada, world, "web-1", "web")
    refused = await ada.post(
        "/acme/definition", {"kind": "task", "host_tag": "web", "definition": TASK, **body}
    )
    assert refused.status == 400, refused.body
    assert (await ada.get("/acme/definition")).json == []
    assert (await ada.get("/acme/task")).json == []


async def test_the_kind_of_a_definition_cannot_be_changed(world: World, ada: Client) -> None:
    definition = await define(ada)
    for more in (
        {"kind": "monitor", "definition": WEB},
        {"definition": {**TASK, "type": "scraper"}},
    ):
        body = {"kind": "task", "host_tag": "web", "definition": TASK, **more}
        refused = await ada.put(f"/acme/definition/{definition['id']}", body)
        assert (refused.status, refused.code) == (400, "type_fixed")


async def test_a_stale_edit_is_refused(world: World, ada: Client) -> None:
    definition = await define(ada)
    await redefine(ada, definition)
    body = {name: definition[name] for name in ("kind", "host_tag", "definition")}
    refused = await ada.put(
        f"/acme/definition/{definition['id']}",
        body,
        headers={"if-match": str(definition["version"])},
    )
    assert refused.status == 412


async def test_only_admins_of_the_organization_manage_definitions(
    world: World, ada: Client, uma: Client, eve: Client
) -> None:
    definition = await define(ada)
    assert (await world.client("max").get("/acme/definition")).status == 403
    assert (await uma.get(f"/acme/definition/{definition['id']}")).status == 403
    assert (await eve.get(f"/definition/{definition['id']}")).status == 404
    assert (await eve.get("/globex/definition")).json == []
    listed = (await ada.get("/acme/definition?where[host_tag]=web&where[kind]=task")).json
    assert [item["id"] for item in listed] == [definition["id"]]
    assert (await ada.get("/acme/definition?where[kind]=monitor")).json == []


async def test_a_definition_of_a_deleted_object_does_not_block_others(
    world: World, ada: Client
) -> None:
    body = {"user": {"email": "new@acme.test"}, "tags": ["team:new"]}
    member = (await ada.post("/api/member", body)).json
    first = await define(ada, definition={**TASK, "acl": ["team:new"]})
    await define(ada, "monitor")
    assert (await world.client("olga").delete(f"/api/member/{member['id']}")).status == 200
    await tag(ada, world, "web-1", "web")
    await react(world)
    assert await on(ada) == {} and set(await on(ada, "monitor", "health")) == {"web-1"}
    assert (await ada.get(f"/acme/definition/{first['id']}")).json["instances"] == []
    # When it is correct again, it is updated again.
    await redefine(ada, first, definition=TASK)
    assert set(await on(ada)) == {"web-1"}
