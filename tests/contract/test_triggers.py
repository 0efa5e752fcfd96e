"""What starts a task besides people: `triggers` of a task, GET /event, and the jobs that follow."""

from typing import Any

import pytest

from belvedere.indicators import service as indicators
from belvedere.server.background import consumers
from contract import interface_fields
from contract.client import Client
from contract.running import run
from contract.world import World
from manual_clock import ManualClock

MISSING = "0" * 24
THREE = [{"type": "input", "label": name} for name in ("title", "state", "value")]


async def react(world: World) -> None:
    """Runs at once what the server's own loop does."""
    for reaction in consumers.CONSUMERS:
        while await world.runtime.db.write(consumers.run_batch, world.runtime, reaction):
            pass


async def indicator(ada: Client, title: str = "Queue", **more: Any) -> str:
    response = await ada.post("/acme/indicator", {"title": title, "type": "progress", **more})
    object_id: str = response.json["id"]
    return object_id


async def jobs(ada: Client) -> list[dict[str, Any]]:
    response = await ada.get("/acme/job?include[task_arguments_values]=1")
    listed: list[dict[str, Any]] = response.json
    return list(reversed(listed))


async def test_a_failing_indicator_starts_a_task(world: World, ada: Client) -> None:
    """An indicator that enters failure starts a task, with what happened as its arguments."""
    tile = await indicator(ada)
    task = await world.task(task_arguments=THREE, triggers=[f"indicator:{tile}:failure"])
    await ada.patch(f"/acme/indicator/{tile}", {"value": 97.5, "state": "failure"})
    await react(world)
    (job,) = await jobs(ada)
    assert (job["task_id"], job["origin"]) == (task, "trigger_by")
    assert (job["lifecycle"], job["state"]) == ("ready", "in_progress")
    assert job["task_arguments_values"] == ["Queue", "failure", "97.5"]
    assert job["user"] == {"id": "", "username": "", "email": ""}


async def test_only_entering_failure_starts_it(world: World, ada: Client) -> None:
    tile = await indicator(ada)
    await world.task(triggers=[f"indicator:{tile}:failure"])
    for body in (
        {"value": 1},
        {"state": "normal"},
        {"state": "failure"},
        {"state": "failure", "value": 2},
        {"value": 3},
        {"state": "normal"},
    ):
        await ada.patch(f"/acme/indicator/{tile}", body)
        await react(world)
    assert len(await jobs(ada)) == 1
    await ada.patch(f"/acme/indicator/{tile}/state", {"state": "failure"})
    await react(world)
    assert len(await jobs(ada)) == 2


async def test_recovery_and_silence_start_things_too(
    world: World, ada: Client, clock: ManualClock
) -> None:
    tile = await indicator(ada, state="failure", ttl=60_000)
    await world.task("back", triggers=[f"indicator:{tile}:normal"])
    await world.task("silent", triggers=[f"indicator:{tile}:stale"])
    await ada.patch(f"/acme/indicator/{tile}", {"state": "normal"})
    clock.move(61)
    await world.runtime.db.write(indicators.publish_stale)
    await react(world)
    assert [job["name"] for job in await jobs(ada)] == ["back", "silent"]


async def test_a_disabled_indicator_starts_nothing(world: World, ada: Client) -> None:
    tile = await indicator(ada, enable=False)
    await world.task(triggers=[f"indicator:{tile}:failure"])
    await ada.patch(f"/acme/indicator/{tile}", {"state": "failure"})
    await react(world)
    assert await jobs(ada) == []


async def test_both_sides_show_the_attachment(world: World, ada: Client, vic: Client) -> None:
    tile = await indicator(ada)
    task = await world.task()
    event = f"indicator:{tile}:failure"
    changed = await ada.patch(f"/acme/task/{task}", {"triggers": [event]})
    assert (changed.status, changed.json["triggers"]) == (200, [event])
    assert changed.json["version"] == 1
    assert (await ada.get("/acme/task")).json[0]["triggers"] == [event]
    assert (await vic.get(f"/acme/task/{task}")).json["triggers"] == [event]
    record = (await ada.get(f"/acme/indicator/{tile}")).json
    assert record["triggers"] == [{"event_name": "failure", "task_id": task}]
    # The record as it was shown changes nothing; an empty list detaches.
    again = await ada.put(f"/acme/task/{task}", changed.json)
    assert (again.status, again.json) == (200, changed.json)
    emptied = await ada.patch(f"/acme/task/{task}", {"triggers": []})
    assert emptied.json["triggers"] == []
    assert (await ada.get(f"/acme/indicator/{tile}")).json["triggers"] == []


async def test_an_event_can_be_sent_as_it_is_listed(world: World, ada: Client) -> None:
    tile = await indicator(ada)
    task = await world.task()
    events = (await ada.get("/acme/event")).json
    failure = next(
        event for event in events if event["emitter_id"] == tile and event["name"] == "failure"
    )
    changed = await ada.patch(f"/acme/task/{task}", {"triggers": [failure, {"_id": failure["id"]}]})
    assert changed.json["triggers"] == [failure["id"]]


async def test_possible_event_sources_are_listed(world: World, ada: Client) -> None:
    """GET /{customer}/event."""
    task, tile = await world.task("echo"), await indicator(ada)
    response = await ada.get("/acme/event")
    assert response.status == 200
    names = [(record["_type"], record["emitter_id"], record["name"]) for record in response.json]
    assert names == [
        ("TaskEvent", task, "success"),
        ("TaskEvent", task, "failure"),
        ("IndicatorEvent", tile, "failure"),
        ("IndicatorEvent", tile, "normal"),
        ("IndicatorEvent", tile, "stale"),
    ]
    first = response.json[0]
    assert first["id"] == first["_id"]
    emitter = first["emitter"]
    assert (emitter["name"], emitter["_type"], emitter["type"]) == ("echo", "ScriptTask", "script")
    assert emitter["host"] == "web-1" and interface_fields.identifier(emitter["host_id"])
    assert (await ada.get("/event?customer=acme")).body == response.body


async def test_events_are_visible_with_their_sources(
    world: World, ada: Client, vic: Client, eve: Client
) -> None:
    task = await world.task("seen")
    await world.task("hidden", acl=[])
    await indicator(ada)
    assert {event["emitter_id"] for event in (await vic.get("/acme/event")).json} == {task}
    assert (await eve.get("/globex/event")).json == []


@pytest.mark.parametrize(
    "event",
    [
        f"indicator:{MISSING}:failure",
        f"task:{MISSING}:success",
        "indicator:{tile}:explodes",
        "indicator:{theirs}:failure",
        "indicator:{gone}:failure",
        "indicator:x:failure",
        "indicator:{tile}:",
        "customer:{tile}:failure",
        "task:{task}:",
        "nonsense",
        "",
    ],
)
async def test_an_unknown_event_is_named(
    world: World, ada: Client, eve: Client, event: str
) -> None:
    task, tile, gone = await world.task(), await indicator(ada), await indicator(ada, "gone")
    await ada.delete(f"/acme/indicator/{gone}")
    theirs = (await eve.post("/globex/indicator", {"title": "x", "type": "text"})).json["id"]
    event = event.format(tile=tile, gone=gone, theirs=theirs, task=task)
    body = {"triggers": [f"indicator:{tile}:failure", event], "description": "new"}
    refused = await ada.patch(f"/acme/task/{task}", body)
    assert refused.status == 400
    assert [fault["field"] for fault in refused.json["errors"]] == ["triggers[1]"]
    record = (await ada.get(f"/acme/task/{task}")).json
    assert (record["triggers"], record["description"]) == ([], "")


async def test_a_task_starts_the_next_with_its_output(world: World, ada: Client) -> None:
    first = await world.task("first")
    for name, event in (("good", "success"), ("bad", "failure"), ("own", "deployed")):
        more: dict[str, Any] = {"task_arguments": THREE[:2]} if name == "good" else {}
        await world.task(name, hostname="web-2", triggers=[f"task:{first}:{event}"], **more)
    async with world.agent() as agent:
        for line in (
            '{"state": "success", "output": ["a", 2]}',
            '{"state": "failure"}',
            '{"state": "success", "event_name": "deployed"}',
        ):
            await run(ada, agent, first, code=0, lastline=line)
            await react(world)
    actual_jobs = await jobs(ada)
    assert [job["name"] for job in actual_jobs] == ["first", "good", "first", "bad", "first", "own"]
    assert actual_jobs[1]["task_arguments_values"] == ["a", "2"]


async def test_a_task_cannot_start_itself_in_a_cycle(world: World, ada: Client) -> None:
    a = await world.task("a")
    b = await world.task("b", triggers=[f"task:{a}:success"])
    c = await world.task("c", triggers=[f"task:{b}:failure"])
    for source in (a, b, c):
        refused = await ada.patch(f"/acme/task/{a}", {"triggers": [f"task:{source}:success"]})
        assert (refused.status, refused.code) == (400, "trigger_ring")
    assert (await ada.patch(f"/acme/task/{c}", {"triggers": [f"task:{a}:failure"]})).status == 200


async def test_a_refused_start_is_reported_and_does_not_affect_others(
    world: World, ada: Client
) -> None:
    tile = await indicator(ada)
    event = f"indicator:{tile}:failure"
    await world.task("off", triggers=[event], enable=False)
    await world.task("greedy", triggers=[event], task_arguments=[*THREE, *THREE])
    await world.task("good", triggers=[event])
    await ada.patch(f"/acme/indicator/{tile}", {"state": "failure"})
    await react(world)
    assert [job["name"] for job in await jobs(ada)] == ["good"]
    rows = world.runtime.db.write_blocking(
        lambda tx: tx.rows("select data from events where kind = 'trigger.refused'")
    )
    assert len(rows) == 2
    assert "task_disabled" in str(rows) and "missing_arguments" in str(rows)


async def test_a_triggered_run_waits_its_grace_time(
    world: World, ada: Client, clock: ManualClock
) -> None:
    tile = await indicator(ada)
    task = await world.task(triggers=[f"indicator:{tile}:failure"], grace_time=60)
    await ada.patch(f"/acme/indicator/{tile}", {"state": "failure"})
    await react(world)
    (job,) = await jobs(ada)
    assert job["waiting_reason"] == "grace_time" and job["not_before"] is not None
    clock.move(60)
    (job,) = await jobs(ada)
    assert job["not_before"] is None
    by_hand = (await ada.post("/acme/job", {"task": task})).json
    assert by_hand["not_before"] is None


async def test_deleted_objects_start_nothing_and_are_not_started(world: World, ada: Client) -> None:
    tile = await indicator(ada)
    task = await world.task(triggers=[f"indicator:{tile}:failure"])
    await ada.delete(f"/acme/task/{task}")
    assert (await ada.get(f"/acme/indicator/{tile}")).json["triggers"] == []
    other = await world.task("other", triggers=[f"indicator:{tile}:failure"])
    await ada.delete(f"/acme/indicator/{tile}")
    assert (await ada.get(f"/acme/task/{other}")).json["triggers"] == []
    await react(world)
    assert await jobs(ada) == []


async def test_a_change_of_triggers_is_audited(world: World, ada: Client) -> None:
    tile, task = await indicator(ada), await world.task()
    event = f"indicator:{tile}:failure"
    await ada.patch(f"/acme/task/{task}", {"triggers": [event]})
    row = (await ada.get(f"/api/audit?object_id={task}")).json[0]
    assert (row["action"], row["before"], row["after"]) == (
        "task.triggers",
        {"triggers": []},
        {"triggers": [event]},
    )
