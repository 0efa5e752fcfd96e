"""The agent's WebSocket: who gets a message, and who learns that the connection has ended."""

import asyncio
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosedError, InvalidStatus
from websockets.utils import accept_key

from belvedere.agent.connection import websocket
from belvedere.agent.connection.websocket import AgentSocket, connect
from belvedere.base import websocket_frames
from belvedere.protocol import Heartbeat

OPTIONS = {"max_size": 1_000, "ping_interval": 60.0, "ping_timeout": 60.0}


class Wire:
    """Stands in for a transport: records what was written."""

    def __init__(self) -> None:
        self.written = b""
        self.is_closed = False

    def get_extra_info(self, _: str) -> tuple[str, int]:
        return "192.0.2.8", 40_000

    def set_protocol(self, protocol: asyncio.Protocol) -> None: ...

    def write(self, data: bytes) -> None:
        self.written += data

    def close(self) -> None:
        self.is_closed = True

    abort = close


def texts(*actual_texts: str) -> bytes:
    return b"".join(
        websocket_frames.pack(websocket_frames.TEXT, item.encode(), masked=False)
        for item in actual_texts
    )


async def listening(socket: AgentSocket, hear: Any) -> "asyncio.Task[None]":
    task = asyncio.create_task(socket.listen(hear))
    await asyncio.sleep(0)
    return task


async def test_messages_go_to_the_listener() -> None:
    socket, actual_texts = AgentSocket(Wire(), OPTIONS), list[str | bytes]()
    socket.data_received(texts("first", "second", "third"))
    assert await socket.recv() == "first"
    task = await listening(socket, actual_texts.append)
    assert actual_texts == ["second", "third"]
    # At once, before any other task has its turn.
    socket.data_received(
        texts("fourth") + websocket_frames.pack(websocket_frames.BINARY, b"5", masked=False)
    )
    assert actual_texts == ["second", "third", "fourth", b"5"]
    socket.data_received(texts("last") + websocket_frames.pack_close(1000, "", masked=False))
    await task
    assert actual_texts[4:] == ["last"]


async def test_an_error_of_the_listener_ends_the_receiver() -> None:
    wire, actual_texts = Wire(), list[str | bytes]()
    socket = AgentSocket(wire, OPTIONS)

    def hear(message: str | bytes) -> None:
        actual_texts.append(message)
        raise LookupError(message)

    task = await listening(socket, hear)
    socket.data_received(texts("bad", "worse"))
    socket.data_received(texts("worst"))
    with pytest.raises(LookupError, match="bad"):
        await task
    assert actual_texts == ["bad"]
    assert not wire.is_closed


async def test_a_cancelled_reader_receives_nothing_more() -> None:
    socket, actual_texts = AgentSocket(Wire(), OPTIONS), list[str | bytes]()
    task = await listening(socket, actual_texts.append)
    task.cancel()
    await asyncio.wait([task])
    socket.data_received(texts("late"))
    assert actual_texts == []


@pytest.mark.parametrize("is_early", [True, False])
async def test_a_broken_connection_fails_its_reader(is_early: bool) -> None:
    socket = AgentSocket(Wire(), OPTIONS)
    if is_early:
        socket.connection_lost(None)
    task = await listening(socket, print)
    socket.connection_lost(None)
    with pytest.raises(ConnectionClosedError):
        await task
    assert not socket.has_room()
    with pytest.raises(ConnectionClosedError):
        await socket.room()


async def test_sending_continues_when_the_server_reads_again() -> None:
    socket = AgentSocket(Wire(), OPTIONS)
    socket.pause_writing()
    waits = asyncio.create_task(socket.room())
    await asyncio.sleep(0)
    socket.resume_writing()
    # Another caller was faster.
    socket.pause_writing()
    await asyncio.sleep(0)
    assert not waits.done() and not socket.has_room()
    socket.resume_writing()
    await waits
    assert socket.has_room()


# What a server may send in one packet with its response to the handshake.

GOODBYE = websocket_frames.pack_close(4401, "Revoked.", masked=False)


@asynccontextmanager
async def answering(*packets: bytes, status: str = "101 Switching Protocols") -> AsyncIterator[str]:
    """A server that responds to the handshake with these packets, the first one together with the
    response, and closes the connection; its address."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        text = (await reader.readuntil(b"\r\n\r\n")).decode()
        [key] = re.findall(r"Sec-WebSocket-Key: (\S+)", text)
        head = f"HTTP/1.1 {status}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        writer.write(f"{head}Sec-WebSocket-Accept: {accept_key(key)}\r\n\r\n".encode() + packets[0])
        for packet in packets[1:]:
            await writer.drain()
            writer.write(packet)
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        host, port = server.sockets[0].getsockname()
        yield f"ws://{host}:{port}/"


def calling(address: str) -> connect:
    return connect(address, **OPTIONS, close_timeout=1, open_timeout=30, proxy=None)


@pytest.mark.parametrize("packets", [(GOODBYE,), (GOODBYE[:1], GOODBYE[1:]), (b"", GOODBYE)])
async def test_a_close_right_after_the_handshake_is_received(packets: Sequence[bytes]) -> None:
    async with answering(*packets) as address, calling(address) as socket:
        with pytest.raises(ConnectionClosedError) as ended:
            await socket.recv()
    assert ended.value.rcvd is not None
    assert (ended.value.rcvd.code, ended.value.rcvd.reason) == (4401, "Revoked.")


async def test_a_message_right_after_the_handshake_is_received() -> None:
    async with answering(texts("one", "two")) as address, calling(address) as socket:
        assert [await socket.recv(), await socket.recv()] == ["one", "two"]


async def test_a_server_that_closes_the_connection_is_noticed_at_once() -> None:
    async with answering(b"") as address, calling(address) as socket:
        with pytest.raises(ConnectionClosedError) as ended:
            await socket.recv()
    assert ended.value.rcvd is None


async def test_a_refused_handshake_is_read_to_its_end() -> None:
    async with answering(b"No\nentry.", status="401 Unauthorized") as address:
        with pytest.raises(InvalidStatus) as refused:
            async with calling(address):
                pass
    assert refused.value.response.body == b"No\nentry."


async def test_a_ping_goes_with_the_messages_that_are_sent_anyway(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The server wakes up once for a heartbeat and a PING."""
    times = [1_000.0]
    monkeypatch.setattr(websocket, "monotonic", lambda: times[-1])
    wire = Wire()
    socket = AgentSocket(wire, {**OPTIONS, "ping_interval": 10.0, "ping_timeout": 20.0})
    pings = []
    for now in (1_005.0, 1_010.0, 1_012.0, 1_020.0):
        times.append(now)
        wire.written = b""
        socket.send_messages([Heartbeat([])])
        pings.append(pings_in(wire.written))
    assert pings == [0, 1, 0, 1]


async def test_a_ping_is_sent_alone_if_there_are_no_messages(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    times = [1_000.0]
    monkeypatch.setattr(websocket, "monotonic", lambda: times[-1])
    wire = Wire()
    socket = AgentSocket(wire, {**OPTIONS, "ping_interval": 10.0, "ping_timeout": 20.0})
    pings = []
    for now in (1_010.0, 1_020.0, 1_030.0):
        times.append(now)
        wire.written = b""
        socket._ping_due.cancel()
        socket._ping()
        pings.append(pings_in(wire.written))
    assert pings == [0, 1, 0] and not wire.is_closed
    times.append(1_031.0)
    socket._ping_due.cancel()
    socket._ping()
    assert wire.is_closed
    socket._ping_due.cancel()


def pings_in(data: bytes) -> int:
    frames = websocket_frames.Reader(masked=True, max_size=1_000).feed(data)
    return [opcode for opcode, _ in frames].count(websocket_frames.PING)
