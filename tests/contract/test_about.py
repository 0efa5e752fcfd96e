"""GET /api/about."""

import belvedere
from contract.client import Client
from contract.world import World


async def test_it_works(world: World, vic: Client) -> None:
    found = await vic.get("/api/about")
    assert found.status == 200, found.body
    told = found.json
    assert (told["version"], told["engine"]) == (
        belvedere.__version__,
        world.runtime.db.dialect.name,
    )
    assert told["schema"] >= "0021_views"
    assert told["uptime_s"] >= 0 and told["agents"] == 0


async def test_every_library_is_named_with_its_licence(vic: Client) -> None:
    libraries = (await vic.get("/api/about")).json["licences"]
    names = [one["name"].lower() for one in libraries]
    assert {"belvedere", "starlette", "msgspec", "uvicorn"} <= set(names)
    assert len(names) == len(set(names))
    assert [
        one["name"] for one in libraries if not one["licence"] and one["name"] != "belvedere"
    ] == []


async def test_anonymous_clients_learn_nothing(stranger: Client) -> None:
    assert (await stranger.get("/api/about")).status == 401
