"""A blocked event loop is noticed, with the route that blocked it."""

import asyncio
import logging
import time

import pytest

from belvedere.rest.route import Ask, Route
from belvedere.server import watchdog as watching
from belvedere.server.app import App
from belvedere.server.table import Table
from contract.client import Client
from contract.world import World

# The engine does not matter here.
pytestmark = pytest.mark.parametrize("engine", ["sqlite"], indirect=True)


async def block(ask: Ask) -> str:
    await asyncio.sleep(0)
    time.sleep(watching.SLOW_S * 2)  # noqa: ASYNC251 (this is the fault that is to be found)
    return "ok"


async def other(ask: Ask) -> str:
    return "ok"


def app_of(world: World) -> App:
    routes = [
        Route("GET", path, "anonymous", handler, "", style="plain")
        for path, handler in (("/block/{name}", block), ("/other", other))
    ]
    return App(world.house, Table(routes))


async def test_a_blocked_loop_is_reported_with_its_route(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    watchdog = world.house.watchdog
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
                await asyncio.sleep(watching.BEAT_S)
    finally:
        watchdog.stop()
    assert watchdog.slow >= 1 and watchdog.longest_ms >= watching.SLOW_S * 1_000
    assert "route=/block/{name}" in caplog.text
    shown = (await world.client().get("/-/ready")).json["event_loop"]
    assert shown["slow"] == watchdog.slow and shown["last_route"] == "/block/{name}"


async def test_a_request_only_leaves_its_route(world: World) -> None:
    await Client(app_of(world)).get("/other")
    assert world.house.watchdog.route == "/other"
    assert (world.house.watchdog.slow, world.house.watchdog.last) == (0, None)
