"""A second host: its token from a file, standard input or the environment; TLS or not."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e import process_leaks as leftovers
from e2e.certificate import self_signed
from e2e.programs import Agent
from e2e.site import Site
from e2e.wait_until import until
from e2e.world import World


@pytest.fixture
def second(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Agent]:
    """Another host, not enrolled yet; gone at the end of the test."""
    agent = Agent(tmp_path / "second", f"host-{abs(hash(request.node.name))}")
    yield agent
    agent.retire()
    leftovers.gone(agent.state)


def test_it_works(site: Site, second: Agent, tmp_path: Path) -> None:
    """By a token from a file; from then on the agent has a credential of its own."""
    path = tmp_path / "token"
    path.write_text(site.world.enrolment() + "\n")
    second.start(site.world.url, "--token-file", str(path))
    site.world.connected(second)
    task = site.world.task("#!/bin/sh\necho there\n", second)
    assert site.world.ended(site.world.run(task))["state"] == "normal"
    second.stop()
    path.unlink()
    second.start(site.world.url)
    assert site.world.ended(site.world.run(task))["state"] == "normal"
    assert os.stat(second.state / "credential.json").st_mode & 0o077 == 0


def test_the_token_may_come_by_standard_input(site: Site, second: Agent) -> None:
    token = site.world.enrolment()
    second.start(site.world.url, "--token-file", "-", stdin=token + "\n")
    site.world.connected(second)
    assert token.encode() not in leftovers.read(second.pid, "cmdline")


def test_a_token_serves_as_often_as_it_says(site: Site, second: Agent, tmp_path: Path) -> None:
    token = site.world.enrolment(uses=1)
    second.start(site.world.url, BELVEDERE_ENROLMENT_TOKEN=token)
    site.world.connected(second)
    third = Agent(tmp_path / "third", "third")
    third.start(site.world.url, BELVEDERE_ENROLMENT_TOKEN=token)
    assert third.process.wait(20) == 1
    assert "enrolment token" in third.said()
    assert "Traceback" not in third.said()
    assert token not in third.said()


def test_an_agent_without_a_token_says_what_it_needs(site: Site, second: Agent) -> None:
    second.start(site.world.url)
    assert second.process.wait(20) == 1
    assert "--token-file" in second.said()


def test_an_agent_waits_for_a_server_that_is_not_there_yet(site: Site, second: Agent) -> None:
    token = site.world.enrolment()
    site.world.proxy.cut()
    second.start(site.world.url, BELVEDERE_ENROLMENT_TOKEN=token)
    until(lambda: "enrolment failed" in second.said(), 15, second.said)
    site.world.proxy.mend()
    site.world.connected(second)


def test_a_certificate_must_be_trusted_by_name(world: World, second: Agent, tmp_path: Path) -> None:
    cert, key = self_signed(tmp_path)
    world.start("--tls-cert", str(cert), "--tls-key", str(key))
    world.trust(cert)
    token = world.enrolment()
    second.start(world.server.url, BELVEDERE_ENROLMENT_TOKEN=token)
    until(lambda: "The certificate is not valid" in second.said(), 15, second.said)
    second.kill()
    second.start(world.server.url, "--tls-ca", str(cert), BELVEDERE_ENROLMENT_TOKEN=token)
    world.connected(second)
    task = world.task("#!/bin/sh\nseq 1 20000\n", second)
    assert world.ended(world.run(task))["result"]["log_lines"] == 20_000
