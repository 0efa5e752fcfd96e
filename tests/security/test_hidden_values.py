"""Values that records hide: masks that cannot be stored, arguments of script monitors, digests."""

import base64
import hashlib
from typing import Any

import msgspec
import pytest

from belvedere.access.crypto.sealed_values import open_object
from belvedere.base.text import argument_masking
from belvedere.db import Tx
from belvedere.db.migrate import migrate
from belvedere.db.signals import checks_changed
from belvedere.jobs.approvals import plan
from belvedere.notifications import store
from belvedere.notifications.model import ChannelRow
from belvedere.protocol import MonitorConfig
from belvedere.server.background import consumers
from belvedere.tasks.store import runnable
from contract.browser_journey import BODY, BrowserJourney, add, provider_of
from contract.client import Client
from contract.running import create, show
from contract.world import World
from egress.fake_pool import FakeEgressPool
from security.test_sealed import seal_old_rows
from security.test_secrets import approved_task, scraper_task

WORD = "hunter22"
ARGUMENTS = [
    *("--host", "db-1", "--password", WORD, f"--api-key={WORD}", f"DB_PASSWORD={WORD}"),
    f"https://u:{WORD}@shop.test/x?token={WORD}",
]
SHOWN = [
    *("--host", "db-1", "--password", "***", "--api-key=***", "DB_PASSWORD=***"),
    "https://***@shop.test/x?token=***",
]
WEB = {"type": "scraper", "url": "https://shop.test/"}
MASKED = [
    {"headers": {"X-Api-Key": "***"}},
    {"url": "https://***@shop.test/"},
    {"url": "https://u:***@shop.test/"},
    {"url": "https://shop.test/?token=***"},
    {"body": "***"},
    {"body": '{"password":"***"}'},
    {"body": "password=***&x=1"},
]


def is_refused(response: Any, field: str) -> bool:
    return (
        response.status == 400
        and response.json["code"] == "masked_value"
        and f"{field}: *** is the mask of a hidden value" in response.json["message"]
    )


@pytest.mark.parametrize("part", MASKED, ids=str)
async def test_a_mask_that_hides_nothing_is_refused(
    world: World, ada: Client, part: dict[str, Any]
) -> None:
    (field,) = part
    body = {"name": "x", "hostname": "web-1", **WEB, **part}
    assert is_refused(await ada.post("/acme/task", body), field)
    assert is_refused(await ada.post("/acme/monitor", body), field)
    for kind in ("task", "monitor"):
        definition = {"name": "x", **WEB, **part}
        fields = {"kind": kind, "host_tag": "web", "definition": definition}
        assert is_refused(await ada.post("/acme/definition", fields), field)
    for kind in ("task", "monitor"):
        plain = (await ada.post(f"/acme/{kind}", {**body, "headers": {}, "body": "", **WEB})).json
        assert is_refused(await ada.patch(f"/acme/{kind}/{plain['id']}", part), field)


async def test_a_masked_argument_cannot_be_the_mask(world: World, ada: Client) -> None:
    argument = {"type": "fixed", "label": "key", "masked": True, "value": "***"}
    body = {"name": "x", "type": "dummy", "task_arguments": [argument]}
    assert is_refused(await ada.post("/acme/task", body), "task_arguments")


async def channel(world: World, url: str = "https://u:hunter22@hooks.test/services/T/x") -> Any:
    world.runtime.egress = FakeEgressPool()
    return await world.client("ada").post("/notify/channel", {"name": "x", "url": url})


async def test_the_mask_of_a_channels_address_means_unchanged(world: World, ada: Client) -> None:
    new_channel = await channel(world)
    assert new_channel.status == 201, new_channel.text
    record, path = new_channel.json, f"/notify/channel/{new_channel.json['id']}"
    assert record["url"] == "https://hooks.test/***" and WORD not in new_channel.text
    saved = await ada.patch(path, {"name": "new", "url": record["url"]})
    assert (saved.status, saved.json["url"]) == (200, record["url"]), saved.text
    row = world.runtime.db.write_blocking(
        lambda tx: store.find(tx, ChannelRow, world.actors.acme.id, record["id"])
    )
    stored = store.channel_url(world.runtime.keyring, row)
    assert stored == "https://u:hunter22@hooks.test/services/T/x"
    for url in ("https://other.test/***", "slack://***", "https://***@hooks.test/x"):
        assert is_refused(await ada.patch(path, {"url": url}), "url"), url
        assert is_refused(await channel(world, url), "url"), url


OLD_ADDRESSES = [
    (f"https://u:{WORD}@hooks.test/***", "https://hooks.test/***"),
    (f"http://u:{WORD}@x:y@hooks.test:8080/***", "http://hooks.test:8080/***"),
    ("https://hooks.test/***", "https://hooks.test/***"),
    ("slack://***", "slack://***"),
]


@pytest.mark.parametrize(("old", "new"), OLD_ADDRESSES)
async def test_the_upgrade_masks_credentials_in_addresses_of_channels(
    world: World, ada: Client, old: str, new: str
) -> None:
    record = (await channel(world)).json
    db, name = world.runtime.db, "0101_channel_credentials"

    def as_before(tx: Tx) -> None:
        tx.execute("update channels set shown = ? where id = ?", old, record["id"])
        text = msgspec.json.encode({"shown": old}).decode()
        tx.execute("update audit set before = ?, after = ? where object = 'channel'", text, text)
        tx.execute("delete from migrations where name = ?", f"migrations/{name}")

    seal_old_rows(db)
    db.write_blocking(as_before)
    assert name in migrate(db)[0]
    assert (await ada.get(f"/notify/channel/{record['id']}")).json["url"] == new
    seal_old_rows(db)
    for table in ("channels", "audit"):
        rows = db.write_blocking(lambda tx, table: tx.rows(f"select * from {table}"), table)
        assert rows and WORD not in str(rows)


async def test_the_mask_as_a_secret_of_a_provider_means_unchanged(world: World) -> None:
    provider = provider_of(world)
    olga = world.client("olga")
    assert is_refused(
        await olga.post("/api/provider", {**BODY, "client_secret": "***"}), "client_secret"
    )
    provider_id = await add(world)
    path = f"/api/provider/{provider_id}"
    assert (await olga.patch(path, {"client_secret": "***"})).status == 200
    await BrowserJourney(world.client(), provider).sign_in(provider_id)
    assert (await olga.patch(path, {"client_secret": ""})).status == 200
    assert is_refused(await olga.patch(path, {"client_secret": "***"}), "client_secret")


async def test_the_mask_as_an_argument_of_a_new_schedule_is_refused(
    world: World, ada: Client
) -> None:
    argument = {"type": "input", "label": "key", "masked": True}
    task = {"name": "x", "type": "dummy", "task_arguments": [argument]}
    task_id = (await ada.post("/acme/task", task)).json["id"]
    path = f"/acme/task/{task_id}/schedule"
    body = {"repeatEvery": "0 3 * * *", "task_arguments": ["***"]}
    assert is_refused(await ada.post(path, body), "task_arguments")
    response = await ada.post(path, {**body, "task_arguments": [WORD]})
    assert response.status in (200, 201), response.text


async def script_monitor(world: World, ada: Client, arguments: list[str]) -> str:
    source = base64.b64encode(b"#!/bin/sh\n").decode()
    script = (await ada.post("/acme/file", {"filename": "check.sh", "data": source})).json
    body = {"name": "db", "type": "script", "hostname": "web-1", "script_id": script["id"]}
    response = await ada.post("/acme/monitor", {**body, "script_arguments": arguments})
    assert response.status == 200, response.text
    return str(response.json["id"])


async def agent_config(world: World, monitor: str) -> dict[str, Any]:
    async with world.agent() as agent:
        watch = await agent.hear(MonitorConfig)
    (config,) = (item.config for item in watch.monitors if item.id == monitor)
    return config


@pytest.mark.parametrize("verb", ["put", "patch"])
async def test_credentials_in_arguments_of_a_script_monitor_are_hidden(
    world: World, ada: Client, vic: Client, verb: str
) -> None:
    monitor = await script_monitor(world, ada, ARGUMENTS)
    record = (await vic.get(f"/acme/monitor/{monitor}")).json
    assert record["config"]["script_arguments"] == SHOWN
    for path in ("monitor", f"monitor/{monitor}", "audit"):
        assert WORD not in (await ada.get(f"/acme/{path}")).text
    for table in ("monitors", "audit", "events"):
        rows = world.runtime.db.write_blocking(
            lambda tx, name: tx.rows(f"select * from {name}"), table
        )
        assert rows and WORD not in str(rows)
    saved = await getattr(ada, verb)(f"/acme/monitor/{monitor}", {**record, "description": "new"})
    assert saved.status == 200, saved.text
    config = await agent_config(world, monitor)
    assert config["script_arguments"] == ARGUMENTS
    assert WORD in config["masks"]


async def test_rows_of_earlier_versions_are_hidden_as_well(world: World, ada: Client) -> None:
    monitor = await script_monitor(world, ada, ARGUMENTS)

    def as_before(tx: Any) -> None:
        config = {"script_arguments": ARGUMENTS}
        text = msgspec.json.encode({"config": config}).decode()
        (sealed,) = tx.row("select config from monitors where id = ?", monitor)
        clear = open_object(tx, f"monitor/{monitor}", sealed)
        tx.execute("update monitors set config = ? where id = ?", clear, monitor)
        tx.execute("update audit set after = ? where object_id = ?", text, monitor)

    world.runtime.db.write_blocking(as_before)
    seal_old_rows(world.runtime.db)
    for table in ("monitors", "audit"):
        rows = world.runtime.db.write_blocking(
            lambda tx, name: tx.rows(f"select * from {name}"), table
        )
        assert rows and WORD not in str(rows)
    assert (await agent_config(world, monitor))["script_arguments"] == ARGUMENTS


def test_arguments_that_move_keep_their_values() -> None:
    moved = ["--password", "***", "--host", "db-2", "--api-key=***"]
    assert argument_masking.restore(moved, ARGUMENTS) == [
        *("--password", WORD, "--host", "db-2", f"--api-key={WORD}"),
    ]
    # The mask of another option is not replaced.
    assert argument_masking.restore(["--token", "***"], ARGUMENTS) == ["--token", "***"]
    assert argument_masking.has_mask(["--token", "***"])
    assert not argument_masking.has_mask(["***", "--verbose"])


async def test_an_argument_of_a_script_monitor_that_is_only_a_mask_is_refused(
    world: World, ada: Client
) -> None:
    monitor = await script_monitor(world, ada, ["--password", WORD])
    change = {"script_arguments": ["--token", "***"]}
    response = await ada.patch(f"/acme/monitor/{monitor}", change)
    assert is_refused(response, "script_arguments")


async def test_arguments_of_a_script_monitor_refer_to_secrets(
    world: World, ada: Client, vic: Client
) -> None:
    texts = ["--password", "{{secret:DB}}"]
    monitor = await script_monitor(world, ada, texts)
    missing = await agent_config(world, monitor)
    assert missing["problem"] == "The secret DB is not set; set it, or change the request."
    assert (await ada.put("/acme/secret/DB", {"value": WORD})).status == 200
    config = await agent_config(world, monitor)
    assert (config["script_arguments"], config["masks"]) == (["--password", WORD], [WORD])
    assert (await vic.get(f"/acme/monitor/{monitor}")).json["config"]["script_arguments"] == texts


async def test_an_agent_gets_a_changed_secret_for_its_scripts(world: World, ada: Client) -> None:
    assert (await ada.put("/acme/secret/DB", {"value": "before"})).status == 200
    monitor = await script_monitor(world, ada, ["--password", "{{secret:DB}}"])
    async with world.agent() as agent:
        await agent.hear(MonitorConfig)
        assert (await ada.put("/acme/secret/DB", {"value": WORD})).status == 200
        for reaction in consumers.CONSUMERS:
            if "secret.changed" in reaction.kinds:
                while world.runtime.db.write_blocking(consumers.run_batch, world.runtime, reaction):
                    pass
        world.runtime.signals.emit({checks_changed(world.things.hosts["web-1"].host_id)})
        (config,) = (
            item.config for item in (await agent.hear(MonitorConfig)).monitors if item.id == monitor
        )
    assert config["script_arguments"] == ["--password", WORD]


async def test_the_digest_of_a_plan_cannot_be_used_to_test_guesses(
    world: World, ada: Client, vic: Client
) -> None:
    """It covers the secrets of a definition, so only the server can compute it."""
    task = await scraper_task(world)
    waiting = await create(ada, await approved_task(world, task), [])
    (item,) = (await show(vic, waiting["id"]))["will_run"]
    assert item["digest"].startswith(plan.KEYED)
    assert item["digest"] != plan.KEYED + hashlib.sha256(b"").hexdigest()
    plain = await plain_digest(world, task)
    assert plain not in str(await show(vic, waiting["id"]))


async def plain_digest(world: World, task_id: str) -> str:
    find = "select customer_id from tasks where id = ?"
    customer_id = await world.runtime.db.read(lambda tx: tx.value(find, task_id))
    task = await world.runtime.db.read(runnable, customer_id, task_id)
    assert task is not None
    return plan._digest(task)


async def test_an_approval_from_an_earlier_version_can_still_be_decided(
    world: World, ada: Client, vic: Client
) -> None:
    task = await scraper_task(world)
    waiting = await create(ada, await approved_task(world, task), [])
    plain = await plain_digest(world, task)

    def as_before(tx: Any) -> None:
        (text,) = tx.row("select plan from approvals where job_id = ?", waiting["id"])
        (entry,) = msgspec.json.decode(text)
        old = msgspec.json.encode([{**entry, "digest": plain}]).decode()
        tx.execute("update approvals set plan = ? where job_id = ?", old, waiting["id"])

    world.runtime.db.write_blocking(as_before)
    assert plain not in str(await show(vic, waiting["id"]))
    approved = await vic.put(f"/acme/job/{waiting['id']}/approve")
    assert approved.status == 200, approved.text


async def test_another_secret_in_the_definition_still_makes_the_approval_void(
    world: World, ada: Client, vic: Client
) -> None:
    task = await scraper_task(world)
    waiting = await create(ada, await approved_task(world, task), [])
    changed = await ada.patch(f"/acme/task/{task}", {"headers": {"X-Api-Key": "another"}})
    assert changed.status == 200, changed.text
    assert (await vic.put(f"/acme/job/{waiting['id']}/approve")).status == 409
