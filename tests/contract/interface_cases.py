"""The rows of interface.md about webhooks, access lists, monitors and indicators."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any
from urllib.parse import quote

from contract import interface_cases_jobs, interface_fields, test_monitors, test_webhooks
from contract.flowing import create_workflow as new_workflow
from contract.interface_case import CaseContext
from contract.test_indicators import INDICATOR
from contract.test_indicators import create_indicator as new_indicator

UMA, VIC = "uma@acme.test", "vic@acme.test"


async def list_webhooks(scene: CaseContext) -> None:
    hook = await test_webhooks.create_webhook(scene.ada)
    assert (await scene.play()).json == [hook]


async def show_webhook(scene: CaseContext) -> None:
    hook = await test_webhooks.create_webhook(scene.ada)
    assert (await scene.play(id=hook["id"])).json == hook


async def update_webhook(scene: CaseContext) -> None:
    hook = await test_webhooks.create_webhook(scene.ada)
    changed = (await scene.play({"name": "renamed"}, id=hook["id"])).json
    assert (changed["id"], changed["name"]) == (hook["id"], "renamed")
    assert (await scene.ada.get(f"/acme/webhook/{hook['id']}")).json == changed


async def create_webhook(scene: CaseContext) -> None:
    task = await scene.world.task()
    record = (await scene.play({"name": "push", "tasks": [task]})).json
    assert interface_fields.missing(record, test_webhooks.RECORD) == []
    assert (record["name"], record["tasks"]) == ("push", [task])
    assert (await scene.ada.get(f"/acme/webhook/{record['id']}")).json == record


async def delete_webhook(scene: CaseContext) -> None:
    hook = await test_webhooks.create_webhook(scene.ada)
    secret = await test_webhooks.secret_of(scene.ada, hook["id"])
    assert (await scene.play(id=hook["id"])).json["id"] == hook["id"]
    assert (await scene.ada.get(f"/acme/webhook/{hook['id']}")).status == 404
    target = f"/acme/webhook/{hook['id']}/trigger/secret/{secret}"
    assert (await scene.world.client().post(target, [])).status == 403


async def trigger(scene: CaseContext) -> None:
    """Everything that is attached runs; element n of the array is argument n of each."""
    four = [{"type": "input", "label": f"a{n}"} for n in range(4)]
    text, two = [await scene.world.task(name, task_arguments=four) for name in ("one", "two")]
    flow = await new_workflow(
        scene.world, scene.ada, graph={"nodes": [{"id": "a", "task_id": text}]}
    )
    hook = await test_webhooks.create_webhook(scene.ada, text, two, workflows=[flow["id"]])
    secret = await test_webhooks.secret_of(scene.ada, hook["id"])
    fired = (await scene.play(["x", 1.5, {"a": [1]}, '"q"'], id=hook["id"], secret=secret)).json
    started = {job.get("task_id") or job["workflow_id"] for job in fired["jobs"]}
    assert started == {text, two, flow["id"]}
    for job in await test_webhooks.jobs(scene.ada):
        if job["_type"] == "ScriptJob":
            assert job["task_arguments_values"] == ["x", "1.5", '{"a":[1]}', '"q"']


async def _with_acl(scene: CaseContext) -> str:
    """A task or workflow, depending on the row, whose ACL names Uma."""
    if scene.row.split(" ")[1].startswith("/task/"):
        return await scene.world.task(acl=["uma"])
    flow_id: str = (await new_workflow(scene.world, scene.ada, acl=["uma"]))["id"]
    return flow_id


async def show_acl(scene: CaseContext) -> None:
    response = await scene.play(id=await _with_acl(scene))
    assert response.json == {"users": [UMA], "acl": [UMA], "pending": []}


async def replace_acl(scene: CaseContext) -> None:
    response = await scene.play({"users": [VIC]}, id=await _with_acl(scene))
    assert response.json == {"users": [VIC], "acl": [VIC], "pending": []}


async def change_acl(scene: CaseContext) -> None:
    object_id = await _with_acl(scene)
    added = await scene.play({"users": [VIC], "action": "add"}, id=object_id)
    assert added.json["users"] == [UMA, VIC]
    removed = await scene.play({"users": [UMA], "action": "remove"}, id=object_id)
    assert removed.json["users"] == [VIC]


async def empty_acl(scene: CaseContext) -> None:
    response = await scene.play(id=await _with_acl(scene))
    assert response.json == {"users": [], "acl": [], "pending": []}


async def list_monitors(scene: CaseContext) -> None:
    shop = await test_monitors.make(scene.world, scene.ada)
    stats = await test_monitors.make(scene.world, scene.ada, name="stats", type="dstat")
    assert [record["id"] for record in (await scene.play()).json] == [shop["id"], stats["id"]]
    for query, expected in (("where[name]=shop", shop), ("where[type]=dstat", stats)):
        assert [record["id"] for record in (await scene.play(query=query)).json] == [expected["id"]]


async def show_monitor(scene: CaseContext) -> None:
    shop = await test_monitors.make(scene.world, scene.ada)
    assert (await scene.play(id=shop["id"])).json == shop


async def create_monitor(scene: CaseContext) -> None:
    body = test_monitors.web_check(scene.world)
    record = (await scene.play(body, query=f"host_id={body['host_id']}")).json
    assert interface_fields.missing(record, interface_fields.MONITOR) == []
    same = ("name", "host_id", "url", "type", "status_code", "_type")
    assert {name: record[name] for name in same} == {name: body[name] for name in same}
    assert (record["timeout"], record["looptime"]) == (5_000, 30_000)


async def delete_monitor(scene: CaseContext) -> None:
    shop = await test_monitors.make(scene.world, scene.ada)
    assert (await scene.play(id=shop["id"])).json["id"] == shop["id"]
    assert (await scene.ada.get("/acme/monitor")).json == []


async def list_indicators(scene: CaseContext) -> None:
    indicator = await new_indicator(scene.ada, acl=[VIC])
    await new_indicator(scene.ada, "Hidden")
    assert [record["id"] for record in (await scene.play()).json] == [indicator["id"]]


async def create_indicator(scene: CaseContext) -> None:
    body = {"title": "Load", "type": "progress", "state": "failure", "value": 97.5, "acl": [UMA]}
    record = (await scene.play(body)).json
    assert interface_fields.missing(record, INDICATOR) == []
    assert {name: record[name] for name in body} == body
    assert (record["enable"], record["severity"]) == (True, "HIGH")
    assert (record["alerts"], record["sticky"]) == (True, False)


async def change_indicator(scene: CaseContext) -> None:
    """By id or by title, depending on the row."""
    indicator = await new_indicator(scene.ada, "a/b c", "text", value="old")
    body = {"title": "new", "state": "failure", "value": "bad"}
    changed = (await scene.play(body, id=indicator["id"], title=quote("a/b c", safe=""))).json
    assert changed["id"] == indicator["id"] and {name: changed[name] for name in body} == body


async def count(scene: CaseContext, after: int) -> None:
    indicator = await new_indicator(scene.ada, value=7)
    assert (await scene.play(id=indicator["id"])).json["value"] == after


SCENES: dict[str, Callable[[CaseContext], Awaitable[Any]]] = {
    **interface_cases_jobs.SCENES,
    "GET /webhook": list_webhooks,
    "GET /webhook/{id}": show_webhook,
    "PUT /webhook/{id}": update_webhook,
    "POST /webhook": create_webhook,
    "DELETE /webhook/{id}": delete_webhook,
    "POST /webhook/{id}/trigger": trigger,
    "POST /webhook/{id}/trigger/secret/{secret}": trigger,
    "GET /task/{id}/acl": show_acl,
    "PUT /task/{id}/acl": replace_acl,
    "PATCH /task/{id}/acl": change_acl,
    "DELETE /task/{id}/acl": empty_acl,
    "GET /workflows/{id}/acl": show_acl,
    "PUT /workflows/{id}/acl": replace_acl,
    "PATCH /workflows/{id}/acl": change_acl,
    "DELETE /workflows/{id}/acl": empty_acl,
    "GET /monitor": list_monitors,
    "GET /monitor/{id}": show_monitor,
    "POST /monitor": create_monitor,
    "DELETE /monitor/{id}": delete_monitor,
    "GET /indicator": list_indicators,
    "POST /indicator": create_indicator,
    "PATCH /indicator/{id}": change_indicator,
    "PATCH /indicator/title/{title}": change_indicator,
    "PATCH /indicator/{id}/increase": partial(count, after=8),
    "PATCH /indicator/{id}/decrease": partial(count, after=6),
    "PATCH /indicator/{id}/restart": partial(count, after=1),
}
