"""The Monitor rows of interface.md, and what decisions.md section 7 adds."""

from typing import Any

import pytest

from belvedere import events
from belvedere.monitors import housekeeping
from belvedere.protocol import MonitorConfig, Sample, Samples, SamplesAck
from belvedere.server.background import consumers, loops
from contract import interface_fields
from contract.client import Client
from contract.world import World

MISSING = "0" * 24


def web_check(world: World, **more: Any) -> dict[str, Any]:
    """As interface.md sends it."""
    return {
        "name": "shop",
        "host_id": world.things.hosts["web-1"].host_id,
        "url": "http://shop.test/",
        "timeout": "5000",
        "looptime": "30000",
        "type": "scraper",
        "status_code": "200",
        "_type": "ScraperMonitor",
        **more,
    }


async def make(world: World, client: Client, **more: Any) -> dict[str, Any]:
    response = await client.post("/monitor?customer=acme", web_check(world, **more))
    assert response.status == 200, response.body
    record: dict[str, Any] = response.json
    return record


async def test_a_monitor_is_created(world: World, ada: Client, vic: Client) -> None:
    monitor = await make(world, ada)
    assert interface_fields.missing(monitor, interface_fields.MONITOR) == []
    assert (monitor["type"], monitor["_type"]) == ("scraper", "ScraperMonitor")
    assert (monitor["timeout"], monitor["looptime"]) == (5_000, 30_000)
    assert (monitor["url"], monitor["status_code"]) == ("http://shop.test/", "200")
    assert monitor["resource"]["state"] == monitor["state"] == "unknown"
    assert monitor["resource"]["last_event"] == monitor["last_event"] == {}
    assert monitor["hostname"] == "web-1" and monitor["version"] == 1
    listed = await vic.get("/monitor?customer=acme")
    assert listed.json == [monitor]
    assert (await vic.get("/acme/monitor")).json == [monitor]
    assert (await vic.get(f"/monitor/{monitor['id']}?customer=acme")).json == monitor


async def test_lists_are_filtered_by_name_and_type(world: World, ada: Client) -> None:
    shop = await make(world, ada)
    stats = await make(world, ada, name="stats", type="dstat", _type="DstatMonitor")
    get = ada.get
    assert [o["id"] for o in (await get("/monitor?where[name]=shop")).json] == [shop["id"]]
    assert [o["id"] for o in (await get("/monitor?where[type]=dstat")).json] == [stats["id"]]
    response = await get("/monitor?where[_type]=ScraperMonitor&count=true&sort[name]=-1")
    assert response.headers["x-total-count"] == "1"
    assert (await get("/monitor?where[nonsense]=1")).code == "unknown_field"


async def test_the_host_may_be_in_the_query(world: World, ada: Client) -> None:
    host_id = world.things.hosts["web-2"].host_id
    body = {k: v for k, v in web_check(world).items() if k != "host_id"}
    response = await ada.post(f"/monitor?customer=acme&host_id={host_id}", body)
    assert response.status == 200 and response.json["host_id"] == host_id
    assert (await ada.post("/acme/monitor", body)).json["errors"][0]["field"] == "host_id"
    named = await ada.post("/acme/monitor", {**body, "hostname": "WEB-1"})
    assert named.json["hostname"] == "web-1"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("looptime", "999"),
        ("looptime", "86400001"),
        ("looptime", "soon"),
        ("timeout", "99"),
        ("timeout", 300_001),
        ("url", "ftp://shop.test"),
        ("url", "shop.test"),
        ("url", None),
        ("status_code", "("),
        ("status_code", r"(2)\1"),
        ("pattern", "(?=x)"),
        ("type", "quantum"),
        ("type", "host"),
        ("name", ""),
        ("name", None),
        ("host_id", MISSING),
        ("host_id", "web-1"),
        ("fail_threshold", 0),
        ("failure_severity", "terrible"),
        ("json_path", "a..b"),
        ("headers", {"A b": "x"}),
        ("maintenance", [{"days": ["someday"], "at": "22:00", "minutes": 5}]),
        ("maintenance", [{"start": "2026-01-02T00:00:00Z", "end": "2026-01-01T00:00:00Z"}]),
        ("acl", ["nobody"]),
    ],
)
async def test_bad_input_is_refused_by_its_field(
    world: World, ada: Client, field: str, value: Any
) -> None:
    refused = await ada.post("/acme/monitor", web_check(world, **{field: value}))
    assert refused.status == 400, refused.body
    assert refused.json["errors"][0]["field"].startswith(field if field != "acl" else "users")
    assert (await ada.get("/acme/monitor")).json == []


async def test_the_edges_of_the_ranges_are_good(world: World, ada: Client) -> None:
    await make(world, ada, looptime=1_000, timeout=100)
    await make(world, ada, looptime=86_400_000, timeout=300_000)
    monitor = await make(world, ada, looptime=None, timeout=None)
    assert (monitor["looptime"], monitor["timeout"]) == (60_000, 10_000)


async def test_only_admins_write(world: World, ada: Client, uma: Client) -> None:
    monitor = await make(world, ada)
    for client in (uma, world.client("vic"), world.client("max")):
        assert (await client.post("/acme/monitor", web_check(world))).status == 403
        for method, path in (("DELETE", ""), ("PATCH", ""), ("PUT", "/pause"), ("PUT", "/mute")):
            answer = await client.request(method, f"/monitor/{monitor['id']}{path}", {})
            assert answer.status == 403
    assert (await world.client().get("/acme/monitor")).status == 401


async def test_a_monitor_of_another_organization_is_not_found(
    world: World, ada: Client, eve: Client
) -> None:
    monitor = await make(world, ada)
    for which in (monitor["id"], MISSING):
        for method, path in (
            ("GET", ""),
            ("DELETE", ""),
            ("PATCH", ""),
            ("PUT", "/pause"),
            ("PUT", "/resume"),
            ("GET", "/history"),
            ("GET", "/acl"),
        ):
            more: tuple[Any, ...] = ({},) if method == "PATCH" else ()
            answer = await eve.request(method, f"/monitor/{which}{path}", *more)
            assert (answer.status, answer.code) == (404, "monitor_not_found")
    assert (await eve.get("/monitor")).json == []
    theirs = web_check(world)
    assert (await eve.post("/monitor", theirs)).json["errors"][0]["field"] == "host_id"


async def test_a_monitor_is_deleted(world: World, ada: Client) -> None:
    monitor = await make(world, ada)
    gone = await ada.delete(f"/monitor/{monitor['id']}?customer=acme")
    assert gone.status == 200 and gone.json["id"] == monitor["id"]
    assert (await ada.get(f"/monitor/{monitor['id']}")).status == 404
    assert (await ada.delete(f"/monitor/{monitor['id']}")).status == 404


async def test_parts_are_changed_and_stale_edits_refused(world: World, ada: Client) -> None:
    monitor = await make(world, ada, pattern="well")
    path = f"/acme/monitor/{monitor['id']}"
    changed = await ada.patch(path, {"looptime": "60000", "description": "front"})
    assert changed.json["looptime"] == 60_000 and changed.json["pattern"] == "well"
    assert changed.json["version"] == 2
    stale = await ada.patch(path, {"name": "x"}, headers={"if-match": "1"})
    assert stale.status == 412
    again = await ada.patch(path, {"looptime": 60_000})
    assert again.json["version"] == 2
    response = await ada.put(path, web_check(world, name="other"))
    assert (response.json["name"], response.json["pattern"]) == ("other", "")
    assert (await ada.patch(path, {"type": "dstat"})).json["errors"][0]["field"] == "type"
    assert (await ada.put(path, {"url": "http://x.test"})).status == 400


async def test_pause_resume_mute(world: World, ada: Client) -> None:
    monitor = await make(world, ada)
    path = f"/acme/monitor/{monitor['id']}"
    paused = await ada.put(f"{path}/pause", {"until": "2999-01-01T00:00:00Z"})
    assert (paused.json["state"], paused.json["enable"]) == ("paused", False)
    assert paused.json["paused_until"] == "2999-01-01T00:00:00.000Z"
    assert (await ada.put(f"{path}/pause", {"until": "1999-01-01T00:00:00Z"})).status == 400
    assert (await ada.put(f"{path}/pause", {"until": "later"})).status == 400
    assert (await ada.put(f"{path}/pause", {"till": "x"})).status == 400
    resumed = await ada.put(f"{path}/resume")
    assert (resumed.json["state"], resumed.json["enable"]) == ("unknown", True)
    muted = await ada.put(f"{path}/mute")
    assert (muted.json["alerts"], muted.json["muted_until"]) == (False, None)
    assert (await ada.put(f"{path}/unmute")).json["alerts"] is True
    assert (await ada.patch(f"{path}/alerts", {"alerts": False})).json["alerts"] is False
    assert (await ada.patch(path, {"enable": False})).json["state"] == "paused"


async def test_a_monitor_is_visible_to_members_of_its_acl(
    world: World, ada: Client, uma: Client, vic: Client
) -> None:
    open_, closed = await make(world, ada), await make(world, ada, acl=["uma"])
    assert [o["id"] for o in (await vic.get("/monitor")).json] == [open_["id"]]
    assert len((await uma.get("/monitor")).json) == 2
    assert (await vic.get(f"/monitor/{closed['id']}")).status == 404
    assert (await vic.get(f"/monitor/{closed['id']}/history")).status == 404
    added = await ada.patch(f"/monitor/{closed['id']}/acl", {"users": ["vic"], "action": "add"})
    assert added.json["users"] == ["uma@acme.test", "vic@acme.test"]
    assert (await vic.get(f"/monitor/{closed['id']}")).status == 200


async def test_headers_with_credentials_are_not_shown(world: World, ada: Client) -> None:
    headers = {"Authorization": "Bearer canary-1", "X-Colour": "blue"}
    monitor = await make(world, ada, headers=headers)
    assert monitor["config"]["headers"] == {"Authorization": "***", "X-Colour": "blue"}
    path = f"/acme/monitor/{monitor['id']}"
    await ada.patch(path, {"headers": monitor["config"]["headers"], "description": "x"})
    async with world.agent() as agent:
        watch = await agent.hear(MonitorConfig)
        assert watch.monitors[0].config["headers"]["Authorization"] == "Bearer canary-1"


async def test_the_agent_gets_the_configuration_and_reports(world: World, ada: Client) -> None:
    async with world.agent() as agent:
        monitor = await make(world, ada)
        watch = await agent.hear(MonitorConfig)
        (first_monitor,) = watch.monitors
        assert (first_monitor.id, first_monitor.type, first_monitor.looptime_ms) == (
            monitor["id"],
            "scraper",
            30_000,
        )
        assert first_monitor.config["url"] == "http://shop.test/"
        sample = Sample(
            first_monitor.id, first_monitor.version, 0, "normal", "success", "fine", {"status": 200}
        )
        await agent.send_messages(Samples("s", 1, [sample]))
        assert await agent.hear(SamplesAck) == SamplesAck("s", 1)
        record = (await ada.get(f"/monitor/{monitor['id']}")).json
        assert record["resource"]["state"] == "normal"
        assert record["resource"]["last_event"]["data"] == {"status": 200}
        await ada.patch(f"/monitor/{monitor['id']}", {"url": "http://other.test/"})
        newer = await agent.hear(MonitorConfig)
        assert newer.number > watch.number
        assert newer.monitors[0].config["url"] == "http://other.test/"
        await ada.delete(f"/monitor/{monitor['id']}")
        assert (await agent.hear(MonitorConfig)).monitors == []


async def test_the_configuration_arrives_without_notify(world: World, ada: Client) -> None:
    async with world.agent() as agent:
        world.runtime.db.on_signals = None
        await make(world, ada)
        await loops.send_monitor_changes(world.runtime)
        assert len((await agent.hear(MonitorConfig)).monitors) == 1


async def test_dstat_shows_its_data(world: World, ada: Client) -> None:
    monitor = await make(world, ada, type="dstat", _type="DstatMonitor", cpu=80)
    assert monitor["config"]["limit"] == {"cpu": 80, "mem": 90, "cache": 90, "disk": 90}
    data = {"cpu": 3.5, "mem": 41.0, "cache": 0, "disk": [{"name": "/", "value": 71.2}]}
    async with world.agent() as agent:
        await agent.send_messages(
            Samples("s", 1, [Sample(monitor["id"], 1, 0, "normal", data=data)])
        )
        await agent.hear(SamplesAck)
    response = (await ada.get("/monitor?where[type]=dstat&customer=acme")).json[0]
    assert response["resource"]["last_event"]["data"] == data


async def test_every_host_has_its_own_monitor(world: World, ada: Client) -> None:
    host_id = world.things.hosts["web-1"].host_id
    async with world.agent():
        await world.runtime.db.write(housekeeping.on_host_connected, world.actors.acme.id, host_id)
    (host,) = (await ada.get("/monitor?where[type]=host")).json
    assert (host["name"], host["state"]) == ("web-1", "normal")
    refused = await ada.delete(f"/monitor/{host['id']}")
    assert (refused.status, refused.code) == (409, "host_monitor")
    await ada.delete(f"/host/{host_id}")
    await world.runtime.db.write(housekeeping.on_host_deleted, host_id)
    assert (await ada.get("/monitor")).json == []


async def test_reactions_make_and_take_them(world: World, ada: Client) -> None:
    async with world.agent():
        for reaction in consumers.CONSUMERS:
            if "monitor" in reaction.name:
                await consumers.catch_up(reaction, world.runtime)
        assert [o["type"] for o in (await ada.get("/monitor")).json] == ["host"]


async def test_history_over_http(world: World, ada: Client, vic: Client) -> None:
    monitor = await make(world, ada)
    async with world.agent() as agent:
        good = Sample(monitor["id"], 1, 10, "normal", measured={"ms": 12.0})
        bad = Sample(monitor["id"], 1, 0, "failure", message="status 500")
        await agent.send_messages(Samples("s", 1, [good, bad]))
        await agent.hear(SamplesAck)
    path = f"/acme/monitor/{monitor['id']}/history"
    record = (await vic.get(path)).json
    assert (record["uptime"], record["checks"]) == (50.0, 2)
    assert record["points"][0]["values"]["ms"] == {"avg": 12.0, "min": 12.0, "max": 12.0}
    singles = (await vic.get(f"{path}?step=0")).json["points"]
    assert [(p["up"], p["message"]) for p in singles] == [(1.0, ""), (0.0, "status 500")]
    for query in ("step=7", "from=tomorrow", "from=2026-01-02&to=2026-01-01", "step=x"):
        assert (await vic.get(f"{path}?{query}")).code == "bad_query"
    long = "from=2020-01-01T00:00:00Z&to=2026-01-01T00:00:00Z&step=60000"
    assert (await vic.get(f"{path}?{long}")).code == "bad_query"


async def test_turns_are_those_that_happened(world: World, ada: Client, vic: Client) -> None:
    monitor = await make(world, ada, fail_threshold=2)
    path = f"/acme/monitor/{monitor['id']}/turns"
    assert (await vic.get(path)).json["turns"] == []
    async with world.agent() as agent:
        samples = [
            Sample(
                monitor["id"], 1, 10 * (6 - n), "normal" if is_good else "failure", "", f"check {n}"
            )
            for n, is_good in enumerate((True, False, True, False, False, True))
        ]
        await agent.send_messages(Samples("s", 1, samples))
        await agent.hear(SamplesAck)
    record = (await vic.get(path)).json
    # A single failed check is below the threshold: it does not change the state.
    assert [(turn["from"], turn["state"], turn["message"]) for turn in record["turns"]] == [
        ("failure", "normal", "check 5"),
        ("normal", "failure", "check 4"),
        ("unknown", "normal", "check 0"),
    ]
    assert record["whole"] and record["kept"] < record["turns"][-1]["at"]
    # The state at a time follows from the change before it.
    later = (await vic.get(f"{path}?from=2999-01-01T00:00:00Z")).json
    assert [turn["state"] for turn in later["turns"]] == ["normal"]
    assert (await vic.get(f"{path}?from=tomorrow")).code == "bad_query"
    assert (await vic.get(f"/acme/monitor/{MISSING}/turns")).status == 404


async def test_state_changes_before_the_history_are_not_guessed(world: World, ada: Client) -> None:
    monitor = await make(world, ada)
    async with world.agent() as agent:
        await agent.send_messages(Samples("s", 1, [Sample(monitor["id"], 1, 0, "normal")]))
        await agent.hear(SamplesAck)
    path = f"/acme/monitor/{monitor['id']}/turns"
    assert len((await ada.get(path)).json["turns"]) == 1
    await world.runtime.db.write(
        lambda tx: tx.execute(
            "update events set at = at - ? where object = 'monitor'", events.LIFE + 1
        )
    )
    assert (await ada.get(path)).json["turns"] == []


async def test_a_push_monitor_is_called(world: World, ada: Client, anonymous: Client) -> None:
    monitor = await make(world, ada, type="push", _type="PushMonitor", fail_threshold=1)
    assert monitor["host_id"] is None
    key = (await ada.get(f"/monitor/{monitor['id']}/credentials")).json
    assert key["url"].endswith(f"/monitor/{monitor['id']}/push/{key['secret']}")
    path = f"/monitor/{monitor['id']}/push/{key['secret']}"
    assert (await anonymous.get(path)).json == {"message": "success", "state": "normal"}
    bad = await anonymous.post(f"/acme{path}", {"state": "failure", "message": "disk full"})
    assert bad.json["state"] == "failure"
    assert (await ada.get(f"/monitor/{monitor['id']}")).json["last_event"]["message"] == "disk full"
    assert (await anonymous.get(f"{path}?state=maybe")).status == 400
    for wrong in (f"{path}x", f"/globex{path}", path.replace(monitor["id"], MISSING)):
        refused = await anonymous.get(wrong)
        assert (refused.status, refused.code) == (403, "wrong_secret")
    rotated = (await ada.post(f"/monitor/{monitor['id']}/credentials/rotate", {})).json
    assert (await anonymous.get(path)).status == 403
    fresh = f"/monitor/{monitor['id']}/push/{rotated['secret']}"
    await ada.put(f"/monitor/{monitor['id']}/pause")
    assert (await anonymous.get(fresh)).code == "monitor_paused"
    await ada.delete(f"/monitor/{monitor['id']}")
    assert (await anonymous.get(fresh)).status == 403


async def test_only_a_push_monitor_has_a_url(world: World, ada: Client) -> None:
    monitor = await make(world, ada)
    refused = await ada.get(f"/monitor/{monitor['id']}/credentials")
    assert (refused.status, refused.code) == (409, "no_push_url")


async def test_a_monitor_starts_a_task(world: World, ada: Client) -> None:
    monitor = await make(world, ada, fail_threshold=1)
    argument = {"type": "input", "label": "event"}
    task = await world.task("repair", task_arguments=[argument])
    event_id = f"monitor:{monitor['id']}:failure"
    attached = await ada.patch(f"/task/{task}", {"triggers": [event_id]})
    assert attached.status == 200, attached.body
    async with world.agent() as agent:
        bad = Sample(monitor["id"], 1, 0, "failure", message="status 500", data={"status": 500})
        await agent.send_messages(Samples("s", 1, [bad]))
        await agent.hear(SamplesAck)
        for reaction in consumers.CONSUMERS:
            if "trigger.fired" in reaction.kinds:
                await consumers.catch_up(reaction, world.runtime)
        order = await agent.order()
        assert '"status":500' in order.arguments[0]
        assert '"event_name":"failure"' in order.arguments[0]


async def test_an_agent_of_theeye_reports_by_request(world: World, ada: Client) -> None:
    monitor = await make(world, ada, type="dstat", _type="DstatMonitor", fail_threshold=1)
    agent, path = world.client("web-1"), f"/acme/resource/{monitor['id']}/state"
    data = {"cpu": 0, "mem": 3.6687, "cache": None, "disk": [{"name": "vda", "value": 17.2}]}
    body = {"state": "normal", "event": "host:stats:normal", "data": data}
    response = await agent.patch(path, body)
    assert response.status == 200 and response.json["state"] == "normal"
    # A host without swap reports null, which means 0.
    assert response.json["resource"]["last_event"]["data"] == {**data, "cache": 0}
    history = (await ada.get(f"/monitor/{monitor['id']}/history")).json["points"][0]["values"]
    assert set(history) == {"cpu", "mem", "cache", "disk vda"}
    assert (await agent.patch(path, {"state": "strange"})).json["state"] == "failure"
    older = await agent.put(f"/acme/resource/{monitor['id']}", {"state": "success"})
    assert older.json["state"] == "normal"
    other = await world.client("web-2").patch(path, body)
    assert (other.status, other.code) == (403, "other_host")
    assert (await ada.patch(path, body)).status == 403
    missing = await agent.patch(f"/acme/resource/{MISSING}/state", body)
    assert (missing.status, missing.code) == (404, "monitor_not_found")
    assert (await ada.get("/acme/resource")).json == (await ada.get("/acme/monitor")).json
    reply = await ada.get(f"/acme/resource/{monitor['id']}")
    assert reply.json == (await ada.get(f"/monitor/{monitor['id']}")).json


async def test_a_number_is_accepted_where_a_text_is_stored(world: World, ada: Client) -> None:
    monitor = await make(world, ada, name=7, status_code=200)
    assert (monitor["name"], monitor["status_code"]) == ("7", "200")
