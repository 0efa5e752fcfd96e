"""Schedules: the routes of facts.md 2.11, and what decisions.md section 9 adds to them."""

from typing import Any

import apsw
import psycopg
import pytest

from belvedere.base.clock import HOUR, Millis, parse_iso
from belvedere.base.errors import StatementTimeout, Unavailable
from belvedere.schedules import firing, store
from belvedere.server.background import consumers, loops
from contract import interface_fields
from contract.client import Client
from contract.world import World
from manual_clock import ManualClock

MISSING = "0" * 24
RECORD: dict[str, interface_fields.Kind] = {
    **dict.fromkeys(("id", "_id", "task_id", "customer_id"), interface_fields.identifier),
    **dict.fromkeys(("name", "_type", "timezone", "overlap", "missed"), interface_fields.string),
    **dict.fromkeys(("enable", "disabled"), interface_fields.boolean),
    **dict.fromkeys(("creation_date", "last_update", "nextRunAt"), interface_fields.moment),
    "version": interface_fields.integer,
}


@pytest.fixture
def initial_time() -> Millis:
    return parse_iso("2027-03-02T09:00:30Z")


async def create_schedule(ada: Client, task: str, **more: Any) -> Any:
    answer = await ada.post(f"/acme/task/{task}/schedule", {"repeatEvery": "*/10 * * * *", **more})
    assert answer.status == 200, answer.body
    return answer.json


async def test_a_schedule_is_created(world: World, ada: Client, vic: Client) -> None:
    task = await world.task()
    schedule = await create_schedule(ada, task, timezone="Europe/Berlin")
    assert interface_fields.missing(schedule, RECORD) == []
    assert (schedule["_type"], schedule["target"], schedule["task_id"]) == (
        "Schedule",
        "task",
        task,
    )
    assert (schedule["name"], schedule["enable"], schedule["overlap"]) == ("echo", True, "skip")
    assert schedule["nextRunAt"] == "2027-03-02T09:10:00.000Z"
    assert schedule["data"] == {
        "task_id": task,
        "workflow_id": None,
        "customer_id": schedule["customer_id"],
        "scheduleData": {
            "runDate": None,
            "repeatEvery": "*/10 * * * *",
            "timezone": "Europe/Berlin",
        },
    }
    for target in (f"/acme/task/{task}/schedule", f"/task/{task}/schedule?customer=acme"):
        assert (await vic.get(target)).json == [schedule]
    for target in ("/acme/schedule", "/schedule?customer=acme"):
        assert (await vic.get(target)).json == [schedule]
    assert (await vic.get(f"/acme/schedule/{schedule['id']}")).json == schedule
    (line,) = (await vic.get(f"/acme/task/{task}")).json["schedules"]
    assert (line["id"], line["nextRunAt"]) == (schedule["id"], schedule["nextRunAt"])
    assert (await vic.get("/acme/task")).json[0]["schedules"] == [line]


async def test_a_schedule_runs_its_task(world: World, ada: Client, clock: ManualClock) -> None:
    schedule = await create_schedule(ada, await world.task())
    clock.move(9 * 60 + 31)
    await loops.fire_schedules(world.runtime)
    (job,) = (await ada.get("/acme/job")).json
    assert (job["origin"], job["lifecycle"]) == ("scheduler", "ready")
    assert job["user"] == {"id": "", "username": "", "email": ""}
    (run,) = (await ada.get(f"/acme/schedule/{schedule['id']}/run")).json
    assert (run["state"], run["job_id"], run["reason"]) == ("started", job["id"], None)
    assert (run["nominal"], run["date"]) == ("2027-03-02T09:10:00.000Z", "2027-03-02T09:10:01.000Z")
    after = (await ada.get(f"/acme/schedule/{schedule['id']}")).json
    assert (after["lastRunAt"], after["last_job_id"]) == (run["nominal"], job["id"])
    # Nothing is due twice.
    await loops.fire_schedules(world.runtime)
    assert len((await ada.get("/acme/job")).json) == 1


@pytest.mark.parametrize(
    ("engine", "fault"),
    [
        ("sqlite", apsw.IOError("disk I/O error")),
        ("sqlite", apsw.BusyError("database is locked")),
        ("postgres", psycopg.OperationalError("the connection was lost")),
        ("postgres", psycopg.errors.DeadlockDetected("deadlock detected")),
    ],
    indirect=["engine"],
)
async def test_a_fault_of_the_database_skips_no_run(
    world: World, ada: Client, clock: ManualClock, fault: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    schedule = await create_schedule(ada, await world.task())
    clock.move(9 * 60 + 31)

    def fail(*_: object) -> bool:
        raise fault

    with monkeypatch.context() as outage:
        outage.setattr(firing, "fire", fail)
        with pytest.raises(Unavailable):
            await loops.fire_schedules(world.runtime)
    await loops.fire_schedules(world.runtime)
    (run,) = (await ada.get(f"/acme/schedule/{schedule['id']}/run")).json
    assert (run["state"], run["reason"]) == ("started", None)


async def test_an_error_of_a_schedule_skips_its_run(
    world: World, ada: Client, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise it would be tried forever."""
    schedule = await create_schedule(ada, await world.task())
    clock.move(9 * 60 + 31)

    def fail(*_: object) -> bool:
        raise ValueError("a fault of the server")

    monkeypatch.setattr(firing, "fire", fail)
    await loops.fire_schedules(world.runtime)
    (run,) = (await ada.get(f"/acme/schedule/{schedule['id']}/run")).json
    assert (run["state"], run["reason"]) == ("missed", "fault")


async def test_a_schedule_that_is_always_too_slow_is_skipped_with_that_reason(
    world: World, ada: Client, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server runs all the time: its missed runs do not have the reason `server_down`."""
    monkeypatch.setattr(loops, "MAX_TIMEOUTS", 3)
    schedule = await create_schedule(ada, await world.task())

    def fail(*_: object) -> bool:
        raise StatementTimeout("too slow")

    with monkeypatch.context() as slow:
        slow.setattr(firing, "fire", fail)
        for _ in range(2):
            clock.move(10 * 60)
            with pytest.raises(Unavailable):
                await loops.fire_schedules(world.runtime)
        assert (await ada.get(f"/acme/schedule/{schedule['id']}/run")).json == []
        clock.move(10 * 60)
        await loops.fire_schedules(world.runtime)
    (run,) = (await ada.get(f"/acme/schedule/{schedule['id']}/run")).json
    assert (run["state"], run["reason"], run["count"]) == ("missed", "too_slow", 3)
    # It is tried again at its next time, as often as before.
    clock.move(10 * 60)
    await loops.fire_schedules(world.runtime)
    (run, _) = (await ada.get(f"/acme/schedule/{schedule['id']}/run")).json
    assert (run["state"], run["reason"]) == ("started", None)
    assert world.runtime.slow_schedules == {}


async def test_runs_that_take_longer_than_the_interval_are_missed_as_still_running(
    world: World, ada: Client, clock: ManualClock
) -> None:
    schedule = await create_schedule(ada, await world.task())
    clock.move(9 * 60 + 31)
    for _ in range(4):
        await loops.fire_schedules(world.runtime)
        clock.move(10 * 60)
    runs = (await ada.get(f"/acme/schedule/{schedule['id']}/run")).json
    assert [run["reason"] for run in runs] == ["still_running"] * 3 + [None]
    assert {run["job_id"] for run in runs} == {runs[-1]["job_id"]}


async def test_the_body_of_old_clients(world: World, ada: Client) -> None:
    task = await world.task()
    wrapped = {"scheduleData": {"runDate": "2027-03-03T10:00:00.000Z", "repeatEvery": ""}}
    record = (await ada.post(f"/acme/task/{task}/schedule", wrapped)).json
    assert (record["runDate"], record["repeatEvery"]) == ("2027-03-03T10:00:00.000Z", None)
    assert record["nextRunAt"] == record["runDate"]
    gone = await ada.delete(f"/acme/scheduler/{record['id']}")
    assert (gone.status, gone.json["numRemoved"], gone.json["id"]) == (200, 1, record["id"])
    assert (await ada.get(f"/acme/task/{task}/schedule")).json == []


async def test_a_schedule_is_stopped_and_started(world: World, ada: Client) -> None:
    schedule = await create_schedule(ada, await world.task())
    target = f"/acme/scheduler/{schedule['id']}"
    for word, next_run in (("stop", None), ("start", schedule["nextRunAt"])):
        answer = await ada.put(f"{target}/{word}")
        assert (answer.status, answer.json) == (200, "ok")
        record = (await ada.get(f"/acme/schedule/{schedule['id']}")).json
        assert (record["enable"], record["nextRunAt"]) == (word == "start", next_run)
    later = {"runDate": "2027-05-01T08:00:00Z"}
    assert (await ada.put(f"/scheduler/{schedule['id']}/start?customer=acme", later)).json == "ok"
    record = (await ada.get(f"/acme/schedule/{schedule['id']}")).json
    assert record["nextRunAt"] == "2027-05-01T08:00:00.000Z"


async def test_a_schedule_is_changed(world: World, ada: Client) -> None:
    schedule = await create_schedule(ada, await world.task())
    target = f"/acme/schedule/{schedule['id']}"
    body = {"name": "nightly", "repeatEvery": "0 5 * * *", "timezone": "America/New_York"}
    changed = await ada.patch(target, {**body, "overlap": "queue", "missed": "once"})
    assert (changed.status, changed.json["version"]) == (200, 2)
    assert changed.json["nextRunAt"] == "2027-03-02T10:00:00.000Z"
    assert (changed.json["name"], changed.json["overlap"]) == ("nightly", "queue")
    # A record that is sent back unchanged changes nothing.
    assert (await ada.patch(target, changed.json)).json == changed.json
    stale = await ada.patch(target, {"name": "x"}, headers={"if-match": "1"})
    assert (stale.status, stale.code) == (412, "stale")
    assert (await ada.delete(target)).json["numRemoved"] == 1
    for again in (await ada.get(target), await ada.patch(target, {}), await ada.delete(target)):
        assert (again.status, again.code) == (404, "schedule_not_found")


async def test_a_schedule_is_paused_with_an_end_and_a_note(
    world: World, ada: Client, clock: ManualClock
) -> None:
    schedule = await create_schedule(ada, await world.task())
    target = f"/acme/schedule/{schedule['id']}"
    body = {"until": "2027-03-02T10:00:00Z", "note": "the shop moves"}
    paused = (await ada.put(f"{target}/pause", body)).json
    assert paused["pause"] == {
        "since": "2027-03-02T09:00:30.000Z",
        "until": "2027-03-02T10:00:00.000Z",
        "note": "the shop moves",
    }
    coming = (await ada.get(f"{target}/preview?count=6")).json
    assert [item["paused"] for item in coming] == [True] * 5 + [False]
    clock.move(HOUR / 1_000)
    await loops.fire_schedules(world.runtime)
    runs = (await ada.get(f"{target}/run")).json
    assert [(item["state"], item["reason"], item["count"]) for item in runs] == [
        ("started", None, 1),
        ("missed", "paused", 5),
    ]
    assert (await ada.get(target)).json["pause"] is None
    assert (await ada.put(f"{target}/pause")).json["pause"]["until"] is None
    assert (await ada.put(f"{target}/resume")).json["pause"] is None
    refused = await ada.put(f"{target}/pause", {"until": "2020-01-01T00:00:00Z"})
    assert (refused.status, refused.json["errors"][0]["field"]) == (400, "until")


async def test_the_preview_shows_clock_changes(world: World, ada: Client, vic: Client) -> None:
    body = {"repeatEvery": "30 2 * * *", "timezone": "Europe/Berlin", "count": 40}
    previews = (await vic.post("/acme/schedule/preview", body)).json
    assert len(previews) == 40
    marked = [preview for preview in previews if preview["clock_change"]]
    assert [
        (preview["local"], preview["clock_change"], preview["meant"]) for preview in marked
    ] == [
        ("2027-03-28T03:00:00+02:00", "moved", "2027-03-28T02:30:00"),
    ]
    made_one = await create_schedule(ada, await world.task(), repeatEvery="0 12 * * *")
    records = (await vic.get(f"/acme/schedule/{made_one['id']}/preview")).json
    assert [preview["date"][:10] for preview in records[:2]] == ["2027-03-02", "2027-03-03"]
    assert len(records) == 10


async def test_masked_arguments_are_not_shown(world: World, ada: Client) -> None:
    expected = [{"type": "input", "label": "a"}, {"type": "input", "label": "b", "masked": True}]
    task = await world.task(task_arguments=expected)
    schedule = await create_schedule(ada, task, task_arguments=["x", "hush-hush"])
    assert schedule["task_arguments"] == ["x", "***"]
    target = f"/acme/schedule/{schedule['id']}"
    changed = await ada.patch(target, {"task_arguments": ["y", "***"]})
    assert changed.json["task_arguments"] == ["y", "***"]
    for place in (target, "/acme/schedule", f"/acme/task/{task}/schedule", "/api/audit"):
        assert "hush-hush" not in (await ada.get(place)).text
    text = await world.runtime.db.read(store.find, world.actors.acme.id, schedule["id"])
    assert text.arguments == '["y","hush-hush"]'


@pytest.mark.parametrize(
    ("sent", "field"),
    [
        ({}, "repeatEvery"),
        ({"repeatEvery": "", "runDate": None}, "repeatEvery"),
        ({"repeatEvery": "* * * *"}, "repeatEvery"),
        ({"repeatEvery": "0 0 30 2 *"}, "repeatEvery"),
        ({"repeatEvery": "every 0 s"}, "repeatEvery"),
        ({"runDate": "soon"}, "runDate"),
        ({"runDate": "2020-01-01T00:00:00Z"}, "runDate"),
        ({"runDate": "9999-12-31T23:59:59-23:00"}, "runDate"),
        ({"runDate": 1 << 60}, "runDate"),
        ({"runDate": -5}, "runDate"),
        ({"repeatEvery": "* * * * *", "timezone": "Mars/Phobos"}, "timezone"),
        ({"repeatEvery": "* * * * *", "timezone": "../../etc/passwd"}, "timezone"),
        ({"repeatEvery": "* * * * *", "overlap": "double"}, "overlap"),
        ({"repeatEvery": "* * * * *", "missed": "all"}, "missed"),
        ({"repeatEvery": "* * * * *", "name": "a\nb"}, "name"),
        ({"repeatEvery": "* * * * *", "task_arguments": ["x"]}, "task_arguments[0]"),
    ],
)
async def test_bad_input(world: World, ada: Client, sent: dict[str, Any], field: str) -> None:
    refused = await ada.post(f"/acme/task/{await world.task()}/schedule", sent)
    assert (refused.status, refused.json["errors"][0]["field"]) == (400, field)
    assert (await ada.get("/acme/schedule")).json == []


async def test_schedules_are_visible_with_their_target_and_changed_by_admins(
    world: World, ada: Client, uma: Client, vic: Client, eve: Client
) -> None:
    """It is visible with the object that it starts; admins change it; another organization does not
    see it."""
    hidden = await create_schedule(ada, await world.task("hidden", acl=[]))
    task = await world.task()
    stored_schedule = await create_schedule(ada, task)
    target = f"/acme/schedule/{stored_schedule['id']}"
    assert [schedule["id"] for schedule in (await vic.get("/acme/schedule")).json] == [
        stored_schedule["id"]
    ]
    for place in (f"schedule/{hidden['id']}", f"task/{hidden['task_id']}/schedule"):
        assert (await uma.get(f"/acme/{place}")).status == 404
    for word in ("preview", "run"):
        assert (await uma.get(f"/acme/schedule/{hidden['id']}/{word}")).status == 404
    body = {"repeatEvery": "* * * * *"}
    max_ = world.client("max")
    for refused in (
        await max_.post(f"/acme/task/{task}/schedule", body),
        await max_.patch(target, body),
        await max_.put(f"{target}/pause"),
        await max_.delete(target),
    ):
        assert (refused.status, refused.code) == (403, "level")
    theirs = target.replace("acme", "globex")
    for refused in (
        await eve.get(theirs),
        await eve.delete(theirs),
        await eve.post(f"/globex/task/{task}/schedule", body),
    ):
        assert refused.status == 404
    assert (await eve.get("/globex/schedule")).json == []


async def test_a_schedule_is_deleted_with_its_task(world: World, ada: Client) -> None:
    task = await world.task()
    schedule = await create_schedule(ada, task)
    assert (await ada.delete(f"/acme/task/{task}")).status == 200
    reaction = next(
        consumer for consumer in consumers.CONSUMERS if "schedules of deleted" in consumer.name
    )
    await world.runtime.db.write(consumers.run_batch, world.runtime, reaction)
    assert (await ada.get(f"/acme/schedule/{schedule['id']}")).status == 404


async def test_schedules_can_be_filtered_by_their_fields(world: World, ada: Client) -> None:
    task_id, two = await world.task("one"), await world.task("two")
    first, second = (
        await create_schedule(ada, task_id),
        await create_schedule(ada, two, name="nightly"),
    )
    for query, expected in (
        (f"where[task_id]={task_id}", [first]),
        ("where[name]=nightly", [second]),
        ("sort[id]=-1", [second, first]),
        ("limit=1", [first]),
    ):
        assert (await ada.get(f"/acme/schedule?{query}")).json == expected
    assert (await ada.get("/acme/schedule?where[box]=1")).status == 400


async def test_a_task_can_have_a_hundred_schedules(world: World, ada: Client) -> None:
    task = await world.task()
    for _ in range(100):
        await create_schedule(ada, task)
    refused = await ada.post(f"/acme/task/{task}/schedule", {"repeatEvery": "* * * * *"})
    assert (refused.status, refused.code) == (409, "too_many_schedules")
