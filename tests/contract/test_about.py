"""GET /api/about."""

import threading
from importlib import metadata

import pytest

import belvedere
from belvedere.server.api import about
from contract.client import Client
from contract.world import World


async def test_about_shows_version_engine_and_uptime(world: World, vic: Client) -> None:
    response = await vic.get("/api/about")
    assert response.status == 200, response.body
    record = response.json
    assert (record["version"], record["engine"]) == (
        belvedere.__version__,
        world.runtime.db.dialect.name,
    )
    assert record["schema"] >= "0021_views"
    assert record["uptime_s"] >= 0 and record["agents"] == 0


async def test_every_library_is_named_with_its_licence(vic: Client) -> None:
    libraries = (await vic.get("/api/about")).json["licences"]
    names = [library["name"].lower() for library in libraries]
    assert {"belvedere", "starlette", "msgspec", "uvicorn"} <= set(names)
    assert len(names) == len(set(names))
    assert [
        library["name"]
        for library in libraries
        if not library["licence"] and library["name"] != "belvedere"
    ] == []


async def test_packages_are_not_read_on_the_event_loop(
    vic: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, threads = metadata.distribution, set[threading.Thread]()

    def distribution(name: str) -> metadata.Distribution:
        threads.add(threading.current_thread())
        return read(name)

    about._libraries.cache_clear()
    monkeypatch.setattr(metadata, "distribution", distribution)
    assert (await vic.get("/api/about")).status == 200
    assert threads and threading.current_thread() not in threads


async def test_anonymous_clients_learn_nothing(anonymous: Client) -> None:
    assert (await anonymous.get("/api/about")).status == 401
