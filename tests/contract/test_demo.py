"""The demo: created on the first host, and removed by DELETE /api/demo."""

from typing import Any

import pytest

from belvedere import hosts
from belvedere.access.customers import service
from belvedere.db import Tx
from belvedere.overview import first_steps
from belvedere.server import demo
from contract.client import Client
from contract.fakeagent import hello
from contract.test_triggers import react
from contract.world import World

LISTS = ("task", "workflows", "webhook", "indicator", "monitor", "schedule", "file")


async def create_demo(world: World) -> None:
    """As the first start creates it when the first host is enrolled."""
    host_id = world.things.hosts["web-1"].host_id

    def begin(tx: Tx) -> None:
        tx.execute("insert into meta (name, value) values ('demo', ?)", world.actors.acme.id)
        hosts.connect(tx, host_id, hello("web-1"), "127.0.0.1")

    await world.runtime.db.write(begin)
    await react(world)


async def list_names(ada: Client) -> dict[str, list[str]]:
    """Names of all objects by kind; a host's own monitor is not part of the demo."""
    fields: dict[str, list[str]] = {}
    for kind in LISTS:
        records: list[dict[str, Any]] = (await ada.get(f"/acme/{kind}")).json
        fields[kind] = sorted(
            record.get("name") or record.get("title") or record["filename"]
            for record in records
            if record.get("type") != "host"
        )
    return fields


async def test_the_demo_creates_its_objects(world: World, ada: Client) -> None:
    await create_demo(world)
    record = await list_names(ada)
    assert record["workflows"] == ["Measure, ask, report"]
    assert record["webhook"] == ["Greet from outside"]
    assert record["indicator"] == ["Coffees", "Release 1.0", "Welcome"]
    assert record["monitor"] == ["Load of web-1", "This server"]
    assert record["schedule"] == ["Measure every morning"]
    assert len(record["task"]) == 6 and len(record["file"]) == 5
    gone = await ada.delete("/api/demo?customer=acme")
    assert (gone.status, gone.json["kept"]) == (200, [])
    assert len(gone.json["removed"]) == sum(map(len, record.values()))
    await react(world)
    assert await list_names(ada) == {kind: [] for kind in LISTS}
    again = await ada.delete("/api/demo")
    assert again.json == {"removed": [], "kept": []}


async def test_the_web_check_looks_at_the_server_itself(world: World, ada: Client) -> None:
    await create_demo(world)
    (web,) = (await ada.get("/acme/monitor?where[name]=This server")).json
    assert web["url"] == "http://belvedere.test/-/health"
    (load,) = (await ada.get("/acme/monitor?where[type]=dstat")).json
    assert load["host_id"] == web["host_id"] == world.things.hosts["web-1"].host_id


async def test_the_demo_is_created_once(world: World, ada: Client) -> None:
    await create_demo(world)
    before = await list_names(ada)
    host_id = world.things.hosts["web-2"].host_id
    await world.runtime.db.write(hosts.connect, host_id, hello("web-2"), "127.0.0.1")
    await react(world)
    assert await list_names(ada) == before


async def test_the_demo_workflow_asks_for_an_approval_and_passes_values_on(
    world: World, ada: Client
) -> None:
    """The owner is the approver, and sees what the approval starts."""
    await create_demo(world)
    async with world.agent() as agent:
        (flow,) = (await ada.get("/acme/workflows")).json
        await ada.post(f"/acme/workflows/{flow['id']}/job", {})
        text = '{"state": "success", "output": ["42", "10G"]}'
        await agent.end(await agent.order(), lastline=text)
    await react(world)
    olga = world.client("olga")
    (job,) = (await olga.get("/acme/job?where[lifecycle]=onhold")).json
    (report,) = (await olga.get(f"/acme/job/{job['id']}")).json["will_run"]
    assert (report["name"], report["arguments"]) == ("Report", ["42", "10G"])
    assert (await olga.put(f"/acme/job/{job['id']}/approve")).status == 200


async def test_changed_objects_are_kept(world: World, ada: Client) -> None:
    await create_demo(world)
    (task,) = (await ada.get("/acme/task?where[name]=Count slowly")).json
    await ada.patch(f"/acme/task/{task['id']}", {"description": "Mine now."})
    (tile,) = (await ada.get("/acme/indicator?where[title]=Coffees")).json
    # Counting does not count as a change.
    await ada.patch(f"/acme/indicator/{tile['id']}/increase")
    answer = (await ada.delete("/api/demo")).json
    fields = {item["name"]: item["reason"] for item in answer["kept"]}
    assert fields["Count slowly"] == "It was changed after the demo was created."
    assert sorted(fields) == ["Count slowly", "count.sh"]
    assert (await list_names(ada))["task"] == ["Count slowly"]
    rest = (await ada.delete("/api/demo?all=true")).json
    assert [item["name"] for item in rest["removed"]] == ["Count slowly", "count.sh"]
    assert rest["kept"] == []


async def test_a_script_of_a_person_stays_with_its_task(world: World, ada: Client) -> None:
    await create_demo(world)
    (file,) = (await ada.get("/acme/file?where[filename]=fail.sh")).json
    await ada.put(f"/acme/file/{file['id']}/upload", {"source": "#!/bin/sh\nmine\n"})
    names = [item["name"] for item in (await ada.delete("/api/demo")).json["kept"]]
    assert names == ["Fail on purpose", "fail.sh"]


@pytest.mark.parametrize("way", ["workflow", "webhook", "schedule", "trigger"])
async def test_demo_objects_that_are_in_use_stay(world: World, ada: Client, way: str) -> None:
    await create_demo(world)
    (task,) = (await ada.get("/acme/task?where[name]=Fail on purpose")).json
    graph = {"nodes": [{"id": "a", "task_id": task["id"]}]}
    build: dict[str, tuple[str, dict[str, Any]]] = {
        "workflow": ("/acme/workflows", {"name": "mine", "graph": graph}),
        "webhook": ("/acme/webhook", {"name": "mine", "tasks": [task["id"]]}),
        "schedule": (f"/acme/task/{task['id']}/schedule", {"repeatEvery": "0 5 * * *"}),
        "trigger": (
            "/acme/task",
            {"name": "mine", "type": "dummy", "triggers": [f"task:{task['id']}:failure"]},
        ),
    }
    assert (await ada.post(*build[way])).status in (200, 201)
    for target in ("/api/demo", "/api/demo?all=true"):
        response = (await ada.delete(target)).json["kept"]
        assert [item["name"] for item in response] == ["Fail on purpose", "fail.sh"]


async def test_objects_that_were_deleted_before_are_not_listed(world: World, ada: Client) -> None:
    await create_demo(world)
    (task,) = (await ada.get("/acme/task?where[name]=Fail on purpose")).json
    await ada.delete(f"/acme/task/{task['id']}")
    answer = (await ada.delete("/api/demo")).json
    assert "Fail on purpose" not in [item["name"] for item in answer["removed"]]
    assert answer["kept"] == []


async def test_only_admins_take_it_away(world: World, uma: Client, eve: Client) -> None:
    await create_demo(world)
    assert (await uma.delete("/api/demo?customer=acme")).status == 403
    assert (await world.client("max").delete("/api/demo?customer=acme")).status == 403
    # An admin of another organization removes the demo there, which does not exist.
    assert (await eve.delete("/api/demo")).json == {"removed": [], "kept": []}
    assert (await eve.delete("/api/demo?customer=acme")).status == 403


async def test_a_remote_host_does_not_check_itself(world: World, ada: Client) -> None:
    """Without a URL, the server can be reached only on the machine of its local agent."""
    world.runtime.settings.url = ""
    host_id = world.things.hosts["web-2"].host_id
    operator = service.operator(world.actors.acme)
    await world.runtime.db.write(hosts.connect, host_id, hello("web-2"), "192.0.2.9")
    await world.runtime.db.write(demo.create_demo, world.runtime, operator, host_id)
    assert (await list_names(ada))["monitor"] == ["Load of web-2"]


async def open_steps(ada: Client) -> list[str]:
    steps = (await ada.get("/api/first-steps")).json["steps"]
    return [step["name"] for step in steps if not step["done"]]


async def test_the_first_steps_do_not_count_the_demo(world: World, ada: Client) -> None:
    await create_demo(world)
    steps = (await ada.get("/api/first-steps")).json
    assert (steps["visible"], steps["demo"]) == (True, 19)
    # The tests already have several people and hosts.
    assert await open_steps(ada) == ["run", "task", "schedule", "notifications"]
    task = await world.task("own")
    assert await open_steps(ada) == ["run", "schedule", "notifications"]
    await ada.post(f"/acme/task/{task}/schedule", {"repeatEvery": "0 7 * * *"})
    await ada.post(f"/acme/task/{task}/job", {})
    assert await open_steps(ada) == ["notifications"]
    # When the last step is done, the list disappears.
    assert (await ada.get("/api/first-steps")).json["visible"] is True
    channel = {"name": "Log", "url": "json://192.0.2.1/"}
    channel_id = (await ada.post("/acme/notify/channel", channel)).json["id"]
    rule = {"name": "All", "channels": [channel_id]}
    assert (await ada.post("/acme/notify/rule", rule)).status == 201
    assert await open_steps(ada) == []
    assert (await ada.get("/api/first-steps")).json["visible"] is False


@pytest.mark.parametrize("first", ["user", "scheduler"])
async def test_a_run_of_a_person_among_many_scheduled_jobs_counts(
    world: World, ada: Client, first: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(first_steps, "MAX_JOBS", 2)
    task = await world.task("own")
    jobs = [(await ada.post(f"/acme/task/{task}/job", {})).json["id"] for _ in range(4)]

    def change_origins(tx: Tx) -> None:
        tx.execute("update jobs set origin = 'scheduler'")
        person = jobs[0] if first == "user" else jobs[-1]
        tx.execute("update jobs set origin = 'user' where id = ?", person)

    await world.runtime.db.write(change_origins)
    assert "run" not in await open_steps(ada)
    await world.runtime.db.write(lambda tx: tx.execute("update jobs set origin = 'scheduler'"))
    assert "run" in await open_steps(ada)


async def test_the_first_steps_can_be_hidden(world: World, ada: Client, vic: Client) -> None:
    assert (await ada.put("/api/first-steps", {"visible": False})).json["visible"] is False
    assert (await ada.get("/api/first-steps")).json["visible"] is False
    assert (await ada.put("/api/first-steps", {"visible": True})).json["visible"] is True
    assert (await vic.get("/api/first-steps")).status == 403


async def test_an_older_organization_does_not_see_first_steps(world: World, ada: Client) -> None:
    await world.runtime.db.write(lambda tx: tx.execute("update customers set created_at = 0"))
    assert (await ada.get("/api/first-steps")).json["visible"] is False
