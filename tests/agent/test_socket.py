"""The agent's WebSocket above its bytes: who gets a message, and who learns of the end."""

import asyncio
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosedError

from belvedere.agent.socket import Socket
from belvedere.base import frames

OPTIONS = {"max_size": 1_000, "ping_interval": 60.0, "ping_timeout": 60.0}


class Wire:
    """In the place of a transport: keeps what was written."""

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


def texts(*said: str) -> bytes:
    return b"".join(frames.pack(frames.TEXT, one.encode(), masked=False) for one in said)


async def listening(socket: Socket, hear: Any) -> "asyncio.Task[None]":
    task = asyncio.create_task(socket.listen(hear))
    await asyncio.sleep(0)
    return task


async def test_it_works() -> None:
    socket, heard = Socket(Wire(), OPTIONS), list[str | bytes]()
    socket.data_received(texts("first", "second", "third"))
    assert await socket.recv() == "first"
    task = await listening(socket, heard.append)
    assert heard == ["second", "third"]
    # At once, before any other task has its turn.
    socket.data_received(texts("fourth") + frames.pack(frames.BINARY, b"5", masked=False))
    assert heard == ["second", "third", "fourth", b"5"]
    socket.data_received(texts("last") + frames.pack_close(1000, "", masked=False))
    await task
    assert heard[4:] == ["last"]


async def test_what_the_listener_cannot_bear_ends_its_listening() -> None:
    wire, heard = Wire(), list[str | bytes]()
    socket = Socket(wire, OPTIONS)

    def hear(message: str | bytes) -> None:
        heard.append(message)
        raise LookupError(message)

    task = await listening(socket, hear)
    socket.data_received(texts("bad", "worse"))
    socket.data_received(texts("worst"))
    with pytest.raises(LookupError, match="bad"):
        await task
    assert heard == ["bad"]
    assert not wire.is_closed


async def test_a_listener_that_was_called_off_hears_no_more() -> None:
    socket, heard = Socket(Wire(), OPTIONS), list[str | bytes]()
    task = await listening(socket, heard.append)
    task.cancel()
    await asyncio.wait([task])
    socket.data_received(texts("late"))
    assert heard == []


@pytest.mark.parametrize("is_early", [True, False])
async def test_a_connection_that_breaks_fails_whoever_listens(is_early: bool) -> None:
    socket = Socket(Wire(), OPTIONS)
    if is_early:
        socket.connection_lost(None)
    task = await listening(socket, print)
    socket.connection_lost(None)
    with pytest.raises(ConnectionClosedError):
        await task
    assert not socket.has_room()
    with pytest.raises(ConnectionClosedError):
        await socket.room()


async def test_there_is_room_again_once_the_server_takes_what_we_say() -> None:
    socket = Socket(Wire(), OPTIONS)
    socket.pause_writing()
    waits = asyncio.create_task(socket.room())
    await asyncio.sleep(0)
    socket.resume_writing()
    # Somebody else was quicker.
    socket.pause_writing()
    await asyncio.sleep(0)
    assert not waits.done() and not socket.has_room()
    socket.resume_writing()
    await waits
    assert socket.has_room()
