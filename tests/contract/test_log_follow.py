"""Following a log live: server-sent events whose id is the next offset, resumable."""

from contract.client import Client
from contract.over_socket import every_transport
from contract.running import create, run
from contract.sse import Stream
from contract.world import World


@every_transport
async def test_a_log_is_streamed(world: World, uma: Client) -> None:
    async with world.agent() as agent:
        job = await create(uma, await world.task())
        order = await agent.order()
        async with Stream(uma, f"/acme/job/{job['id']}/log?follow=true") as stream:
            assert stream.status == 200
            assert stream.headers["content-type"] == "text/event-stream"
            await agent.write(order.fence, 0, 0, b"one\n")
            first = await stream.until("output")
            assert (first.id, first.data) == ("4", "one\n")
            await agent.write(order.fence, 4, 1, b"two\n")
            assert (await stream.until("output")).id == "8"
            totals = {"bytes_total": 8, "lines_total": 2, "sha256": "ab" * 32}
            await agent.end(order, log=None, lastline="two", **totals)
            end = await stream.until("end")
            assert await stream.next() is None
    assert end.id == "8"
    assert end.data == {
        "lifecycle": "finished",
        "state": "normal",
        "bytes": 8,
        "kept": 8,
        "sha256": "ab" * 32,
        "complete": True,
    }


@every_transport
async def test_a_stream_resumes_by_last_event_id(world: World, uma: Client) -> None:
    async with world.agent() as agent:
        job = await run(uma, agent, await world.task(), log="one\ntwo\n", bytes_total=8)
    target = f"/acme/job/{job['id']}/log?follow=true"
    async with Stream(uma, target, {"last-event-id": "4"}) as stream:
        output, end = await stream.rest()
    assert (output.id, output.data) == ("8", "two\n")
    assert (end.kind, end.id) == ("end", "8")
    async with Stream(uma, f"{target}&offset=8") as stream:
        assert [item.kind for item in await stream.rest()] == ["end"]


async def test_a_character_is_never_cut(world: World, uma: Client) -> None:
    text = "é€😀" * 5
    async with world.agent() as agent:
        job = await create(uma, await world.task())
        order = await agent.order()
        async with Stream(uma, f"/acme/job/{job['id']}/log?follow=true") as stream:
            for at, byte in enumerate(text.encode()):
                await agent.write(order.fence, at, 0, bytes([byte]))
            size = len(text.encode())
            await agent.end(order, log=None, bytes_total=size, lines_total=0, sha256="00" * 32)
            server_events = [item for item in await stream.rest() if item.kind == "output"]
    assert "".join(item.data for item in server_events) == text
    assert server_events[-1].id == str(size)


async def test_bytes_that_are_no_text_are_replaced(world: World, uma: Client) -> None:
    async with world.agent() as agent:
        job = await create(uma, await world.task())
        order = await agent.order()
        await agent.write(order.fence, 0, 0, b"a\xff\x00b\xe2\x82")
        await agent.end(order, log=None, bytes_total=6, lines_total=0, sha256="00" * 32)
    async with Stream(uma, f"/acme/job/{job['id']}/log?follow=true") as stream:
        chunks = [item.data for item in await stream.rest() if item.kind == "output"]
    assert "".join(chunks) == "a\ufffd\0b\ufffd"


async def test_a_waiting_job_can_be_followed_from_the_start(world: World, uma: Client) -> None:
    job = await create(uma, await world.task())
    async with Stream(uma, f"/acme/job/{job['id']}/log?follow=true") as stream:
        async with world.agent() as agent:
            await agent.end(await agent.order(), log="hi\n", bytes_total=3)
        output, end = await stream.rest()
    assert (output.data, end.data["state"]) == ("hi\n", "normal")


async def test_an_earlier_attempt_is_followed_as_it_was(world: World, uma: Client) -> None:
    task = await world.task(retry={"times": 1, "delay": 0})
    async with world.agent() as agent:
        job = await create(uma, task)
        await agent.end(await agent.order(), code=1, log="first\n", bytes_total=6)
        await agent.end(await agent.order(), code=0, log="second\n", bytes_total=7)
    async with Stream(uma, f"/acme/job/{job['id']}/log?follow=true&attempt=1") as stream:
        output, end = await stream.rest()
    assert output.data == "first\n" and end.data["bytes"] == 6


async def test_a_reader_that_hangs_up_is_noticed(world: World, uma: Client) -> None:
    job = await create(uma, await world.task())
    async with Stream(uma, f"/acme/job/{job['id']}/log?follow=true") as stream:
        assert stream.status == 200
    assert not world.runtime.feed._listeners


async def test_a_reader_who_loses_access_gets_no_further_output(world: World, ada: Client) -> None:
    """A removed member, a revoked token, a lower level: none of them gets the next output."""
    max_, olga = world.client("max"), world.client("olga")
    record = (await ada.post("/api/token", {"name": "reader"})).json
    token = Client(world.app, record["token"], check=world.conformity)
    async with world.agent() as agent:
        job = await create(ada, await world.task())
        order = await agent.order()
        target = f"/acme/job/{job['id']}/log?follow=true"
        async with Stream(max_, target) as member, Stream(token, target) as revoked:
            await agent.write(order.fence, 0, 0, b"one\n")
            for stream in (member, revoked):
                assert (await stream.until("output")).data == "one\n"
            await olga.delete(f"/api/member/{world.actors.max.member_id}")
            await ada.delete(f"/api/token/{record['id']}")
            await agent.write(order.fence, 4, 1, b"two\n")
            assert [await stream.rest() for stream in (member, revoked)] == [[], []]
        assert (await max_.get(target)).status == 401
        await agent.end(order, log=None, bytes_total=8, lines_total=2, sha256="00" * 32)


async def test_a_narrower_acl_ends_the_stream(world: World, ada: Client, vic: Client) -> None:
    task = await world.task()
    async with world.agent() as agent:
        job = await create(ada, task)
        order = await agent.order()
        async with Stream(vic, f"/acme/job/{job['id']}/log?follow=true") as stream:
            await agent.write(order.fence, 0, 0, b"one\n")
            await stream.until("output")
            await ada.delete(f"/acme/task/{task}/acl")
            await agent.write(order.fence, 4, 1, b"two\n")
            assert await stream.rest() == []
        await agent.end(order, log=None, bytes_total=8, lines_total=2, sha256="00" * 32)


async def test_a_cut_names_the_missing_part_and_the_next_line(world: World, uma: Client) -> None:
    async with world.agent() as agent:
        job = await create(uma, await world.task())
        order = await agent.order()
        await agent.write(order.fence, 0, 0, b"one\n")
        # The agent's spool was full: bytes 4 to 1000, seven lines of them, are gone.
        await agent.write(order.fence, 1000, 8, b"nine\n")
        await agent.end(order, log=None, bytes_total=1005, lines_total=9, sha256="00" * 32)
    async with Stream(uma, f"/acme/job/{job['id']}/log?follow=true") as stream:
        items = [(item.kind, item.id, item.data) for item in await stream.rest()]
    assert items[1] == ("cut", "", {"from": 4, "to": 1000, "line": 8})
    assert items[2][:2] == ("output", "1000") and "996 bytes were cut" in items[2][2]
    assert items[3] == ("output", "1005", "nine\n")
