"""What the server provides for a new host."""

import hashlib
import io
import zipfile

from belvedere.server.agents import package
from contract.client import Client
from contract.world import World


async def test_the_installer_contains_the_hash_of_the_agent(anonymous: Client) -> None:
    script = await anonymous.get("/-/install.sh")
    assert script.status == 200 and script.text.startswith("#!/bin/sh\n")
    agent = await anonymous.get("/-/belvedere-agent.pyz")
    assert hashlib.sha256(agent.body).hexdigest() in script.text
    assert agent.headers["etag"] == f'"{hashlib.sha256(agent.body).hexdigest()}"'
    # The address in the settings, whatever the request says.
    assert "http://belvedere.test/-/belvedere-agent.pyz" in script.text


async def test_without_an_address_of_its_own_it_is_where_it_was_reached(
    world: World, anonymous: Client
) -> None:
    world.runtime.settings.url = ""
    for host in ("10.0.0.7:8420", "belvedere.example.org", "[fe80::1]:8420"):
        response = await anonymous.get("/-/install.sh", headers={"host": host})
        assert f'"http://{host}/-/belvedere-agent.pyz"' in response.text


async def test_an_invalid_address_reaches_no_shell(world: World, anonymous: Client) -> None:
    world.runtime.settings.url = ""
    for host in ('x"; rm -rf /', "x$(id)", "x`id`", "", "a b", "x/../y", "user@x", "x:123456"):
        response = await anonymous.get("/-/install.sh", headers={"host": host})
        assert (response.status, response.code) == (400, "invalid_host"), host


def test_building_the_file_is_reproducible() -> None:
    first = package.archive()
    package.archive.cache_clear()
    assert package.archive() == first


def test_the_bundle_contains_the_agent_and_nothing_of_the_server() -> None:
    names = zipfile.ZipFile(io.BytesIO(package.archive())).namelist()
    assert "belvedere/agent/keeper/program.py" in names and "websockets/LICENSE" in names
    rooms = {name.split("/")[1] for name in names if name.startswith("belvedere/")}
    assert rooms == {"__init__.py", "protocol.py", "agent", "base"}
    assert [name for name in names if not name.endswith((".py", "LICENSE"))] == []
    assert len(package.archive()) < 300_000
