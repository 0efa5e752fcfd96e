"""Scripts of `belvedere up` and the server that runs them: its key, secrets and organizations."""

import base64
import json
import os
import pwd
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agent.processes import read
from belvedere.access import create_customer
from belvedere.access.crypto.keyring import Keyring
from belvedere.base.errors import Conflict, Refused
from belvedere.db import Database
from belvedere.server import operator_socket, scripts_user
from belvedere.settings import SECRETS, Settings
from e2e import process_leaks
from e2e.programs import PASSWORD, TOKEN, run
from e2e.site import Site
from e2e.wait_until import until
from e2e.world import World
from manual_clock import ManualClock

USER = "nobody"
KEY = "5ec4e7" * 10 + "abcd"
MAIL = "mailtos://someone:mail-password@mail.example?from=a@b.example"
GLOBEX = ("organization", "create", "globex", "--email", "eve@globex.example", "--data")
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root runs scripts as other users")


def findings(world: World) -> dict[str, str]:
    """The verdict of each check of the doctor that is about scripts or files."""
    ran = run("doctor", "--data", str(world.server.data), "--json", BELVEDERE_SECRET_KEY=KEY)
    record = json.loads(ran.stdout)
    return {item["check"]: item["verdict"] for item in record if item["check"] in CHECKS}


CHECKS = ("scripts", "permissions")


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_mode & 0o001 == 0:
            folder.chmod(folder.stat().st_mode | 0o011)
    secrets = {"BELVEDERE_SECRET_KEY": KEY, "BELVEDERE_MAIL": MAIL}
    with World(tmp_path / "up", verb="up", **secrets) as world:
        yield world


def test_no_process_has_a_secret_of_the_server_in_its_environment(world: World) -> None:
    """Neither the server itself, whose environment a script of the same user can read, nor its
    keeper, its checks, its sender processes or a script."""
    world.start("--no-demo", BELVEDERE_INNER_NETWORKS="127.0.0.0/8")
    site = Site(world, world.local_agent())
    host_id = world.wait_connected(site.agent)["id"]
    expected = {"name": "root", "type": "file", "host_id": host_id, "path": "/"}
    response = world.api.post("/monitor", expected)
    until(lambda: world.api.get(f"/monitor/{response['id']}")["state"] == "normal", 20)
    job = site.run(f"#!/bin/sh\nenv; cat /proc/{world.server.pid}/environ\n")
    processes = process_leaks.of_folder(world.folder)
    assert len(processes) == 3
    data = b"".join(read(pid, "environ") for pid in processes) + world.log(job["id"])
    for secret in (PASSWORD, TOKEN, KEY, "mail-password", *SECRETS):
        assert secret.encode() not in data
    # They were read nevertheless.
    world.person().close()


@needs_root
def test_scripts_of_another_user_read_nothing_of_the_server(world: World) -> None:
    world.start("--no-demo", "--scripts-user", USER)
    site = Site(world, world.local_agent())
    data = world.server.data
    blob = f"""#!/bin/sh
id -un
for file in {data}/* {data}/secret.key {data}/belvedere.db {data}/admin.sock {data}/logs.db \\
    {data}/agent/credential.json {data}/agent/keeper.sock /proc/{world.server.pid}/environ \\
    /proc/{world.server.pid}/mem /proc/$PPID/environ; do
  if [ -r "$file" ] || [ -w "$file" ]; then
    head -c 1 "$file" > /dev/null 2>&1 && echo "open: $file"
  fi
done
echo x > here && echo y > "$BELVEDERE_FILES/there"
"""
    job = site.run(blob)
    assert (job["state"], world.log(job["id"]).decode()) == ("normal", f"{USER}\n")
    assert findings(world) == {"scripts": "ok", "permissions": "ok"}
    assert not world.api.get("/api/about")["scripts_as_server"]
    assert run(*GLOBEX, str(data), BELVEDERE_SECRET_KEY=KEY).returncode == 0


@needs_root
def test_neither_a_task_nor_a_check_can_choose_the_servers_user(world: World) -> None:
    world.start("--no-demo", "--scripts-user", USER)
    site = Site(world, world.local_agent())
    refused = site.run("#!/bin/sh\nid -un\n", os_user="root")
    assert refused["state"] != "normal"
    assert "run only as 'nobody'" in json.dumps(refused)
    host_id = world.wait_connected(site.agent)["id"]
    source = base64.b64encode(b'#!/bin/sh\ntest "$(id -un)" = nobody\n').decode()
    script = world.api.post("/file", {"filename": "check.sh", "data": source})
    expected = {"name": "who", "type": "script", "host_id": host_id, "script_id": script["id"]}
    response = world.api.post("/monitor", expected)
    until(lambda: world.api.get(f"/monitor/{response['id']}")["state"] == "normal", 20)


def test_without_another_user_there_is_one_organization(world: World) -> None:
    """Through the server's socket, and without a server."""
    world.start("--no-demo")
    world.local_agent()
    data = str(world.server.data)
    assert world.api.get("/api/about")["scripts_as_server"]
    for _ in range(2):
        ran = run(*GLOBEX, data, BELVEDERE_SECRET_KEY=KEY)
        assert ran.returncode == 1 and "--scripts-user" in ran.stderr
        if world.server.is_running:
            assert findings(world) == {"scripts": "notice", "permissions": "ok"}
            world.server.stop()


def test_two_organizations_that_are_there_already_go_on(world: World) -> None:
    world.start("--no-demo", "--no-agent")
    assert run(*GLOBEX, str(world.server.data), BELVEDERE_SECRET_KEY=KEY).returncode == 0
    world.server.stop()
    world.start("--no-demo")
    site = Site(world, world.local_agent())
    assert site.run("#!/bin/sh\n")["state"] == "normal"
    assert "scripts run as the server's own user organizations=2" in world.server.read_log()
    assert findings(world)["scripts"] == "problem"


def refusal(settings: Settings) -> str:
    with pytest.raises(Refused) as failure:
        scripts_user.check(settings)
    return failure.value.message


def test_a_user_that_cannot_be_used_is_refused_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings(data=str(tmp_path / "closed" / "data"), scripts_user=USER)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert "Start `belvedere up` as root" in refusal(settings)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    (tmp_path / "closed").mkdir(mode=0o700)
    monkeypatch.setattr(pwd, "getpwnam", lambda _: _user(uid=0))
    assert "own user" in refusal(settings)
    monkeypatch.setattr(pwd, "getpwnam", lambda _: _user(uid=os.getuid() + 4_000_000))
    assert "cannot enter" in refusal(settings) and "--data" in refusal(settings)
    monkeypatch.undo()
    if os.geteuid() == 0:
        assert "no such user" in refusal(Settings(scripts_user="nobody-here"))
    scripts_user.check(Settings())


def _user(uid: int) -> Any:
    return pwd.struct_passwd((USER, "x", uid, uid + 1, "", "/", "/bin/sh"))


def test_the_refusal_has_a_code_and_comes_with_the_second_only(db: Database, keys: Keyring) -> None:
    db.write_blocking(scripts_user.record, "here", True)
    db.write_blocking(scripts_user.check_another_organization)
    reserved: frozenset[str] = frozenset()
    db.write_blocking(create_customer, keys, "acme", "ada@acme.example", reserved=reserved)
    with pytest.raises(Conflict) as refused:
        db.write_blocking(scripts_user.check_another_organization)
    assert refused.value.code == "scripts_user_needed"
    db.write_blocking(scripts_user.record, "here", False)
    db.write_blocking(scripts_user.check_another_organization)
    assert "/organization" in operator_socket.COMMANDS


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
def test_a_server_does_not_clear_the_marker_of_another_machine(db: Database) -> None:
    """Several installations share only PostgreSQL."""
    db.write_blocking(scripts_user.record, "up:/data", True)
    db.write_blocking(scripts_user.record, "other:/data", False)
    assert db.write_blocking(scripts_user.shares)
    db.write_blocking(scripts_user.record, "up:/data", False)
    assert not db.write_blocking(scripts_user.shares)


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
def test_a_removed_machine_stops_counting_after_a_day(db: Database, clock: ManualClock) -> None:
    db.write_blocking(scripts_user.record, "up:/data", True)
    clock.move(scripts_user.LIFE_MS / 1_000 - 1)
    assert db.write_blocking(scripts_user.shares)
    db.write_blocking(scripts_user.confirm, "up:/data")
    clock.move(scripts_user.LIFE_MS / 1_000 - 1)
    assert db.write_blocking(scripts_user.shares)
    clock.move(1)
    assert not db.write_blocking(scripts_user.shares)
    db.write_blocking(scripts_user.record, "other:/data", False)
    assert (
        db.write_blocking(lambda tx: tx.rows("select 1 from meta where name like 'scripts%'")) == []
    )


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_a_folder_that_was_stopped_for_long_still_refuses(db: Database, clock: ManualClock) -> None:
    """A SQLite database has one installation; its marker does not expire, nor with the machine."""
    db.write_blocking(scripts_user.record, "a:/data", True)
    clock.move(scripts_user.LIFE_MS)
    assert db.write_blocking(scripts_user.shares)
    db.write_blocking(scripts_user.record, "b:/moved", False)
    assert not db.write_blocking(scripts_user.shares)


def test_the_data_folder_is_closed_before_other_users_may_pass(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir(mode=0o700)
    (data / "secret.key").write_text("x")
    (data / "secret.key").chmod(0o644)
    (data / "backup").mkdir(mode=0o755)
    (data / "link").symlink_to("/etc/passwd")
    before = os.stat("/etc/passwd").st_mode
    scripts_user.allow_traversal(data)
    modes = [path.stat().st_mode & 0o777 for path in (data, data / "secret.key", data / "backup")]
    assert modes == [0o711, 0o600, 0o700]
    assert os.stat("/etc/passwd").st_mode == before


def test_a_program_starts_again_without_its_secrets(tmp_path: Path) -> None:
    code = (
        "import os\nfrom belvedere.base import secret_environment as private\n"
        "private.hide(['SECRET'])\n"
        "print(os.environ['SECRET'], b'swordfish' in open('/proc/self/environ', 'rb').read())\n"
        "private.remove(['SECRET'])\nprint('SECRET' in os.environ, os.environ['OTHER'])\n"
    )
    env = {**os.environ, "SECRET": "swordfish", "OTHER": "stays"}
    ran = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
    assert ran.stdout == "swordfish False\nFalse stays\n", ran.stderr
