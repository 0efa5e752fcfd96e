"""The library path (`BELVEDERE_PLAIN_HTTP=1`): everything that crosses a socket, with real
processes on uvicorn's own protocol classes."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from belvedere.client.errors import Problem
from belvedere.client.http_client import Client
from e2e.programs import Agent
from e2e.site import Site
from e2e.wait_until import until
from e2e.world import World

PLAIN = {"BELVEDERE_PLAIN_HTTP": "1"}
GREETING = '#!/bin/sh\necho begun\nuntil test -e "$1"; do sleep 0.02; done\nseq 1 20000\n'
OUTPUT = "begun\n" + "".join(f"{number}\n" for number in range(1, 20_001))


@pytest.fixture(scope="module")
def plain_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with World(tmp_path_factory.mktemp("plain"), **PLAIN) as world:
        world.start()
        assert "plain HTTP" in world.server.read_log()
        yield Site(world, world.agent("web"))


def test_an_agent_on_the_library_path_runs_a_job(plain_site: Site) -> None:
    job = plain_site.run("#!/bin/sh\nseq 1 20000\nexit 3\n")
    assert (job["lifecycle"], job["result"]["code"]) == ("finished", 3)
    assert plain_site.world.log(job["id"]).decode() == OUTPUT.removeprefix("begun\n")


def test_a_log_is_streamed_on_the_library_path(plain_site: Site, tmp_path: Path) -> None:
    signal = tmp_path / "continue"
    job_id = plain_site.start(GREETING, str(signal))
    output = ""
    for kind, data in plain_site.listen(job_id):
        if kind == "output":
            output += data
            # The first part arrived while the script was running.
            signal.touch()
    assert output == OUTPUT


def test_events_are_streamed_on_the_library_path(plain_site: Site) -> None:
    with plain_site.world.client() as client, client.open("/-/events", {"topics": "job"}) as stream:
        assert stream.readline().startswith(b": welcome")
        plain_site.start("#!/bin/sh\nexit 0\n")
        lines = iter(stream.readline, b"event: job.finished\n")
        assert b"event: job.created\n" in list(lines)


def test_an_open_event_stream_ends_with_the_server(tmp_path: Path) -> None:
    with World(tmp_path, **PLAIN) as world:
        world.start()
        client = world.client()
        with contextlib.closing(client), client.open("/-/events") as stream:
            assert stream.readline().startswith(b": welcome")
            assert world.server.stop() == 0


def test_the_console_is_served_on_the_library_path(plain_site: Site) -> None:
    with plain_site.world.client() as client, client.open("/ui/") as page:
        assert page.status == 200 and b"<html" in page.read()
        assert page.headers["x-frame-options"] == "DENY"


def test_errors_are_the_same_on_the_library_path(plain_site: Site) -> None:
    with Client(plain_site.world.url) as anonymous, pytest.raises(Problem) as refusal:
        anonymous.get("/task")
    assert refusal.value.status == 401


def test_a_revoked_agent_is_refused_on_the_library_path(plain_site: Site) -> None:
    agent: Agent = plain_site.world.agent("other")
    host = plain_site.world.wait_connected(agent)
    with plain_site.world.person() as person:
        person.delete(f"/host/{host['id']}")
    until(lambda: "401" in agent.read_log() or "credential" in agent.read_log(), 20, agent.read_log)
