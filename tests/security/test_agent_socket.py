"""The agents' WebSocket under attack: what one connection can make the server store or do."""

import asyncio
import json
from typing import Any

import pytest
from websockets.exceptions import InvalidStatus

from belvedere.agent.connection.websocket import connect
from belvedere.base import websocket_frames
from belvedere.server.agents import endpoint, handshakes
from belvedere.server.transport import agent_websocket as websocket
from belvedere.server.transport.agent_websocket import AgentWebSocket
from contract.fakeagent import hello
from contract.world import World
from security.rawagent import LONGEST_FRAME, RawAgents, stage, until
from server.listening import run_uvicorn

# SQLite alone: nothing here depends on the engine.
pytestmark = pytest.mark.parametrize("engine", ["sqlite"], indirect=True)

PING = websocket_frames.pack(websocket_frames.PING, b"x" * 125, masked=True)
# Far more than the system keeps for both ends of a local connection.
FLOOD = 32 << 20
MAX_BUFFERED = 1 << 20


@pytest.mark.parametrize("token", [None, "", "x", "bva_" + "x" * 43, "ada"])
async def test_no_connection_is_accepted_before_authentication(
    world: World, token: str | None
) -> None:
    async with stage(world) as ground:
        agent = ground.agent(world.actors.tokens.get(token or "", token))
        head = await agent.connect()
        status = 403 if token == "ada" else 401
        assert head.startswith(b"HTTP/1.1 %d " % status)
        assert json.loads(await agent.rest())["message"]
        await until(lambda: not ground.wires())
        assert len(world.runtime.agents) == 0


async def test_the_real_agent_reads_why_it_is_refused(world: World) -> None:
    """Agents of the previous version read the status and the message in the same way."""
    async with stage(world) as ground:
        with pytest.raises(InvalidStatus) as refusal:
            async with connect(
                f"ws://127.0.0.1:{ground.port}/-/agent",
                additional_headers={"Authorization": f"Bearer {world.actors.tokens['ada']}"},
                compression=None,
                max_size=1 << 20,
                ping_interval=10,
                ping_timeout=20,
                close_timeout=1,
            ):
                pass
        answer = refusal.value.response
        assert answer.status_code == 403 and b"enrol" in (answer.body or b"")


async def test_pings_of_a_peer_that_does_not_read_fill_no_memory(world: World) -> None:
    async with stage(world) as ground:
        agent, end = await ground.session()
        await agent.send(PING * (FLOOD // len(PING)))
        assert end._transport.get_write_buffer_size() < MAX_BUFFERED
        # When it reads again, the last PING is answered.
        reading = asyncio.create_task(agent.rest())
        await until(lambda: end._ping is None and end._full is None)
        end.shutdown()
        assert (await reading).count(b"x" * 125) > 0


async def test_nothing_is_answered_while_closing(world: World) -> None:
    async with stage(world) as ground:
        agent, end = await ground.session()
        host_id = world.things.hosts["web-1"].host_id
        link = world.runtime.agents.for_host(host_id)
        assert link is not None
        link.close(4400, "enough")
        await until(lambda: end._closing is not None)
        before = end._transport.get_write_buffer_size()
        await agent.send(PING * 1_000)
        await agent.frame(websocket_frames.CLOSE, b"")
        assert before < MAX_BUFFERED and b"x" * 125 not in await agent.rest()


async def _fill(ground: RawAgents, end: AgentWebSocket) -> None:
    """Send to the peer, which does not read, until the send buffer is full."""
    while end._full is None:
        end.send_now("x" * 65_536)
        await asyncio.sleep(0)


async def test_a_peer_that_does_not_read_is_aborted_after_a_deadline(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(websocket, "STALL_S", 0.05)
    monkeypatch.setattr(websocket, "MIN_RATE", 1 << 30)
    async with stage(world) as ground:
        _, end = await ground.session()
        await _fill(ground, end)
        await until(lambda: not ground.wires())
        await until(lambda: len(world.runtime.agents) == 0)


async def test_a_close_does_not_wait_for_a_peer_that_does_not_read(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(websocket, "CLOSE_S", 0.05)
    monkeypatch.setattr(endpoint, "REFUSAL_S", 0.05)
    async with stage(world) as ground:
        _, end = await ground.session()
        await _fill(ground, end)
        link = world.runtime.agents.for_host(world.things.hosts["web-1"].host_id)
        assert link is not None
        link.close(4400, "enough")
        await until(lambda: not ground.wires())


async def test_a_broken_frame_of_a_peer_that_does_not_read_ends_the_connection(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(websocket, "CLOSE_S", 0.05)
    async with stage(world) as ground:
        agent, end = await ground.session()
        await _fill(ground, end)
        await agent.send(websocket_frames.pack(websocket_frames.TEXT, b"no mask", masked=False))
        await until(lambda: not ground.wires())


async def test_empty_fragments_are_counted(world: World) -> None:
    async with stage(world) as ground:
        agent, end = await ground.session()
        first, empty = b"\x01\x80" + bytes(4), b"\x00\x80" + bytes(4)
        await agent.send(first + empty * (websocket_frames.MAX_FRAGMENTS + 1))
        await until(lambda: end._closing is not None)
        assert b"frames" in await agent.rest()


async def test_unauthenticated_connections_are_limited_by_address(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handshakes, "MAX_UNAUTHENTICATED_PER_ADDRESS", 3)
    await _is_limited(world, monkeypatch)


async def test_unauthenticated_connections_are_limited_overall(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handshakes, "MAX_UNAUTHENTICATED", 3)
    await _is_limited(world, monkeypatch)


async def _is_limited(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three wait for a slow database; the fourth is refused at once; then all get their answer."""
    slow = asyncio.Event()
    existing_actor = world.runtime.credentials.actor

    async def actor(token: str, now: int) -> Any:
        await slow.wait()
        return await existing_actor(token, now)

    monkeypatch.setattr(world.runtime.credentials, "actor", actor)
    token = world.things.hosts["web-1"].token
    async with stage(world) as ground:
        waiting = [asyncio.create_task(ground.agent(token).connect()) for _ in range(3)]
        await until(lambda: world.runtime.handshakes._addresses.total() == 3)
        assert b" 429 " in await ground.agent(token).connect()
        slow.set()
        assert all(b" 101 " in head for head in await asyncio.gather(*waiting))
        assert b" 101 " in await ground.agent(token).connect()


async def test_a_handshake_has_a_deadline(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    async def actor(token: str, now: int) -> Any:
        await asyncio.Event().wait()

    monkeypatch.setattr(world.runtime.credentials, "actor", actor)
    monkeypatch.setattr(endpoint, "HANDSHAKE_S", 0.05)
    async with stage(world) as ground:
        assert b" 503 " in await ground.agent("x").connect()
        await until(lambda: not ground.wires())


async def test_connections_without_a_hello_are_limited_and_end(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handshakes, "MAX_BEFORE_HELLO", 2)
    monkeypatch.setattr(websocket, "CLOSE_S", 0.05)
    token = world.things.hosts["web-1"].token
    async with stage(world) as ground:
        for _ in range(2):
            assert b" 101 " in await ground.agent(token).connect()
        assert b" 429 " in await ground.agent(token).connect()
        monkeypatch.setattr(endpoint, "HELLO_S", 0.05)
        other = ground.agent(world.things.hosts["web-2"].token)
        assert b" 101 " in await other.connect()
        assert b"4408" in await other.rest()


async def test_sessions_of_one_host_have_a_rate(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handshakes, "MAX_HELLOS_PER_MINUTE", 3)
    monkeypatch.setattr(websocket, "CLOSE_S", 0.05)
    world.runtime.handshakes = handshakes.Handshakes()
    async with stage(world) as ground:
        for _ in range(3):
            agent, _ = await ground.session()
            agent.close()
            await until(lambda: len(world.runtime.agents) == 0)
        late = ground.agent(world.things.hosts["web-1"].token)
        assert b" 101 " in await late.connect()
        await late.send_messages(hello())
        assert b"4429" in await late.rest()


class Sleeper:
    """An application that accepts and then reads nothing, or reads every frame at once."""

    def __init__(self, take: Any = None) -> None:
        self.take = take

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        scope["extensions"]["agent_socket"].deliver_to(self.take)
        await asyncio.Event().wait()


async def test_frames_that_wait_are_limited_in_bytes(world: World) -> None:
    options: dict[str, Any] = {"ws": AgentWebSocket, "ws_max_size": LONGEST_FRAME}
    async with run_uvicorn(Sleeper(), **options) as (port, server):
        ground = RawAgents(port, server, world)
        agent = ground.agent()
        assert b" 101 " in await agent.connect()
        [end] = ground.wires()
        flood = asyncio.create_task(
            agent.send(websocket_frames.pack(2, b"x" * (1 << 20), masked=True) * 40)
        )
        await until(lambda: end._pauses)
        assert end._inbox_bytes <= 3 * websocket.MAX_WAITING_BYTES and not flood.done()
        flood.cancel()
        agent.close()
        end._transport.abort()


async def test_one_connection_does_not_block_the_event_loop(world: World) -> None:
    """In one iteration of the loop only so many frames of one connection are handled."""
    number, most = 0, 0

    def take(_: str | bytes) -> None:
        nonlocal number
        number += 1

    options: dict[str, Any] = {"ws": AgentWebSocket, "ws_max_size": LONGEST_FRAME}
    async with run_uvicorn(Sleeper(take), **options) as (port, server):
        ground = RawAgents(port, server, world)
        agent = ground.agent()
        assert b" 101 " in await agent.connect()
        [end] = ground.wires()
        flood = asyncio.create_task(
            agent.send(websocket_frames.pack(1, b"[]", masked=True) * 20_000)
        )
        while number < 20_000:
            before = number
            await asyncio.sleep(0)
            most = max(most, number - before)
        await flood
        assert most <= 2 * websocket.MAX_FRAMES_PER_TURN
        agent.close()
        end._transport.abort()
