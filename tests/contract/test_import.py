"""TheEye recipes become tasks and workflows."""

import json
from typing import Any

import pytest

from contract.client import Client
from contract.running import create, run, show
from contract.world import World
from workflows.test_recipes import DATA, SOURCE, flow, script


async def import_recipe(client: Client, item: Any, query: str = "?hostname=web-1") -> Any:
    answer = await client.post(f"/acme/workflows/import{query}", item)
    assert answer.status == 200, answer.body
    return answer.json


async def test_a_recipe_is_imported(world: World, ada: Client) -> None:
    report = await import_recipe(ada, flow())
    assert [task["name"] for task in report["tasks"]] == ["pull", "ask", "ship"]
    record = report["workflow"]
    assert record == (await ada.get(f"/acme/workflows/{record['id']}")).json
    assert (record["name"], record["start"], record["description"]) == ("Scan", "pull", "Scans it.")
    assert {"source": "pull", "target": "ship", "on": "hotfix"} in record["graph"]["edges"]
    assert [note.partition(" ")[0] for note in report["notes"]] == ["ask:", "The"]
    pull = report["tasks"][0]
    assert (pull["hostname"], pull["acl"], pull["timeout"]) == ("web-1", [], 600_000)
    stored = await ada.get(f"/acme/file/{pull['script_id']}/download")
    assert stored.text == SOURCE
    assert report["tasks"][1]["approvers"] == [world.actors.ada.user_id]
    run = await ada.post(f"/acme/workflows/{record['id']}/job", ["dir"])
    assert run.status == 200


async def test_a_task_recipe_creates_a_task(world: World, ada: Client) -> None:
    body = {"task": script("x", "hello"), "file": {"filename": "hello.sh", "data": DATA}}
    report = await import_recipe(ada, body)
    assert (report["workflow"], [task["name"] for task in report["tasks"]]) == (None, ["hello"])
    single = await ada.post("/task/import?customer=acme", {**body, "hostname": "web-1"})
    assert (single.status, single.json["name"]) == (200, "hello")
    assert single.json["script_name"] == "hello.sh"
    response = await ada.post("/acme/task/import?hostname=web-1", flow())
    assert response.status == 400


async def test_the_customer_in_a_recipe_is_not_the_callers(world: World, ada: Client) -> None:
    report = await import_recipe(ada, flow(customer="62e91ad7541a1a0019a158c0"))
    assert report["workflow"]["customer_name"] == "acme"


@pytest.mark.parametrize(
    ("said", "query", "told"),
    [
        (flow(), "", "hostname"),
        (flow(), "?hostname=nowhere", "'nowhere'"),
        (flow(name=""), "?hostname=web-1", "The workflow cannot"),
        (flow(name=["x"]), "?hostname=web-1", "The workflow cannot"),
        ({"task": {"name": "", "type": "dummy"}}, "", "name"),
        ({"task": {"name": "x", "type": "magic"}}, "", "The task 'x'"),
        ({"task": {"name": "x", "type": "dummy", "tags": 7}}, "", "The task 'x'"),
        ({"neither": 1}, "", "not a recipe"),
        (
            {
                **flow(),
                "graph": {
                    **flow()["graph"],
                    "edges": [
                        *flow()["graph"]["edges"],
                        {"v": "u3", "w": "u1", "value": "failure"},
                    ],
                },
            },
            "?hostname=web-1",
            "pull → ask → ship → pull",
        ),
    ],
)
async def test_an_import_creates_everything_or_nothing(
    world: World, ada: Client, said: Any, query: str, told: str
) -> None:
    refused = await ada.post(f"/acme/workflows/import{query}", said)
    assert refused.status == 400
    assert told in json.dumps(refused.json, ensure_ascii=False)
    for place in ("task", "workflows", "file"):
        assert (await ada.get(f"/acme/{place}")).json == []


@pytest.mark.parametrize("raw", [b"", b"[", b"7", b'{"a": 1, "a": 2}'])
async def test_a_body_that_is_no_json_object_is_refused(ada: Client, raw: bytes) -> None:
    headers = {"content-type": "application/json"}
    refused = await ada.post("/acme/workflows/import", raw=raw, headers=headers)
    assert refused.status == 400


async def test_only_admins_import(world: World, uma: Client, eve: Client) -> None:
    for client in (uma, world.client("max"), eve):
        assert (await client.post("/acme/workflows/import", flow())).status == 403
        assert (await client.post("/acme/task/import", flow())).status == 403


async def test_numbers_of_a_recipe_become_texts(ada: Client) -> None:
    task = {**script("x", "hello"), "description": 5, "env": {"PORT": 8080}}
    body = {"task": task, "file": {"filename": "hello.sh", "data": DATA}}
    (record,) = (await import_recipe(ada, body))["tasks"]
    assert (record["description"], record["env"]) == ("5", {"PORT": "8080"})


async def test_the_response_lists_fields_that_are_not_imported(world: World, ada: Client) -> None:
    report = await import_recipe(ada, flow(triggers=["62e9"], logger=True))
    lines = [(item["part"], item["field"], item["value"]) for item in report["not_imported"]]
    foreign = [
        ("acl", '["somebody@elsewhere.test"]'),
        ("assigned_users", '["62e91ad7541a1a0019a15800"]'),
    ]
    assert lines == [
        *(("task pull", *item) for item in foreign),
        ("task ask", "approvers", '["62e9"]'),
        *(("task ship", *item) for item in foreign),
        ("workflow Scan", "triggers", '["62e9"]'),
        ("workflow Scan", "logger", "true"),
    ]
    assert all(item["reason"] for item in report["not_imported"])
    single = await ada.post("/acme/task/import?hostname=web-1", {"task": script("x", "hello")})
    assert [item["field"] for item in single.json["not_imported"]] == ["acl", "assigned_users"]
    assert len(single.json["notes"]) == 1


async def test_an_imported_script_keeps_its_verdict_and_its_retention(
    world: World, ada: Client
) -> None:
    task = script("x", "hello", task_arguments=[])
    (record,) = (await import_recipe(ada, {"task": task}))["tasks"]
    assert record["ignore_exit_code"] is True
    assert (record["history"]["count"], record["history"]["inherited"]) == (5, False)
    async with world.agent() as agent:
        job = await run(ada, agent, record["id"], code=1, lastline="success")
    assert (job["state"], job["result"]["code"]) == ("success", 1)


async def test_the_switches_of_an_approval_are_imported(world: World, ada: Client) -> None:
    source = {"name": "ask", "type": "approval", "cancel_enabled": False, "failure_enabled": False}
    (task,) = (await import_recipe(ada, {"task": source}))["tasks"]
    switches = (task["success_enabled"], task["failure_enabled"], task["cancellable"])
    assert switches == (True, False, False)
    job = await create(ada, task["id"])
    assert (await show(ada, job["id"]))["waiting_detail"]["answers"] == ["approve"]
    refused = await ada.put(f"/acme/job/{job['id']}/reject")
    assert (refused.status, refused.code) == (409, "answer_disabled")
    assert (await ada.put(f"/acme/job/{job['id']}/approve")).status == 200


async def test_an_approval_without_answers_or_with_unknown_approvers(ada: Client) -> None:
    source: dict[str, Any] = {"name": "ask", "type": "approval", "approvals_target": "dynamic"}
    source |= {"success_enabled": False, "failure_enabled": False}
    report = await import_recipe(ada, {"task": source})
    (task,) = report["tasks"]
    assert (task["approvals_target"], task["success_enabled"]) == ("fixed", True)
    assert [item["field"] for item in report["not_imported"]] == [
        *("approvals_target", "success_enabled", "failure_enabled")
    ]
    refused = await ada.post("/acme/task", {**source, "approvals_target": "initiator"})
    assert [fault["field"] for fault in refused.json["errors"]] == ["failure_enabled"]


async def test_a_token_imports_approvals_without_approvers(world: World, ada: Client) -> None:
    report = await import_recipe(world.client("token"), flow())
    task = report["tasks"][1]
    assert task["approvers"] == []
    assert report["notes"][0].startswith("ask: it has no approvers")
    refused = await ada.post(f"/acme/task/{task['id']}/job")
    assert (refused.status, refused.code) == (400, "no_approver")
    changed = await ada.patch(f"/acme/task/{task['id']}", {"description": "x"})
    assert [fault["field"] for fault in changed.json["errors"]] == ["approvers"]
    assert (await ada.patch(f"/acme/task/{task['id']}", {"approvers": ["max"]})).status == 200
    assert (await ada.post(f"/acme/task/{task['id']}/job")).status == 200
