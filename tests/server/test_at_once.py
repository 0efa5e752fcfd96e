"""Frames between socket and connection without an iteration of the loop: the same messages, order
and ends."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict
from typing import Any

import msgspec
import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from belvedere.access.actor import Actor, Level
from belvedere.protocol import AttemptEnded, Cancel, Order, Report
from belvedere.server.agents.connection import AgentConnection
from belvedere.server.agents.message_limits import CloseConnection
from belvedere.server.transport.agent_websocket import AgentWebSocket, encode
from contract.client import Client
from contract.fakeagent import hello
from contract.running import create, show
from contract.world import World
from security.rawagent import until
from server.listening import PATIENCE_S, run_uvicorn
from server.test_socket import BAD, GARBAGE


@asynccontextmanager
async def agent(world: World) -> AsyncIterator[ClientConnection]:
    """An agent over a real socket that has only sent its hello."""
    token = world.things.hosts["web-1"].token
    async with (
        run_uvicorn(world.app, ws=AgentWebSocket) as (port, _),
        asyncio.timeout(PATIENCE_S),
        connect(
            f"ws://127.0.0.1:{port}/-/agent",
            compression=None,
            additional_headers={"authorization": f"Bearer {token}"},
        ) as socket,
    ):
        await send_messages(socket, hello())
        assert (await read_frame(socket))[0]["kind"] == "welcome"
        yield socket


async def send_messages(socket: ClientConnection, *messages: Any) -> None:
    await socket.send(json.dumps([asdict(message) for message in messages]))


async def read_frame(socket: ClientConnection) -> list[dict[str, Any]]:
    """The messages of one frame."""
    record: list[dict[str, Any]] = json.loads(await socket.recv())
    return record


async def test_an_acknowledgement_and_the_next_order_share_a_frame(
    world: World, ada: Client
) -> None:
    """The acknowledgement of an end is sent in the frame of the next order."""
    task = await world.task()
    async with agent(world) as socket:
        first = await create(ada, task)
        [order] = await read_frame(socket)
        waiting = asyncio.create_task(ada.get(f"/acme/job/{first['id']}/result?wait_result=true"))
        await send_messages(
            socket, AttemptEnded(order["fence"], Report(ending="exit", code=0, log=""))
        )
        await waiting
        second = await create(ada, task)
        items = await read_frame(socket)
        if [item["kind"] for item in items] == ["ack"]:
            # On such a slow machine the acknowledgement did not wait for it.
            items += await read_frame(socket)
    assert {item["kind"] for item in items} == {"ack", "order"}
    assert [item["job_id"] for item in items if item["kind"] == "order"] == [second["id"]]
    assert (await show(ada, first["id"]))["state"] == "normal"


async def test_an_unreadable_message_ends_the_connection(world: World) -> None:
    async def closes_with(frame: str | bytes) -> int:
        async with agent(world) as socket:
            await socket.send(frame)
            with pytest.raises(ConnectionClosed) as closed:
                while True:
                    await socket.recv()
        assert closed.value.rcvd is not None
        return closed.value.rcvd.code

    for frame in (*GARBAGE, *(json.dumps([message]) for message in BAD)):
        assert await closes_with(frame) == 4400, frame
    assert len(world.runtime.agents) == 0


async def test_messages_before_an_invalid_one_count(world: World, ada: Client) -> None:
    async with agent(world) as socket:
        job = await create(ada, await world.task())
        [order] = await read_frame(socket)
        await send_messages(
            socket, AttemptEnded(order["fence"], Report(ending="exit", code=0, log=""))
        )
        await socket.send("[5]")
        with pytest.raises(ConnectionClosed):
            while True:
                await socket.recv()
    assert (await show(ada, job["id"]))["state"] == "normal"


class Pipe:
    """The sending half of a connection; it accepts at once as much as the test says."""

    def __init__(self) -> None:
        self.is_free = True
        self.may_go = asyncio.Event()
        self.said: list[list[Any]] = []

    def send_messages(self, messages: list[Any]) -> bool:
        if self.is_free:
            self.said.append(self._read(encode(messages)))
        return self.is_free

    async def send(self, message: dict[str, Any]) -> None:
        await self.may_go.wait()
        self.said.append(self._read(message["text"]))

    def _read(self, text: str | bytes) -> list[Any]:
        return [item["fence"] for item in msgspec.json.decode(text)]


def order(fence: int) -> Order:
    return Order(1, fence, f"job-{fence}", "", "", [], [], {}, 0)


@asynccontextmanager
async def connect_agent(world: World, pipe: Pipe) -> AsyncIterator[AgentConnection]:
    host = world.things.hosts["web-1"].host_id
    actor = Actor("", "", Level.AGENT, "agent", host_id=host)
    link = AgentConnection(world.runtime, actor, pipe.send, pipe.send_messages)
    yield link
    link.cancel_tasks()


async def turns() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_an_order_leaves_before_the_loop_turns(world: World) -> None:
    pipe = Pipe()
    async with connect_agent(world, pipe) as link:
        link.send_orders([order(1)])
        assert pipe.said == [[1]]
        link.push(Cancel(1))
        link.send_orders([order(2), order(3)])
        assert pipe.said == [[1], [1, 2, 3]]
        await turns()
        assert pipe.said == [[1], [1, 2, 3]]


async def test_no_order_overtakes_earlier_messages(world: World) -> None:
    """The agent reads nothing for a while: messages wait in their order."""
    pipe = Pipe()
    async with connect_agent(world, pipe) as link:
        await turns()
        pipe.is_free = False
        link.send_orders([order(1)])
        await turns()
        pipe.is_free = True
        link.send_orders([order(2)])
        link.send_orders([order(3)])
        assert not pipe.said
        pipe.may_go.set()
        await turns()
        assert pipe.said == [[1], [2, 3]]


async def test_a_closing_connection_sends_queued_messages_then_its_reason(world: World) -> None:
    pipe = Pipe()
    pipe.may_go.set()
    async with connect_agent(world, pipe) as link:
        await turns()
        link.close(4409, "another took over")
        link.send_orders([order(1)])
        assert not pipe.said
        await until(lambda: link.is_ended)
        assert pipe.said == [[1]] and isinstance(link.fault, CloseConnection)


async def test_an_order_that_cannot_be_written_ends_its_link_alone(world: World) -> None:
    pipe = Pipe()
    async with connect_agent(world, pipe) as link:
        await turns()
        broken = order(1)
        broken.filename = "\ud800"
        link.send_orders([broken])
        await until(lambda: link.is_ended)
        assert isinstance(link.fault, UnicodeEncodeError) and not pipe.said
