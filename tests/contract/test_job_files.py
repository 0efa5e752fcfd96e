"""Artifacts of a job: listed, downloaded, limited, deleted with the job."""

import hashlib
from typing import Any

import h11
import pytest

from belvedere.jobs.history import retention
from belvedere.jobs.output import artifacts
from belvedere.protocol import CHUNK, AttemptEnded, JournaledAttempt, Order, Report, pack_file
from contract.client import Client
from contract.fakeagent import FakeAgent
from contract.over_socket import every_transport, real_transports
from contract.running import create, process_events, show
from contract.world import World
from manual_clock import ManualClock

BIG = bytes(range(256)) * 1_024


async def end_with_files(agent: FakeAgent, files: dict[str, bytes], **more: Any) -> Order:
    """The next job ends and leaves these."""
    order = await agent.order()
    for number, content in enumerate(files.values()):
        await agent.leave_file(order.fence, number, content)
    items = [[name, len(content)] for name, content in files.items()]
    await agent.end(order, **{"files": items, **more})
    return order


async def names(client: Client, job_id: str) -> list[str]:
    return [record["name"] for record in (await client.get(f"/acme/job/{job_id}/files")).json]


@every_transport
async def test_files_of_a_job_are_listed_and_downloaded(world: World, uma: Client) -> None:
    async with world.agent() as agent:
        job = await create(uma, await world.task())
        assert await names(uma, job["id"]) == []
        files = {"b.bin": BIG, "a ü.txt": b"hello", "empty": b""}
        await end_with_files(agent, files, log="done\n", files_skipped=[["x", "link"]])
    listed = (await uma.get(f"/acme/job/{job['id']}/files")).json
    assert listed == [
        {
            "name": name,
            "size": len(files[name]),
            "sha256": hashlib.sha256(files[name]).hexdigest(),
            "complete": True,
        }
        for name in ("a ü.txt", "b.bin", "empty")
    ]
    for name, quoted in (("b.bin", "b.bin"), ("a ü.txt", "a%20%C3%BC.txt"), ("empty", "empty")):
        response = await uma.get(f"/acme/job/{job['id']}/files/{quoted}")
        assert (response.status, response.body) == (200, files[name])
        assert response.headers["content-type"] == "application/octet-stream"
        assert response.headers["content-disposition"] == f"attachment; filename*=UTF-8''{quoted}"
    result = (await show(uma, job["id"]))["result"]
    assert result["files"] == 3
    assert result["files_skipped"] == [{"name": "x", "reason": "link"}]


async def test_the_end_waits_for_them(world: World, uma: Client) -> None:
    """Everyone who sees that the job has ended sees its files."""
    async with world.agent() as agent:
        job = await create(uma, await world.task())
        order = await agent.order()
        frames = [
            pack_file(order.fence, 0, at, BIG[at : at + CHUNK]) for at in range(0, len(BIG), CHUNK)
        ]
        for frame in frames:
            await agent.binary(frame)
        report = Report(ending="exit", log="", files=[["big", len(BIG)]])
        await agent.send_messages(AttemptEnded(order.fence, report))
        await agent.wait_acked(order.fence)
        response = await uma.get(f"/acme/job/{job['id']}/files/big")
        assert response.body == BIG


@real_transports
async def test_a_download_whose_job_is_deleted_does_not_look_complete(
    world: World, uma: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Retention deletes the job while a slow reader downloads its file."""
    async with world.agent() as agent:
        job = await create(uma, await world.task())
        await end_with_files(agent, {"big": BIG})
    logs = world.runtime.logs
    read = logs.read

    async def read_and_delete(operation: Any, *a: Any) -> Any:
        data = await read(operation, *a)
        if operation is artifacts.read:
            await logs.write(retention.delete_logs, [job["id"]])
        return data

    monkeypatch.setattr(logs, "read", read_and_delete)
    with pytest.raises(h11.RemoteProtocolError, match="without sending complete message body"):
        await uma.get(f"/acme/job/{job['id']}/files/big")


async def test_repeated_parts_do_not_change_the_file(world: World, uma: Client) -> None:
    job = await create(uma, await world.task())
    async with world.agent() as agent:
        order = await agent.order()
        await agent.leave_file(order.fence, 0, BIG[: 2 * CHUNK])
    async with world.agent(entries=(JournaledAttempt(order.fence, "ended"),)) as agent:
        await agent.leave_file(order.fence, 0, BIG)
        await agent.end(order, files=[["big", len(BIG)]])
        await agent.end(order, files=[["big", len(BIG)]])
    assert (await uma.get(f"/acme/job/{job['id']}/files/big")).body == BIG
    assert await names(uma, job["id"]) == ["big"]


async def test_a_file_with_lost_parts_is_incomplete(world: World, uma: Client) -> None:
    async with world.agent() as agent:
        job = await create(uma, await world.task())
        order = await agent.order()
        await agent.leave_file(order.fence, 0, b"half")
        # The second piece of the third file: what comes before it is missing.
        await agent.binary(pack_file(order.fence, 2, CHUNK, b"rest"))
        items = [["short", 9], ["gone", 5], ["holed", CHUNK + 4]]
        await agent.end(order, files=items)
    fields = {
        record["name"]: record for record in (await uma.get(f"/acme/job/{job['id']}/files")).json
    }
    assert {name: (record["size"], record["complete"]) for name, record in fields.items()} == {
        "short": (4, False),
        "gone": (0, False),
        "holed": (0, False),
    }
    assert (await uma.get(f"/acme/job/{job['id']}/files/short")).body == b"half"


HOSTILE: list[Any] = [
    ["../up", 1],
    ["a/b", 1],
    ["", 1],
    ["..", 1],
    ["new\nline", 1],
    ["x" * 300, 1],
    ["big", 10**12],
    ["less", -1],
    ["text", "1"],
    [1, 1],
    ["one"],
    [],
]


async def test_invalid_file_names_are_dropped(world: World, uma: Client) -> None:
    async with world.agent() as agent:
        job = await create(uma, await world.task())
        order = await agent.order()
        await agent.end(order, files=[*HOSTILE, ["twice", 0], ["twice", 0]])
    assert await names(uma, job["id"]) == ["twice"]


@pytest.mark.parametrize(("number", "at"), [(100, 0), (65_535, 0), (0, artifacts.MAX_BYTES)])
async def test_more_than_one_job_may_leave_ends_the_link(
    world: World, uma: Client, number: int, at: int
) -> None:
    async with world.agent() as agent:
        await create(uma, await world.task())
        order = await agent.order()
        await agent.binary(pack_file(order.fence, number, at, b"x"))
        assert await agent.hangs_up() == 4400


async def test_the_total_size_of_the_files_is_bounded(
    world: World, uma: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(artifacts, "MAX_BYTES", 100)
    async with world.agent() as agent:
        job = await create(uma, await world.task())
        await end_with_files(agent, {"a": b"x" * 60, "b": b"y" * 60})
    listed = (await uma.get(f"/acme/job/{job['id']}/files")).json
    assert [(item["size"], item["complete"]) for item in listed] == [(60, True), (40, False)]


async def test_a_file_for_a_job_of_another_host_is_refused(world: World, uma: Client) -> None:
    async with world.agent() as agent, world.agent("web-2") as other:
        job = await create(uma, await world.task())
        order = await agent.order()
        await other.leave_file(order.fence, 0, b"theirs")
        await agent.leave_file(order.fence, 0, b"mine!!")
        await agent.end(order, files=[["x", 6]])
    assert (await uma.get(f"/acme/job/{job['id']}/files/x")).body == b"mine!!"


async def test_the_last_attempt_counts(world: World, uma: Client, clock: ManualClock) -> None:
    task = await world.task(retry={"times": 1, "delay": 0})
    async with world.agent() as agent:
        job = await create(uma, task)
        await end_with_files(agent, {"first": b"1"}, code=1)
        await end_with_files(agent, {"second": b"2"})
    assert await names(uma, job["id"]) == ["second"]


async def test_files_are_visible_with_their_job(
    world: World, ada: Client, uma: Client, eve: Client
) -> None:
    async with world.agent() as agent:
        job = await create(ada, await world.task(acl=[]))
        await end_with_files(agent, {"x": b"secret"})
    path = f"/job/{job['id']}/files"
    assert (await ada.get(path)).status == 200
    for client in (uma, eve):
        assert (await client.get(path)).status == 404
        assert (await client.get(f"{path}/x")).status == 404
    assert (await world.client().get(path)).status == 401
    missing = await ada.get(f"{path}/y")
    assert (missing.status, missing.code) == (404, "file_not_found")


async def test_files_are_deleted_with_their_job(world: World, ada: Client) -> None:
    async with world.agent() as agent:
        job = await create(ada, await world.task())
        order = await end_with_files(agent, {"x": b"y"})
    await process_events(world.runtime)
    await ada.delete("/acme/job/finished")
    assert (await ada.get(f"/acme/job/{job['id']}/files")).status == 404
    runtime = world.runtime
    while await runtime.db.write(retention.purge, {}):
        pass
    assert await runtime.db.read(retention.jobs_with_leftover_logs) == [job["id"]]
    await runtime.logs.write(retention.delete_logs, [job["id"]])
    assert await runtime.logs.read(artifacts.for_attempt, order.fence) == []
    assert await runtime.logs.read(artifacts.read, order.fence, 0, 0) == b""
