"""Masked values, environments and credentials at rest: in no row of the database in plain text."""

from typing import Any

import msgspec

from belvedere.access.crypto.keyring import SECRET_FILE
from belvedere.db import Database
from belvedere.jobs.lifecycle.order import file_hashes
from belvedere.protocol import MonitorConfig
from belvedere.server.encryption import key_rotation, sealing
from contract.client import Client
from contract.running import create
from contract.test_triggers import react
from contract.world import World
from security.canaries import CANARY, REQUEST, people, read_everything, rows_with_canary

MASKED = [
    {"type": "input", "label": "name"},
    {"type": "input", "label": "password", "masked": True},
    {"type": "fixed", "label": "key", "masked": True, "value": CANARY},
]
GIVEN = ["Ada", CANARY]


async def post(client: Client, path: str, body: Any) -> Any:
    answer = await client.post(path, body)
    assert answer.status in (200, 201), answer.text
    return answer.json


async def fill(world: World, ada: Client) -> dict[str, str]:
    """One record of every kind that contains a secret."""
    script = await world.task("backup", task_arguments=MASKED, env={"DB_PASSWORD": CANARY})
    web = await world.task("ask", type="scraper", script=None, **REQUEST)
    dummy = await world.task("values", type="dummy", task_arguments=MASKED)
    monitor = {"name": "shop", "type": "scraper", "hostname": "web-1", **REQUEST}
    tagged = {"name": "tagged", "type": "scraper", **REQUEST}
    nodes = [{"id": "a", "task_id": dummy}, {"id": "b", "task_id": script}]
    graph = {"nodes": nodes, "edges": [{"source": "a", "target": "b"}]}
    flow = {"name": "flow", "start": "a", "graph": graph, "global_constants": {"KEY": CANARY}}
    timed = {"task_arguments": GIVEN, "repeatEvery": "1 day"}
    definition = {"kind": "task", "host_tag": "x", "definition": tagged}
    fields = {
        "script": script,
        "web": web,
        "monitor": (await post(ada, "/acme/monitor", monitor))["id"],
        "definition": (await post(ada, "/acme/definition", definition))["id"],
        "flow": (await post(ada, "/acme/workflows", flow))["id"],
        "schedule": (await post(ada, f"/acme/task/{script}/schedule", timed))["id"],
        "hook": (await post(ada, "/acme/webhook", {"name": "hook", "tasks": [script]}))["id"],
    }
    await post(ada, f"/acme/webhook/{fields['hook']}/trigger", ["Ada", CANARY, "x"])
    fields["job"] = (await create(ada, script, GIVEN))["id"]
    fields["values"] = (await create(ada, dummy, GIVEN))["id"]
    body = {"task_arguments": GIVEN}
    fields["run"] = (await post(ada, f"/acme/workflows/{fields['flow']}/job", body))["id"]
    return fields


async def orders(world: World, count: int) -> dict[str, Any]:
    """The order that the agent gets, by job."""
    async with world.agent() as agent:
        actual_orders = [await agent.order() for _ in range(count)]
        for order in actual_orders:
            await agent.end(order)
    return {order.job_id: order for order in actual_orders}


async def check_values(world: World, ada: Client, record: dict[str, str]) -> None:
    """Scripts and checks get the real values."""
    order = (await orders(world, 2))[record["job"]]
    assert order.arguments == ["Ada", CANARY, CANARY]
    assert order.env["DB_PASSWORD"] == CANARY
    assert order.masks == [CANARY, CANARY]
    again = (await ada.put(f"/acme/job/{record['job']}/restart", {})).json
    assert again["task_arguments_values"] == ["Ada", "***", "***"]
    web = await create(ada, record["web"], [])
    actual_record = await orders(world, 2)
    assert actual_record[again["id"]].arguments == ["Ada", CANARY, CANARY]
    assert CANARY in actual_record[web["id"]].arguments[0]
    async with world.agent() as agent:
        watch = await agent.hear(MonitorConfig)
    (config,) = (monitor.config for monitor in watch.monitors if monitor.id == record["monitor"])
    assert {name: config[name] for name in REQUEST} == REQUEST


def seal_old_rows(db: Database) -> None:
    while places := db.write_blocking(sealing.pending):
        for place in places:
            db.write_blocking(sealing.seal_batch, place)


async def test_no_row_holds_a_secret_in_clear(world: World, ada: Client) -> None:
    record = await fill(world, ada)
    assert rows_with_canary(world.runtime.db) == []
    await check_values(world, ada, record)
    assert rows_with_canary(world.runtime.db) == []
    # People who edit tasks read their environment, as before.
    assert (await ada.get(f"/acme/task/{record['script']}")).json["env"] == {"DB_PASSWORD": CANARY}


async def test_no_route_shows_a_masked_value(world: World, ada: Client) -> None:
    record = await fill(world, ada)
    texts = await read_everything(people(world), list(record.values()))
    assert [item for item in texts if item.startswith(("vic", "uma"))] == []
    # Environments and constants are for managers and above.
    allowed = ("/acme/task", "/acme/workflows")
    assert [item for item in texts if not item.split()[1].startswith(allowed)] == []


async def test_rows_of_older_versions_are_sealed(world: World, ada: Client) -> None:
    db = world.runtime.db
    db.sealer = None
    record = await fill(world, ada)
    assert {"tasks", "task_versions", "monitors", "jobs", "schedules"} <= set(rows_with_canary(db))
    db.sealer = world.runtime.keyring
    seal_old_rows(db)
    assert rows_with_canary(db) == []
    await check_values(world, ada, record)


async def test_the_audit_of_older_versions_is_cleaned(world: World) -> None:
    db = world.runtime.db
    await world.task()
    text = f'{{"config":{{"url":"https://h/?token={CANARY}"}},"body":"password={CANARY}"}}'
    db.write_blocking(lambda tx: tx.execute("update audit set object = 'task', after = ?", text))
    assert rows_with_canary(db) == ["audit"]
    seal_old_rows(db)
    assert rows_with_canary(db) == []


async def test_a_new_key_seals_them_again(world: World, ada: Client) -> None:
    runtime = world.runtime
    file = runtime.settings.folder / SECRET_FILE
    file.write_text(bytes(range(32)).hex() + "\n")
    file.chmod(0o600)
    record = await fill(world, ada)
    runtime.db.write_blocking(key_rotation.add, runtime, {})
    while (turn := runtime.db.write_blocking(key_rotation.rotate, runtime, {}))["left"]:
        assert turn["resealed"] > 0
    assert runtime.db.write_blocking(key_rotation.drop, runtime, {})["dropped"] == 1
    runtime.db.write_blocking(lambda tx: tx.version_cache.clear())
    await check_values(world, ada, record)
    assert rows_with_canary(runtime.db) == []


async def stolen_box(world: World, ada: Client) -> dict[str, str]:
    """A sealed value as a backup of the database shows it."""
    script = await world.task("backup", task_arguments=MASKED)
    job = await create(ada, script, GIVEN)
    text = world.runtime.db.write_blocking(
        lambda tx: tx.value("select arguments from jobs where id = ?", job["id"])
    )
    box: dict[str, str] = msgspec.json.decode(text)[1]
    assert set(box) == {"$sealed"}
    await orders(world, 1)
    return box


async def test_a_sealed_value_in_a_request_is_not_opened(world: World, ada: Client) -> None:
    box = await stolen_box(world, ada)
    plain = await world.task("print", task_arguments=[{"type": "input", "label": "text"}])
    job = await create(world.client("uma"), plain, [box])
    assert CANARY not in (await orders(world, 1))[job["id"]].arguments[0]


async def test_a_sealed_value_sent_to_a_workflow_is_not_opened(world: World, ada: Client) -> None:
    box = await stolen_box(world, ada)
    note = await world.task("note", type="notification", script=None, subject="x")
    plain = await world.task("print", task_arguments=[{"type": "input", "label": "text"}])
    nodes = [{"id": "a", "task_id": note}, {"id": "b", "task_id": plain}]
    graph = {"nodes": nodes, "edges": [{"source": "a", "target": "b"}]}
    flow = await post(ada, "/acme/workflows", {"name": "flow", "start": "a", "graph": graph})
    hook = await post(ada, "/acme/webhook", {"name": "hook", "workflows": [flow["id"]]})
    await post(ada, f"/acme/webhook/{hook['id']}/trigger", [box])
    await react(world)
    await react(world)
    (order,) = (await orders(world, 1)).values()
    assert CANARY not in order.arguments[0]


def test_files_are_found_beside_sealed_values() -> None:
    text = '[{"$sealed":"box"},{"blob":"abc","filename":"a.txt"},"x"]'
    assert file_hashes(text) == {"abc"}
