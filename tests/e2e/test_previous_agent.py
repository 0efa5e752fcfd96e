"""Versions may differ by one: an agent of the previous version works with this server, and a server
of the previous version understands this agent.

`fixtures/previous-agent.pyz` is the agent that an earlier server offered, before servers could
ask agents to reconnect and before they updated them. Replace it after a release by
`belvedere-agent.pyz` of that release.
"""

import sys
import zipimport
from collections.abc import Iterator
from importlib.util import module_from_spec
from pathlib import Path
from types import ModuleType

import msgspec
import pytest

from agent.connected_agent import office
from belvedere import protocol
from e2e.programs import Agent
from e2e.site import Site
from e2e.world import World

ARCHIVE = Path(__file__).parent / "fixtures" / "previous-agent.pyz"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with World(tmp_path_factory.mktemp("previous")) as world:
        world.start()
        agent = world.agents["web"] = Agent(world.folder / "web", "web")
        agent.command, agent.words = (sys.executable, "-I", str(ARCHIVE)), agent.words[1:]
        agent.start(world.url, BELVEDERE_ENROLMENT_TOKEN=world.enrolment())
        world.wait_connected(agent)
        yield Site(world, agent)


def test_the_fixture_is_the_previous_version() -> None:
    names = set(protocol.Hello.__dataclass_fields__)
    assert set(previous_protocol().Hello.__dataclass_fields__) < names


def test_an_agent_of_the_previous_version_runs_jobs(site: Site) -> None:
    job = site.run('#!/bin/sh\necho "$1"\nseq 1 50000\nexit 3\n', "hello")
    assert (job["state"], job["result"]["code"]) == ("failure", 3)
    log = site.world.log(job["id"])
    assert log.startswith(b"hello\n1\n") and log.endswith(b"\n50000\n")


def test_scripts_of_the_previous_agent_are_canceled(site: Site) -> None:
    job_id = site.start("#!/bin/sh\necho runs\nexec sleep 300\n")
    site.says(job_id, b"runs")
    assert site.cancel(job_id)["state"] == "canceled"
    site.is_empty()


def test_scripts_of_the_previous_agent_survive_a_restart_of_the_server(site: Site) -> None:
    world, go_file = site.world, site.world.folder / "go"
    job_id = site.start('#!/bin/sh\nuntil test -e "$1"; do sleep 0.02; done\n', str(go_file))
    world.wait_running(job_id)
    world.server.stop()
    world.start()
    world.wait_connected(site.agent)
    go_file.touch()
    job = world.wait_ended(job_id)
    assert (job["state"], len(job["attempts"])) == ("normal", 1)


def previous_protocol() -> ModuleType:
    importer = zipimport.zipimporter(f"{ARCHIVE}/belvedere")
    spec = importer.find_spec("protocol")
    assert spec is not None
    module = module_from_spec(spec)
    importer.exec_module(module)
    return module


async def test_a_server_of_the_previous_version_understands_this_agent(tmp_path: Path) -> None:
    previous = previous_protocol()
    shapes = {
        "hello": previous.Hello,
        "started": previous.AttemptStarted,
        "ended": previous.AttemptEnded,
        "beat": previous.Heartbeat,
        "want": previous.BlobRequest,
    }
    async with office(tmp_path) as (server, _):
        fence = await server.order("#!/bin/sh\necho done\nsleep 0.2\n")
        assert await server.log(fence) == "done\n"
        server.cut()
        await server.wait_connected(2)
        await server.until(lambda: any(m["kind"] == "beat" for m in server.heard))
        messages = [*server.hellos, *server.heard]
    assert {message["kind"] for message in messages} == set(shapes)
    for message in messages:
        assert server.hellos[0]["protocol"] == previous.VERSION
        msgspec.convert(message, shapes[message["kind"]])
