"""File monitors that maintain a stored file, and monitors that list processes."""

import base64
from typing import Any

import pytest

from belvedere.monitors import agent_config
from belvedere.protocol import MonitorConfig, Sample, Samples, SamplesAck
from belvedere.server.background import consumers
from contract.client import Client
from contract.world import World

CONTENT = b"Listen 80\n"
PATH = "/etc/site/site.conf"


async def store_file(client: Client, content: bytes = CONTENT, name: str = "site.conf") -> str:
    response = await client.post("/file", {"filename": name, "source": content.decode()})
    assert response.status == 200, response.body
    file_id: str = response.json["id"]
    return file_id


def body_for(world: World, **more: Any) -> dict[str, Any]:
    host_id = world.things.hosts["web-1"].host_id
    return {"name": "site", "type": "file", "host_id": host_id, "path": PATH, **more}


async def make(world: World, client: Client, **more: Any) -> dict[str, Any]:
    response = await client.post("/monitor", body_for(world, **more))
    assert response.status == 200, response.body
    record: dict[str, Any] = response.json
    return record


async def react(world: World, kind: str) -> None:
    for reaction in consumers.CONSUMERS:
        if kind in reaction.kinds:
            await consumers.catch_up(reaction, world.runtime)


async def test_a_maintained_file_is_sent_to_the_agent(world: World, ada: Client) -> None:
    file_id = await store_file(ada)
    monitor = await make(world, ada, file=file_id, os_username="www-data", os_groupname="33")
    assert monitor["config"]["file"] == file_id
    # A maintained file always has a mode.
    assert monitor["config"]["permissions"] == "0644"
    async with world.agent() as agent:
        (check,) = (await agent.hear(MonitorConfig)).monitors
        assert (check.type, check.config["path"]) == ("maintained_file", PATH)
        assert base64.b64decode(check.config["source"]) == CONTENT
        assert (check.config["restores"], check.config["problem"]) == (True, "")
        await ada.put(f"/file/{file_id}", {"source": "Listen 81\n"})
        await react(world, "file.changed")
        (newer,) = (await agent.hear(MonitorConfig)).monitors
        assert base64.b64decode(newer.config["source"]) == b"Listen 81\n"


async def test_a_maintained_file_is_a_kind_of_check_unknown_to_earlier_agents(
    world: World, ada: Client
) -> None:
    monitor = await make(world, ada, file=await store_file(ada))
    await ada.patch(f"/monitor/{monitor['id']}", {"file": ""})
    async with world.agent() as agent:
        (check,) = (await agent.hear(MonitorConfig)).monitors
        assert check.type == "file" and "source" not in check.config


async def test_a_restored_file_has_its_events(world: World, ada: Client) -> None:
    monitor = await make(world, ada, file=await store_file(ada))
    plain = await make(world, ada, name="plain")
    task = await world.task("reload", task_arguments=[{"type": "input", "label": "event"}])
    event_id = f"monitor:{monitor['id']}:file:restored"
    offered = [event["id"] for event in (await ada.get("/event")).json]
    assert event_id in offered and f"monitor:{monitor['id']}:file:changed" in offered
    attached = await ada.patch(f"/task/{task}", {"triggers": [event_id]})
    assert attached.status == 200, attached.body
    async with world.agent() as agent:
        samples = [
            Sample(monitor["id"], 1, 0, "normal", "success"),
            Sample(monitor["id"], 1, 0, "changed", "file:restored", "had another mode"),
            Sample(plain["id"], 1, 0, "changed", "file:changed"),
        ]
        await agent.send_messages(Samples("s", 1, samples))
        await agent.hear(SamplesAck)
        record = (await ada.get(f"/monitor/{monitor['id']}")).json
        assert (record["state"], record["last_event"]["event"]) == ("normal", "file:restored")
        await react(world, "trigger.fired")
        order = await agent.order()
        assert '"event_name":"file:restored"' in order.arguments[0]
    names = ("changed", "file:changed", "file:restored")
    assert kinds_of(world, monitor["id"]) == [f"monitor.{name}" for name in names]
    assert kinds_of(world, plain["id"]) == ["monitor.changed", "monitor.file:changed"]


def kinds_of(world: World, monitor_id: str) -> list[str]:
    rows = world.runtime.db.write_blocking(
        lambda tx: tx.rows(
            "select kind from events where object_id = ? and object = 'monitor'"
            " and kind not in ('monitor.created', 'monitor.state') order by id",
            monitor_id,
        )
    )
    return [kind for (kind,) in rows]


async def test_only_file_monitors_have_events_of_files(world: World, ada: Client) -> None:
    host_id = world.things.hosts["web-1"].host_id
    stats = await ada.post("/monitor", {"name": "s", "type": "dstat", "host_id": host_id})
    offered = [event["id"] for event in (await ada.get("/event")).json]
    assert f"monitor:{stats.json['id']}:changed" in offered
    assert f"monitor:{stats.json['id']}:file:changed" not in offered


async def test_the_file_of_another_organization_is_not_found(
    world: World, ada: Client, eve: Client
) -> None:
    theirs = await store_file(eve)
    refused = await ada.post("/monitor", body_for(world, file=theirs))
    assert (refused.status, refused.json["errors"][0]["field"]) == (400, "file")
    monitor = await make(world, ada)
    assert (await ada.patch(f"/monitor/{monitor['id']}", {"file": theirs})).status == 400


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("file", "x"),
        ("file", "0" * 24),
        ("path", "relative"),
        ("path", "/"),
        ("path", "/etc/"),
        ("path", "/etc//x"),
        ("path", "/etc/../x"),
        ("path", "/etc/" + "x" * 256),
        ("permissions", "0999"),
        ("os_username", "a\nb"),
        ("os_groupname", "x" * 300),
    ],
)
async def test_bad_input_is_refused_by_its_field(
    world: World, ada: Client, field: str, value: str
) -> None:
    body = body_for(world, **{"file": await store_file(ada), field: value})
    refused = await ada.post("/monitor", body)
    assert (refused.status, refused.json["errors"][0]["field"]) == (400, field)


async def test_a_large_file_is_refused_and_one_that_grows_is_reported(
    world: World, ada: Client
) -> None:
    large = await store_file(ada, b"x" * (agent_config.MAX_FILE + 1))
    assert (await ada.post("/monitor", body_for(world, file=large))).status == 400
    file_id = await store_file(ada)
    await make(world, ada, file=file_id)
    grown = "x" * (agent_config.MAX_FILE + 1)
    assert (await ada.put(f"/file/{file_id}", {"source": grown})).status == 200
    async with world.agent() as agent:
        (check,) = (await agent.hear(MonitorConfig)).monitors
        assert check.config["source"] == "" and "at most" in check.config["problem"]


async def test_a_file_that_a_monitor_maintains_stays(world: World, ada: Client) -> None:
    file_id = await store_file(ada)
    monitor = await make(world, ada, file=file_id)
    refused = await ada.delete(f"/file/{file_id}")
    assert (refused.status, refused.code) == (409, "file_in_use")
    (link,) = (await ada.get(f"/file/{file_id}/linkedmodels")).json
    assert (link["id"], link["_type"]) == (monitor["id"], "FileMonitor")
    await ada.delete(f"/monitor/{monitor['id']}")
    assert (await ada.delete(f"/file/{file_id}")).status == 200


async def test_the_forms_of_theeye(world: World, ada: Client) -> None:
    file_id = await store_file(ada)
    parts = {"path": None, "dirname": "/etc/site", "basename": "other.conf"}
    monitor = await make(
        world, ada, file={"id": file_id}, permissions="0600", _type="FileMonitor", **parts
    )
    assert (monitor["config"]["path"], monitor["config"]["file"]) == (
        "/etc/site/other.conf",
        file_id,
    )
    changed = await ada.patch(f"/monitor/{monitor['id']}", {"dirname": "/srv"})
    assert changed.json["config"]["path"] == "/srv/other.conf"
    response = await ada.post("/monitor", body_for(world, file=file_id, is_manual_path=True))
    assert response.headers["belvedere-ignored"] == "is_manual_path"


async def test_a_trial_restores_nothing(world: World, ada: Client) -> None:
    async with world.agent() as agent:
        trial = await ada.post("/monitor/trial", body_for(world, file=await store_file(ada)))
        assert trial.status == 200, trial.body
        watch = await agent.hear(MonitorConfig)
        assert [check.config["restores"] for check in watch.monitors] == [False]


async def test_a_list_of_processes_is_for_admins(world: World, ada: Client, vic: Client) -> None:
    monitor = await make(world, ada, type="psaux", _type="PsauxMonitor", path=None)
    assert (monitor["type"], monitor["_type"]) == ("psaux", "PsauxMonitor")
    processes = [{"user": "root", "pid": 1, "command": "init --password=canary"}]
    data = {"count": 1, "psaux": processes}
    async with world.agent() as agent:
        await agent.send_messages(
            Samples("s", 1, [Sample(monitor["id"], 1, 0, "normal", data=data)])
        )
        await agent.hear(SamplesAck)
    record = (await vic.get(f"/monitor/{monitor['id']}")).json
    assert (record["state"], record["last_event"]["data"]) == ("normal", {"count": 1})
    target = f"/host/{monitor['host_id']}/stats?type=psaux"
    assert (await ada.get(target)).json[0]["stats"] == processes
    assert (await vic.get(target)).json == []
