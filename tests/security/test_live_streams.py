"""A reader of a live stream that never reads costs bounded memory and is disconnected."""

import asyncio
import logging
import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

import belvedere
from belvedere.access import Actor, audit
from belvedere.base.ids import new_id
from belvedere.db import Database, Tx
from belvedere.events import Event
from belvedere.jobs.output import log_store
from belvedere.jobs.output.log_store import LogPiece
from belvedere.protocol import CHUNK, Credit, pack_file
from belvedere.server.api import event_stream
from belvedere.server.api.event_backlog import MAX_BACKLOG, Backlog
from belvedere.server.transport import http_protocol
from contract.client import Client
from contract.world import World
from security.serving import Site, request, serving
from server.listening import PATIENCE_S

# The events come from the test, not from the engine.
pytestmark = pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
BATCH = 500
DATA = '{"user_id":"%s"}' % ("u" * 4_000)


@pytest.fixture
def backlogs(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Backlog]]:
    """Those of the streams that are open."""
    new_backlogs: list[Backlog] = []

    def make() -> Backlog:
        new_backlogs.append(Backlog())
        return new_backlogs[-1]

    monkeypatch.setattr(event_stream, "Backlog", make)
    yield new_backlogs


async def open_stream(site: Site, ada: Client) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    reader, writer = await site.open()
    writer.write(request("GET", "/-/events", {"authorization": f"Bearer {ada.token}"}))
    async with asyncio.timeout(PATIENCE_S):
        await reader.readuntil(b": welcome")
    return reader, writer


def is_blocked(site: Site) -> bool:
    """Whether the buffers of the only connection are full."""
    [connection] = site.server.server_state.connections
    return bool(connection.flow.write_paused)  # type: ignore[union-attr]


async def flood(world: World, site: Site, backlog: Backlog, customer_id: str) -> int:
    """Events until the reader is too far behind; the largest number that waited for it."""
    number, most = 1 << 40, 0
    async with asyncio.timeout(PATIENCE_S):
        while not backlog.is_over:
            batch = [
                Event(number + n, 1 << 40, 0, customer_id, "host.created", "host", "0" * 24, DATA)
                for n in range(BATCH)
            ]
            number += BATCH
            for listener in tuple(world.runtime.feed._listeners):
                listener(batch)
            most = max(most, len(backlog))
            # Everything is sent while that is possible: the reader is behind only because it does
            # not read.
            while len(backlog) and not is_blocked(site):
                await asyncio.sleep(0)
    return most


async def test_a_reader_that_never_reads_is_disconnected_with_a_reason(
    world: World, ada: Client, backlogs: list[Backlog], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    async with serving(world.app) as site:
        _, writer = await open_stream(site, ada)
        writer.transport.pause_reading()  # type: ignore[attr-defined]
        [backlog] = backlogs
        most = await flood(world, site, backlog, await customer_of(world))
        assert most <= MAX_BACKLOG and len(backlog) == 0
        assert "event stream reader too slow; disconnecting address=127.0.0.1" in caplog.text
        assert len(site.connections) == 1
        site.sweep()
        site.sweep(http_protocol.WRITE_S + 1)
        assert len(site.connections) == 0
        assert "connection closed address=127.0.0.1 reason=not_reading" in caplog.text
        async with asyncio.timeout(PATIENCE_S):
            while world.runtime.feed._listeners:
                await asyncio.sleep(0.01)
        writer.transport.abort()


async def test_a_reader_that_was_too_slow_gets_a_final_event(
    world: World, ada: Client, backlogs: list[Backlog]
) -> None:
    async with serving(world.app) as site:
        reader, writer = await open_stream(site, ada)
        writer.transport.pause_reading()  # type: ignore[attr-defined]
        await flood(world, site, backlogs[0], await customer_of(world))
        writer.transport.resume_reading()  # type: ignore[attr-defined]
        end = b""
        async with asyncio.timeout(PATIENCE_S):
            while part := await reader.read(1 << 20):
                end = (end + part)[-200:]
                if end.endswith(b"0\r\n\r\n"):
                    break
        assert b'event: resync\ndata: {"reason":"too_slow"}' in end
        writer.transport.abort()


async def customer_of(world: World) -> str:
    text: str = await world.runtime.db.read(
        lambda tx: tx.value("select id from customers where name = 'acme'")
    )
    return text


# Responses that are sent piece by piece, and where their pieces are created. The event stream has
# its own tests above.
STREAMS = {
    "/acme/job/{job}/log": "jobs/output/log_stream.py",
    "/acme/job/{job}/log?follow=true": "jobs/output/log_stream.py",
    "/acme/job/{job}/files/out.bin": "jobs/api/artifacts.py",
    "/api/audit.csv": "access/api/audit.py",
}
# What waits in the server for one client that does not read, in addition to what the kernel holds.
MAX_HELD = 1 << 20
# More than the kernel buffers for a client that reads nothing.
PIECES = 240
RECEIVE_BUFFER = 4096


def test_every_streamed_answer_is_tested(engine: str) -> None:
    root = Path(belvedere.__file__).parent
    makers = {
        path.relative_to(root).as_posix()
        for path in root.rglob("*.py")
        if "-> AsyncIterator[bytes]:" in path.read_text()
    }
    assert makers == {*STREAMS.values(), "server/api/event_stream.py"}


async def fill_stream(world: World, ada: Client, target: str) -> str:
    """What this address sends, in millions of bytes; the address."""
    noise = os.urandom(CHUNK)
    if "audit" in target:
        await world.runtime.db.write(fill_audit, world.actors.ada, noise.hex())
        return target
    async with world.agent() as agent:
        job_id: str = (await ada.post("/acme/job", {"task": await world.task()})).json["id"]
        order = await agent.order()
        if "files" in target:
            for n in range(PIECES):
                await agent.binary(pack_file(order.fence, 0, n * CHUNK, noise))
                # Within the credit, which is granted for what is stored.
                await agent.hear(Credit)
            await agent.end(order, files=[["out.bin", CHUNK * PIECES]])
        else:
            pieces = [LogPiece(order.fence, job_id, n * CHUNK, 0, noise) for n in range(PIECES)]
            await world.runtime.logs.write(log_store.append, pieces)
    return target.format(job=job_id)


def fill_audit(tx: Tx, actor: Actor, text: str) -> None:
    for _ in range(PIECES // 2):
        audit.record(tx, actor, "task.change", "task", new_id(), None, {"text": text})


async def connect(site: Site, ada: Client, target: str) -> socket.socket:
    """A request whose response is never read."""
    loop, client = asyncio.get_running_loop(), socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER)
    client.setblocking(False)
    await loop.sock_connect(client, ("127.0.0.1", site.port))
    headers = {"authorization": f"Bearer {ada.token}"}
    await loop.sock_sendall(client, request("GET", target, headers))
    return client


@pytest.mark.parametrize("target", STREAMS)
async def test_a_client_that_never_reads_costs_bounded_memory(
    world: World, ada: Client, target: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    async with serving(world.app) as site:
        client = await connect(site, ada, await fill_stream(world, ada, target))
        async with asyncio.timeout(PATIENCE_S):
            while not (h11_protocols := list(site.server.server_state.connections)):
                await asyncio.sleep(0)
            [connection] = h11_protocols
            assert isinstance(connection, http_protocol.HttpProtocol)
            while not connection.flow.write_paused:
                await asyncio.sleep(0.01)
        # A producer that does not wait would continue in these iterations.
        for _ in range(100):
            await asyncio.sleep(0)
        assert connection.transport.get_write_buffer_size() < MAX_HELD
        site.sweep()
        site.sweep(http_protocol.WRITE_S + 1)
        assert len(site.connections) == 0
        assert "connection closed address=127.0.0.1 reason=not_reading" in caplog.text
        async with asyncio.timeout(PATIENCE_S):
            while world.runtime.feed._listeners:
                await asyncio.sleep(0.01)
        client.close()


def test_a_log_is_read_in_pieces_of_limited_size(logs: Database) -> None:
    """They are kept as long as the client does not read."""
    data = os.urandom(CHUNK)
    logs.write_blocking(
        log_store.append, [LogPiece(7, "0" * 24, n * CHUNK, 0, data) for n in range(32)]
    )
    read = logs.write_blocking(log_store.chunks, 7, 0)
    assert sum(len(chunk.data) for chunk in read) == log_store.MAX_READ
    assert logs.write_blocking(log_store.chunks, 7, 0, 32, 1)[0].data == data
