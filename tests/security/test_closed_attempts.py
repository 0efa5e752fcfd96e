"""Attempts that have ended accept nothing: no output, no file, no second result."""

import json
from typing import Any

import pytest

from belvedere.db import Database
from belvedere.jobs.lifecycle import finish
from belvedere.jobs.output import log_store
from belvedere.protocol import AttemptEnded, JournaledAttempt, Order, OutputAck, Report, pack_file
from contract.client import Client
from contract.fakeagent import FakeAgent
from contract.running import create, show
from contract.world import World


async def start_job(world: World, client: Client, agent: FakeAgent) -> tuple[str, Order]:
    job = await create(client, await world.task())
    return job["id"], await agent.order()


async def give_up(world: World, order: Order) -> None:
    """The server waited too long for a message of its agent."""
    host_id = world.things.hosts["web-1"].host_id
    report = Report("unknown", reason="agent_unreachable")
    await world.runtime.db.write(
        finish.finish, [finish.ReceivedReport(host_id, order.fence, report)]
    )


async def evidence(world: World) -> list[tuple[str, Any]]:
    """What the audit log says of late reports: the host and the reported values."""
    rows = await world.runtime.db.read(
        lambda tx: tx.rows(
            "select actor_name, after from audit where action = 'job.late_report' order by id"
        )
    )
    return [(name, json.loads(after)) for name, after in rows]


async def state_of(client: Client, job_id: str) -> tuple[Any, ...]:
    """Everything of a finished job that a report, output or a file could change."""
    return (
        (await show(client, job_id))["result"],
        (await client.get(f"/acme/job/{job_id}/log")).body,
        (await client.get(f"/acme/job/{job_id}/log?follow=true")).body,
        (await client.get(f"/acme/job/{job_id}/files")).json,
    )


FORGED: dict[str, Any] = {"code": 1, "lastline": "forged", "sha256": "f" * 64}


@pytest.mark.parametrize("way", ["inside", "streamed"])
@pytest.mark.parametrize("again", ["same connection", "next connection"])
async def test_a_finished_job_accepts_nothing_more(
    world: World, ada: Client, way: str, again: str
) -> None:
    async with world.agent() as agent:
        job_id, order = await start_job(world, ada, agent)
        if way == "streamed":
            await agent.write(order.fence, 0, 0, b"true\n")
        inside = "true\n" if way == "inside" else None
        true = {"log": inside, "bytes_total": 5, "lines_total": 1, "sha256": "ab" * 32}
        await agent.end(order, **true)
        before = await state_of(ada, job_id)
        if again == "same connection":
            await attack(agent, order)
    if again == "next connection":
        async with world.agent(entries=(JournaledAttempt(order.fence, "ended"),)) as agent:
            await attack(agent, order)
    assert await state_of(ada, job_id) == before
    items = await evidence(world)
    assert [(name, value["code"], value["log_sha256"]) for name, value in items] == [
        ("web-1", 1, "f" * 64)
    ] * 2


async def attack(agent: FakeAgent, order: Order) -> None:
    """Output after the end, a file, and ends with another digest, inside and streamed."""
    await agent.write(order.fence, 0, 0, b"FORGED AND LONGER\n")
    await agent.write(order.fence, 5, 1, b"FORGED\n")
    await agent.binary(pack_file(order.fence, 0, 0, b"planted"))
    await agent.end(order, log="forged\n", bytes_total=7, **FORGED)
    streamed = {"log": None, "bytes_total": 12, "files": [["planted.txt", 7]]}
    await agent.end(order, **streamed, **FORGED)


async def test_the_first_of_two_ends_in_one_frame_counts(world: World, ada: Client) -> None:
    async with world.agent() as agent:
        job_id, order = await start_job(world, ada, agent)
        await agent.write(order.fence, 0, 0, b"true\n")
        true = Report("exit", bytes_total=5, lines_total=1, sha256="ab" * 32)
        forged = Report("exit", bytes_total=12, files=[["planted.txt", 7]], **FORGED)
        await agent.send_messages(
            AttemptEnded(order.fence, true), AttemptEnded(order.fence, forged)
        )
        await agent.binary(pack_file(order.fence, 0, 0, b"planted"))
        await agent.write(order.fence, 5, 1, b"FORGED\n")
        await agent.wait_acked(order.fence)
        await agent.fetch("0" * 64)
    result, log, live, files = await state_of(ada, job_id)
    assert (result["code"], result["log_sha256"], log, files) == (0, "ab" * 32, b"true\n", [])
    assert b'"complete":true' in live


async def test_an_end_that_is_repeated_is_no_evidence(world: World, ada: Client) -> None:
    """The acknowledgement was lost: the agent reports everything again."""
    async with world.agent() as agent:
        _, order = await start_job(world, ada, agent)
        await agent.write(order.fence, 0, 0, b"true\n")
        streamed = {"log": None, "bytes_total": 5, "lastline": "true", "sha256": "ab" * 32}
        await agent.end(order, **streamed)
        _, other = await start_job(world, ada, agent)
        await agent.end(other, log="small\n", lastline="small")
    entries = (JournaledAttempt(order.fence, "ended"), JournaledAttempt(other.fence, "ended"))
    async with world.agent(entries=entries) as agent:
        assert agent.welcome is not None and agent.welcome.resume[str(order.fence)] == 5
        await agent.write(order.fence, 0, 0, b"true\n")
        await agent.end(order, **streamed)
        await agent.end(other, log="small\n", lastline="small")
    assert await evidence(world) == []


async def test_stored_late_reports_are_limited(world: World, ada: Client) -> None:
    async with world.agent() as agent:
        _, order = await start_job(world, ada, agent)
        await agent.end(order)
        for code in range(1, 20):
            await agent.end(order, code=code, log="x" * 50_000)
            await agent.end(order, code=code, log="x" * 50_000)
    assert [value["code"] for _, value in await evidence(world)] == [1, 2, 3, 4, 5]
    sizes = await world.runtime.db.read(
        lambda tx: tx.rows("select length(report) from late_reports")
    )
    assert max(size for (size,) in sizes) < 10_000


async def test_a_lost_job_takes_its_true_end_with_log_and_files(world: World, ada: Client) -> None:
    """Promise P4: marked as lost, nothing newer was started, and the agent reconnects."""
    async with world.agent() as agent:
        job_id, order = await start_job(world, ada, agent)
        await agent.write(order.fence, 0, 0, b"half ")
        await agent.hear(OutputAck)
    await give_up(world, order)
    assert (await show(ada, job_id))["state"] == "lost"
    async with world.agent(entries=(JournaledAttempt(order.fence, "ended"),)) as agent:
        await agent.write(order.fence, 5, 0, b"done\n")
        await agent.leave_file(order.fence, 0, b"data")
        await agent.end(order, log=None, bytes_total=10, lines_total=1, files=[["a", 4]])
    result, log, _, files = await state_of(ada, job_id)
    assert (result["log_bytes"], log, [file["complete"] for file in files]) == (
        *(10, b"half done\n"),
        [True],
    )
    assert (await show(ada, job_id))["reconciled"] is True


async def test_a_file_is_not_planted_through_an_older_connection(world: World, ada: Client) -> None:
    """The end was processed by another connection; this one does not know of it yet."""
    async with world.agent() as agent:
        job_id, order = await start_job(world, ada, agent)
        host_id = world.things.hosts["web-1"].host_id
        true = finish.ReceivedReport(
            host_id, order.fence, Report("exit", log="true\n", bytes_total=5)
        )
        await world.runtime.db.write(finish.finish, [true])
        before = await state_of(ada, job_id)
        await agent.binary(pack_file(order.fence, 0, 0, b"planted"))
        await agent.write(order.fence, 0, 0, b"FORGED\n")
        await agent.end(order, log=None, bytes_total=7, files=[["planted.txt", 7]], **FORGED)
    assert await state_of(ada, job_id) == before


async def test_a_late_log_does_not_replace_a_manual_outcome(world: World, ada: Client) -> None:
    async with world.agent() as agent:
        job_id, order = await start_job(world, ada, agent)
    await give_up(world, order)
    body = {"outcome": "success", "note": "seen"}
    assert (await ada.put(f"/acme/job/{job_id}/resolve", body)).status < 300
    async with world.agent(entries=(JournaledAttempt(order.fence, "ended"),)) as agent:
        await agent.end(order, log="forged\n", **FORGED)
    assert (await ada.get(f"/acme/job/{job_id}/log")).body == b""
    assert [value["code"] for _, value in await evidence(world)] == [1]


def test_an_ended_log_accepts_only_the_declared_bytes(logs: Database) -> None:
    def add(at: int, data: bytes) -> None:
        logs.write_blocking(log_store.append, [log_store.LogPiece(7, "j", at, 0, data)])

    def log() -> log_store.Log:
        actual_log = logs.write_blocking(log_store.find, 7)
        assert actual_log is not None
        return actual_log

    add(0, b"abc")
    logs.write_blocking(log_store.close, log_store.LogEnd(7, "j", 5, 0, "aa"))
    add(3, b"defgh")
    assert (log().bytes_seen, log().is_complete) == (5, True)
    add(5, b"more")
    logs.write_blocking(log_store.close, log_store.LogEnd(7, "j", 9, 0, "bb"))
    add(5, b"more")
    assert (log().bytes_kept, log().bytes_total, log().sha256) == (5, 5, "aa")
