"""The rows of interface.md about tasks and jobs."""

from typing import Any
from urllib.parse import urlencode

from contract import interface_fields
from contract.client import FORM
from contract.flowing import create_workflow as new_workflow
from contract.flowing import secret_of as secret_of_workflow
from contract.interface_case import CaseContext
from contract.running import create, process_events, run
from contract.test_approve import approval
from contract.test_input import create_held

FORM_TYPE = {"content-type": FORM}
TWO = [{"type": "input", "label": "a"}, {"type": "input", "label": "b"}]


async def list_tasks(scene: CaseContext) -> None:
    task = await scene.world.task("same")
    other = await scene.world.task("same", hostname="web-2", timeout=5_000)
    records = (await scene.play()).json
    assert [(record["id"], record["name"]) for record in records] == [
        (task, "same"),
        (other, "same"),
    ]
    assert [record["hostname"] for record in records] == ["web-1", "web-2"]
    assert [record["timeout"] for record in records] == [None, 5_000]
    token = scene.world.credential("token")
    by_query = await scene.play(query=f"access_token={token}", headers={"authorization": ""})
    assert [record["id"] for record in by_query.json] == [task, other]


async def show_job(scene: CaseContext) -> None:
    task = await scene.world.task()
    async with scene.world.agent() as agent:
        job = await run(scene.uma, agent, task, log="a\nb\n", lastline="b")
    record = (await scene.play(id=job["id"])).json
    assert interface_fields.missing(record, interface_fields.ENDED) == []
    assert (record["lifecycle"], record["state"]) == ("finished", "normal")
    assert (record["result"]["code"], record["result"]["lastline"]) == (0, "b")


async def list_jobs(scene: CaseContext) -> None:
    task = await scene.world.task()
    jobs = [await create(scene.uma, task) for _ in range(2)]
    assert [record["id"] for record in (await scene.play()).json] == [jobs[1]["id"], jobs[0]["id"]]
    empty = await scene.play(query="where[lifecycle]=finished")
    assert empty.json == []


async def finish_job(scene: CaseContext) -> None:
    task = await scene.world.task()
    async with scene.world.agent() as agent:
        job = await create(scene.uma, task)
        await agent.order()
        data = {"code": 3, "log": "bad\n", "lastline": "bad", "signal": None, "killed": False}
        body = {"result": {"state": "failure", "data": data}}
        ended = (await scene.play(body, id=job["id"])).json
    assert (ended["lifecycle"], ended["state"]) == ("finished", "failure")
    assert {name: ended["result"][name] for name in data} == data


async def create_job(scene: CaseContext) -> None:
    task = await scene.world.task(task_arguments=TWO)
    record = (await scene.play({"task": task, "task_arguments": ["x", 'a "b"']})).json
    assert interface_fields.missing(record, interface_fields.CREATED) == []
    assert (record["lifecycle"], record["state"], record["output"]) == (
        "ready",
        "in_progress",
        None,
    )
    assert (record["_type"], record["origin"], record["script_runas"]) == ("ScriptJob", "user", "")
    assert record["task_arguments_values"] == ["x", 'a "b"']
    assert record["task"]["id"] == record["task_id"] == task
    assert record["user"]["email"] == "uma@acme.test" and record["customer_name"] == "acme"


async def show_lifecycle(scene: CaseContext) -> None:
    job = await create(scene.uma, await scene.world.task())
    assert (await scene.play(id=job["id"])).json == "ready"


async def cancel_job(scene: CaseContext) -> None:
    job = await create(scene.uma, await scene.world.task())
    ended = (await scene.play(id=job["id"])).json
    assert (ended["lifecycle"], ended["state"]) == ("canceled", "canceled")


async def create_by_secret(scene: CaseContext) -> None:
    """In each of the three encodings, and as an HTML form."""
    task = await scene.world.task(task_arguments=TWO)
    secret = (await scene.ada.get(f"/acme/task/{task}/credentials")).json["secret"]
    query, values = f"task={task}", ["x y", "é&="]
    hidden = [("task", task), ("customer", "acme"), *(("task_arguments[]", v) for v in values)]
    text = urlencode([("task_arguments[]", v) for v in values])
    form = urlencode([("task_arguments", v) for v in values]).encode()
    json = {"task_arguments": values}
    ways: list[dict[str, Any]] = [
        {"body": json, "query": query},
        {"raw": form, "headers": FORM_TYPE, "query": query},
        {"query": f"{query}&{text}"},
        {"raw": urlencode(hidden).encode(), "headers": FORM_TYPE},
        {"body": {**json, "task": task, "customer": "acme"}},
    ]
    for way in ways:
        record = (await scene.play(secret=secret, **way)).json
        assert (record["task_id"], record["task_arguments_values"]) == (task, values)
        assert (record["lifecycle"], record["state"]) == ("ready", "in_progress")


async def delete_finished(scene: CaseContext) -> None:
    task = await scene.world.task()
    async with scene.world.agent() as agent:
        ended = await run(scene.uma, agent, task)
    open_one = await create(scene.uma, task)
    await process_events(scene.world.runtime)
    assert (await scene.play()).json == {"deletedCount": 1}
    assert [job["id"] for job in (await scene.ada.get("/acme/job")).json] == [open_one["id"]]
    assert (await scene.ada.get(f"/acme/job/{ended['id']}")).status == 404


async def approve(scene: CaseContext) -> None:
    await _vote(scene, "success")


async def reject(scene: CaseContext) -> None:
    await _vote(scene, "failure")


async def _vote(scene: CaseContext, state: str) -> None:
    job = await create(scene.uma, await approval(scene.world))
    assert job["lifecycle"] == "onhold"
    done = (await scene.play(id=job["id"])).json
    assert (done["lifecycle"], done["state"]) == ("finished", state)


async def give_input(scene: CaseContext) -> None:
    job = await create_held(scene.uma, await scene.world.task(task_arguments=TWO), "onhold")
    record = (await scene.play({"args": ["x", "y"]}, id=job["id"])).json
    assert (record["lifecycle"], record["task_arguments_values"]) == ("ready", ["x", "y"])


async def run_workflow_by_secret(scene: CaseContext) -> None:
    task = await scene.world.task(task_arguments=TWO)
    graph = {"nodes": [{"id": "a", "task_id": task}]}
    flow = await new_workflow(scene.world, scene.ada, graph=graph)
    at = {"id": flow["id"], "secret": await secret_of_workflow(scene.ada, flow)}
    form = urlencode([("customer", "acme"), *(("task_arguments[]", v) for v in "xy")]).encode()
    for item in (
        await scene.play({"task_arguments": ["x", "y"]}, **at),
        await scene.play(raw=form, headers=FORM_TYPE, **at),
    ):
        assert (item.json["_type"], item.json["lifecycle"]) == ("WorkflowJob", "ready")
        under = f"/acme/workflows/{flow['id']}/job/{item.json['id']}/jobs"
        (first,) = (await scene.ada.get(f"{under}?include[task_arguments_values]=1")).json
        assert first["task_arguments_values"] == ["x", "y"]


SCENES = {
    "GET /task": list_tasks,
    "GET /job/{id}": show_job,
    "GET /job": list_jobs,
    "PUT /job/{id}": finish_job,
    "POST /job": create_job,
    "GET /job/{id}/lifecycle": show_lifecycle,
    "PUT /job/{id}/cancel": cancel_job,
    "POST /job/secret/{secret}": create_by_secret,
    "DELETE /job/finished": delete_finished,
    "PUT /job/{id}/approve": approve,
    "PUT /job/{id}/reject": reject,
    "PUT /job/{id}/input": give_input,
    "POST /workflows/{id}/secret/{secret}/job": run_workflow_by_secret,
}
