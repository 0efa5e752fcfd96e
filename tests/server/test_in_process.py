"""The connection of the local agent within the server process; the test uses both ends."""

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
    """The server's side: records what it receives, and does what the test says."""

    def __init__(self) -> None:
        self.scope: dict[str, Any] = {}
        self.messages: asyncio.Queue[Any] = asyncio.Queue()
        self.send: Any = None
        self.end = asyncio.Event()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.scope, self.send = scope, send
        reading = asyncio.create_task(self._read(receive))
        await self.end.wait()
        reading.cancel()

    async def _read(self, receive: Any) -> None:
        while True:
            try:
                message = await receive()
            except ValueError as fault:
                message = fault
            await self.messages.put(message)
            if isinstance(message, dict) and message["type"] == "websocket.disconnect":
                self.end.set()

    @property
    def wire(self) -> InProcessServerSocket:
        socket: InProcessServerSocket = self.scope["extensions"]["agent_socket"]
        return socket


@asynccontextmanager
async def open_pair() -> AsyncIterator[tuple[InProcessAgentSocket, FakeServerSide]]:
    server = FakeServerSide()
    async with asyncio.timeout(20), connect(server, "bva_secret") as agent:
        assert await server.messages.get() == {"type": "websocket.connect"}
        yield agent, server


@asynccontextmanager
async def listening(
    agent: InProcessAgentSocket, receive: Callable[[Any], None]
) -> AsyncIterator["asyncio.Task[None]"]:
    task = asyncio.create_task(agent.listen(receive))
    await asyncio.sleep(0)
    yield task
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_messages_pass_in_both_directions() -> None:
    async with open_pair() as (agent, server):
        assert server.scope["headers"] == [(b"authorization", b"Bearer bva_secret")]
        agent.send_messages([Heartbeat([7])])
        assert (await server.messages.get())[
            "text"
        ] == '[{"live":[7],"watch":null,"disk":"","kind":"beat"}]'
        await server.send({"type": "websocket.accept"})
        await server.send({"type": "websocket.send", "text": "welcome"})
        assert await agent.recv() == "welcome"
        agent.send(b"\0\xff")
        assert (await server.messages.get())["bytes"] == b"\0\xff"
    assert await server.messages.get() == {"type": "websocket.disconnect", "code": 1006}


async def test_a_message_is_received_immediately() -> None:
    async with open_pair() as (agent, server):
        down: list[Any] = []
        up: list[Any] = []
        # Sent before the other end listens: received first.
        await server.send({"type": "websocket.send", "text": "early"})
        async with listening(agent, down.append):
            assert server.wire.send_now([Ack([7])])
            await server.send({"type": "websocket.send", "bytes": b"\1"})
            assert down == ["early", [{"fences": [7], "kind": "ack"}], b"\1"]
            server.wire.deliver_to(up.append)
            agent.send_messages([Heartbeat([7])])
            agent.send(b"\2")
            assert up == [[{"live": [7], "watch": None, "disk": "", "kind": "beat"}], b"\2"]


async def test_nothing_is_shared() -> None:
    async with open_pair() as (agent, server):
        down: list[Any] = []
        up: list[Any] = []
        server.wire.deliver_to(up.append)
        async with listening(agent, down.append):
            ack, beat = Ack([7]), Heartbeat([7])
            server.wire.send_now([ack])
            agent.send_messages([beat])
            ack.fences.append(8)
            beat.live.append(8)
        assert down == [[{"fences": [7], "kind": "ack"}]]
        assert up == [[{"live": [7], "watch": None, "disk": "", "kind": "beat"}]]


async def test_frames_keep_their_order_behind_one_that_waits() -> None:
    async with open_pair() as (agent, server):
        up: list[Any] = []
        agent.send(b"first")
        server.wire.deliver_to(up.append)
        agent.send(b"second")
        assert up == []
        assert [(await server.messages.get())["bytes"] for _ in range(2)] == [b"first", b"second"]


async def test_a_refusal_reaches_the_agent_with_its_words() -> None:
    async with open_pair() as (agent, server):
        await server.send({"type": "websocket.send", "text": "why"})
        await server.send({"type": "websocket.close", "code": 4401, "reason": "not you"})
        assert await agent.recv() == "why"
        for tried in (agent.recv, agent.room, lambda: agent.listen(print)):
            with pytest.raises(ConnectionClosedError) as failure:
                await tried()
            assert failure.value.rcvd is not None
            assert (failure.value.rcvd.code, failure.value.rcvd.reason) == (4401, "not you")
        assert not agent.has_room()
        assert not server.wire.send_now([Ack([7])])
        with pytest.raises(Disconnected):
            await server.send({"type": "websocket.send", "text": "too late"})


async def test_a_close_message_ends_the_receiver() -> None:
    async with open_pair() as (agent, server), listening(agent, print) as task:
        await server.send({"type": "websocket.close", "code": 1001, "reason": "bye"})
        await task


async def test_a_server_that_disappears_ends_the_connection_with_an_error() -> None:
    async with open_pair() as (agent, server), listening(agent, print) as task:
        server.end.set()
        with pytest.raises(ConnectionClosedError):
            await task


async def test_an_error_of_the_agents_receiver_ends_only_its_task() -> None:
    def fail(frame: Any) -> None:
        raise ValueError(frame)

    async with open_pair() as (agent, server), listening(agent, fail) as task:
        assert server.wire.send_now(["odd"])
        with pytest.raises(ValueError, match="odd"):
            await task


async def test_an_error_of_the_servers_receiver_is_raised_in_receive() -> None:
    def fail(frame: Any) -> None:
        raise ValueError(frame)

    async with open_pair() as (agent, server):
        server.wire.deliver_to(fail)
        agent.send(b"odd")
        agent.send(b"next")
        assert str(await server.messages.get()) == "b'odd'"
        assert (await server.messages.get())["bytes"] == b"next"


async def test_other_tasks_run_while_the_buffer_has_space() -> None:
    async with open_pair() as (agent, _):
        others: list[str] = []
        asyncio.get_running_loop().call_soon(others.append, "turn")
        await agent.room()
        assert others == ["turn"]
