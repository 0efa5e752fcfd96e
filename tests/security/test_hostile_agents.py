"""What an agent with a valid credential and bad intentions makes the server keep in memory, store
or run."""

import asyncio
import hashlib
from typing import Any

import pytest

from belvedere.base import websocket_frames
from belvedere.db import Tx
from belvedere.files import FileChange, quota
from belvedere.files import create as create_file
from belvedere.jobs.output import artifacts, log_store
from belvedere.protocol import (
    CHUNK,
    AttemptStarted,
    BlobRequest,
    Heartbeat,
    JournaledAttempt,
    Order,
    OutputAck,
    Sample,
    Samples,
    SamplesAck,
    pack_file,
    pack_output,
)
from belvedere.server.agents import message_limits, queries
from belvedere.server.agents.transfers import downloads, uploads
from belvedere.server.storage import Storage
from contract.client import Client
from contract.fakeagent import FakeAgent
from contract.running import create, show
from contract.world import World
from security.rawagent import stage, until

BIG = bytes(range(256)) * 4 * 1024 * 10


def keep_big(tx: Tx, world: World) -> str:
    """A file of ten MiB; its hash."""
    change = FileChange(filename="big.bin", content=BIG)
    return create_file(tx, world.actors.ada, change).sha256


def stored_of_files(tx: Tx) -> int:
    return sum(row[0] for row in tx.rows("select length(data) from job_file_chunks"))


async def start_job(world: World, client: Client, agent: FakeAgent) -> tuple[str, Order]:
    job = await create(client, await world.task())
    return job["id"], await agent.order()


# Memory


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_many_wants_hold_one_part_of_one_content(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The agent requests it sixty times and does not read: one content is read, and one part of
    it."""
    sha256 = await world.runtime.db.write(keep_big, world)
    reads: list[int] = []
    content_for = queries.content_for

    def count_calls(*args: Any) -> Any:
        pair = content_for(*args)
        reads.append(0 if pair is None else len(pair[1]))
        return pair

    monkeypatch.setattr(queries, "content_for", count_calls)
    async with stage(world) as ground:
        agent, end = await ground.session()
        for number in range(60):
            await agent.send_messages(BlobRequest(sha256), BlobRequest(f"{number:064x}"))
        await until(lambda: end._full is not None)
        assert len(reads) == 1 and sum(reads) < len(BIG)
        assert end._transport.get_write_buffer_size() < 1 << 20


async def test_a_large_content_arrives_in_parts(world: World) -> None:
    sha256 = await world.runtime.db.write(keep_big, world)
    async with world.agent() as agent:
        data = await agent.fetch(sha256)
        assert data is not None and hashlib.sha256(data).hexdigest() == sha256


async def test_too_many_different_wants_end_the_connection(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(downloads, "MAX_REQUESTED", 10)
    async with world.agent() as agent:
        await agent.send_messages(*[BlobRequest(f"{number:064x}") for number in range(50)])
        assert await agent.hangs_up() == 4400


async def test_output_beyond_the_credit_ends_the_connection(
    world: World, ada: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads, "CREDIT", 3 * CHUNK)
    async with world.agent() as agent:
        _, order = await start_job(world, ada, agent)
        # Nothing is stored yet, so no credit is granted.
        monkeypatch.setattr(world.runtime.logs, "write_batched", lambda *_: asyncio.Future())
        for at in range(4):
            await agent.write(order.fence, at * CHUNK, 0, b"x" * CHUNK)
        assert await agent.hangs_up() == 4400


async def test_the_credit_of_stored_output_is_granted_again(
    world: World, ada: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads, "CREDIT", 3 * CHUNK)
    async with world.agent() as agent:
        job_id, order = await start_job(world, ada, agent)
        for at in range(6):
            await agent.write(order.fence, at * CHUNK, 0, b"x" * CHUNK)
            while (await agent.hear(OutputAck)).offset < (at + 1) * CHUNK:
                pass
        await agent.end(order, log=None, bytes_total=6 * CHUNK)
        assert len((await ada.get(f"/acme/job/{job_id}/log")).body) == 6 * CHUNK


async def test_the_size_of_an_output_frame_is_limited(world: World, ada: Client) -> None:
    async with world.agent() as agent:
        _, order = await start_job(world, ada, agent)
        await agent.write(order.fence, 0, 0, b"x" * (CHUNK + 1))
        assert await agent.hangs_up() == 4400


# What one job stores


async def test_files_of_an_attempt_are_limited_over_all_pieces_and_connections(
    world: World, ada: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Overlapping pieces, other numbers, another connection: the sum counts."""
    monkeypatch.setattr(artifacts, "MAX_STORED", 4 * CHUNK)
    data = bytes(CHUNK)
    async with world.agent() as agent:
        job_id, order = await start_job(world, ada, agent)
        for at in range(8):
            await agent.binary(pack_file(order.fence, 0, at, data))
            await agent.binary(pack_file(order.fence, at, 0, data))
        await agent.beat()
        await agent.write(order.fence, 0, 0, b".")
        await agent.hear(OutputAck)
    async with world.agent(entries=(JournaledAttempt(order.fence, "live"),)) as agent:
        for at in range(8):
            await agent.binary(pack_file(order.fence, 50 + at, 0, data))
        items = [["a", CHUNK], *[[f"x{n}", CHUNK] for n in range(60)]]
        await agent.end(order, log=None, bytes_total=1, files=items)
    count = await world.runtime.logs.read(
        lambda tx: tx.value("select count(*) from job_file_chunks")
    )
    assert count == 4
    # The job has its result, and its files say which of them are complete.
    assert (await show(ada, job_id))["state"] == "normal"
    listed = (await ada.get(f"/acme/job/{job_id}/files")).json
    assert {item["name"]: item["complete"] for item in listed}["x59"] is False


async def test_small_pieces_count_as_larger_ones(
    world: World, ada: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(artifacts, "MAX_STORED", 10 * artifacts.MIN_PIECE_COST)
    async with world.agent() as agent:
        _, order = await start_job(world, ada, agent)
        for at in range(50):
            await agent.binary(pack_file(order.fence, 0, at, b"x"))
        await agent.end(order, files=[["a", 50]])
    assert await world.runtime.logs.read(stored_of_files) < 50 * 20
    count = await world.runtime.logs.read(
        lambda tx: tx.value("select count(*) from job_file_chunks")
    )
    assert count == 10


async def test_pieces_of_a_log_are_limited(
    world: World, ada: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_store, "MAX_CHUNKS", 10)
    monkeypatch.setattr(log_store, "HEAD_BYTES", 5)
    async with world.agent() as agent:
        job_id, order = await start_job(world, ada, agent)
        for at in range(40):
            await agent.write(order.fence, at, 0, b"x")
        while (await agent.hear(OutputAck)).offset < 40:
            pass
        await agent.end(order, log=None, bytes_total=40)
    text = (await ada.get(f"/acme/job/{job_id}/log")).text
    assert "30 bytes were cut here" in text and text.count("x") == 10


@pytest.mark.parametrize("at", [2**62, 2**64 - 1])
async def test_an_offset_that_no_database_takes_is_refused(
    world: World, ada: Client, at: int
) -> None:
    async with world.agent() as agent:
        _, order = await start_job(world, ada, agent)
        await agent.binary(pack_output(order.fence, at, 0, b"x"))
        assert await agent.hangs_up() == 4400


# What an organization stores


async def test_output_beyond_the_quota_is_dropped_and_marked(world: World, ada: Client) -> None:
    world.runtime.storage = Storage(1_000)
    async with world.agent() as agent:
        job_id, order = await start_job(world, ada, agent)
        for at in range(4):
            await agent.write(order.fence, at * 600, 0, b"x" * 600)
        await agent.leave_file(order.fence, 0, b"y" * 100)
        report = {"log": None, "bytes_total": 2_400, "files": [["a", 100]]}
        await agent.end(order, lastline="the result", **report)
    job = await show(ada, job_id)
    assert (job["state"], job["result"]["lastline"]) == ("normal", "the result")
    text = (await ada.get(f"/acme/job/{job_id}/log")).text
    assert text.count("x") == 1_200 and "1200 bytes were cut here: 1200 to 2400" in text
    [file] = (await ada.get(f"/acme/job/{job_id}/files")).json
    assert file["complete"] is False
    live = (await ada.get(f"/acme/job/{job_id}/log?follow=true")).text
    assert "event: cut" in live and '"complete":false' in live


async def test_small_logs_are_stored_beyond_the_quota(world: World, ada: Client) -> None:
    world.runtime.storage = Storage(1)
    world.runtime.storage.update({world.actors.ada.customer_id: 2})
    async with world.agent() as agent:
        job_id, order = await start_job(world, ada, agent)
        await agent.end(order, log="all of it\n")
    assert (await show(ada, job_id))["result"]["log"] == "all of it\n"


async def test_the_quota_is_measured_and_refuses_uploads(
    world: World, ada: Client, eve: Client
) -> None:
    storage = world.runtime.storage = Storage(50_000)
    async with world.agent() as agent:
        _, order = await start_job(world, ada, agent)
        await agent.write(order.fence, 0, 0, b"x" * 40_000)
        await agent.leave_file(order.fence, 0, b"y" * 30_000)
        await agent.end(order, log=None, bytes_total=40_000, files=[["a", 30_000]])
    body = {"filename": "a.txt", "source": "text"}
    assert (await ada.post("/acme/file", body)).status == 200
    await storage.measure(world.runtime.db, world.runtime.logs)
    refused = await ada.post("/acme/file", body)
    assert (refused.status, refused.json["code"]) == (413, "storage_quota")
    assert "quota" in refused.json["message"]
    # Only in one organization.
    assert (await eve.post("/globex/file", body)).status == 200
    assert not storage.take(world.actors.ada.customer_id, 1)
    assert storage.take(world.actors.eve.customer_id, 1)
    # With fewer logs there is space again.
    await ada.delete("/acme/job/finished")
    await world.runtime.logs.write(log_store.delete, [order.job_id])
    storage._next_at = 0.0
    await storage.measure(world.runtime.db, world.runtime.logs)
    assert (await ada.post("/acme/file", body)).status == 200


async def test_without_a_quota_nothing_is_refused(world: World, ada: Client) -> None:
    world.runtime.storage = Storage(0)
    await world.runtime.db.write(quota.save, {world.actors.ada.customer_id: 1 << 60}, 0)
    assert world.runtime.storage.take(world.actors.ada.customer_id, 1 << 60)
    body = {"filename": "a.txt", "source": "text"}
    assert (await ada.post("/acme/file", body)).status == 200


# What one agent sends


async def test_fields_of_a_report_have_a_size(world: World, ada: Client) -> None:
    async with world.agent() as agent:
        job_id, order = await start_job(world, ada, agent)
        long = "x" * 300_000
        report: dict[str, Any] = {
            "reason": long,
            "message": long,
            "signal": long,
            "sha256": long,
            "lastline": long,
            "log": long,
            "survivors": list(range(5_000)),
            "files_skipped": [[long, long]] * 500 + [["odd"]],
            "code": 1,
        }
        await agent.end(order, **report)
    result = (await show(ada, job_id))["result"]
    assert len(result["reason"]) <= message_limits.MAX_WORD
    assert len(result["message"]) <= message_limits.MAX_MESSAGE
    assert len(result["log"]) <= message_limits.MAX_LOG
    assert len(result["lastline"]) <= message_limits.MAX_LASTLINE
    assert len(result["kill_incomplete"]) <= message_limits.MAX_SURVIVORS
    assert len(result["files_skipped"]) <= message_limits.MAX_SKIPPED
    assert result["code"] == 1 and len(result["log_sha256"]) <= message_limits.MAX_WORD


async def test_the_messages_of_a_frame_are_limited(world: World) -> None:
    async with world.agent() as agent:
        await agent.text("[" + ",".join(["{}"] * (message_limits.MAX_MESSAGES + 1)) + "]")
        assert await agent.hangs_up() == 4400


async def test_deep_nesting_is_no_fault_of_the_server(world: World, watch: Any) -> None:
    async with world.agent() as agent:
        # Inside a message: a list in place of a message is refused before its depth matters.
        await agent.text('[{"kind":' + "[" * 100_000)
        assert await agent.hangs_up() == 4400


async def test_unknown_messages_are_logged_once(world: World, watch: Any) -> None:
    async with world.agent() as agent:
        for _ in range(20):
            await agent.text('[{"kind": "loop"}, {"kind": 5}, {"kind": ["x"]}, {}]')
        await agent.fetch("0" * 64)
    assert sum("unknown message" in line for line in watch.lines) == 1


async def test_the_fields_of_a_hello_are_limited(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(message_limits, "MAX_ENTRIES", 3)
    entries = tuple(JournaledAttempt(number, "live") for number in range(1, 5))
    acknowledged = {"acknowledged": [1, 2, 3, 4]}
    for more in ({"entries": entries}, acknowledged, {"greeting": 2**70}, {"greeting": -1}):
        agent = world.agent(**more)
        await agent.connect()
        await agent.send_messages(agent._first)
        assert await agent.hangs_up() == 4400, more
        await agent.leave()


async def test_words_of_a_hello_are_cut_in_events_too(world: World, ada: Client) -> None:
    async with world.agent(agent_version="v" * 100_000):
        pass
    texts = await world.runtime.db.read(lambda tx: tx.rows("select data from events"))
    assert max(len(text) for (text,) in texts) < 10_000


async def test_a_start_is_written_once(
    world: World, ada: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with world.agent() as agent:
        _, order = await start_job(world, ada, agent)
        written = 0
        join = world.runtime.db.write_batched

        def count_calls(verb: Any, item: Any) -> Any:
            nonlocal written
            written += verb.__name__ == "record_started"
            return join(verb, item)

        monkeypatch.setattr(world.runtime.db, "write_batched", count_calls)
        await agent.send_messages(*[AttemptStarted(order.fence, 0)] * 100)
        await agent.end(order)
        assert written == 1


async def test_samples_have_limits(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    many = [Sample("x", 1, 0, "normal")] * (message_limits.MAX_SAMPLES + 1)
    for batches in (
        [Samples("s", 1, many)],
        [Samples("s", 2**65, [])],
        [Samples("s", number, []) for number in range(1, 100)],
    ):
        async with world.agent() as agent:
            await agent.send_messages(*batches)
            assert await agent.hangs_up() == 4400


async def test_a_monitor_id_that_is_no_text_does_not_stop_the_other_samples(world: World) -> None:
    async with world.agent() as agent:
        await agent.send_messages(Samples("s", 1, [Sample("a\0b", 1, 0, "normal")]))
        assert (await agent.hear(SamplesAck)).number == 1


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_an_agent_that_does_not_read_holds_few_answers(world: World, ada: Client) -> None:
    """Credits and offsets of many small frames wait as one message each."""
    async with stage(world) as ground:
        agent, end = await ground.session()
        await create(ada, await world.task())
        link: Any = world.runtime.agents.for_host(world.things.hosts["web-1"].host_id)
        assert link is not None
        await until(lambda: link.jobs)
        [fence] = link.jobs
        while end._full is None:
            end.send_now("x" * 65_536)
            await asyncio.sleep(0)
        for at in range(2_000):
            await agent.frame(websocket_frames.BINARY, pack_output(fence, at, 0, b"x"))
        await agent.send_messages(Heartbeat([]))
        await until(lambda: link._uploads._durable.get(fence) == 2_000)
        assert len(link._outbox) < 10


# What an agent may download


async def test_a_hash_in_a_plain_argument_gives_no_right_to_the_content(
    world: World, ada: Client, eve: Client
) -> None:
    """The content is of another organization; its hash is an argument of a job of this host."""
    theirs = await world.task(by="eve", script={"filename": "b.sh", "source": "globex's own"})
    sha256 = hashlib.sha256(b"globex's own").hexdigest()
    free = [{"type": "input", "label": "hash", "order": 0}]
    async with world.agent("box-1") as box, world.agent("web-1") as agent:
        await eve.post("/globex/job", {"task": theirs})
        assert (await box.order()).sha256 == sha256
        await create(ada, await world.task(task_arguments=free), [sha256])
        order = await agent.order()
        assert order.arguments == [sha256]
        assert await agent.fetch(sha256) is None
        # Nor in the middle of a longer text that looks like a file.
        text = f'{{"blob": "{sha256}"}}'
        await create(ada, await world.task("other", task_arguments=free), [text])
        assert (await agent.order()).arguments == [text]
        assert await agent.fetch(sha256) is None
        assert await agent.fetch(order.sha256) is not None


async def test_a_file_argument_of_an_open_order_can_be_fetched_until_it_ends(
    world: World, ada: Client
) -> None:
    free = [{"type": "file", "label": "data", "order": 0}]
    url = "data:text/plain;name=a.txt;base64,aGVsbG8="
    async with world.agent() as agent, world.agent("web-2") as other:
        await create(ada, await world.task(task_arguments=free), [url])
        order = await agent.order()
        [blob] = order.blobs
        assert await agent.fetch(blob.sha256) == b"hello"
        assert await other.fetch(blob.sha256) is None
        await agent.end(order)
        assert await agent.fetch(blob.sha256) is None
