"""What is sent to an agent when monitors of its host change."""

import asyncio
import json
from typing import Any

import pytest

from belvedere.monitors import agent_config, store, watch_changes
from belvedere.monitors.config import new_rows
from belvedere.monitors.model import MonitorType
from belvedere.protocol import Heartbeat, MonitorConfig, MonitorConfigRequest
from belvedere.server.agents import monitor_sync
from contract.client import Client
from contract.fakeagent import FakeAgent
from contract.world import World


async def make(world: World, ada: Client, name: str = "ssh") -> str:
    body = {"type": "tcp", "name": name, "hostname": "web-1", "target": "127.0.0.1", "port": 22}
    response = await ada.post("/acme/monitor", body)
    assert response.status == 200, response.body
    return str(response.json["id"])


async def fill(world: World, count: int) -> None:
    host = world.things.hosts["web-1"].host_id

    def add(tx: Any) -> None:
        for _ in range(count):
            row = new_rows.new_row(world.actors.acme.id, MonitorType.TCP, host, tx.now)
            row.config = '{"target": "127.0.0.1", "port": 22, "timeout": 1000}'
            store.insert(tx, row)
            watch_changes.record(tx, host, row.id)

    await world.runtime.db.write(add)


class Listener:
    """An agent's connection whose messages about monitors are counted."""

    def __init__(self, agent: FakeAgent) -> None:
        self._agent = agent
        self.frames: list[str] = []
        listen = agent._listen

        async def count_frames(message: dict[str, Any]) -> None:
            if '"kind":"watch"' in (message.get("text") or ""):
                self.frames.append(message["text"])
            await listen(message)

        agent._listen = count_frames  # type: ignore[method-assign]

    async def hear(self) -> MonitorConfig:
        return await self._agent.hear(MonitorConfig)

    async def list(self) -> set[str]:
        result, watch = set(), await self.hear()
        result |= {monitor.id for monitor in watch.monitors}
        while watch.more:
            watch = await self.hear()
            result |= {monitor.id for monitor in watch.monitors}
        return result


@pytest.mark.parametrize("count", [10, 1_000])
async def test_a_new_monitor_costs_the_same_however_many_there_are(
    world: World, ada: Client, count: int
) -> None:
    await fill(world, count)
    agent = world.agent(takes_changes=True)
    listener = Listener(agent)
    async with agent:
        assert len(await listener.list()) == count
        assert max(map(len, listener.frames)) < 2 * agent_config.MAX_BYTES
        listener.frames.clear()
        monitor_id = await make(world, ada)
        monitor_config = await listener.hear()
        assert [monitor.id for monitor in monitor_config.monitors] == [monitor_id]
        assert sum(map(len, listener.frames)) < 600


async def test_changes_of_a_short_time_leave_in_one_frame(
    world: World, ada: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(monitor_sync, "GATHER_S", 0.5)
    await make(world, ada, "first")
    agent = world.agent(takes_changes=True)
    listener = Listener(agent)
    async with agent:
        await listener.hear()
        begin = asyncio.get_running_loop().time()
        texts = {await make(world, ada, f"m{n}") for n in range(30)}
        actual_texts: set[str] = set()
        while actual_texts != texts:
            actual_texts |= {monitor.id for monitor in (await listener.hear()).monitors}
        elapsed_s = asyncio.get_running_loop().time() - begin
        # The list of the beginning, the first change, and one for each time that has passed.
        assert len(listener.frames) <= 3 + elapsed_s / monitor_sync.GATHER_S


async def test_an_agent_that_misses_something_gets_the_complete_list(
    world: World, ada: Client
) -> None:
    await fill(world, 3)
    async with world.agent(takes_changes=True) as agent:
        first = await agent.hear(MonitorConfig)
        await agent.send_messages(MonitorConfigRequest(-1))
        again = await agent.hear(MonitorConfig)
        assert again == first and again.since is None


async def test_two_heartbeats_with_an_old_list_are_corrected(world: World, ada: Client) -> None:
    await fill(world, 3)
    async with world.agent(takes_changes=True) as agent:
        first = await agent.hear(MonitorConfig)
        # A heartbeat counts only when everything was sent; the agent cannot see that from outside.
        link: Any = world.runtime.agents.for_host(world.things.hosts["web-1"].host_id)
        while link is None or link.monitor_sync._is_sending:
            await asyncio.sleep(0)
        await agent.send_messages(Heartbeat([], first.number))
        await agent.send_messages(Heartbeat([], first.number - 1))
        await agent.send_messages(Heartbeat([], first.number))
        await agent.send_messages(Heartbeat([], first.number - 1))
        await agent.send_messages(Heartbeat([], first.number - 1))
        again = await agent.hear(MonitorConfig)
        assert (again.number, again.since) == (first.number, None)
        assert not agent.has_heard(MonitorConfig)


async def test_requests_for_complete_lists_are_limited(world: World, ada: Client) -> None:
    await fill(world, 3)
    async with world.agent(takes_changes=True) as agent:
        for _ in range(monitor_sync.MAX_LISTS + 1):
            await agent.send_messages(MonitorConfigRequest(-1))
        assert await agent.hangs_up() == 4400


async def test_an_agent_of_the_previous_version_gets_complete_lists(
    world: World, ada: Client
) -> None:
    await fill(world, agent_config.MAX_MONITORS + 1)
    agent = world.agent()
    listener = Listener(agent)
    async with agent:
        first = await listener.hear()
        assert len(first.monitors) == agent_config.MAX_MONITORS + 1
        monitor_id = await make(world, ada)
        second = await listener.hear()
        assert len(second.monitors) == agent_config.MAX_MONITORS + 2
        assert monitor_id in {monitor.id for monitor in second.monitors}
        # It reads only these fields of this message.
        for frame in listener.frames:
            (message,) = json.loads(frame)
            assert (message["since"], message["more"], message["part"]) == (None, False, 0)


async def test_a_monitor_that_appears_and_disappears_is_followed(world: World, ada: Client) -> None:
    monitor_id = await make(world, ada, "kept")
    async with world.agent(takes_changes=True) as agent:
        assert [monitor.id for monitor in (await agent.hear(MonitorConfig)).monitors] == [
            monitor_id
        ]
        new_monitor_id = await make(world, ada)
        added = await agent.hear(MonitorConfig)
        assert [monitor.id for monitor in added.monitors] == [new_monitor_id]
        await ada.delete(f"/acme/monitor/{new_monitor_id}")
        gone = await agent.hear(MonitorConfig)
        assert (gone.since, gone.removed, gone.monitors) == (added.number, [new_monitor_id], [])
