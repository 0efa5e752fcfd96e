"""Attacks with enrolment tokens: a token for new hosts must not take over an existing host."""

import contextlib
import sqlite3
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import engines
import run_timeouts
from belvedere.access.credentials import enrolment
from contract.client import Client, Response
from contract.world import World
from e2e import process_leaks
from e2e.programs import Agent, environment
from e2e.wait_until import until
from e2e.world import World as Installation
from legacy_agents.legacy_agent import LegacyAgent
from manual_clock import ManualClock


@pytest.fixture
def installation(
    engine: str, tmp_path: Path, request: pytest.FixtureRequest
) -> Iterator[Installation]:
    """A real server with one real agent, "web", which is stopped: its host is offline."""
    if engine == "sqlite":
        with Installation(tmp_path / "site") as site:
            yield _with_offline_host(site)
        return
    template = request.getfixturevalue("postgres_template")
    with engines.postgres_copy(template) as url, Installation(tmp_path / "site", url) as site:
        yield _with_offline_host(site)


def _with_offline_host(site: Installation) -> Installation:
    site.start()
    site.agent("web").stop()
    return site


@pytest.fixture
def second_agent(tmp_path: Path) -> Iterator[Agent]:
    """Another machine that uses the name "web"."""
    agent = Agent(tmp_path / "intruder", "web")
    yield agent
    agent.retire()
    process_leaks.check_gone(agent.state)


def test_a_token_with_uses_left_cannot_take_over_an_existing_host(
    installation: Installation, second_agent: Agent
) -> None:
    (host,) = installation.hosts()
    token = installation.enrolment(uses=5)
    second_agent.start(installation.url, BELVEDERE_ENROLMENT_TOKEN=token)
    assert second_agent.process.wait(30) == 1
    assert "belvedere enrolment create --host web" in second_agent.read_log()
    assert "--hostname" in second_agent.read_log()
    # The agent of the host keeps its credential and its host.
    agent = installation.agents["web"]
    agent.start(installation.url)
    assert installation.wait_connected(agent)["id"] == host["id"]


def test_a_token_created_for_the_host_binds_it_to_the_new_machine(
    installation: Installation, second_agent: Agent
) -> None:
    (host,) = installation.hosts()
    with installation.person() as admin:
        token = admin.post(f"/host/{host['id']}/enrolment", {})["token"]
    second_agent.start(installation.url, BELVEDERE_ENROLMENT_TOKEN=token)
    assert installation.wait_connected(second_agent)["id"] == host["id"]


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_up_enrols_its_own_agent_again(engine: str, tmp_path: Path) -> None:
    """On SQLite, which `up` uses. The operator's rights are those of the server's own process."""
    with Installation(tmp_path, verb="up") as site:
        site.start()
        host = site.wait_connected(site.local_agent())
        site.server.stop()
        (site.server.data / "agent" / "credential.json").unlink()
        site.start()
        assert site.wait_connected(site.agents["local"])["id"] == host["id"]


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_the_install_command_on_the_server_s_machine_leaves_the_agent_of_up_alone(
    engine: str, tmp_path: Path
) -> None:
    """On SQLite, which `up` uses. The name of the machine is the one that the agent of `up` has."""
    with Installation(tmp_path, verb="up") as site:
        site.start("--no-demo")
        host = site.wait_connected(site.local_agent())
        with site.person() as admin:
            for_host = admin.post(f"/host/{host['id']}/enrolment", {})["token"]
        for token in (site.enrolment(), for_host):
            done = run_install_script(site, tmp_path, token)
            assert done.returncode == 1
            assert f"An agent is connected as host '{host['hostname']}'" in done.stderr
            assert f"--hostname {host['hostname']}-2" in done.stderr
        assert site.wait_connected(site.agents["local"])["id"] == host["id"]
        done = run_install_script(site, tmp_path, site.enrolment(), "--hostname", "second")
        assert (done.returncode, done.stderr) == (0, "")
        assert {row["hostname"] for row in site.hosts()} == {host["hostname"], "second"}


def run_install_script(
    site: Installation, folder: Path, token: str, *words: str
) -> "subprocess.CompletedProcess[str]":
    with site.api.open("/-/install.sh") as response:
        script = response.read().decode()
    return subprocess.run(
        ["sh", "-s", "--", "--units", f"{folder}/units", "--state", f"{folder}/state", *words],
        input=script,
        capture_output=True,
        text=True,
        timeout=50,
        env=environment(BELVEDERE_ENROLMENT_TOKEN=token),
    )


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_up_enrols_its_own_agent_again_after_its_token_was_revoked(
    engine: str, tmp_path: Path
) -> None:
    """Also under another name: the host keeps its id, and its jobs and monitors with it."""
    with Installation(tmp_path, verb="up") as site:
        site.start("--no-demo")
        host = site.wait_connected(site.local_agent())
        site.api.patch(f"/host/{host['id']}", {"hostname": "headquarters"})
        site.agents["local"].hostname = "headquarters"
        site.server.stop()
        path = site.server.data / "belvedere.db"
        with contextlib.closing(sqlite3.connect(path)) as database, database:
            database.execute("update tokens set revoked_at = 1 where kind = 'agent_token'")
        site.start("--no-demo")
        assert site.wait_connected(site.agents["local"])["id"] == host["id"]


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_a_deleted_host_of_up_returns_only_at_the_next_start(engine: str, tmp_path: Path) -> None:
    with Installation(tmp_path, verb="up") as site:
        site.start("--no-demo")
        host = site.wait_connected(site.local_agent())
        site.api.delete(f"/host/{host['id']}")
        until(lambda: "the host of the local agent was deleted" in site.server.read_log(), 20)
        assert site.hosts() == []
        site.server.stop()
        site.start("--no-demo")
        assert site.wait_connected(site.agents["local"])["id"] != host["id"]


def enrolment_token(world: World, uses: int = 3) -> tuple[str, str]:
    """Id and text of a token for new hosts."""
    runtime, ada = world.runtime, world.actors.ada
    token, text = runtime.db.write_blocking(
        enrolment.create_enrolment, runtime.keyring, ada, "new hosts", uses
    )
    return token.id, text


async def enrol(world: World, text: str, hostname: str) -> Response:
    body = {"token": text, "hostname": hostname, "fingerprint": "another machine"}
    return await world.client().post("/-/enrol", body)


async def test_a_refused_enrolment_changes_nothing(world: World) -> None:
    _, text = enrolment_token(world, uses=1)
    refused = await enrol(world, text, "WEB-1")
    assert (refused.status, refused.code) == (409, "host_exists")
    assert "belvedere enrolment create --host web-1" in refused.json["message"]
    # The credential of the host's agent is still valid, and the token still has its use.
    async with world.agent("web-1"):
        pass
    assert (await enrol(world, text, "web-9")).status == 201


async def test_a_token_for_one_host_is_no_token_for_another(world: World, ada: Client) -> None:
    host_id = world.things.hosts["web-1"].host_id
    record = (await ada.post(f"/acme/host/{host_id}/enrolment", {})).json
    # Whatever name the machine has: the token determines which host it becomes.
    bound = await enrol(world, record["token"], "web-2")
    assert (bound.status, bound.json["host_id"], bound.json["hostname"]) == (201, host_id, "web-1")
    assert (await enrol(world, record["token"], "web-2")).code == "bad_enrolment"


async def test_a_token_for_a_deleted_host_is_revoked(world: World, ada: Client) -> None:
    host_id = world.things.hosts["web-1"].host_id
    text = (await ada.post(f"/acme/host/{host_id}/enrolment", {})).json["token"]
    await ada.delete(f"/acme/host/{host_id}")
    assert (await enrol(world, text, "web-1")).code == "bad_enrolment"


@pytest.mark.parametrize("who", ["max", "uma", "vic", "eve", "token", "web-2"])
async def test_only_admins_of_the_organization_create_a_token_for_a_host(
    world: World, who: str
) -> None:
    host_id = world.things.hosts["web-1"].host_id
    customer = "globex" if who == "eve" else "acme"
    refused = await world.client(who).post(f"/{customer}/host/{host_id}/enrolment", {})
    assert refused.status in (403, 404)


async def test_an_original_agent_cannot_take_over_a_host_of_another_client(world: World) -> None:
    client_id, text = enrolment_token(world)
    intruder = LegacyAgent(world.client(), client_id, text, hostname="web-1")
    await intruder.sign_in()
    refused = await intruder.register()
    assert (refused.status, refused.code) == (409, "host_exists")


async def test_an_original_agent_may_take_the_host_that_its_token_was_created_for(
    world: World, ada: Client
) -> None:
    host_id = world.things.hosts["web-1"].host_id
    record = (await ada.post(f"/acme/host/{host_id}/enrolment", {})).json
    other = LegacyAgent(world.client(), record["id"], record["token"], hostname="web-7")
    await other.sign_in()
    assert (await other.register()).code == "other_host"
    agent = LegacyAgent(world.client(), record["id"], record["token"], hostname="web-1")
    await agent.sign_in()
    assert (await agent.register()).json["host_id"] == host_id


async def test_the_client_that_had_a_host_cannot_register_for_it_again(
    world: World, ada: Client, clock: ManualClock
) -> None:
    client_id, text = enrolment_token(world)
    old = LegacyAgent(world.client(), client_id, text)
    await old.sign_in()
    host_id = (await old.register()).json["host_id"]
    clock.move(31)
    run_timeouts.mark_silent(world.runtime.db)
    record = (await ada.post(f"/acme/host/{host_id}/enrolment", {})).json
    assert (await enrol(world, record["token"], "old-1")).status == 201
    await old.sign_in()
    assert (await old.register()).code == "host_exists"


async def test_wrong_enrolment_tokens_are_limited_by_host_name_and_network(
    world: World, anonymous: Client
) -> None:
    """A machine that retries with an expired token does not block others of its network."""

    async def enrol(hostname: str) -> int:
        body = {"token": "bve_wrong", "hostname": hostname, "fingerprint": "f"}
        return (await anonymous.post("/-/enrol", body)).status

    assert [await enrol("old-1") for _ in range(21)] == [401] * 20 + [429]
    assert await enrol("new-1") == 401
    for n in range(79):
        await enrol(f"many-{n}")
    assert await enrol("new-2") == 429
