"""Credentials in web requests: shown to no one, kept through edits, replaced by references."""

import json
import subprocess
import sys
from typing import Any

import pytest

from belvedere.access import audit
from belvedere.base.text import request_masking
from belvedere.base.text.credentials import is_credential
from belvedere.db.signals import checks_changed
from belvedere.jobs import scraper
from belvedere.protocol import MonitorConfig
from belvedere.server.background import consumers
from contract.client import Client
from contract.running import create
from contract.world import World
from security.canaries import CANARY, QUOTED, REQUEST, leaks, people, read_everything

SECRET = 's3cret of the shop/+&"'
REFERENCE = "{{secret:SHOP}}"


async def scraper_task(world: World, **more: Any) -> str:
    fields = {"type": "scraper", "script": None, **REQUEST, **more}
    return await world.task("ask the shop", **fields)


async def scraper_monitor(world: World, ada: Client, **more: Any) -> str:
    body = {"name": "the shop", "type": "scraper", "hostname": "web-1", **REQUEST, **more}
    response = await ada.post("/acme/monitor", body)
    assert response.status == 200, response.text
    return str(response.json["id"])


async def definition(ada: Client, kind: str) -> str:
    body = {"name": f"tagged {kind}", "type": "scraper", **REQUEST}
    response = await ada.post(
        "/acme/definition", {"kind": kind, "host_tag": "web", "definition": body}
    )
    assert response.status == 201, response.text
    return str(response.json["id"])


async def approved_task(world: World, task: str) -> str:
    """An approval that starts the task, so that its plan shows it."""
    approval = await world.task("ask first", type="approval", approvers=["vic"])
    ada = world.client("ada")
    event = next(
        record["id"]
        for record in (await ada.get("/acme/event")).json
        if record["id"].startswith(f"task:{approval}") and record["id"].endswith("success")
    )
    changed = await ada.patch(f"/acme/task/{task}", {"triggers": [event]})
    assert changed.status == 200, changed.text
    return approval


async def workflow(
    ada: Client, web: str, script: str, constants: dict[str, str] | None = None
) -> str:
    nodes = [{"id": "a", "task_id": web}, {"id": "b", "task_id": script}]
    graph = {"nodes": nodes, "edges": [{"source": "a", "target": "b"}]}
    body = {"name": "flow", "start": "a", "graph": graph, "global_constants": constants or {}}
    response = await ada.post("/acme/workflows", body)
    assert response.status == 200, response.text
    return str(response.json["id"])


async def test_no_route_shows_credentials_of_a_request(world: World, ada: Client) -> None:
    task = await scraper_task(world)
    approval = await approved_task(world, task)
    waiting = await create(ada, approval, [])
    job = await create(ada, task, [])
    monitor = await scraper_monitor(world, ada)
    flow = await workflow(ada, task, approval)
    ids = [task, approval, waiting["id"], job["id"], monitor, flow]
    ids += [await definition(ada, "task"), await definition(ada, "monitor")]
    async with world.agent() as agent:
        await agent.end(await agent.order())
        # Each is changed, so that the audit log and the events have a before and an after.
        for kind, first_text in (("task", task), ("monitor", monitor)):
            assert (
                await ada.patch(f"/acme/{kind}/{first_text}", {"description": "x"})
            ).status == 200
        assert await read_everything(people(world), ids) == []
    events = await world.runtime.db.read(lambda tx: tx.rows("select data from events"))
    assert leaks(str(events).encode()) == []
    text = await world.runtime.db.read(lambda tx: tx.rows("select before, after from audit"))
    assert leaks(str(text).encode()) == []


@pytest.mark.parametrize("kind", ["task", "monitor"])
async def test_values_that_are_no_credentials_stay_visible(
    world: World, vic: Client, kind: str
) -> None:
    ada = world.client("ada")
    text = await scraper_task(world) if kind == "task" else await scraper_monitor(world, ada)
    record = (await vic.get(f"/acme/{kind}/{text}")).json
    request = record if kind == "task" else record["config"]
    assert record["url"] == "https://***@shop.test/x?page=1&api_key=***&clientSecret=***"
    assert request["url"] == record["url"]
    assert request["headers"]["Accept"] == "text/html"
    assert request["headers"]["Referer"] == "https://***@shop.test/"
    assert json.loads(request["body"]) == {
        "page": 1,
        "login": {"password": "***"},
        "tokens": ["***"],
    }


@pytest.mark.parametrize("verb", ["put", "patch"])
async def test_a_task_that_is_sent_back_keeps_its_credentials(
    world: World, ada: Client, verb: str
) -> None:
    task = await scraper_task(world)
    record = (await ada.get(f"/acme/task/{task}")).json
    saved = await getattr(ada, verb)(f"/acme/task/{task}", {**record, "description": "new"})
    assert saved.status == 200, saved.text
    assert await sent_by(world, ada, task) == REQUEST


async def sent_by(world: World, ada: Client, task: str) -> dict[str, Any]:
    """The request in the agent's order."""
    async with world.agent() as agent:
        await create(ada, task, [])
        order = await agent.order()
        await agent.end(order)
    record = json.loads(order.arguments[0])
    return {name: record[name] for name in REQUEST}


async def agent_config(world: World, monitor: str) -> dict[str, Any]:
    """The configuration with which the agent checks the monitor."""
    async with world.agent() as agent:
        watch = await agent.hear(MonitorConfig)
    (config,) = (item.config for item in watch.monitors if item.id == monitor)
    return config


@pytest.mark.parametrize("verb", ["put", "patch"])
async def test_a_monitor_that_is_sent_back_keeps_its_credentials(
    world: World, ada: Client, verb: str
) -> None:
    monitor = await scraper_monitor(world, ada)
    record = (await ada.get(f"/acme/monitor/{monitor}")).json
    saved = await getattr(ada, verb)(f"/acme/monitor/{monitor}", {**record, "description": "new"})
    assert saved.status == 200, saved.text
    config = await agent_config(world, monitor)
    assert {name: config[name] for name in REQUEST} == REQUEST
    assert CANARY in config["masks"]


async def test_a_definition_that_is_sent_back_keeps_its_credentials(
    world: World, ada: Client
) -> None:
    for kind in ("task", "monitor"):
        item = await definition(ada, kind)
        record = (await ada.get(f"/acme/definition/{item}")).json
        saved = await ada.put(
            f"/acme/definition/{item}",
            {"kind": kind, "host_tag": "web", "definition": record["definition"]},
        )
        assert saved.status == 200, saved.text
    await ada.patch(f"/acme/host/{world.things.hosts['web-1'].host_id}", {"tags": ["web"]})
    for reaction in consumers.CONSUMERS:
        if reaction.name.startswith("definitions"):
            world.runtime.db.write_blocking(consumers.run_batch, world.runtime, reaction)
    (monitor,) = (
        item for item in (await ada.get("/acme/monitor")).json if item["type"] == "scraper"
    )
    config = await agent_config(world, monitor["id"])
    assert {name: config[name] for name in REQUEST} == REQUEST
    (task,) = (item for item in (await ada.get("/acme/task")).json if item["type"] == "scraper")
    assert await sent_by(world, ada, task["id"]) == REQUEST


async def test_one_credential_can_be_replaced_without_seeing_the_others(
    world: World, ada: Client
) -> None:
    task = await scraper_task(world)
    record = (await ada.get(f"/acme/task/{task}")).json
    headers = {**record["headers"], "X-Api-Key": "another"}
    url = record["url"].replace("page=1", "page=2")
    body = record["body"].replace("1", "2")
    assert (
        await ada.patch(f"/acme/task/{task}", {"headers": headers, "url": url, "body": body})
    ).status == 200
    sent_record = await sent_by(world, ada, task)
    assert sent_record["headers"] == {**REQUEST["headers"], "X-Api-Key": "another"}
    assert sent_record["url"] == REQUEST["url"].replace("page=1", "page=2")
    assert json.loads(sent_record["body"]) == {
        "page": 2,
        "login": {"password": CANARY},
        "tokens": [CANARY],
    }


async def test_a_mask_gets_no_value_of_another_name(world: World, ada: Client) -> None:
    old = {"url": "https://h/?api_key=one&token=two", "body": "password=three&x=4"}
    body = {"url": "https://h/?token=***", "body": "token=***&x=5"}
    assert request_masking.restore(body, old) == {
        "url": "https://h/?token=two",
        "body": "token=***&x=5",
    }


async def set_secret(ada: Client, **more: Any) -> None:
    body = {"value": SECRET, **more}
    assert (await ada.put("/acme/secret/SHOP", body)).status == 200


REFERRING = {
    "url": f"https://shop.test/{REFERENCE}/x?key={REFERENCE}",
    "method": "POST",
    "headers": {"Authorization": f"Bearer {REFERENCE}"},
    "body": f'{{"password": "{REFERENCE}"}}',
}


@pytest.mark.parametrize("kind", ["task", "monitor"])
async def test_a_reference_is_resolved_only_for_the_agent(
    world: World, ada: Client, vic: Client, kind: str
) -> None:
    await set_secret(ada)
    if kind == "task":
        task_id = await scraper_task(world, **REFERRING)
        sent_record = await sent_by(world, ada, task_id)
    else:
        task_id = await scraper_monitor(world, ada, **REFERRING)
        sent_record = await agent_config(world, task_id)
        assert SECRET in sent_record["masks"]
    quoted = "s3cret%20of%20the%20shop%2F%2B%26%22"
    assert sent_record["url"] == f"https://shop.test/{quoted.replace('%2F', '/')}/x?key={quoted}"
    assert sent_record["headers"] == {"Authorization": f"Bearer {SECRET}"}
    assert json.loads(sent_record["body"]) == {"password": SECRET}
    # Records show the reference, which is no credential.
    record = (await vic.get(f"/acme/{kind}/{task_id}")).json
    request = record if kind == "task" else record["config"]
    assert {name: request[name] for name in REFERRING} == REFERRING
    for table, column in (("tasks", "spec"), ("monitors", "config"), ("jobs", "arguments")):
        sql = f"select {column} from {table}"
        assert "s3cret" not in str(
            world.runtime.db.write_blocking(lambda tx, item: tx.rows(item), sql)
        )


async def test_a_missing_secret_is_reported_and_nothing_is_sent(world: World, ada: Client) -> None:
    task = await scraper_task(world, **REFERRING)
    async with world.agent() as agent:
        await create(ada, task, [])
        record = json.loads((await agent.order()).arguments[0])
    assert record["problem"] == "The secret SHOP is not set; set it, or change the request."
    monitor = await scraper_monitor(world, ada, **REFERRING)
    assert (await agent_config(world, monitor))["problem"] == record["problem"]


async def test_an_agent_gets_a_changed_secret_for_its_checks(world: World, ada: Client) -> None:
    await set_secret(ada)
    monitor = await scraper_monitor(world, ada, **REFERRING)
    async with world.agent() as agent:
        await agent.hear(MonitorConfig)
        await ada.put("/acme/secret/SHOP", {"value": "another one"})
        (reaction,) = (
            consumer
            for consumer in consumers.CONSUMERS
            if consumer.name.startswith("agents get the s") and "secret.changed" in consumer.kinds
        )
        while world.runtime.db.write_blocking(consumers.run_batch, world.runtime, reaction):
            pass
        world.runtime.signals.emit({checks_changed(world.things.hosts["web-1"].host_id)})
        (config,) = (
            consumer.config
            for consumer in (await agent.hear(MonitorConfig)).monitors
            if consumer.id == monitor
        )
    assert config["headers"] == {"Authorization": "Bearer another one"}


async def test_the_output_of_a_request_is_masked_on_the_host(world: World, ada: Client) -> None:
    await set_secret(ada)
    task = await scraper_task(world)
    async with world.agent() as agent:
        await create(ada, task, [])
        order = await agent.order()
    assert {CANARY, f"Bearer {CANARY}", f"user:{QUOTED}", SECRET} <= set(order.masks)


async def test_a_recipe_contains_no_credentials_and_says_so(world: World, ada: Client) -> None:
    web = await scraper_task(world)
    script = await world.task("backup", env={"DB_PASSWORD": CANARY, "REGION": "south"})
    flow = await workflow(ada, web, script, {"API_TOKEN": CANARY, "REGION": "south"})
    for path in (f"task/{web}", f"task/{script}", f"workflows/{flow}"):
        exported = await ada.get(f"/acme/{path}/serialize?mode=deep")
        assert leaks(exported.body) == []
    recipe = exported.json
    assert recipe["global_constants"] == {"API_TOKEN": "***", "REGION": "south"}
    value, backup = recipe["tasks"]
    assert value["headers"]["X-Api-Key"] == "***"
    assert backup["env"] == {"DB_PASSWORD": "***", "REGION": "south"}
    record = (await ada.post("/acme/workflows/import?hostname=web-1", recipe)).json
    assert "backup: set the credentials in its DB_PASSWORD again" in record["notes"]
    assert "Set the global constants API_TOKEN again." in record["notes"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        *((name, True) for name in ("Authorization", "X-Foo-Key", "x_api_key", "apikey", "key")),
        *((name, True) for name in ("accessToken", "client_secret", "dbPassword", "Set-Cookie")),
        *((name, True) for name in ("X-Auth", "pwd", "sig", "X-Amz-Signature", "session_id")),
        *((name, False) for name in ("Accept", "author", "keyword", "page", "monkey", "passage")),
    ],
)
def test_the_table_of_names(name: str, expected: bool) -> None:
    assert is_credential(name) is expected


def test_the_audit_hides_credentials_in_any_address() -> None:
    values = audit.without_secrets({"url": "https://u:p@h/?token=x&a=1", "apiKey": "x", "n": 1})
    assert values == {"url": "https://***@h/?token=***&a=1", "n": 1}


@pytest.mark.parametrize(
    "body",
    ["user=a&password=hunter22", "<login><password>hunter22</password></login>", "pwd: hunter22"],
)
def test_bodies_of_other_kinds_are_hidden(body: str) -> None:
    masked_text = request_masking.mask({"body": body})
    assert "hunter22" not in masked_text["body"]
    assert request_masking.restore(masked_text, {"body": body}) == {"body": body}


def run_request(asked: dict[str, Any]) -> str:
    """The output of the script that makes the request of a task."""
    body = {"headers": {}, "body": "", "json": False, "method": "GET", "status_code": ""}
    body |= {"pattern": "", "keeps_body": False, "timeout_s": 1.0, **asked}
    ran = subprocess.run(
        [sys.executable, "-I", scraper.__file__.replace("scraper.py", "scraper_script.py")]
        + [json.dumps(body)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 1
    return ran.stdout


def test_the_log_of_a_request_has_no_userinfo_and_no_query() -> None:
    # Too short for a mask, so that only the script itself can leave it out.
    out = run_request({"url": "http://me:pw7@127.0.0.1:1/x@y?key=k7"})
    assert out.startswith("GET http://127.0.0.1:1/x@y: ")
    assert "pw7@" not in out.splitlines()[0]
    assert "k7" not in out


def test_a_request_with_a_missing_secret_is_not_sent() -> None:
    out = run_request({"url": "http://127.0.0.1:1/", "problem": "The secret SHOP is not set."})
    assert "The secret SHOP is not set." in out
    assert json.loads(out.splitlines()[-1])["event_name"] == "scraper:error:request"
