"""Secrets and variables: set and listed by admins, passed to scripts, never shown again."""

import logging
from typing import Any

import pytest

from belvedere.secrets import service
from belvedere.secrets.service import SecretBody
from belvedere.server.background import consumers
from contract import interface_fields
from contract.client import Client
from contract.running import create, show
from contract.world import World

CANARY = "canary-hush-hush"
RECORD: dict[str, interface_fields.Kind] = {
    **dict.fromkeys(("id", "customer_id"), interface_fields.identifier),
    **dict.fromkeys(("name", "_type", "description", "updated_by"), interface_fields.string),
    **dict.fromkeys(("creation_date", "last_update"), interface_fields.moment),
    "secret": interface_fields.boolean,
    "version": interface_fields.integer,
}


async def put(ada: Client, name: str, value: str = CANARY, **more: Any) -> Any:
    answer = await ada.put(f"/acme/secret/{name}", {"value": value, **more})
    assert answer.status == 200, answer.body
    return answer.json


async def next_order(world: World, ada: Client, task: str, given: list[Any] | None = None) -> Any:
    """The order that an agent gets for a new job of the task."""
    async with world.agent() as agent:
        await create(ada, task, given or [])
        order = await agent.order()
        await agent.end(order)
        return order


async def test_a_secret_is_set_and_reaches_the_script(world: World, ada: Client) -> None:
    response = await put(ada, "API_KEY", description="of the shop")
    assert interface_fields.missing(response, RECORD) == []
    assert (response["name"], response["secret"], response["task_id"]) == ("API_KEY", True, None)
    assert response["updated_by"] == "ada@acme.test" and "value" not in response
    order = await next_order(world, ada, await world.task())
    assert order.env["API_KEY"] == CANARY and order.masks == [CANARY]
    listed = await ada.get("/secret?customer=acme")
    assert (listed.status, listed.json) == (200, [response])
    gone = await ada.delete("/acme/secret/API_KEY")
    assert (gone.status, gone.json) == (200, response)
    order = await next_order(world, ada, await world.task("other"))
    assert "API_KEY" not in order.env and order.masks == []


async def test_the_next_script_gets_the_new_value(world: World, ada: Client) -> None:
    task = await world.task()
    for n in range(3):
        response = await put(ada, "API_KEY", f"{CANARY}-{n}")
        assert response["version"] == n + 1
        assert (await next_order(world, ada, task)).env["API_KEY"] == f"{CANARY}-{n}"


async def test_the_nearer_to_the_task_the_stronger(world: World, ada: Client) -> None:
    names = {"A": "of the task", "B": "of the task"}
    task = await world.task(env={"B": "in the definition", "C": "in the definition"})
    other = await world.task("other")
    for name in ("A", "B", "C", "D"):
        await put(ada, name, "of the organization")
    for name, value in names.items():
        assert (await put(ada, name, value, task_id=task))["task_id"] == task
    env = (await next_order(world, ada, task)).env
    assert {name: env[name] for name in "ABCD"} == {
        "A": "of the task",
        "B": "of the task",
        "C": "in the definition",
        "D": "of the organization",
    }
    assert (await next_order(world, ada, other)).env["A"] == "of the organization"
    listed = (await ada.get(f"/acme/secret?where[task_id]={task}")).json
    assert [item["name"] for item in listed] == ["A", "B"]
    await ada.delete(f"/acme/secret/A?task_id={task}")
    assert (await next_order(world, ada, task)).env["A"] == "of the organization"


async def test_a_variable_may_be_read_and_is_not_hidden(world: World, ada: Client) -> None:
    response = await put(ada, "REGION", "eu", secret=False)
    assert (response["secret"], response["value"]) == (False, "eu")
    order = await next_order(world, ada, await world.task())
    assert (order.env["REGION"], order.masks) == ("eu", [])


async def test_masked_arguments_are_hidden_too(world: World, ada: Client) -> None:
    expected = [
        {"type": "input", "label": "name"},
        {"type": "input", "label": "password", "masked": True},
        {"type": "fixed", "label": "key", "masked": True, "value": "fixed-key"},
        {"type": "input", "label": "pin", "masked": True, "required": False},
    ]
    task = await world.task(task_arguments=expected)
    order = await next_order(world, ada, task, ["Ada", CANARY, ""])
    assert order.arguments == ["Ada", CANARY, "fixed-key", ""]
    assert order.masks == [CANARY, "fixed-key"]


async def test_a_secret_is_stored_nowhere_in_clear(
    world: World, ada: Client, caplog: pytest.LogCaptureFixture
) -> None:
    """No record, list, event, audit row, log line, and no table of the database."""
    caplog.set_level(logging.DEBUG)
    task = await world.task()
    await put(ada, "API_KEY")
    await put(ada, "API_KEY", f"{CANARY}-2", task_id=task)
    await next_order(world, ada, task)
    (job,) = (await ada.get("/acme/job")).json
    await ada.put("/acme/secret/1X", {"value": CANARY})
    await ada.put("/acme/secret/API_KEY", {"value": CANARY + "\0"})
    await ada.put("/acme/secret/API_KEY", {"valeu": CANARY, "value": "x"})
    await ada.delete("/acme/secret/API_KEY")
    for target in ("/acme/secret", "/api/audit", "/acme/task", f"/acme/job/{job['id']}"):
        assert CANARY not in (await ada.get(target)).text
    assert CANARY not in caplog.text
    tables = await world.runtime.db.read(_everything)
    assert "API_KEY" in tables and CANARY not in tables


def _everything(tx: Any) -> str:
    names = (
        "select name from sqlite_master where type = 'table'"
        if tx.dialect.name == "sqlite"
        else "select tablename from pg_tables where schemaname = 'public'"
    )
    return "\n".join(str(tx.rows(f"select * from {name}")) for (name,) in tx.rows(names))


async def test_a_sealed_value_cannot_be_moved(world: World, ada: Client) -> None:
    """A value copied to another name, task or organization: it is sealed for its place."""
    await put(ada, "API_KEY")
    await world.runtime.db.write(
        lambda tx: tx.execute("update secrets set name = 'OTHER'"),
    )
    await put(ada, "PLAIN", "value", secret=False)
    order = await next_order(world, ada, await world.task())
    assert order.env["PLAIN"] == "value"
    assert "OTHER" not in order.env and order.masks == []


@pytest.mark.parametrize(
    ("name", "sent", "field"),
    [
        ("1ST", {"value": "abcd"}, "name"),
        ("A-B", {"value": "abcd"}, "name"),
        ("A" * 129, {"value": "abcd"}, "name"),
        ("BELVEDERE_URL", {"value": "abcd"}, "name"),
        ("theeye_job", {"value": "abcd"}, "name"),
        ("A", {"value": "abc"}, "value"),
        ("A", {"value": "    a    "}, "value"),
        ("A", {"value": "a\0bcd"}, "value"),
        ("A", {"value": "x" * (16 * 1024 + 1)}, "value"),
        ("A", {"value": "abcd", "task_id": "0" * 24}, "task_id"),
        ("A", {"value": "abcd", "task_id": "no id"}, "task_id"),
        ("A", {"value": "abcd", "description": "a\nb"}, "description"),
        ("A", {}, "value"),
        ("A", {"value": "abcd", "secert": True}, "secert"),
    ],
)
async def test_bad_input(ada: Client, name: str, sent: dict[str, Any], field: str) -> None:
    refused = await ada.put(f"/acme/secret/{name}", sent)
    assert (refused.status, refused.json["errors"][0]["field"]) == (400, field)
    assert (await ada.get("/acme/secret")).json == []


async def test_only_admins_have_access_to_secrets(world: World, ada: Client, eve: Client) -> None:
    await put(ada, "API_KEY")
    for who in ("max", "uma", "vic", "web-1"):
        client = world.client(who)
        for answer in (
            await client.get("/acme/secret"),
            await client.put("/acme/secret/B", {"value": "abcd"}),
            await client.delete("/acme/secret/API_KEY"),
        ):
            assert answer.status == 403
    assert (await eve.get("/globex/secret")).json == []
    refused = await eve.delete("/globex/secret/API_KEY")
    assert (refused.status, refused.code) == (404, "secret_not_found")
    theirs = await eve.put("/globex/secret/X", {"value": "abcd", "task_id": await world.task()})
    assert theirs.status == 400
    assert (await world.client("token").get("/acme/secret")).status == 200


async def test_a_stale_edit_is_refused(ada: Client) -> None:
    await put(ada, "A")
    body = {"value": "abcd"}
    assert (await ada.put("/acme/secret/A", body, headers={"if-match": "1"})).status == 200
    for name, version in (("A", "1"), ("NEW", "1")):
        stale = await ada.put(f"/acme/secret/{name}", body, headers={"if-match": version})
        assert (stale.status, stale.code) == (412, "stale")


async def test_the_number_is_limited(world: World, ada: Client) -> None:
    keys, actor = world.runtime.keyring, world.actors.ada
    for n in range(8):
        await put(ada, f"LARGE_{n}", "x" * 16 * 1024)
    full = await ada.put("/acme/secret/ONE_MORE", {"value": "abcd"})
    assert (full.status, full.code) == (409, "too_many_secrets")
    task = await world.task()
    for n in range(100):
        body = SecretBody("abcd", task_id=task)
        await world.runtime.db.write(service.put, keys, actor, f"S{n}", body)
    full = await ada.put("/acme/secret/ONE_MORE", {"value": "abcd", "task_id": task})
    assert (full.status, full.code) == (409, "too_many_secrets")
    await put(ada, "S7", "another", task_id=task)


async def test_secrets_of_a_task_are_deleted_with_it(world: World, ada: Client) -> None:
    task = await world.task()
    await put(ada, "A", task_id=task)
    response = await put(ada, "A")
    assert (await ada.delete(f"/acme/task/{task}")).status == 200
    reaction = next(
        consumer for consumer in consumers.CONSUMERS if "secrets of deleted" in consumer.name
    )
    await world.runtime.db.write(consumers.run_batch, world.runtime, reaction)
    assert (await ada.get("/acme/secret")).json == [response]


async def test_a_script_gets_the_secrets_at_its_start(world: World, ada: Client) -> None:
    """Not the value that was set when its job was created."""
    task = await world.task()
    await put(ada, "API_KEY", "the old one")
    job = await create(ada, task, [])
    await put(ada, "API_KEY", "the new one")
    async with world.agent() as agent:
        order = await agent.order()
        assert order.env["API_KEY"] == "the new one"
        await agent.end(order)
    assert (await show(ada, job["id"]))["state"] == "normal"
