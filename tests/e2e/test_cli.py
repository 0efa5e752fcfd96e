"""The command line against a real `belvedere up`: two processes, a socket and a script between."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

pytestmark = pytest.mark.alone
BELVEDERE = (sys.executable, "-m", "belvedere.cli.main")


class House(NamedTuple):
    """An installation that runs, and the person who is signed in to it."""

    data: Path
    url: str
    env: dict[str, str]
    up: "subprocess.Popen[str]"

    def run(self, *words: str, stdin: str = "") -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [*BELVEDERE, *words],
            env=self.env,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=40,
        )

    def json(self, *words: str) -> Any:
        ran = self.run(*words, "--json")
        assert ran.returncode == 0, ran.stderr
        return json.loads(ran.stdout)

    def task(self, name: str, script: str, *words: str) -> Any:
        """A task on the local host with this script."""
        path = self.data / f"{name}.sh"
        path.write_text(script)
        host = self.json("host", "list")[0]["hostname"]
        return self.json("task", "create", name, "--host", host, "--script", str(path), *words)


def started(data: Path, port: int = 0) -> "subprocess.Popen[str]":
    env = {**os.environ, "BELVEDERE_ADMIN_PASSWORD": "correct horse battery"}
    words = ("up", "--data", str(data), "--port", str(port), "--no-demo")
    return subprocess.Popen([*BELVEDERE, *words], env=env, stdout=subprocess.PIPE, text=True)


def address(up: "subprocess.Popen[str]") -> str:
    assert up.stdout is not None
    found = re.search(r"ready at (\S+)", up.stdout.readline())
    assert found is not None
    return found[1]


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    data = tmp_path_factory.mktemp("house")
    up = started(data)
    url = address(up)
    env = {name: os.environ[name] for name in ("PATH", "HOME", "PYTHONPATH") if name in os.environ}
    env["XDG_CONFIG_HOME"] = str(data / "config")
    made = House(data, url, env, up)
    words = ("login", "--server", url, "--email", "admin@localhost")
    assert made.run(*words, stdin="correct horse battery\n").returncode == 0
    yield made
    up.send_signal(signal.SIGINT)
    up.wait(20)
    assert up.stdout is not None
    up.stdout.close()


def test_it_works(house: House) -> None:
    house.task("hello", '#!/bin/sh\necho "hello $1"\nexit "$2"\n', "--argument", "a", "--argument", "b")
    ran = house.run("run", "hello", "wörld", "3", "--follow")
    assert (ran.returncode, ran.stdout) == (3, "hello wörld\n")
    assert "ended: failure, exit code 3" in ran.stderr
