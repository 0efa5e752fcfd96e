"""A blocked event loop is noticed, with the route that blocked it."""

import asyncio
import logging
import time
from typing import Any

import pytest

from belvedere.access.request import AnyRequest
from belvedere.rest.route import Route
from belvedere.server import loop_watchdog, operator_socket
from belvedere.server.doctor import environment
from belvedere.server.doctor.model import Finding, Installation
from belvedere.server.http.app import App
from belvedere.server.http.routing import Router
from contract.client import Client
from contract.world import World

# The engine does not matter here.
pytestmark = pytest.mark.parametrize("engine", ["sqlite"], indirect=True)


async def block(request: AnyRequest) -> str:
    await asyncio.sleep(0)
    time.sleep(loop_watchdog.SLOW_S * 2)  # noqa: ASYNC251 (this is the fault that is to be found)
    return "ok"


async def other(request: AnyRequest) -> str:
    return "ok"


def app_of(world: World) -> App:
    routes = [
        Route("GET", path, "anonymous", handler, "", style="plain")
        for path, handler in (("/block/{name}", block), ("/other", other))
    ]
    return App(world.runtime, Router(routes))


async def test_a_blocked_loop_is_reported_with_its_route(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    watchdog = world.runtime.watchdog
    client = Client(app_of(world))
    watchdog.start()
    try:
        with caplog.at_level(logging.WARNING, "belvedere.server"):
            blocking = asyncio.create_task(client.get("/block/x"))
            # Another request begins before the first one blocks.
            await asyncio.sleep(0)
            await client.get("/other")
            await blocking
            while watchdog.last is None or watchdog.last.route != "/block/{name}":
                await asyncio.sleep(loop_watchdog.INTERVAL_S)
    finally:
        watchdog.stop()
    assert watchdog.slow >= 1 and watchdog.longest_ms >= loop_watchdog.SLOW_S * 1_000
    assert "route=/block/{name}" in caplog.text
    response = (await world.client().get("/-/ready")).json["event_loop"]
    assert response["slow"] == watchdog.slow and response["last_route"] == "/block/{name}"


async def test_a_request_only_leaves_its_route(world: World) -> None:
    await Client(app_of(world)).get("/other")
    assert world.runtime.watchdog.route == "/other"
    assert (world.runtime.watchdog.slow, world.runtime.watchdog.last) == (0, None)


async def test_a_request_to_an_idle_server_is_watched_at_once(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without requests timer and thread pause for longer than this test may take."""
    monkeypatch.setattr(loop_watchdog, "IDLE_TICKS", 3)
    monkeypatch.setattr(loop_watchdog, "IDLE_INTERVAL_S", 600.0)
    watchdog = world.runtime.watchdog
    watchdog.start()
    try:
        async with asyncio.timeout(30):
            await until_idle(world)
            await Client(app_of(world)).get("/block/x")
            while watchdog.last is None:
                await asyncio.sleep(loop_watchdog.INTERVAL_S)
    finally:
        watchdog.stop()
    assert watchdog.last.route == "/block/{name}"
    # The thread was awake too.
    assert watchdog.last.function == "belvedere.server.http.app._answer"


async def test_a_delay_before_the_first_request_is_reported(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The request may run before the timer that the delay has made overdue."""
    monkeypatch.setattr(loop_watchdog, "IDLE_TICKS", 1)
    watchdog = world.runtime.watchdog
    watchdog.start()
    try:
        await until_idle(world)
        watchdog._due = time.monotonic() - 1.0
        watchdog.note_request("/other")
    finally:
        watchdog.stop()
    assert watchdog.last is not None and watchdog.last.route == "-"
    assert watchdog.longest_ms >= 1_000


async def until_idle(world: World) -> None:
    while not world.runtime.watchdog._is_idle:
        await asyncio.sleep(loop_watchdog.INTERVAL_S)


async def findings_of(world: World) -> list[Finding]:
    nothing: Any = None
    patient = Installation(world.runtime.settings, nothing, nothing, 0, lambda *_: None)
    return await asyncio.to_thread(lambda: list(environment.event_loop(patient)))


async def test_the_doctor_shows_blocked_iterations_and_their_route(world: World) -> None:
    assert await findings_of(world) == []
    async with await operator_socket.listen(world.runtime):
        [finding] = await findings_of(world)
        assert finding.verdict == "ok"
        watchdog = world.runtime.watchdog
        watchdog.route = "/job/{id}"
        watchdog._report(400)
        watchdog._report(300)
        [finding] = await findings_of(world)
    assert finding.verdict == "notice" and finding.advice
    for part in ("blocked 2 times", "at most 400 ms", "for 300 ms, by /job/{id} (-)"):
        assert part in finding.message
