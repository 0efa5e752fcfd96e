"""A server that stops reports it to load balancers, moves its agents, and answers what has
arrived."""

import asyncio
import signal
import socket
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from unittest.mock import Mock

import pytest

from belvedere.base.errors import Refused
from belvedere.protocol import Reconnect
from belvedere.server.drain import state, steps
from belvedere.server.drain.state import DrainState
from belvedere.server.drain.steps import Shutdown
from belvedere.server.http import responses
from belvedere.server.main import build_server
from belvedere.server.runtime import ServerRuntime
from contract.client import Client
from contract.running import create, show
from contract.sse import Stream
from contract.wire import Socket
from contract.world import World

only_sqlite = pytest.mark.parametrize("engine", ["sqlite"], indirect=True)


class Seconds:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def drain_after(times: int, interval_s: float = 2.0) -> tuple[DrainState, Seconds]:
    clock = Seconds()
    drain = DrainState(clock)
    for number in range(times):
        clock.now = number * interval_s
        drain.record_check("192.0.2.1")
    return drain, clock


def test_a_balancer_is_expected_until_it_has_seen_refusals() -> None:
    """A balancer is expected to send requests until it has seen three refusals."""
    drain, clock = drain_after(2)
    drain.is_draining = True
    for _ in range(state.FAILURES):
        assert drain.is_expected()
        clock.now += 0.2
        drain.record_check("192.0.2.1")
    assert not drain.is_expected()


@pytest.mark.parametrize("times", [0, 1])
def test_without_regular_health_checks_the_server_does_not_wait(times: int) -> None:
    drain, _ = drain_after(times)
    drain.is_draining = True
    assert not drain.is_expected()


def test_a_balancer_that_has_gone_is_not_waited_for() -> None:
    drain, clock = drain_after(5)
    drain.is_draining = True
    assert drain.is_expected()
    clock.now += 3 * 2.0 + state.GONE_S
    assert not drain.is_expected()


def test_a_monitor_that_checks_every_minute_is_not_waited_for() -> None:
    drain, _ = drain_after(5, interval_s=60.0)
    drain.is_draining = True
    assert not drain.is_expected()


def test_single_checks_of_others_do_not_replace_a_balancer() -> None:
    drain, _ = drain_after(2)
    for number in range(2 * state.MAX_BALANCERS):
        drain.record_check(f"198.51.100.{number}")
    drain.is_draining = True
    assert drain.is_expected()


@only_sqlite
async def test_an_unread_log_stream_does_not_keep_the_process_alive(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocked, exits = threading.Event(), list[int]()
    monkeypatch.setattr(steps.log, "error", lambda *_: blocked.wait(60))
    _, server = build_server(world.runtime)
    try:
        Shutdown(world.runtime, server, (), exits.append)._give_up(1.0)
    finally:
        blocked.set()
    assert exits == [1]


def test_each_balancer_is_waited_for() -> None:
    drain, _ = drain_after(2)
    for _ in range(2):
        drain.record_check("192.0.2.2")
    drain.is_draining = True
    for _ in range(state.FAILURES):
        drain.record_check("192.0.2.2")
    assert drain.is_expected()


def test_the_number_of_remembered_addresses_is_limited() -> None:
    drain, clock = drain_after(0)
    for number in range(2 * state.MAX_BALANCERS):
        for _ in range(2):
            clock.now += 1
            drain.record_check(f"198.51.100.{number}")
    assert len(drain._balancers) == state.MAX_BALANCERS
    assert "198.51.100.0" not in drain._balancers


# Over HTTP.


async def test_readiness_is_refused_and_health_is_not(world: World) -> None:
    anonymous = Client(world.app)
    assert (await anonymous.get("/-/ready")).status == 200
    world.runtime.drain.is_draining = True
    response = await anonymous.get("/-/ready")
    assert (response.status, response.json["code"]) == (503, "stopping")
    assert (await anonymous.get("/-/health")).status == 200


class Running:
    """The server as `belvedere server` runs it, and its steps to the end."""

    def __init__(self, runtime: ServerRuntime) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.listener.setblocking(False)
        _, self.server = build_server(runtime)
        self.exits: list[int] = []
        self.work = asyncio.create_task(asyncio.Event().wait())
        self.shutdown = Shutdown(runtime, self.server, [self.work], self.exits.append)  # type: ignore[list-item]
        self.serving = asyncio.create_task(self.server.serve([self.listener]))

    async def until_stopped(self) -> None:
        async with asyncio.timeout(20):
            await self.serving


@asynccontextmanager
async def running(runtime: ServerRuntime) -> AsyncIterator[tuple[Running, Socket]]:
    server = Running(runtime)
    await server.server.until_started(server.serving)
    try:
        yield server, Socket(server.listener.getsockname()[1])
    finally:
        server.work.cancel()
        server.shutdown.close()
        server.server.force_exit = True
        server.server.stop_within(0)
        await server.serving


@only_sqlite
@pytest.mark.parametrize("is_plain", [False, True], ids=["own", "library"])
async def test_a_request_that_is_on_its_way_is_answered(
    runtime: ServerRuntime, is_plain: bool
) -> None:
    runtime.settings.plain_http = is_plain
    async with running(runtime) as (server, client):
        assert "connection" not in (await client.request("GET", "/-/health")).headers
        server.shutdown.on_signal(signal.SIGTERM)
        response = await client.request("GET", "/-/health")
        assert (response.status, response.headers["connection"]) == (200, "close")
        await server.until_stopped()
        assert server.work.cancelled()
    assert server.exits == []


@only_sqlite
async def test_an_idle_connection_is_not_closed_under_a_request(runtime: ServerRuntime) -> None:
    """The listener is closed already when the request is sent."""
    async with running(runtime) as (server, client):
        await client.request("GET", "/-/health")
        server.shutdown.on_signal(signal.SIGTERM)
        async with asyncio.timeout(10):
            while server.listener.fileno() >= 0:
                await asyncio.sleep(0)
        assert (await client.request("GET", "/-/health")).status == 200
        await server.until_stopped()


@only_sqlite
async def test_a_stopping_server_serves_until_the_balancer_has_noticed(
    runtime: ServerRuntime,
) -> None:
    async with running(runtime) as (server, client):
        for _ in range(2):
            assert (await client.request("GET", "/-/ready")).status == 200
        server.shutdown.on_signal(signal.SIGTERM)
        for count in range(state.FAILURES):
            # Each on its own connection, because each response closes it.
            await client.hang_up()
            assert (await client.request("GET", "/-/ready")).status == 503, count
        await server.until_stopped()


@only_sqlite
async def test_a_second_signal_ends_it_at_once(
    runtime: ServerRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(runtime) as (server, _):
        server.shutdown.on_signal(signal.SIGTERM)
        # A terminal and make send the same signal twice.
        server.shutdown.on_signal(signal.SIGINT)
        assert server.exits == []
        monkeypatch.setattr(steps, "REPEATED_S", -1.0)
        server.shutdown.on_signal(signal.SIGTERM)
        assert server.exits == [128 + signal.SIGTERM]
        await server.until_stopped()


@only_sqlite
async def test_the_server_exits_although_a_request_hangs(
    runtime: ServerRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime.settings.drain = 0
    monkeypatch.setattr(steps, "CLOSE_S", 0.01)
    async with running(runtime) as (server, _):
        server.shutdown.on_signal(signal.SIGTERM)
        async with asyncio.timeout(10):
            while not server.exits:
                await asyncio.sleep(0.01)
        assert server.exits == [1]
        await server.until_stopped()


@only_sqlite
async def test_a_stream_ends_with_its_cursor(world: World, ada: Client) -> None:
    async with Stream(ada, "/-/events") as stream:
        first = await stream.next()
        assert first is not None and first.id
        job = await create(ada, await world.task())
        created = await stream.until("job.created")
        world.runtime.stopping.set()
        while (event := await stream.next()) is not None:
            last = event
        assert last.id == created.id or not last.kind
    world.runtime.stopping.clear()
    later = await create(ada, await world.task("other"))
    async with Stream(ada, "/-/events", {"last-event-id": created.id}) as stream:
        event = await stream.until("job.created")
        assert event.data["object_id"] == later["id"] != job["id"]


async def test_a_download_is_not_cut() -> None:
    async def parts() -> AsyncIterator[bytes]:
        for _ in range(3):
            await asyncio.sleep(0)
            yield b"part "

    bodies: list[bytes] = []

    async def send(message: dict[str, object]) -> None:
        bodies.append(message["body"])  # type: ignore[arg-type]

    async def receive() -> dict[str, str]:
        await asyncio.Event().wait()
        return {}

    await responses.stream(parts(), receive, send)  # type: ignore[arg-type]
    assert b"".join(bodies) == b"part " * 3


@only_sqlite
async def test_a_server_without_requests_sets_no_timer(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """uvicorn itself wakes up ten times a second."""
    _, server = build_server(world.runtime)
    loop = asyncio.get_running_loop()
    timers = Mock(side_effect=loop.call_at)
    with monkeypatch.context() as patch:
        patch.setattr(loop, "call_at", timers)
        running = asyncio.create_task(server.main_loop())
        for _ in range(3):
            await asyncio.sleep(0)
    assert not running.done()
    server.stop_within(0)
    await running
    timers.assert_not_called()


# Agents.


def shutdown_of(world: World, **settings: str) -> Shutdown:
    for name, value in settings.items():
        setattr(world.runtime.settings, name, value)
    _, server = build_server(world.runtime)
    return Shutdown(world.runtime, server, ())


async def test_agents_are_asked_to_connect_elsewhere(world: World) -> None:
    shutdown = shutdown_of(world, other_servers="https://b.example.org/, https://b.example.org")
    async with world.agent(moves=True) as agent:
        shutdown.on_signal(signal.SIGTERM)
        hint = await agent.hear(Reconnect)
    shutdown.close()
    assert hint.server == "https://b.example.org"
    # A single agent need not wait.
    assert hint.after_ms == 0
    async with asyncio.timeout(10):
        await world.runtime.stopping.wait()


async def test_a_server_that_stops_gives_no_orders(world: World, ada: Client) -> None:
    """Agents of earlier versions get no message; their work waits for the next connection."""
    shutdown, task = shutdown_of(world), await world.task()
    async with world.agent():
        shutdown.on_signal(signal.SIGTERM)
        async with asyncio.timeout(10):
            await world.runtime.stopping.wait()
        shutdown.close()
        job = await create(ada, task)
        await world.runtime.db.write(world.runtime.agents.claim_for_signalled_hosts)
        assert (await show(ada, job["id"]))["lifecycle"] == "ready"
    second = world.agent()
    await second.connect()
    assert await second.hangs_up() == 4503


@pytest.mark.parametrize("text", ["b.example.org", "ftp://b.example.org", "https://"])
def test_an_address_that_agents_cannot_use_is_refused(text: str) -> None:
    with pytest.raises(Refused, match="BELVEDERE_OTHER_SERVERS"):
        steps.other_servers(text)
