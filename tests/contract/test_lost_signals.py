"""All signals are lost: work still starts, at most two seconds later."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from belvedere.events import feed
from belvedere.jobs.api import wait
from belvedere.jobs.queries import details
from belvedere.protocol import Order
from belvedere.server.background import loops
from contract.client import Client
from contract.running import create, show
from contract.world import World

MAX_DELAY_S = 2.0


async def test_a_job_without_its_signal_starts_by_polling(world: World, uma: Client) -> None:
    task = await world.task()
    async with world.agent() as agent:
        [link] = world.runtime.agents.connections()
        link.is_closing = True
        job = await create(uma, task)
        link.is_closing = False
        assert not agent.has_heard(Order)
        await loops.signal_waiting_hosts(world.runtime)
        order = await agent.order()
        await agent.end(order)
    assert order.job_id == job["id"]
    assert (await show(uma, job["id"]))["lifecycle"] == "finished"


async def test_a_job_without_its_signal_starts_within_two_seconds(
    world: World, uma: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The worst case: the job is created right after a pass of the loop."""
    pauses = Pauses()
    asyncio_module = SimpleNamespace(sleep=pauses.hold, get_running_loop=asyncio.get_running_loop)
    monkeypatch.setattr(loops, "asyncio", asyncio_module)
    [polling] = [loop for loop in loops.LOOPS if loop.work is loops.signal_waiting_hosts]
    # The longest pause between two passes, whatever the time is now.
    assert 1.25 * polling.every_s <= MAX_DELAY_S
    task = await world.task()
    async with world.agent() as agent:
        [link] = world.runtime.agents.connections()
        running = asyncio.create_task(loops.run(polling, world.runtime))
        await pauses.pass_next()
        await pauses.wait_begun()
        link.is_closing = True
        job = await create(uma, task)
        link.is_closing = False
        pause_s = await pauses.pass_next()
        assert (await agent.order()).job_id == job["id"]
        running.cancel()
    assert pause_s <= MAX_DELAY_S


async def test_a_waiting_client_gets_the_end_within_two_seconds(
    world: World, uma: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The worst case: the job ends right after it was read."""
    pauses = Pauses()
    monkeypatch.setattr(wait._Signal, "wait", lambda _, within_s: pauses.hold(within_s))
    task = await world.task()
    async with world.agent() as agent:
        world.runtime.db.on_signals = None
        target = "/acme/job?wait_result=true&wait_timeout=300"
        waits = asyncio.create_task(uma.post(target, {"task": task}))
        order = await agent.order()
        await pauses.pass_next()
        await pauses.wait_begun()
        await agent.end(order)
        pause_s = await pauses.pass_next()
        async with asyncio.timeout(30):
            done = await waits
    assert (done.status, done.json["lifecycle"]) == (200, "finished")
    assert pause_s <= MAX_DELAY_S


class Pauses:
    """Waits of the server: each takes as long as the test wants, whatever its seconds."""

    def __init__(self) -> None:
        self._begun: asyncio.Queue[tuple[float, asyncio.Event]] = asyncio.Queue()
        self._current: tuple[float, asyncio.Event] | None = None

    async def hold(self, seconds: float) -> None:
        end = asyncio.Event()
        self._begun.put_nowait((seconds, end))
        await end.wait()

    async def wait_begun(self) -> None:
        async with asyncio.timeout(30):
            self._current = self._current or await self._begun.get()

    async def pass_next(self) -> float:
        """End the next wait; its seconds."""
        await self.wait_begun()
        assert self._current is not None
        (seconds, end), self._current = self._current, None
        end.set()
        return seconds


async def test_a_waiting_client_gets_the_end(
    world: World, uma: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked = _note_looks(monkeypatch)
    task = await world.task()
    async with world.agent() as agent:
        world.runtime.db.on_signals = None
        response = uma.post("/acme/job?wait_result=true", {"task": task})
        waits = asyncio.create_task(response)
        order = await agent.order()
        # Only another read can find the end.
        await looked.wait()
        await agent.end(order)
        async with asyncio.timeout(30):
            done = await waits
    assert (done.status, done.json["lifecycle"]) == (200, "finished")


def _note_looks(monkeypatch: pytest.MonkeyPatch) -> asyncio.Event:
    """Set once a waiter has read its job, which it does at once, and then often."""
    looked, loop, show = asyncio.Event(), asyncio.get_running_loop(), details.show

    def look(*args: Any) -> Any:
        loop.call_soon_threadsafe(looked.set)
        return show(*args)

    monkeypatch.setattr(details, "show", look)
    monkeypatch.setattr(wait, "FIRST_WAIT_S", 0.0)
    monkeypatch.setattr(wait, "POLL_S", 0.05)
    return looked


def test_waiting_code_polls_at_least_every_two_seconds() -> None:
    rounds = {loop.work: loop.every_s for loop in loops.LOOPS}
    assert max(rounds[loops.signal_waiting_hosts], feed.POLL_S, wait.POLL_S) <= MAX_DELAY_S
