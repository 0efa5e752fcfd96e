"""`belvedere up` as a person starts, stops and starts it again."""

import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from belvedere.agent.journal.journal import line
from belvedere.client.errors import Problem
from belvedere.client.http_client import Client
from e2e import process_leaks
from e2e.certificate import self_signed
from e2e.programs import CUSTOMER, EMAIL, PASSWORD, TOKEN, Server, run
from e2e.site import Site
from e2e.wait_until import until
from e2e.world import World

SLOW = '#!/bin/sh\necho begun\nuntil test -e "$1"; do sleep 0.02; done\nseq 1 5000\nexit 4\n'
SLOW_TEXT = "begun\n" + "".join(f"{number}\n" for number in range(1, 5_001))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Server and local agent with one command; a test that stops them starts them again."""
    with World(tmp_path_factory.mktemp("up"), verb="up") as world:
        world.start("--no-demo")
        yield Site(world, world.local_agent())


def test_up_runs_a_job(site: Site) -> None:
    job = site.run('#!/bin/sh\necho "$BELVEDERE_URL"\n')
    assert job["state"] == "normal"
    assert site.world.log(job["id"]).decode() == f"{site.world.server.url}\n"
    assert site.world.api.get("/-/ready")


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_running_scripts_go_on_and_are_adopted_at_the_next_start(
    site: Site, how: signal.Signals, tmp_path: Path
) -> None:
    """After a kill the new local agent replaces the former one, whichever port the server uses."""
    word = tmp_path / "go on"
    job_id = site.start(SLOW, str(word))
    site.says(job_id, b"begun")
    code = site.world.server.stop(how)
    assert code == (-how if how is signal.SIGKILL else 0)
    assert site.agent.scripts()
    site.world.start()
    site.world.wait_connected(site.agent)
    word.touch()
    job = site.world.wait_ended(job_id)
    assert (job["lifecycle"], job["result"]["code"], job["attempt_count"]) == ("finished", 4, 1)
    assert site.world.log(job_id).decode() == SLOW_TEXT
    assert site.run("#!/bin/sh\nexit 0\n")["state"] == "normal"
    site.is_empty()


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_stopping_up_leaves_no_process_but_the_keeper(site: Site, how: signal.Signals) -> None:
    """Checks have a process of their own while there are any."""
    keeper = site.agent.keeper()
    host_id = site.world.wait_connected(site.agent)["id"]
    expected = {"name": "root", "type": "file", "host_id": host_id, "path": "/"}
    response = site.world.api.post("/monitor", expected)
    until(lambda: site.world.api.get(f"/monitor/{response['id']}")["state"] == "normal", 20)
    assert len(process_leaks.of_folder(site.world.folder)) == 3
    site.world.server.stop(how)
    until(lambda: process_leaks.of_folder(site.world.folder) == [keeper], 10)
    site.world.start()
    site.world.wait_connected(site.agent)
    site.world.api.delete(f"/monitor/{response['id']}")
    until(lambda: len(process_leaks.of_folder(site.world.folder)) == 2, 20)


def test_a_stored_file_is_maintained(site: Site, tmp_path: Path) -> None:
    api, path = site.world.api, tmp_path / "site" / "site.conf"
    host_id = site.world.wait_connected(site.agent)["id"]
    file = api.post("/file", {"filename": "site.conf", "source": "Listen 80\n"})
    body = {"name": "site", "type": "file", "host_id": host_id, "path": str(path)}
    body |= {"file": file["id"], "permissions": "0640", "looptime": 1_000}
    response = api.post("/monitor", body)
    until(lambda: path.exists() and path.read_text() == "Listen 80\n")
    path.write_text("Listen 81\n")
    path.chmod(0o777)
    until(lambda: path.read_text() == "Listen 80\n" and path.stat().st_mode & 0o777 == 0o640)
    text = f"{path} had another content, mode and was restored."
    until(lambda: text in str(api.get(f"/monitor/{response['id']}/history", {"step": "0"})))
    api.put(f"/file/{file['id']}", {"source": "Listen 82\n"})
    until(lambda: path.read_text() == "Listen 82\n")
    api.delete(f"/monitor/{response['id']}")
    until(lambda: len(process_leaks.of_folder(site.world.folder)) == 2, 20)


def test_an_agent_that_cannot_start_tries_again_and_says_why(site: Site) -> None:
    """Its credential is damaged, then its journal is of a later version; the attempts leave nothing
    behind in the server."""
    site.world.server.stop()
    os.kill(site.agent.keeper(), signal.SIGKILL)
    credential, journal = site.agent.state / "credential.json", site.agent.state / "journal"
    was = credential.read_bytes()
    credential.write_text("")
    journal.rename(site.agent.state / "kept")
    journal.write_bytes(line(["journal", 99, "id", "owner"]))
    site.world.start()
    until(lambda: "credential.json cannot be read; remove it" in site.world.server.read_log(), 10)
    credential.write_bytes(was)
    # Three times for the journal alone.
    until(lambda: site.world.server.read_log().count("written by a newer agent") == 3, 20)
    files = Path(f"/proc/{site.world.server.pid}/fd")
    texts = [os.readlink(file) for file in files.iterdir() if file.is_symlink()]
    assert [path for path in texts if path.startswith(f"{site.agent.state}/samples")] == []
    (site.agent.state / "kept").rename(journal)
    site.world.wait_connected(site.agent)
    assert site.run("#!/bin/sh\nexit 0\n")["state"] == "normal"


def test_a_killed_keeper_is_started_again(site: Site) -> None:
    before = site.agent.keeper()
    os.kill(before, signal.SIGKILL)
    until(lambda: process_leaks.keepers(site.agent.state) not in ([], [before]), 10)
    assert site.run("#!/bin/sh\nexit 0\n")["state"] == "normal"


def test_up_is_two_processes(site: Site) -> None:
    expected = {site.world.server.pid, site.agent.keeper()}
    # A process that is being started has the command line of its parent for a moment.
    until(lambda: set(process_leaks.of_folder(site.world.folder)) == expected, 20)


def test_another_agent_cannot_have_its_folder(site: Site) -> None:
    ran = run("agent", "--server", site.world.url, "--state", str(site.agent.state))
    assert ran.returncode == 1
    assert "another agent uses this state folder" in ran.stderr


def test_a_second_server_on_the_same_file_refuses_with_one_sentence(site: Site) -> None:
    second = Server(site.world.server.data, verb="up")
    second.launch("--port", "0")
    assert second.process.wait(20) == 3
    lines = [line for line in second.read_log().splitlines() if line.startswith("belvedere: ")]
    assert len(lines) == 1
    assert "Another Belvedere server already uses" in lines[0]
    assert "Traceback" not in second.read_log(), second.read_log()[
        second.read_log().find("Traceback") :
    ]
    assert site.run("#!/bin/sh\nexit 0\n")["state"] == "normal"


def test_the_first_start_prints_the_password_once(tmp_path: Path) -> None:
    with World(tmp_path, verb="up") as world:
        world.server.env.pop("BELVEDERE_ADMIN_PASSWORD")
        world.start("--no-agent")
        matches = re.findall(r"password\s+(\S+)", world.server.read_log())
        assert len(matches) == 1
        assert _sign_in(world.url, matches[0])
        world.server.stop()
        world.start("--no-agent")
        assert len(re.findall(r"password\s+(\S+)", world.server.read_log())) == 1
        assert _sign_in(world.url, matches[0])


@pytest.mark.parametrize(
    ("words", "advice"),
    [
        (("--port", "{port}"), "choose another with --port"),
        (("--port", "0", "--tls-cert", "{junk}", "--tls-key", "{junk}"), "cannot be used"),
    ],
    ids=["a port that is taken", "a certificate that is none"],
)
def test_a_failed_start_does_not_lose_the_password(
    site: Site, tmp_path: Path, words: tuple[str, ...], advice: str
) -> None:
    port = site.world.server.url.rpartition(":")[2]
    with World(tmp_path, verb="up") as world:
        world.server.env.pop("BELVEDERE_ADMIN_PASSWORD")
        junk = tmp_path / "junk"
        junk.write_text("-----BEGIN CERTIFICATE-----\n")
        world.server.launch(*[word.format(port=port, junk=junk) for word in words])
        assert world.server.process.wait(20) == 3
        assert advice in world.server.read_log()
        assert "Traceback" not in world.server.read_log()
        world.start("--no-agent")
        assert len(re.findall(r"password\s+(\S+)", world.server.read_log())) == 1


def _sign_in(url: str, password: str, email: str = EMAIL) -> str:
    with Client(url) as client:
        body = {"email": email, "password": password}
        token: str = client.post("/api/auth/login", body)["access_token"]
        return token


def test_a_server_can_be_set_up_unattended(tmp_path: Path) -> None:
    """From the environment, on the first start only."""
    env = {"BELVEDERE_CUSTOMER": "acme", "BELVEDERE_ADMIN_EMAIL": "olga@acme.test"}
    with World(tmp_path, verb="up", **env) as world:
        world.start("--no-agent")
        assert PASSWORD not in world.server.read_log()
        assert TOKEN not in world.server.read_log()
        assert _sign_in(world.url, PASSWORD, "olga@acme.test")
        with Client(world.url, TOKEN, "acme") as client:
            assert client.get("/task") == []
        world.server.stop()
        world.start("--no-agent", BELVEDERE_ADMIN_EMAIL="eve@globex.test")
        with pytest.raises(Problem):
            _sign_in(world.url, PASSWORD, "eve@globex.test")
        assert _sign_in(world.url, PASSWORD, "olga@acme.test")


def test_the_demo_comes_with_the_first_start(tmp_path: Path) -> None:
    with World(tmp_path, verb="up", BELVEDERE_DEMO="1") as world:
        world.start()
        world.local_agent()
        tasks = until(lambda: world.api.get("/task"), 10)
        disk = next(task for task in tasks if "disk" in task["name"].lower())
        assert world.wait_ended(world.run(disk["id"]))["output"]
        # The server's own agent checks it.
        until(lambda: world.api.get("/monitor", {"where[name]": "This server"}), 10)
        until(lambda: _state_of(world, "This server") == "normal", 20)
        gone = world.api.delete("/api/demo")
        assert gone["kept"] == [] and len(gone["removed"]) == 19
        assert world.api.get("/task") == []


def _state_of(world: World, name: str) -> str:
    (monitor,) = world.api.get("/monitor", {"where[name]": name})
    state: str = monitor["state"]
    return state


def test_the_data_folder_is_closed_to_other_users(site: Site) -> None:
    data = site.world.server.data
    assert data.stat().st_mode & 0o077 == 0
    site.run("#!/bin/sh\nseq 1 5000\n")
    open_files = [path for path in data.iterdir() if path.is_file() and path.stat().st_mode & 0o077]
    assert open_files == []


def test_a_data_folder_may_have_a_long_name(tmp_path: Path) -> None:
    """Longer than the address of a unix socket may be."""
    with World(tmp_path / ("long" * 30), verb="up") as world:
        world.start("--no-demo")
        agent = world.local_agent()
        assert Site(world, agent).run("#!/bin/sh\nexit 0\n")["state"] == "normal"


def test_the_server_uses_a_custom_certificate(tmp_path: Path) -> None:
    cert, key = self_signed(tmp_path)
    with World(tmp_path, verb="up") as world:
        world.start("--no-demo", "--tls-cert", str(cert), "--tls-key", str(key))
        assert world.server.url.startswith("https://")
        world.trust(cert)
        agent = world.local_agent()
        assert Site(world, agent).run("#!/bin/sh\nexit 0\n")["state"] == "normal"
        with (
            Client(world.server.url, TOKEN, CUSTOMER) as anonymous,
            pytest.raises(Problem) as failure,
        ):
            anonymous.get("/host")
        assert "not trusted" in failure.value.message
