"""What starts a workflow besides people, and what the end of a workflow starts."""

from typing import Any

from belvedere.db import Tx
from belvedere.server.background import loops
from belvedere.workflows.execution import advance
from contract.client import Client
from contract.flowing import create_workflow, run, step
from contract.test_triggers import indicator, react
from contract.world import World
from manual_clock import ManualClock

ONE = [{"type": "input", "label": "x"}]


async def jobs(ada: Client, kind: str = "WorkflowJob") -> list[dict[str, Any]]:
    response = await ada.get(f"/acme/job?where[_type]={kind}&include[task_arguments_values]=1")
    listed: list[dict[str, Any]] = response.json
    return list(reversed(listed))


async def single(world: World, ada: Client, name: str, **more: Any) -> dict[str, Any]:
    task = await world.task(name, hostname="web-2", task_arguments=ONE)
    graph = {"nodes": [{"id": "a", "task_id": task}]}
    return await create_workflow(world, ada, name=name, graph=graph, **more)


async def test_a_failing_indicator_starts_a_workflow(world: World, ada: Client) -> None:
    """A failing indicator starts it, and its title is the first step's argument."""
    tile = await indicator(ada)
    flow = await single(world, ada, "w", triggers=[f"indicator:{tile}:failure"])
    assert flow["triggers"] == [f"indicator:{tile}:failure"]
    await ada.patch(f"/acme/indicator/{tile}", {"state": "failure"})
    await react(world)
    (job,) = await jobs(ada)
    assert (job["workflow_id"], job["origin"]) == (flow["id"], "trigger_by")
    (first,) = await jobs(ada, "ScriptJob")
    assert first["task_arguments_values"] == ["Queue"]


async def test_a_webhook_starts_tasks_and_workflows_all_or_nothing(
    world: World, ada: Client, anonymous: Client
) -> None:
    flow = await single(world, ada, "w")
    task = await world.task("t")
    body = {"name": "push", "tasks": [task], "workflows": [flow["id"]]}
    hook = (await ada.post("/acme/webhook", body)).json
    target = f"/acme/webhook/{hook['id']}"
    refused = await ada.post(f"{target}/trigger", [])
    assert (refused.status, refused.code) == (400, "missing_arguments")
    assert f"workflow 'w' ({flow['id']})" in refused.json["message"]
    assert (await ada.get("/acme/job")).json == []
    fired = await ada.post(f"{target}/trigger", ["x"], headers={"idempotency-key": "k"})
    assert fired.status == 200
    (job,) = await jobs(ada)
    assert {"id": job["id"], "workflow_id": flow["id"]} in fired.json["jobs"]
    again = await ada.post(f"{target}/trigger", ["x"], headers={"idempotency-key": "k"})
    assert again.json == fired.json
    secret = (await ada.get(f"{target}/credentials")).json["secret"]
    assert (await anonymous.post(f"{target}/trigger/secret/{secret}", ["y"])).status == 200
    assert len(await jobs(ada)) == 2


async def test_the_inbox_masks_what_the_first_step_masks(world: World, ada: Client) -> None:
    task = await world.task("t", task_arguments=[{**ONE[0], "masked": True}])
    flow = await create_workflow(world, ada, graph={"nodes": [{"id": "a", "task_id": task}]})
    body = {"name": "push", "workflows": [flow["id"]]}
    hook = (await ada.post("/acme/webhook", body)).json
    target = f"/acme/webhook/{hook['id']}"
    await ada.post(f"{target}/trigger", ["canary"])
    (delivery,) = (await ada.get(f"{target}/delivery")).json
    assert "canary" not in (await ada.get(f"{target}/delivery/{delivery['id']}")).text


async def test_the_end_of_a_task_starts_it_with_the_output(world: World, ada: Client) -> None:
    task = await world.task("t")
    await single(world, ada, "w", triggers=[f"task:{task}:success"])
    async with world.agent() as agent:
        await ada.post("/acme/job", {"task": task})
        await step(world, agent, lastline='["from t"]')
    actual_jobs = await jobs(ada, "ScriptJob")
    assert [job["name"] for job in actual_jobs] == ["t", "w"]
    assert actual_jobs[1]["task_arguments_values"] == ["from t"]


async def test_the_end_of_a_workflow_starts_others(world: World, ada: Client) -> None:
    flow = await create_workflow(world, ada)
    for name in ("success", "failure", "canceled"):
        await world.task(name, hostname="web-2", triggers=[f"workflow:{flow['id']}:{name}"])
    async with world.agent() as agent:
        await run(ada, flow)
        await step(world, agent)
        await step(world, agent)
        await run(ada, flow)
        await step(world, agent, code=1)
    canceled = await run(ada, flow)
    await ada.put(f"/acme/workflows/{flow['id']}/job/{canceled['id']}/cancel")
    await react(world)
    started = [job["name"] for job in await jobs(ada, "ScriptJob") if job["name"] not in "ab"]
    assert started == ["success", "failure", "canceled"]


async def test_triggered_tasks_get_the_output_of_the_last_steps(world: World, ada: Client) -> None:
    tasks = [await world.task(name) for name in "abc"]
    graph = {
        "nodes": [{"id": n, "task_id": t} for n, t in zip("abc", tasks, strict=True)],
        "edges": [
            {"source": "a", "target": "b"},
            {"source": "a", "target": "c"},
            {"source": "b", "target": "c", "on": "never"},
        ],
    }
    flow = await create_workflow(world, ada, graph=graph)
    two = [*ONE, {"type": "input", "label": "y", "required": False}]
    for name in ("success", "failure"):
        await world.task(
            name,
            hostname="web-2",
            task_arguments=two,
            triggers=[f"workflow:{flow['id']}:{name}"],
        )
    async with world.agent() as agent:
        await run(ada, flow)
        await step(world, agent, lastline='["from a"]')
        for _ in range(2):
            order = await agent.order()
            name = order.filename.removesuffix(".sh")
            await agent.end(order, lastline=f'["from {name}"]')
        await react(world)
        await run(ada, flow)
        await step(world, agent, code=1, lastline='["what went wrong"]')
    await react(world)
    actual_jobs = [job for job in await jobs(ada, "ScriptJob") if job["name"] not in "abc"]
    assert [(job["name"], job["task_arguments_values"]) for job in actual_jobs] == [
        ("success", ["from b", "from c"]),
        ("failure", ["what went wrong", ""]),
    ]


def _forget(tx: Tx, job_id: str) -> None:
    tx.execute("delete from workflow_steps where workflow_job_id = ?", job_id)
    tx.execute("delete from workflow_jobs where job_id = ?", job_id)


async def test_a_deleted_history_provides_no_arguments(world: World, ada: Client) -> None:
    flow = await create_workflow(
        world, ada, graph={"nodes": [{"id": "a", "task_id": await world.task("a")}]}
    )
    await world.task("t", hostname="web-2", triggers=[f"workflow:{flow['id']}:success"])
    async with world.agent() as agent:
        job = await run(ada, flow)
        await agent.end(await agent.order(), lastline='["x"]')
    await world.runtime.db.write(advance.advance, job["id"])
    # Before its end was processed.
    await world.runtime.db.write(_forget, job["id"])
    await react(world)
    assert [item["name"] for item in await jobs(ada, "ScriptJob")] == ["a", "t"]


async def test_a_monitor_of_workflows_events_is_listed(world: World, ada: Client) -> None:
    flow = await create_workflow(world, ada)
    items = [e for e in (await ada.get("/acme/event")).json if e["emitter_id"] == flow["id"]]
    assert [event["name"] for event in items] == ["success", "failure", "canceled"]
    assert {event["_type"] for event in items} == {"WorkflowEvent"}
    assert items[0]["emitter"]["_type"] == "Workflow"


async def test_a_refused_start_is_reported(world: World, ada: Client) -> None:
    tile = await indicator(ada)
    await single(world, ada, "w", triggers=[f"indicator:{tile}:failure"], enable=False)
    await ada.patch(f"/acme/indicator/{tile}", {"state": "failure"})
    await react(world)
    assert await jobs(ada) == []
    rows = world.runtime.db.write_blocking(
        lambda tx: tx.rows("select data from events where kind = 'trigger.refused'")
    )
    assert "workflow_disabled" in str(rows)


async def test_a_workflow_cannot_start_itself(world: World, ada: Client) -> None:
    """Neither by its own end nor by the end of a task that it runs, directly or through others."""
    flow = await create_workflow(world, ada)
    inner = flow["graph"]["nodes"][1]["task_id"]
    target = f"/acme/workflows/{flow['id']}"
    detour = await world.task("detour", triggers=[f"task:{inner}:success"])
    for event in (
        f"workflow:{flow['id']}:failure",
        f"task:{inner}:success",
        f"task:{detour}:success",
    ):
        refused = await ada.patch(target, {"triggers": [event]})
        assert (refused.status, refused.code) == (400, "trigger_ring")
    outside = await world.task("outside")
    assert (await ada.patch(target, {"triggers": [f"task:{outside}:success"]})).status == 200
    # Nor can the task that starts it be added to it later, or be started by it.
    graph = {"nodes": [{"id": "a", "task_id": outside}]}
    assert (await ada.patch(target, {"graph": graph})).code == "trigger_ring"
    ring = await ada.patch(f"/acme/task/{outside}", {"triggers": [f"task:{inner}:failure"]})
    assert ring.code == "trigger_ring"


async def test_a_schedule_starts_it(world: World, ada: Client, clock: ManualClock) -> None:
    flow = await single(world, ada, "w")
    target = f"/acme/workflows/{flow['id']}/schedule"
    every = {"repeatEvery": "every 10 minutes"}
    refused = await ada.post(target, every)
    assert (refused.status, refused.code) == (400, "missing_arguments")
    made_one = await ada.post(target, {**every, "task_arguments": ["x"]})
    assert made_one.status == 200
    assert [record["id"] for record in (await ada.get(target)).json] == [made_one.json["id"]]
    clock.move(600)
    await loops.fire_schedules(world.runtime)
    (job,) = await jobs(ada)
    assert (job["workflow_id"], job["origin"]) == (flow["id"], "scheduler")
    clock.move(600)
    await loops.fire_schedules(world.runtime)
    # The first has not ended: the run is missed.
    assert len(await jobs(ada)) == 1
    await ada.delete(f"/acme/workflows/{flow['id']}")
    await react(world)
    assert (await ada.get("/acme/schedule")).json == []
