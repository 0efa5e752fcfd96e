"""The storage quota of an organization: samples, file arguments, and quotas of single
organizations."""

from typing import Any

import pytest

from belvedere.base.errors import Invalid, NotFound, StatementTimeout
from belvedere.db import Tx
from belvedere.files import quota
from belvedere.monitors.evaluation.transitions import Outcome
from belvedere.protocol import MonitorConfig, Sample, Samples, SamplesAck
from belvedere.server import operator_socket, storage
from belvedere.server.storage import SAMPLE_BYTES, Storage
from contract.client import Client
from contract.world import World

FILE = "data:text/plain;name=a.txt;base64,eA=="


def count(tx: Tx, table: str) -> int:
    return int(tx.value(f"select count(*) from {table}"))


async def measure(world: World) -> None:
    world.runtime.storage._next_at = 0.0
    await world.runtime.storage.measure(world.runtime.db, world.runtime.logs)


async def monitor(ada: Client) -> str:
    body = {"name": "port", "type": "tcp", "hostname": "web-1", "target": "h", "port": 1}
    response = await ada.post("/acme/monitor", body)
    assert response.status == 200, response.text
    return str(response.json["id"])


async def test_checks_go_on_beyond_the_quota_without_history(world: World, ada: Client) -> None:
    world.runtime.storage = Storage(2 * SAMPLE_BYTES)
    monitor_id = await monitor(ada)
    async with world.agent() as agent:
        (watched,) = (
            item for item in (await agent.hear(MonitorConfig)).monitors if item.id == monitor_id
        )
        states: list[Outcome] = ["normal", "normal", "failure", "failure"]
        for number, state in enumerate(states, start=1):
            sample = Sample(monitor_id, watched.version, 0, state)
            await agent.send_messages(Samples("s", number, [sample]))
            assert (await agent.hear(SamplesAck)).number == number
    assert await world.runtime.db.read(count, "monitor_samples") == 2
    record = (await ada.get(f"/acme/monitor/{monitor_id}")).json
    assert record["last_event"]["state"] == "failure"


async def file_task(world: World) -> str:
    return await world.task("load", task_arguments=[{"type": "file", "label": "data"}])


async def run_with_file(ada: Client, task: str) -> Any:
    return await ada.post("/acme/job", {"task": task, "task_arguments": [FILE]})


async def test_file_arguments_count_and_are_refused(world: World, ada: Client) -> None:
    task, plain = await file_task(world), await world.task("plain")
    for _ in range(2):
        assert (await run_with_file(ada, task)).status == 200
    # Two jobs with one file: it is stored once, and counts once.
    assert await world.runtime.db.read(quota.argument_bytes) == {world.actors.ada.customer_id: 1}
    customer_id = world.actors.ada.customer_id
    await world.runtime.db.write(quota.save, {customer_id: 10}, 10)
    refused = await run_with_file(ada, task)
    assert (refused.status, refused.json["code"]) == (413, "storage_quota")
    assert (await ada.post("/acme/job", {"task": plain})).status == 200


async def test_an_old_file_argument_no_longer_counts(world: World, ada: Client) -> None:
    assert (await run_with_file(ada, await file_task(world))).status == 200
    await world.runtime.db.write(_age, quota.ARGUMENT_LIFE)
    assert await world.runtime.db.read(quota.argument_bytes) == {}
    await measure(world)
    assert await world.runtime.db.read(count, "argument_files") == 0


def _age(tx: Tx, by: int) -> None:
    tx.execute("update argument_files set used_at = used_at - ?", by)


async def test_one_organization_has_a_quota_of_its_own(
    world: World, ada: Client, eve: Client
) -> None:
    world.runtime.storage = Storage(100 * quota.GIB)
    body = {"filename": "a.txt", "source": "text"}
    for client, name in ((ada, "acme"), (eve, "globex")):
        assert (await client.post(f"/{name}/file", body)).status == 200
    await world.runtime.db.write(quota.set_limit, world.actors.ada.customer_id, 1)
    await measure(world)
    refused = await ada.post("/acme/file", body)
    assert (refused.status, refused.json["code"]) == (413, "storage_quota")
    assert not world.runtime.storage.take(world.actors.ada.customer_id, 1)
    assert (await eve.post("/globex/file", body)).status == 200
    assert world.runtime.storage.take(world.actors.eve.customer_id, 1)
    # Set by the operator; 0 is no limit, and null is the server's setting again.
    for gib in (0, None):
        await set_quota(world, {"name": "acme", "gib": gib})
        await measure(world)
        assert (await ada.post("/acme/file", body)).status == 200
    assert await world.runtime.db.read(quota.limits) == {}


async def set_quota(world: World, payload: dict[str, Any]) -> None:
    verb = operator_socket.COMMANDS["/organization/quota"]
    await world.runtime.db.write(verb, world.runtime, payload)


async def test_a_quota_that_is_none_is_refused(world: World) -> None:
    for gib in (-1, 1.5, "many", operator_socket.MAX_QUOTA_GIB + 1):
        with pytest.raises(Invalid):
            await set_quota(world, {"name": "acme", "gib": gib})
    with pytest.raises(NotFound):
        await set_quota(world, {"name": "nobody", "gib": 1})


def add_rows(tx: Tx, customer_id: str, monitor_id: str) -> None:
    tx.execute_many(
        "insert into monitor_samples (monitor_id, at, state, message, measured)"
        " values (?, ?, 'normal', '', '{}')",
        [(monitor_id, at) for at in range(7)] + [("deleted", at) for at in range(4)],
    )


def add_logs(tx: Tx, customer_id: str) -> None:
    names = [customer_id, "", "another", customer_id, customer_id]
    rows = [(fence, name, f"job-{fence}", 100 + fence) for fence, name in enumerate(names)]
    for table, column in (("logs", "bytes_kept"), ("job_file_bytes", "bytes")):
        tx.execute_many(
            f"insert into {table} (fence, customer_id, job_id, {column}) values (?, ?, ?, ?)", rows
        )


@pytest.mark.parametrize("step_rows", [1, 2, 3, 100])
async def test_storage_is_measured_in_steps(
    world: World, ada: Client, monkeypatch: pytest.MonkeyPatch, step_rows: int
) -> None:
    """A statement that reads all rows of a large table would exceed the time limit of reads."""
    monkeypatch.setattr(storage, "STEP_ROWS", step_rows)
    runtime, acme = world.runtime, world.actors.ada.customer_id
    await runtime.db.write(add_rows, acme, await monitor(ada))
    await runtime.logs.write(add_logs, acme)
    reads = 0
    read = runtime.logs.read

    async def count_read(*args: Any) -> Any:
        nonlocal reads
        reads += 1
        return await read(*args)

    monkeypatch.setattr(runtime.logs, "read", count_read)
    runtime.storage = Storage(quota.GIB)
    await measure(world)
    assert runtime.storage._used[acme] == 7 * SAMPLE_BYTES + 2 * (100 + 103 + 104)
    assert runtime.storage._used["another"] == 2 * 102
    # On PostgreSQL it is the main database.
    assert reads >= 2 * (5 // step_rows + 1)


async def test_a_failed_measurement_drops_no_output_of_others(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The counter of what has been stored since then only grows, while history is deleted."""
    runtime = world.runtime
    acme, globex = world.actors.ada.customer_id, world.actors.eve.customer_id
    runtime.storage = Storage(1_000)
    runtime.storage.update({acme: 900, globex: 1_000})

    async def fail(*_: Any) -> None:
        raise StatementTimeout("too slow")

    with monkeypatch.context() as patch:
        patch.setattr(runtime.logs, "read", fail)
        with pytest.raises(StatementTimeout):
            await measure(world)
        assert [runtime.storage.take(acme, 600) for _ in range(3)] == [True] * 3
        assert not runtime.storage.take(globex, 1)
        # Not at once, which would only repeat the long statement.
        assert runtime.storage._next_at > 0.0
    await measure(world)
    runtime.storage.update({acme: 1_000})
    assert not runtime.storage.take(acme, 1)
