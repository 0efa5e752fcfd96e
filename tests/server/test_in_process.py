"""The connection of the local agent within the server process; both ends are played by the test."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosedError

from belvedere.protocol import Ack, Heartbeat
from belvedere.server.agents.in_process import (
    InProcessAgentSocket,
    InProcessServerSocket,
    connect,
)
from belvedere.server.transport.interface import Disconnected


class FakeServerSide:
    """The server's side: keeps what it was given, and does what the test says."""

    def __init__(self) -> None:
        self.scope: dict[str, Any] = {}
        self.heard: asyncio.Queue[Any] = asyncio.Queue()
        self.send: Any = None
        self.leave = asyncio.Event()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.scope, self.send = scope, send
        reading = asyncio.create_task(self._read(receive))
        await self.leave.wait()
        reading.cancel()

    async def _read(self, receive: Any) -> None:
        while True:
            try:
                message = await receive()
            except ValueError as fault:
                message = fault
            await self.heard.put(message)
            if isinstance(message, dict) and message["type"] == "websocket.disconnect":
                self.leave.set()

    @property
    def wire(self) -> InProcessServerSocket:
        in_process_server_socket: InProcessServerSocket = self.scope["extensions"]["agent_socket"]
        return in_process_server_socket


@asynccontextmanager
async def talking() -> AsyncIterator[tuple[InProcessAgentSocket, FakeServerSide]]:
    door = FakeServerSide()
    async with asyncio.timeout(20), connect(door, "bva_secret") as near:
        assert await door.heard.get() == {"type": "websocket.connect"}
        yield near, door


@asynccontextmanager
async def listening(
    near: InProcessAgentSocket, hear: Callable[[Any], None]
) -> AsyncIterator["asyncio.Task[None]"]:
    task = asyncio.create_task(near.listen(hear))
    await asyncio.sleep(0)
    yield task
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_it_works() -> None:
    async with talking() as (near, door):
        assert door.scope["headers"] == [(b"authorization", b"Bearer bva_secret")]
        near.send_messages([Heartbeat([7])])
        assert (await door.heard.get())[
            "text"
        ] == '[{"live":[7],"watch":null,"disk":"","kind":"beat"}]'
        await door.send({"type": "websocket.accept"})
        await door.send({"type": "websocket.send", "text": "welcome"})
        assert await near.recv() == "welcome"
        near.send(b"\0\xff")
        assert (await door.heard.get())["bytes"] == b"\0\xff"
    assert await door.heard.get() == {"type": "websocket.disconnect", "code": 1006}


async def test_a_message_is_received_immediately() -> None:
    async with talking() as (near, door):
        down: list[Any] = []
        up: list[Any] = []
        # Said before anybody listens: heard first.
        await door.send({"type": "websocket.send", "text": "early"})
        async with listening(near, down.append):
            assert door.wire.send_now([Ack([7])])
            await door.send({"type": "websocket.send", "bytes": b"\1"})
            assert down == ["early", [{"fences": [7], "kind": "ack"}], b"\1"]
            door.wire.deliver_to(up.append)
            near.send_messages([Heartbeat([7])])
            near.send(b"\2")
            assert up == [[{"live": [7], "watch": None, "disk": "", "kind": "beat"}], b"\2"]


async def test_nothing_is_shared() -> None:
    async with talking() as (near, door):
        down: list[Any] = []
        up: list[Any] = []
        door.wire.deliver_to(up.append)
        async with listening(near, down.append):
            ack, beat = Ack([7]), Heartbeat([7])
            door.wire.send_now([ack])
            near.send_messages([beat])
            ack.fences.append(8)
            beat.live.append(8)
        assert down == [[{"fences": [7], "kind": "ack"}]]
        assert up == [[{"live": [7], "watch": None, "disk": "", "kind": "beat"}]]


async def test_frames_keep_their_order_behind_one_that_waits() -> None:
    async with talking() as (near, door):
        up: list[Any] = []
        near.send(b"first")
        door.wire.deliver_to(up.append)
        near.send(b"second")
        assert up == []
        assert [(await door.heard.get())["bytes"] for _ in range(2)] == [b"first", b"second"]


async def test_a_refusal_reaches_the_agent_with_its_words() -> None:
    async with talking() as (near, door):
        await door.send({"type": "websocket.send", "text": "why"})
        await door.send({"type": "websocket.close", "code": 4401, "reason": "not you"})
        assert await near.recv() == "why"
        for tried in (near.recv, near.room, lambda: near.listen(print)):
            with pytest.raises(ConnectionClosedError) as failure:
                await tried()
            assert failure.value.rcvd is not None
            assert (failure.value.rcvd.code, failure.value.rcvd.reason) == (4401, "not you")
        assert not near.has_room()
        assert not door.wire.send_now([Ack([7])])
        with pytest.raises(Disconnected):
            await door.send({"type": "websocket.send", "text": "too late"})


async def test_a_farewell_ends_the_listening() -> None:
    async with talking() as (near, door), listening(near, print) as task:
        await door.send({"type": "websocket.close", "code": 1001, "reason": "bye"})
        await task


async def test_a_server_that_just_leaves_ends_the_listening() -> None:
    async with talking() as (near, door), listening(near, print) as task:
        door.leave.set()
        with pytest.raises(ConnectionClosedError):
            await task


async def test_what_the_agent_cannot_bear_is_its_own_affair() -> None:
    def stumble(frame: Any) -> None:
        raise ValueError(frame)

    async with talking() as (near, door), listening(near, stumble) as task:
        assert door.wire.send_now(["odd"])
        with pytest.raises(ValueError, match="odd"):
            await task


async def test_what_the_server_cannot_bear_is_raised_where_it_receives() -> None:
    def stumble(frame: Any) -> None:
        raise ValueError(frame)

    async with talking() as (near, door):
        door.wire.deliver_to(stumble)
        near.send(b"odd")
        near.send(b"next")
        assert str(await door.heard.get()) == "b'odd'"
        assert (await door.heard.get())["bytes"] == b"next"


async def test_others_get_their_turn_while_the_buffer_has_space() -> None:
    async with talking() as (near, _):
        others: list[str] = []
        asyncio.get_running_loop().call_soon(others.append, "turn")
        await near.room()
        assert others == ["turn"]
