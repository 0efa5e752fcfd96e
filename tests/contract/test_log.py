"""GET /job/{id}/log: text, ranges, search."""

import itertools
from collections.abc import Callable
from typing import Any

import h11
import pytest

from belvedere.base.errors import Unavailable
from belvedere.db import Tx
from belvedere.jobs.output import log_store, log_stream
from belvedere.jobs.output.log_store import Chunk
from belvedere.protocol import OutputAck
from contract.client import Client
from contract.fakeagent import FakeAgent
from contract.over_socket import every_transport, real_transports
from contract.running import create, run
from contract.world import World

LINES = b"".join(b"line %d\n" % n for n in range(3_000))


async def stream_output(world: World, client: Client, agent: FakeAgent, data: bytes = LINES) -> str:
    """A job whose output came in frames; its id."""
    job = await create(client, await world.task())
    order = await agent.order()
    lines = 0
    for at in range(0, len(data), 10_000):
        part = data[at : at + 10_000]
        await agent.write(order.fence, at, lines, part)
        lines += part.count(b"\n")
    totals = {"bytes_total": len(data), "lines_total": lines, "sha256": "ab" * 32}
    await agent.end(order, log=None, lastline="line 2999", **totals)
    job_id: str = job["id"]
    return job_id


@every_transport
async def test_a_log_is_read_as_text(world: World, uma: Client, vic: Client) -> None:
    async with world.agent() as agent:
        job = await run(uma, agent, await world.task(), log="one\ntwo é\n")
    response = await vic.get(f"/acme/job/{job['id']}/log")
    assert (response.status, response.text) == (200, "one\ntwo é\n")
    assert response.headers["content-type"] == "text/plain; charset=utf-8"
    assert (await vic.get(f"/job/{job['id']}/log?customer=acme")).text == response.text


@every_transport
async def test_a_long_log_is_returned_completely(world: World, uma: Client) -> None:
    async with world.agent() as agent:
        job_id = await stream_output(world, uma, agent)
    assert (await uma.get(f"/acme/job/{job_id}/log")).body == LINES


async def test_a_job_without_output_has_an_empty_log(world: World, uma: Client) -> None:
    job = await create(uma, await world.task())
    response = await uma.get(f"/acme/job/{job['id']}/log")
    assert (response.status, response.body) == (200, b"")


async def test_output_is_there_while_the_script_runs(world: World, uma: Client) -> None:
    async with world.agent() as agent:
        job = await create(uma, await world.task())
        order = await agent.order()
        await agent.write(order.fence, 0, 0, b"half a li")
        assert (await agent.hear(OutputAck)).offset == 9
        assert (await uma.get(f"/acme/job/{job['id']}/log")).text == "half a li"


async def test_the_log_of_a_script_that_never_stops_writing_is_a_finite_response(
    world: World, uma: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with world.agent() as agent:
        job = await create(uma, await world.task())
        order = await agent.order()
        await agent.write(order.fence, 0, 0, b"y\n")
        await agent.hear(OutputAck)
        monkeypatch.setattr(log_store, "chunks", _grow_before(log_store.chunks))
        assert (await uma.get(f"/acme/job/{job['id']}/log")).text == "y\n"


Chunks = Callable[[Tx, int, int], list[Chunk]]


def _grow_before(read: Chunks) -> Chunks:
    """Before each read, the log has grown by as much as was read before."""

    def chunks(tx: Tx, fence: int, at: int) -> list[Chunk]:
        assert at < 100, "the response has no end"
        return [*read(tx, fence, at), Chunk(at_byte=at + 2, at_line=at, size=2, data=b"y\n")]

    return chunks


async def test_a_range_that_ends_in_missing_output_marks_its_own_part(
    world: World, uma: Client
) -> None:
    async with world.agent() as agent:
        job = await create(uma, await world.task())
        order = await agent.order()
        await agent.write(order.fence, 0, 0, b"head\n")
        await agent.write(order.fence, 1_005, 201, b"tail\n")
        totals = {"bytes_total": 1_010, "lines_total": 202, "sha256": "cd" * 32}
        await agent.end(order, log=None, lastline="tail", **totals)
    part = await uma.get(f"/acme/job/{job['id']}/log", headers={"range": "bytes=0-104"})
    assert part.text == "head\n\n[… 100 bytes were cut here: 5 to 105 …]\n"


RANGES: list[tuple[str, int, slice | None]] = [
    ("bytes=0-3", 206, slice(0, 4)),
    ("bytes=20000-", 206, slice(20_000, None)),
    ("bytes=9990-10010", 206, slice(9_990, 10_011)),
    (f"bytes={len(LINES) - 5}-99999999", 206, slice(len(LINES) - 5, None)),
    ("bytes=5-2", 416, None),
    (f"bytes={len(LINES)}-", 416, None),
    ("lines=1-2", 200, slice(None)),
    ("bytes=0-1,4-5", 200, slice(None)),
]


@every_transport
async def test_a_range_is_that_part_of_the_stream(world: World, uma: Client) -> None:
    async with world.agent() as agent:
        job_id = await stream_output(world, uma, agent)
    for text, status, part in RANGES:
        response = await uma.get(f"/acme/job/{job_id}/log", headers={"range": text})
        assert response.status == status, text
        if part is None:
            assert response.headers["content-range"] == f"bytes */{len(LINES)}"
            continue
        assert response.body == LINES[part], text
        if status == 206:
            start, stop, _ = part.indices(len(LINES))
            assert response.headers["content-range"] == f"bytes {start}-{stop - 1}/{len(LINES)}"


async def test_a_small_log_has_ranges_too(world: World, uma: Client) -> None:
    async with world.agent() as agent:
        job = await run(uma, agent, await world.task(), log="0123456789", bytes_total=10)
    response = await uma.get(f"/acme/job/{job['id']}/log", headers={"range": "bytes=2-4"})
    assert (response.status, response.body) == (206, b"234")


async def test_an_offset_skips_the_part_that_the_client_has(world: World, uma: Client) -> None:
    async with world.agent() as agent:
        job_id = await stream_output(world, uma, agent)
    assert (await uma.get(f"/acme/job/{job_id}/log?offset=29000")).body == LINES[29_000:]
    assert (await uma.get(f"/acme/job/{job_id}/log?offset=99999999")).body == b""


async def test_a_bad_offset_is_refused(world: World, uma: Client) -> None:
    job = await create(uma, await world.task())
    for offset in ("-1", "x", "1.5", "%C2%B2", "9" * 30, "9" * 5_000):
        for name in ("offset", "attempt"):
            refused = await uma.get(f"/acme/job/{job['id']}/log?{name}={offset}")
            assert refused.status == 400, (name, offset)


async def test_a_cut_is_marked_and_offsets_stay(world: World, uma: Client) -> None:
    async with world.agent() as agent:
        job = await create(uma, await world.task())
        order = await agent.order()
        await agent.write(order.fence, 0, 0, b"head\n")
        await agent.write(order.fence, 1_005, 201, b"tail\n")
        totals = {"bytes_total": 1_010, "lines_total": 202, "sha256": "cd" * 32}
        await agent.end(order, log=None, lastline="tail", **totals)
    text = (await uma.get(f"/acme/job/{job['id']}/log")).text
    assert text.startswith("head\n") and text.endswith("tail\n")
    assert "1000 bytes were cut here: 5 to 1005" in text
    tail = await uma.get(f"/acme/job/{job['id']}/log", headers={"range": "bytes=1005-"})
    assert tail.body == b"tail\n" and tail.headers["content-range"] == "bytes 1005-1009/1010"
    hits = await uma.get(f"/acme/job/{job['id']}/log/search?q=TAIL")
    tail_line = {"line": 202, "offset": 1005, "text": "tail"}
    assert hits.json == {"matches": 1, "lines": [tail_line], "complete": False}
    lines = await uma.get(f"/acme/job/{job['id']}/log/lines?from=100")
    assert (lines.json["first"], lines.json["offset"], lines.json["lines"]) == (202, 1005, ["tail"])


async def test_output_that_never_arrived_is_marked_on_every_read_path(
    world: World, uma: Client
) -> None:
    totals = {"bytes_total": 1_005, "lines_total": 201, "sha256": "cd" * 32}
    async with world.agent() as agent:
        nothing = (await create(uma, await world.task()))["id"]
        await agent.end(await agent.order(), log=None, lastline="lost", **totals)
        some = (await create(uma, await world.task()))["id"]
        order = await agent.order()
        await agent.write(order.fence, 0, 0, b"head\n")
        await agent.end(order, log=None, lastline="lost", **totals)
        late = (await create(uma, await world.task()))["id"]
        order = await agent.order()
        await agent.write(order.fence, 1_000, 200, b"tail\n")
        await agent.end(order, log=None, lastline="tail", **totals)
    for job_id, start, end in ((nothing, 0, 1_005), (some, 5, 1_005), (late, 0, 1_000)):
        mark = f"{end - start} bytes were cut here: {start} to {end}"
        assert mark in (await uma.get(f"/acme/job/{job_id}/log")).text
        part = await uma.get(f"/acme/job/{job_id}/log", headers={"range": "bytes=0-"})
        assert (part.status, mark in part.text) == (206, True)
        assert part.headers["content-range"] == "bytes 0-1004/1005"
        assert mark in (await uma.get(f"/acme/job/{job_id}")).json["result"]["log"]
        live = (await uma.get(f"/acme/job/{job_id}/log?follow=true")).text
        assert mark in live and '"complete":false' in live
        assert (await uma.get(f"/acme/job/{job_id}/log/search?q=x")).json["complete"] is False
        page = (await uma.get(f"/acme/job/{job_id}/log/lines")).json
        assert (page["total_lines"], page["complete"]) == (201, False)


async def test_a_log_that_the_log_store_has_lost_is_marked_on_every_read_path(
    world: World, uma: Client
) -> None:
    """The file of the logs was restored from an older copy than that of the jobs."""
    async with world.agent() as agent:
        job_id = await stream_output(world, uma, agent)
    await world.runtime.logs.write(log_store.delete, [job_id])
    mark = log_store.gap_text(0, len(LINES)).decode()
    assert (await uma.get(f"/acme/job/{job_id}/log")).text == mark
    part = await uma.get(f"/acme/job/{job_id}/log", headers={"range": "bytes=100-"})
    assert (part.status, part.body) == (206, log_store.gap_text(100, len(LINES)))
    assert (await uma.get(f"/acme/job/{job_id}")).json["result"]["log"] == mark
    live = (await uma.get(f"/acme/job/{job_id}/log?follow=true")).text
    assert mark.strip() in live and '"complete":false' in live
    assert (await uma.get(f"/acme/job/{job_id}/log/search?q=x")).json["complete"] is False
    assert (await uma.get(f"/acme/job/{job_id}/log/lines")).json["complete"] is False


@real_transports
async def test_a_download_that_the_database_interrupts_does_not_look_complete(
    world: World, uma: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with world.agent() as agent:
        job_id = await stream_output(world, uma, agent, LINES * 12)
    # One read of the database is not enough for it.
    read, calls = log_store.chunks, itertools.count()

    def read_once(*a: Any, **k: Any) -> Any:
        if next(calls):
            raise Unavailable("The database does not respond; try again shortly.")
        return read(*a, **k)

    monkeypatch.setattr(log_store, "chunks", read_once)
    with pytest.raises(h11.RemoteProtocolError, match="without sending complete message body"):
        await uma.get(f"/acme/job/{job_id}/log")


async def test_a_download_whose_log_is_deleted_does_not_look_complete(
    world: World, uma: Client
) -> None:
    """Retention deletes the job while a slow reader downloads its log."""
    async with world.agent() as agent:
        job_id = await stream_output(world, uma, agent, LINES * 12)
    runtime, size = world.runtime, len(LINES) * 12
    source = await runtime.db.read(log_stream.find_source, world.actors.uma, job_id, None)
    body = log_stream.read_text(runtime, source, 0, size)
    received = await anext(body)
    await runtime.logs.write(log_store.delete, [job_id])
    with pytest.raises(Unavailable):
        async for piece in body:
            received += piece
    assert len(received) < size


async def test_output_that_is_missing_before_the_end_is_marked_although_the_job_was_running(
    world: World, uma: Client
) -> None:
    """It ended between the two reads that begin a download: its end says how much is missing."""
    async with world.agent() as agent:
        job_id = (await create(uma, await world.task()))["id"]
        order = await agent.order()
        await agent.write(order.fence, 0, 0, b"head\n")
        await agent.hear(OutputAck)
        source = await world.runtime.db.read(log_stream.find_source, world.actors.uma, job_id, None)
        totals = {"bytes_total": 1_005, "lines_total": 201, "sha256": "cd" * 32}
        await agent.end(order, log=None, lastline="lost", **totals)
    body = log_stream.read_text(world.runtime, source, 0, 1_005)
    text = b"".join([piece async for piece in body])
    assert text == b"head\n" + log_store.gap_text(5, 1_005)


async def test_search_gives_line_numbers(world: World, uma: Client) -> None:
    async with world.agent() as agent:
        job_id = await stream_output(world, uma, agent)
    record = (await uma.get(f"/acme/job/{job_id}/log/search?q=LINE%20222")).json
    hits = record["lines"]
    offset = LINES.index(b"line 222\n")
    assert hits[0] == {"line": 223, "offset": offset, "text": "line 222"}
    assert [item["line"] for item in hits[1:]] == list(range(2_221, 2_231))
    assert (record["matches"], record["complete"]) == (11, True)
    for hit in hits:
        at = {"range": f"bytes={hit['offset']}-{hit['offset'] + len(hit['text']) - 1}"}
        assert (await uma.get(f"/job/{job_id}/log", headers=at)).text == hit["text"]


async def test_search_counts_more_than_it_gives(world: World, uma: Client) -> None:
    async with world.agent() as agent:
        job_id = await stream_output(world, uma, agent)
    record = (await uma.get(f"/job/{job_id}/log/search?q=line&limit=2")).json
    assert (record["matches"], [line["line"] for line in record["lines"]]) == (3_000, [1, 2])
    for bad in ("limit=0", "limit=1001", "limit=x"):
        assert (await uma.get(f"/job/{job_id}/log/search?q=line&{bad}")).code == "invalid_query"


async def test_search_continues_page_by_page(world: World, uma: Client) -> None:
    async with world.agent() as agent:
        job_id = await stream_output(world, uma, agent)
    pages, since = [], 0
    while True:
        query = f"q=line%20222&limit=4&from={since}"
        record = (await uma.get(f"/job/{job_id}/log/search?{query}")).json
        if not record["lines"]:
            break
        pages.append((record["matches"], [item["line"] for item in record["lines"]]))
        since = record["lines"][-1]["offset"] + 1
    first, second, third = [223, 2_221, 2_222, 2_223], list(range(2_224, 2_228)), [2_228, 2_229]
    assert pages == [(11, first), (7, second), (3, [*third, 2_230])]
    # A line that begins before this byte is not found, even if its end is after it.
    offset = LINES.index(b"line 222\n")
    at = [f"q=line%20222&limit=1&from={offset + more}" for more in (0, 3)]
    lines = [(await uma.get(f"/job/{job_id}/log/search?{item}")).json["lines"][0] for item in at]
    assert [item["line"] for item in lines] == [223, 2_221]
    for bad in ("from=-1", "from=x"):
        assert (await uma.get(f"/job/{job_id}/log/search?q=a&{bad}")).code == "invalid_query"


async def test_lines_are_read_by_their_number(world: World, uma: Client) -> None:
    async with world.agent() as agent:
        job_id = await stream_output(world, uma, agent)
    record = (await uma.get(f"/job/{job_id}/log/lines?from=2000&count=3")).json
    assert record["lines"] == ["line 1999", "line 2000", "line 2001"]
    assert (record["first"], record["total_lines"]) == (2_000, 3_000)
    assert record["offset"] == LINES.index(b"line 1999\n")
    assert record["next"] == LINES.index(b"line 2002\n")
    last = (await uma.get(f"/job/{job_id}/log/lines?from=3000")).json
    assert (last["lines"], last["next"]) == (["line 2999"], len(LINES))
    beyond = (await uma.get(f"/job/{job_id}/log/lines?from=3001")).json
    assert (beyond["lines"], beyond["total_lines"]) == ([], 3_000)
    first = (await uma.get(f"/job/{job_id}/log/lines")).json
    assert (first["first"], first["offset"], len(first["lines"])) == (1, 0, 500)


async def test_the_log_has_the_time_of_each_line(world: World, uma: Client) -> None:
    async with world.agent() as agent:
        job_id = await stream_output(world, uma, agent)
    record = (await uma.get(f"/job/{job_id}/log/times")).json
    pieces = [LINES[:at].count(b"\n") + 1 for at in range(0, len(LINES), 10_000)]
    assert [mark["line"] for mark in record["marks"]] == pieces and record["next"] is None
    assert [mark["at"] for mark in record["marks"]] == sorted(
        mark["at"] for mark in record["marks"]
    )
    rest = (await uma.get(f"/job/{job_id}/log/times?from=2")).json["marks"]
    assert rest == record["marks"][1:]
    assert (await uma.get(f"/job/{job_id}/log/times?from=0")).code == "invalid_query"


async def test_a_small_log_was_written_when_its_job_ended(world: World, uma: Client) -> None:
    job_id = await _ended_with(world, uma, "one\ntwo\n")
    ended = (await uma.get(f"/job/{job_id}")).json["ended_at"]
    record = (await uma.get(f"/job/{job_id}/log/times")).json
    assert record == {"marks": [{"line": 1, "at": ended}], "next": None}


async def test_lines_of_a_small_log_are_numbered_too(world: World, uma: Client) -> None:
    job = await _ended_with(world, uma, "one\ntwo\nthree")
    record = (await uma.get(f"/job/{job}/log/lines?from=2")).json
    assert record == {
        "first": 2,
        "offset": 4,
        "next": 13,
        "total_lines": 3,
        "lines": ["two", "three"],
        "complete": True,
    }
    for bad in ("from=0", "from=x", "count=5001", "attempt=9"):
        assert (await uma.get(f"/job/{job}/log/lines?{bad}")).status == 400


async def _ended_with(world: World, client: Client, log: str) -> str:
    async with world.agent() as agent:
        job = await run(client, agent, await world.task(), log=log)
    job_id: str = job["id"]
    return job_id


async def test_search_ignores_terminal_sequences(world: World, uma: Client) -> None:
    coloured = b"\x1b[1;31mER\x1b[0mROR \x1b]0;title\x07in line 1\nfine\n"
    async with world.agent() as agent:
        job_id = await stream_output(world, uma, agent, coloured)
    record = (await uma.get(f"/acme/job/{job_id}/log/search?q=error%20in")).json
    assert (record["matches"], record["lines"][0]["line"]) == (1, 1)
    assert (await uma.get(f"/acme/job/{job_id}/log/search?q=title")).json["matches"] == 0


async def test_search_needs_a_text(world: World, uma: Client) -> None:
    job = await create(uma, await world.task())
    assert (await uma.get(f"/acme/job/{job['id']}/log/search")).status == 400
    assert (await uma.get(f"/acme/job/{job['id']}/log/search?q=")).status == 400
    assert (await uma.get(f"/acme/job/{job['id']}/log/search?q=x")).json == {
        "matches": 0,
        "lines": [],
        "complete": True,
    }


async def test_an_earlier_attempt_has_its_own_log(world: World, uma: Client) -> None:
    task = await world.task(retry={"times": 1, "delay": 0})
    async with world.agent() as agent:
        job = await create(uma, task)
        await agent.end(await agent.order(), code=1, log="first\n")
        await agent.end(await agent.order(), code=0, log="second\n")
    assert (await uma.get(f"/acme/job/{job['id']}/log")).text == "second\n"
    assert (await uma.get(f"/acme/job/{job['id']}/log?attempt=1")).text == "first\n"
    assert (await uma.get(f"/acme/job/{job['id']}/log?attempt=3")).status == 400


async def test_the_record_holds_the_end_of_a_long_log(world: World, uma: Client) -> None:
    data = b"x" * 300_000 + b"end"
    async with world.agent() as agent:
        job_id = await stream_output(world, uma, agent, data)
    log = (await uma.get(f"/acme/job/{job_id}")).json["result"]["log"]
    assert len(log) == 256 * 1024 and log.endswith("xend")


async def test_a_log_is_hidden_with_its_job(world: World, ada: Client, vic: Client) -> None:
    job = await create(ada, await world.task(acl=[]))
    for tail in ("log", "log?follow=true", "log/search?q=x", "log/lines", "log/times"):
        assert (await vic.get(f"/acme/job/{job['id']}/{tail}")).status == 404
