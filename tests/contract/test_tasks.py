"""The Task rows of interface.md, and the operations of decisions.md."""

from typing import Any

from contract import interface_fields
from contract.client import Client
from contract.world import SOURCE, World


def script(name: str = "deploy", **more: Any) -> dict[str, Any]:
    text = {"filename": "deploy.sh", "source": SOURCE}
    return {"name": name, "type": "script", "hostname": "web-1", "script": text, **more}


async def test_tasks_are_listed(world: World, ada: Client) -> None:
    task = await world.task("echo")
    response = await ada.get("/acme/task")
    assert response.status == 200
    assert [record["id"] for record in response.json] == [task]
    assert interface_fields.missing(response.json[0], interface_fields.TASK) == []
    assert response.json[0]["name"] == "echo" and response.json[0]["hostname"] == "web-1"


async def test_the_organization_may_be_in_the_query(world: World, ada: Client) -> None:
    await world.task()
    assert (await ada.get("/task?customer=acme")).body == (await ada.get("/acme/task")).body


async def test_an_integration_token_lists_them(world: World) -> None:
    await world.task()
    assert len((await world.client("token").get("/task?customer=acme")).json) == 1


async def test_several_tasks_share_a_name_one_per_host(world: World, ada: Client) -> None:
    await world.task("echo", hostname="web-1")
    await world.task("echo", hostname="web-2")
    tasks = (await ada.get("/acme/task?where[name]=echo")).json
    assert [(task["name"], task["hostname"]) for task in tasks] == [
        ("echo", "web-1"),
        ("echo", "web-2"),
    ]


async def test_the_timeout_is_null_when_the_default_applies(world: World, ada: Client) -> None:
    await world.task("default")
    await world.task("own", timeout=5_000)
    assert [task["timeout"] for task in (await ada.get("/acme/task")).json] == [None, 5_000]


async def test_a_viewer_lists_only_tasks_of_their_acl(world: World, vic: Client) -> None:
    task = await world.task("shown", acl=["vic@acme.test"])
    await world.task("hidden", acl=[])
    await world.task("others", acl=["uma@acme.test"])
    assert [record["id"] for record in (await vic.get("/acme/task")).json] == [task]


async def test_a_hidden_task_is_not_found(world: World, vic: Client) -> None:
    hidden = await world.task(acl=[])
    missing = "0" * 24
    assert (await vic.get(f"/acme/task/{hidden}")).status == 404
    assert (await vic.get(f"/acme/task/{missing}")).status == 404


async def test_another_organization_lists_its_own(world: World, ada: Client, eve: Client) -> None:
    await world.task()
    theirs = await world.task(by="eve")
    assert [task["id"] for task in (await eve.get("/task")).json] == [theirs]
    assert theirs not in (await ada.get("/task")).text


async def test_an_admin_creates_a_task(ada: Client) -> None:
    response = await ada.post("/task?customer=acme", script())
    assert response.status == 200
    assert response.json["_type"] == "ScriptTask" and response.json["script_runas"] == ""
    assert response.json["version"] == 1
    assert (await ada.get(f"/task/{response.json['id']}?customer=acme")).json == response.json


async def test_unknown_fields_of_old_clients_are_ignored(ada: Client) -> None:
    response = await ada.post("/acme/task", script(_type="ScriptTask", secret="x", order=7))
    assert response.status == 200


async def test_numbers_may_come_as_strings(ada: Client) -> None:
    response = await ada.post("/acme/task", script(timeout="5000", concurrency="2"))
    assert (response.json["timeout"], response.json["concurrency"]) == (5_000, 2)


async def test_a_bad_definition_names_every_fault(ada: Client) -> None:
    response = await ada.post(
        "/acme/task", script(timeout=0, concurrency=0, script_runas="bash 'x")
    )
    assert response.status == 400
    fields = {fault["field"] for fault in response.json["errors"]}
    assert fields == {"timeout", "concurrency", "script_runas"}
    assert (await ada.get("/acme/task")).json == []


async def test_a_task_needs_a_host_that_is_there(ada: Client) -> None:
    response = await ada.post("/acme/task", script(hostname="box-1"))
    assert (response.status, response.json["errors"][0]["field"]) == (400, "hostname")


async def test_patch_takes_any_subset(world: World, ada: Client) -> None:
    task = await world.task(tags=["blue"])
    changed = await ada.patch(f"/task/{task}?customer=acme", {"description": "Says hello."})
    assert changed.status == 200
    assert changed.json["description"] == "Says hello."
    assert changed.json["tags"] == ["blue"] and changed.json["version"] == 2


async def test_put_replaces_the_definition(world: World, ada: Client) -> None:
    task = await world.task(tags=["blue"])
    record = (await ada.get(f"/acme/task/{task}")).json
    body = {"name": "renamed", "host_id": record["host_id"], "script_id": record["script_id"]}
    changed = await ada.put(f"/acme/task/{task}", body)
    assert changed.status == 200
    assert (changed.json["name"], changed.json["tags"]) == ("renamed", [])


async def test_a_record_can_be_sent_back_as_it_was_shown(world: World, ada: Client) -> None:
    task = await world.task(task_arguments=[{"type": "input", "label": "a"}])
    record = (await ada.get(f"/acme/task/{task}")).json
    again = await ada.put(f"/acme/task/{task}", record)
    assert again.status == 200
    assert again.json == record


async def test_delete_answers_with_the_record(world: World, ada: Client) -> None:
    task = await world.task()
    record = (await ada.get(f"/acme/task/{task}")).json
    gone = await ada.delete(f"/acme/task/{task}")
    assert gone.status == 200
    assert gone.json == record
    assert (await ada.get(f"/acme/task/{task}")).status == 404
    assert (await ada.delete(f"/acme/task/{task}")).status == 404


async def test_a_manager_may_not_change_tasks(world: World) -> None:
    task, max_ = await world.task(), world.client("max")
    assert (await max_.post("/acme/task", script())).status == 403
    assert (await max_.patch(f"/acme/task/{task}", {"name": "x"})).status == 403
    assert (await max_.delete(f"/acme/task/{task}")).status == 403


async def test_a_disabled_task_does_not_run(world: World, ada: Client) -> None:
    task = await world.task(enable=False)
    refused = await ada.post("/acme/job", {"task": task})
    assert (refused.status, refused.code) == (409, "task_disabled")
    assert (await ada.get("/acme/job")).json == []
