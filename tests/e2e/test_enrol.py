"""A second host: its token from a file, standard input or the environment; TLS or not."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.processes import read
from e2e import process_leaks
from e2e.certificate import self_signed
from e2e.programs import Agent
from e2e.site import Site
from e2e.wait_until import until
from e2e.world import World


@pytest.fixture
def second_agent(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Agent]:
    """Another host, not enrolled yet; stopped at the end of the test."""
    agent = Agent(tmp_path / "second", f"host-{abs(hash(request.node.name))}")
    yield agent
    agent.retire()
    process_leaks.check_gone(agent.state)


def test_an_agent_enrols_with_a_token_file(site: Site, second_agent: Agent, tmp_path: Path) -> None:
    """With a token from a file; from then on the agent has its own credential."""
    path = tmp_path / "token"
    path.write_text(site.world.enrolment() + "\n")
    second_agent.start(site.world.url, "--token-file", str(path))
    site.world.wait_connected(second_agent)
    task = site.world.task("#!/bin/sh\necho there\n", second_agent)
    assert site.world.wait_ended(site.world.run(task))["state"] == "normal"
    second_agent.stop()
    path.unlink()
    second_agent.start(site.world.url)
    assert site.world.wait_ended(site.world.run(task))["state"] == "normal"
    assert os.stat(second_agent.state / "credential.json").st_mode & 0o077 == 0


def test_the_token_may_come_by_standard_input(site: Site, second_agent: Agent) -> None:
    token = site.world.enrolment()
    second_agent.start(site.world.url, "--token-file", "-", stdin=token + "\n")
    site.world.wait_connected(second_agent)
    assert token.encode() not in read(second_agent.pid, "cmdline")


def test_a_token_can_be_used_as_often_as_it_says(
    site: Site, second_agent: Agent, tmp_path: Path
) -> None:
    token = site.world.enrolment(uses=1)
    second_agent.start(site.world.url, BELVEDERE_ENROLMENT_TOKEN=token)
    site.world.wait_connected(second_agent)
    third = Agent(tmp_path / "third", "third")
    third.start(site.world.url, BELVEDERE_ENROLMENT_TOKEN=token)
    assert third.process.wait(20) == 1
    assert "enrolment token" in third.read_log()
    assert "Traceback" not in third.read_log()
    assert token not in third.read_log()


def test_an_agent_without_a_token_says_what_it_needs(site: Site, second_agent: Agent) -> None:
    second_agent.start(site.world.url)
    assert second_agent.process.wait(20) == 1
    assert "--token-file" in second_agent.read_log()


def test_an_agent_waits_until_its_server_starts(site: Site, second_agent: Agent) -> None:
    token = site.world.enrolment()
    site.world.proxy.cut()
    second_agent.start(site.world.url, BELVEDERE_ENROLMENT_TOKEN=token)
    until(lambda: "enrolment failed" in second_agent.read_log(), 15, second_agent.read_log)
    site.world.proxy.mend()
    site.world.wait_connected(second_agent)


def test_a_certificate_must_be_trusted_by_name(
    world: World, second_agent: Agent, tmp_path: Path
) -> None:
    cert, key = self_signed(tmp_path)
    world.start("--tls-cert", str(cert), "--tls-key", str(key))
    world.trust(cert)
    token = world.enrolment()
    second_agent.start(world.server.url, BELVEDERE_ENROLMENT_TOKEN=token)
    until(
        lambda: "The certificate is not valid" in second_agent.read_log(), 15, second_agent.read_log
    )
    second_agent.kill()
    second_agent.start(world.server.url, "--tls-ca", str(cert), BELVEDERE_ENROLMENT_TOKEN=token)
    world.wait_connected(second_agent)
    task = world.task("#!/bin/sh\nseq 1 20000\n", second_agent)
    assert world.wait_ended(world.run(task))["result"]["log_lines"] == 20_000
