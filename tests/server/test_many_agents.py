"""What one connected agent of many costs the server: counted work, no times."""

import asyncio
from typing import Any

import pytest

from belvedere.db import Tx
from belvedere.hosts import presence
from belvedere.monitors import watch_changes
from belvedere.monitors.agent_config import ListPosition
from belvedere.server.agents import connection, message_limits, queries
from belvedere.server.agents.handshakes import Handshakes
from belvedere.server.background import loops
from contract.fakeagent import hello
from contract.world import World
from security.rawagent import stage, until
from statements import RecordingTx

MAX_READS_PER_HELLO = 10


class CountingTx(RecordingTx):
    """Also counts the calls that write."""

    def __init__(self, tx: Tx) -> None:
        super().__init__(tx)
        self.writes = 0

    def __getattr__(self, name: str) -> Any:
        self.writes += name in ("execute", "execute_many", "update_many")
        return super().__getattr__(name)


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_an_idle_connection_has_two_tasks(world: World) -> None:
    """That of the request, and the one that reads: none waits to send or for silence."""
    before = asyncio.all_tasks()
    async with stage(world) as ground:
        await ground.session()
        await until(lambda: len(world.runtime.agents) == 1)
        server = asyncio.all_tasks() - before
        names = [str(task.get_coro()) for task in server]
        assert len([name for name in names if "AgentWebSocket" in name or "_read" in name]) == 2
        assert not [name for name in names if "_send_outbox" in name or "_watch" in name]


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
