"""What one connected agent of many costs the server: counted work, no times."""

import asyncio
import sys
import weakref
from typing import Any

import pytest

from belvedere.base import websocket_frames
from belvedere.db import Tx
from belvedere.db.signals import checks_changed, jobs_canceled
from belvedere.hosts import presence
from belvedere.jobs.lifecycle import claim
from belvedere.monitors import housekeeping, watch_changes
from belvedere.monitors.agent_config import ListPosition
from belvedere.protocol import Hello
from belvedere.server.agents import connection, endpoint, handshakes, message_limits, queries
from belvedere.server.agents.connection import AgentConnection
from belvedere.server.agents.handshakes import Handshakes
from belvedere.server.agents.monitor_sync import MonitorSync
from belvedere.server.background import loops
from contract.fakeagent import hello
from contract.world import World
from security.rawagent import stage, until
from statements import RecordingTx

MAX_READS_PER_HELLO = 6
# Reads and writes.
STATEMENTS_OF_CONNECTED_HOSTS = (2, 0)
STATEMENTS_OF_RETURNED_HOSTS = (5, 5)
# Python functions for a heartbeat and a PING that arrive together.
MAX_CALLS_PER_HEARTBEAT = 12
BEAT = b'[{"live":[],"watch":-1,"disk":"","kind":"beat"}]'


class CountingTx(RecordingTx):
    """Also counts the calls that write."""

    def __init__(self, tx: Tx) -> None:
        super().__init__(tx)
        self.writes = 0

    def __getattr__(self, name: str) -> Any:
        self.writes += name in ("execute", "execute_many", "update_many")
        return super().__getattr__(name)


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_an_idle_connection_has_no_task(world: World) -> None:
    """None waits to read, to send or for silence."""
    before = asyncio.all_tasks()
    async with stage(world) as ground:
        await ground.session()
        await until(lambda: len(world.runtime.agents) == 1)
        await until(lambda: not ground.server.server_state.tasks)
        server = asyncio.all_tasks() - before
        names = [str(task.get_coro()) for task in server]
        assert not [name for name in names if "AgentWebSocket" in name or "agents" in name]


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_a_connection_does_not_keep_its_hello_in_memory(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    hellos: list[weakref.ref[Hello]] = []

    class FollowedHello(Hello):
        def __post_init__(self) -> None:
            hellos.append(weakref.ref(self))

    monkeypatch.setattr(endpoint, "Hello", FollowedHello)
    async with stage(world) as ground:
        await ground.session()
        await until(lambda: len(world.runtime.agents) == 1)
        await until(lambda: [hello() for hello in hellos] == [None])


async def test_a_repeated_heartbeat_is_not_read_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with world.agent() as agent:
        assert agent.welcome is not None
        link: Any = world.runtime.agents.for_host(agent.welcome.host_id)
        await until(lambda: not link.monitor_sync._is_sending)
        decoded: list[str] = []
        decode = message_limits.messages_in

        def count(frame: str) -> Any:
            decoded.append(frame)
            return decode(frame)

        monkeypatch.setattr(connection, "messages_in", count)
        beat = '[{"live":[],"watch":-1,"disk":"","kind":"beat"}]'
        for _ in range(5):
            link.is_heard = False
            link.receive(beat)
        assert len(decoded) == 1
        # Another heartbeat is read, and one after something has changed.
        link.receive(beat.replace('""', '"The disk is full."'))
        link.receive(beat)
        assert len(decoded) == 3


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_a_repeated_heartbeat_takes_few_calls(world: World) -> None:
    async with stage(world) as ground:
        agent, wire = await ground.session()
        host_id = world.things.hosts["web-1"].host_id
        link: Any = world.runtime.agents.for_host(host_id)
        await until(lambda: not link.monitor_sync._is_sending)
        beat = websocket_frames.pack(websocket_frames.TEXT, BEAT, masked=True)
        ping = websocket_frames.pack(websocket_frames.PING, b"", masked=True)
        wire.data_received(beat)
        link.is_heard, link.last_frame_at = False, 0.0
        calls: list[str] = []

        def count(frame: Any, kind: str, _: object) -> None:
            if kind == "call":
                calls.append(frame.f_code.co_qualname)

        sys.setprofile(count)
        try:
            wire.data_received(beat + ping)
        finally:
            sys.setprofile(None)
        assert len(calls) <= MAX_CALLS_PER_HEARTBEAT, calls
        assert link.is_heard and link.last_frame_at > 0
        wire.shutdown()
        assert websocket_frames.EMPTY_PONG in await agent.rest()


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_a_heartbeat_is_read_where_it_cannot_be_skipped(world: World) -> None:
    """After the beginning of a frame, and while messages wait, its bytes are not a heartbeat."""
    async with stage(world) as ground:
        _, wire = await ground.session()
        skipped: list[bytes] = []
        frames: list[str | bytes] = []

        def skip(text: bytes) -> bool:
            skipped.append(text)
            return True

        wire.deliver_to(frames.append, skip)
        beat = websocket_frames.pack(websocket_frames.TEXT, BEAT, masked=True)
        longer = websocket_frames.pack(websocket_frames.BINARY, beat, masked=True)
        wire.data_received(longer[: -len(beat)])
        # It is the payload of a frame: unmasked, it is something else.
        wire.data_received(beat)
        assert (len(frames), skipped) == (1, [])
        wire.data_received(beat)
        assert (len(frames), skipped) == (1, [BEAT])
        wire._inbox.append({"type": "websocket.receive", "text": "earlier"})
        wire.data_received(beat)
        assert (len(wire._inbox), skipped) == (2, [BEAT])


async def test_a_list_that_was_sent_makes_the_next_heartbeat_count(world: World) -> None:
    """An agent that keeps naming an older list has lost a message."""
    async with world.agent() as agent:
        assert agent.welcome is not None
        link: Any = world.runtime.agents.for_host(agent.welcome.host_id)
        sync = link.monitor_sync
        await until(lambda: not sync._is_sending)
        beat = '[{"live":[],"watch":-1,"disk":"","kind":"beat"}]'
        link.receive(beat)
        assert sync.agreed_position is not None
        sync._position = ListPosition(7)
        assert sync.agreed_position is None
        link.receive(beat)
        assert sync._behind is not None


@pytest.mark.parametrize("hosts", [1, 2])
async def test_heartbeats_of_any_number_of_agents_take_two_statements(
    world: World, hosts: int
) -> None:
    def record(tx: Tx) -> tuple[int, int]:
        rows = tx.rows("select id, session from hosts order by id limit ?", hosts)
        recording: Any = CountingTx(tx)
        beats = [(host_id, session, tx.now) for host_id, session in rows]
        assert presence.record_heartbeats(recording, beats) == []
        return len(recording.statements), recording.writes

    assert await world.runtime.db.write(record) == (1, 1)


async def test_a_hello_takes_few_statements(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def greet(tx: Tx) -> int:
        recording: Any = RecordingTx(tx)
        host_id = world.things.hosts["web-1"].host_id
        queries.open_session(recording, host_id, hello(greeting=9), "127.0.0.1")
        return len(recording.statements)

    assert await world.runtime.db.write(greet) <= MAX_READS_PER_HELLO


@pytest.mark.parametrize("count", [1, 2])
async def test_hosts_that_connect_together_share_their_statements(world: World, count: int) -> None:
    """Their monitors are created before: almost all hosts have connected at some time, and were up
    until the server was restarted."""
    names = ["web-1", "web-2"][:count]
    hosts = [(world.actors.acme.id, world.things.hosts[name].host_id) for name in names]

    def connect(tx: Tx) -> tuple[int, int]:
        tx.execute("update hosts set connected_at = ?, gone_at = null", tx.now)
        recording: Any = CountingTx(tx)
        housekeeping.on_hosts_connected(recording, hosts)
        return len(recording.statements), recording.writes

    await world.runtime.db.write(connect)
    assert await world.runtime.db.write(connect) == STATEMENTS_OF_CONNECTED_HOSTS
    await world.runtime.db.write(
        lambda tx: tx.execute("update monitors set state = 'updates_stopped' where type = 'host'")
    )
    assert await world.runtime.db.write(connect) == STATEMENTS_OF_RETURNED_HOSTS


async def test_lists_are_compared_only_after_a_change(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[int] = []
    numbers = watch_changes.numbers

    def count(tx: Tx, host_ids: Any) -> dict[str, int]:
        calls.append(len(host_ids))
        return numbers(tx, host_ids)

    monkeypatch.setattr(watch_changes, "numbers", count)
    async with world.agent() as agent:
        assert agent.welcome is not None
        link: Any = world.runtime.agents.for_host(agent.welcome.host_id)
        await until(lambda: not link.monitor_sync._is_sending)
        for _ in range(5):
            await loops.send_monitor_changes(world.runtime)
        assert len(calls) == 1
        await world.runtime.db.write(watch_changes.record_all, agent.welcome.host_id)
        await loops.send_monitor_changes(world.runtime)
        assert len(calls) == 2
        await until(lambda: not link.monitor_sync._is_sending)
        await loops.send_monitor_changes(world.runtime)
        async with world.agent("web-2"):
            # Its list may have changed while its session was being opened.
            number = len(calls)
            await loops.send_monitor_changes(world.runtime)
            assert len(calls) == number + 1


@pytest.mark.parametrize("has_monitors", [False, True])
async def test_a_host_without_monitors_starts_no_task_for_them(
    world: World, monkeypatch: pytest.MonkeyPatch, has_monitors: bool
) -> None:
    signalled: list[MonitorSync] = []
    monkeypatch.setattr(MonitorSync, "on_signal", lambda self, _=None: signalled.append(self))
    host_id = world.things.hosts["web-1"].host_id
    await world.runtime.db.write(lambda tx: tx.execute("delete from watches"))
    if has_monitors:
        await world.runtime.db.write(watch_changes.record_all, host_id)
    signalled.clear()
    async with world.agent() as agent:
        assert agent.welcome is not None
        assert bool(signalled) == has_monitors


async def test_signals_go_to_the_agent_of_their_host(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No agent has listeners of its own, and none gets the signal of another."""
    signals = world.runtime.signals
    before = dict(signals._listeners)
    async with world.agent() as agent, world.agent("web-2"):
        assert agent.welcome is not None
        assert signals._listeners.keys() == before.keys()
        canceled: list[str] = []
        changed: list[str] = []
        monkeypatch.setattr(
            AgentConnection, "on_signal", lambda self, _: canceled.append(self.host_id)
        )
        monkeypatch.setattr(
            MonitorSync, "on_signal", lambda self, _: changed.append(self._connection.host_id)
        )
        host_id = agent.welcome.host_id
        signals.emit({jobs_canceled(host_id)})
        assert (canceled, changed) == ([host_id], [])
        signals.emit({checks_changed(host_id), jobs_canceled(None)})
        assert (canceled, changed) == ([host_id], [host_id])


async def test_sessions_that_follow_each_other_are_opened_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # So long that a busy machine does not end the group before the others have come.
    monkeypatch.setattr(handshakes, "GROUP_S", 1.0)
    limits = Handshakes()
    first = asyncio.create_task(limits.group())
    await asyncio.sleep(0)
    assert first.done()
    others = [asyncio.create_task(limits.group()) for _ in range(4)]
    await asyncio.sleep(0)
    assert not any(task.done() for task in others)
    others[0].cancel()
    await others[1]
    assert all(task.done() for task in others)
    assert [task.cancelled() for task in others] == [True, False, False, False]


async def test_hellos_wait_for_each_other_only_if_no_other_server_writes(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On PostgreSQL, each session has a transaction of its own in any case."""
    waits: list[None] = []
    group = world.runtime.handshakes.group

    async def record() -> None:
        waits.append(None)
        await group()

    monkeypatch.setattr(world.runtime.handshakes, "group", record)
    async with world.agent():
        pass
    assert len(waits) == (0 if world.runtime.db.dialect.is_shared else 1)


@pytest.mark.parametrize("count", [1, 2])
async def test_hosts_without_ready_jobs_share_one_statement(world: World, count: int) -> None:
    host_ids = [world.things.hosts[name].host_id for name in ("web-1", "web-2")][:count]

    def signal(tx: Tx) -> tuple[int, int]:
        recording: Any = RecordingTx(tx)
        claim.signal_hosts(recording, host_ids)
        return len(recording.statements), len(tx.signals)

    assert await world.runtime.db.write(signal) == (1, 0)


async def test_a_credential_is_not_kept_when_it_is_not_used(world: World) -> None:
    """Thousands of agents sign in once and stay connected."""
    credentials = world.runtime.credentials
    token = world.things.hosts["web-1"].token
    await credentials.actor(token, world.runtime.clock())
    assert token in credentials._actors
    await loops.record_uses(world.runtime)
    assert not credentials._actors


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_agents_wait_for_each_other_instead_of_being_refused(world: World) -> None:
    handshakes = world.runtime.handshakes = Handshakes()
    handshakes._accepted = asyncio.Semaphore(1)
    first, second = (world.things.hosts[name].token for name in ("web-1", "web-2"))
    async with stage(world) as ground:
        early = ground.agent(first)
        assert b" 101 " in await early.connect()
        waiting = asyncio.create_task(ground.agent(second).connect())
        await until(lambda: handshakes._hosts.total() == 2)
        assert not waiting.done()
        early.close()
        assert b" 101 " in await waiting


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_silent_connections_do_not_take_the_places_of_other_organizations(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handshakes, "MAX_SILENT", 1)
    limits = world.runtime.handshakes = Handshakes()
    limits._accepted = asyncio.Semaphore(2)
    first, second, other = (world.things.hosts[name].token for name in ("web-1", "web-2", "box-1"))
    async with stage(world) as ground:
        silent = ground.agent(first)
        assert b" 101 " in await silent.connect()
        waiting = asyncio.create_task(ground.agent(second).connect())
        await until(lambda: limits._hosts.total() == 2)
        assert b" 101 " in await ground.agent(other).connect()
        assert not waiting.done()
        # The place is free as soon as the hello has arrived.
        limits.opening = asyncio.Semaphore(0)
        await silent.send_messages(hello())
        await until(lambda: limits.opening._waiters)
        limits._accepted.release()
        assert b" 101 " in await waiting


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_no_session_is_opened_for_an_agent_that_has_disconnected(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It waited too long for its turn and connects again: its first session would delay others."""
    handshakes = world.runtime.handshakes = Handshakes()
    handshakes.opening = asyncio.Semaphore(0)
    sessions: list[str] = []
    open_session = queries.open_session

    def count(tx: Tx, host_id: str, *arguments: Any) -> Any:
        sessions.append(host_id)
        return open_session(tx, host_id, *arguments)

    monkeypatch.setattr(queries, "open_session", count)
    async with stage(world) as ground:
        early = ground.agent(world.things.hosts["web-1"].token)
        await early.connect()
        await early.send_messages(hello())
        await until(lambda: handshakes.opening._waiters)
        early.close()
        await until(lambda: not ground.wires())
        handshakes.opening.release()
        await until(lambda: not handshakes._hosts.total())
    assert sessions == []
