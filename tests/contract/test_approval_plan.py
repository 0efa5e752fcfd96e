"""What an approval allows to run is shown, and a change of it voids the approval."""

from typing import Any

import pytest

from belvedere.jobs.lifecycle import timeouts
from contract import flowing
from contract.client import Client
from contract.running import create, show
from contract.test_triggers import react
from contract.world import SOURCE, World
from manual_clock import ManualClock

NAME = {"type": "input", "label": "name"}
WORD = {"type": "input", "label": "word", "masked": True}


async def flow(world: World, ada: Client, **more: Any) -> dict[str, Any]:
    """Ask, then deploy, then clean up; deploy gets the arguments."""
    body = {"approvers": ["vic"], "task_arguments": [NAME, NAME], **more}
    task = await world.task("ask", type="approval", **body)
    deploy = await world.task("deploy", task_arguments=[NAME, WORD], script_runas="bash -e")
    clean = await world.task("clean", hostname="web-2")
    graph = {
        "nodes": [
            {"id": "ask", "task_id": task},
            {"id": "deploy", "task_id": deploy},
            {"id": "clean", "task_id": clean},
        ],
        "edges": [{"source": "ask", "target": "deploy"}, {"source": "deploy", "target": "clean"}],
    }
    workflow = await flowing.create_workflow(world, ada, graph=graph)
    return {**workflow, "deploy": deploy, "clean": clean, "ask": task}


async def request_approval(
    world: World, ada: Client, uma: Client
) -> tuple[dict[str, Any], dict[str, Any]]:
    """A workflow that waits for Vic, and the approval that it waits for."""
    workflow = await flow(world, ada)
    job = await flowing.run(uma, workflow, "v1.2", "hush")
    (step,) = (await ada.get(f"/acme/workflows/{workflow['id']}/job/{job['id']}/jobs")).json
    return workflow, await show(uma, step["id"])


async def test_an_approval_shows_the_tasks_and_scripts_that_will_run(
    world: World, ada: Client, uma: Client, vic: Client
) -> None:
    workflow, job = await request_approval(world, ada, uma)
    first, second = (await show(vic, job["id"]))["will_run"]
    script = (await ada.get(f"/acme/task/{workflow['deploy']}")).json
    file = (await ada.get(f"/acme/file/{script['script_id']}")).json
    assert (first["name"], first["task_id"], first["node_id"]) == (
        "deploy",
        workflow["deploy"],
        "deploy",
    )
    assert (first["hostname"], first["script_filename"]) == ("web-1", "deploy.sh")
    assert first["script_sha256"] == file["sha256"]
    assert first["script_runas"] == "bash -e"
    # Values that are masked in the task are masked here.
    assert first["arguments"] == ["v1.2", "***"]
    assert (second["name"], second["hostname"]) == ("clean", "web-2")
    assert "arguments" not in second
    assert (await vic.put(f"/acme/job/{job['id']}/approve")).status == 200
    await react(world)
    started = (await ada.get("/acme/job?where[name]=deploy&include[task_arguments_values]=1")).json
    assert [item["task_arguments_values"] for item in started] == [["v1.2", "***"]]


CHANGES: dict[str, dict[str, Any]] = {
    "script": {"script": {"source": SOURCE + "rm -rf /\n"}},
    "host": {"hostname": "web-2"},
    "run-as": {"script_runas": "bash -x"},
    "definition": {"task_arguments": [NAME, WORD, {"type": "fixed", "value": "x", "label": "y"}]},
}


@pytest.mark.parametrize("text", CHANGES)
async def test_a_change_makes_the_approval_void(
    world: World, ada: Client, uma: Client, vic: Client, text: str
) -> None:
    workflow, job = await request_approval(world, ada, uma)
    assert (await ada.patch(f"/acme/task/{workflow['deploy']}", CHANGES[text])).status == 200
    # A vote that comes before the event consumer is refused by the vote itself.
    refused = await vic.put(f"/acme/job/{job['id']}/approve")
    assert (refused.status, refused.code) == (409, "approval_void")
    assert f"the {text} of deploy" in refused.json["message"]
    await react(world)
    record = await show(uma, job["id"])
    assert (record["lifecycle"], record["state"]) == ("expired", "canceled")
    assert f"the {text} of deploy" in record["reason"]
    actual_record = await show(uma, job["workflow_job_id"])
    assert (actual_record["lifecycle"], actual_record["state"]) == ("finished", "failure")
    late = await vic.put(f"/acme/job/{job['id']}/approve")
    assert (late.status, late.code) == (409, "wrong_lifecycle")
    inbox = (await uma.get("/acme/notification")).json
    assert "ask needs a new approval: what would run has changed" in [
        item["title"] for item in inbox
    ]


async def test_a_new_version_of_a_stored_script_makes_it_void(
    world: World, ada: Client, uma: Client
) -> None:
    workflow, job = await request_approval(world, ada, uma)
    task = (await ada.get(f"/acme/task/{workflow['clean']}")).json
    await ada.put(f"/acme/file/{task['script_id']}/upload", {"source": SOURCE + "true\n"})
    await react(world)
    record = await show(uma, job["id"])
    assert (record["lifecycle"], "the script of clean" in record["reason"]) == ("expired", True)


async def test_fields_without_effect_on_the_run_may_change(
    world: World, ada: Client, uma: Client, vic: Client
) -> None:
    workflow, job = await request_approval(world, ada, uma)
    words = {"name": "Deploy", "description": "new", "tags": ["x"], "enable": True}
    await ada.patch(f"/acme/task/{workflow['deploy']}", words)
    await react(world)
    assert (await vic.put(f"/acme/job/{job['id']}/approve")).status == 200


async def test_a_void_approval_can_be_rejected(
    world: World, ada: Client, uma: Client, vic: Client
) -> None:
    workflow, job = await request_approval(world, ada, uma)
    await ada.patch(f"/acme/task/{workflow['deploy']}", CHANGES["host"])
    assert (await vic.put(f"/acme/job/{job['id']}/reject")).status == 200


async def test_a_timeout_does_not_approve_a_changed_plan(
    world: World, ada: Client, uma: Client, clock: ManualClock
) -> None:
    workflow = await flow(world, ada, expires=60_000, default_answer="approve")
    record = await flowing.run(uma, workflow, "v1.2", "hush")
    await ada.patch(f"/acme/task/{workflow['deploy']}", CHANGES["script"])
    clock.move(61)
    await world.runtime.db.write(timeouts.expire)
    (job,) = (await ada.get(f"/acme/workflows/{workflow['id']}/job/{record['id']}/jobs")).json
    assert (job["lifecycle"], job["state"]) == ("expired", "canceled")
    assert "the script of deploy" in job["reason"]


async def test_a_task_changed_after_the_approval_does_not_start(
    world: World, ada: Client, uma: Client, vic: Client
) -> None:
    """There is a moment between the vote and the start; what was approved is what runs."""
    workflow, job = await request_approval(world, ada, uma)
    assert (await vic.put(f"/acme/job/{job['id']}/approve")).status == 200
    await ada.patch(f"/acme/task/{workflow['deploy']}", CHANGES["script"])
    await react(world)
    (step,) = (await ada.get("/acme/job?where[name]=deploy")).json
    assert (step["lifecycle"], step["state"], step["ran"]) == ("finished", "error", "no")
    assert step["reason"].startswith("This is not what was approved: the script of deploy.")
    assert (await show(uma, job["workflow_job_id"]))["state"] == "failure"


async def test_an_approval_may_be_requested_again(
    world: World, ada: Client, uma: Client, vic: Client
) -> None:
    """A restart asks again, for what would run now."""
    workflow, job = await request_approval(world, ada, uma)
    await ada.patch(f"/acme/task/{workflow['deploy']}", CHANGES["host"])
    await react(world)
    again = await uma.put(f"/acme/workflows/{workflow['id']}/job/{job['workflow_job_id']}/restart")
    assert again.status == 200, again.body
    await react(world)
    (waiting,) = (await vic.get("/acme/job?where[lifecycle]=onhold")).json
    assert (await show(vic, waiting["id"]))["will_run"][0]["hostname"] == "web-2"
    assert (await vic.put(f"/acme/job/{waiting['id']}/approve")).status == 200


async def test_an_approval_shows_the_tasks_that_it_triggers(
    world: World, ada: Client, uma: Client, vic: Client
) -> None:
    task = await world.task("ask", type="approval", approvers=["vic"], task_arguments=[NAME, WORD])
    deploy = await world.task(
        "deploy", task_arguments=[NAME, NAME], triggers=[f"task:{task}:success"]
    )
    job = await create(uma, task, ["v1.2", "hush"])
    (record,) = job["will_run"]
    assert (record["task_id"], record["arguments"], "node_id" in record) == (
        deploy,
        ["v1.2", "***"],
        False,
    )
    await vic.put(f"/acme/job/{job['id']}/approve")
    await react(world)
    assert [record["name"] for record in (await ada.get("/acme/job?where[name]=deploy")).json]


async def test_a_trigger_added_later_makes_the_approval_void(
    world: World, ada: Client, uma: Client, vic: Client
) -> None:
    task = await world.task("ask", type="approval", approvers=["vic"])
    job = await create(uma, task)
    assert job["will_run"] == []
    await world.task("deploy", triggers=[f"task:{task}:success"])
    refused = await vic.put(f"/acme/job/{job['id']}/approve")
    assert (refused.status, refused.code) == (409, "approval_void")
    assert "deploy is started by it, too" in refused.json["message"]


async def test_an_approval_shows_the_workflow_that_it_triggers(
    world: World, ada: Client, uma: Client, vic: Client
) -> None:
    task = await world.task("ask", type="approval", approvers=["vic"])
    workflow = await flowing.create_workflow(world, ada, triggers=[f"task:{task}:success"])
    job = await create(uma, task)
    assert sorted(item["name"] for item in job["will_run"]) == ["a", "b"]
    assert {item["workflow_id"] for item in job["will_run"]} == {workflow["id"]}
    await vic.put(f"/acme/job/{job['id']}/approve")
    # Changed just before it starts.
    edges = [{"source": "a", "target": "b", "on": "failure"}]
    graph = {**workflow["graph"], "edges": edges}
    assert (await ada.patch(f"/acme/workflows/{workflow['id']}", {"graph": graph})).status == 200
    await react(world)
    assert (await ada.get("/acme/job?where[name]=a")).json == []


async def test_the_audit_log_contains_the_approved_plan(
    world: World, ada: Client, uma: Client, vic: Client
) -> None:
    _, job = await request_approval(world, ada, uma)
    await vic.put(f"/acme/job/{job['id']}/approve")
    entries = (await ada.get(f"/api/audit?customer=acme&object_id={job['id']}")).json
    (entry,) = [item for item in entries if item["action"] == "job.approve"]
    assert [item["name"] for item in entry["after"]["will_run"]] == ["deploy", "clean"]
    assert entry["after"]["will_run"][0]["script_sha256"] == job["will_run"][0]["script_sha256"]
