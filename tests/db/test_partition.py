"""A network that drops everything between a server and PostgreSQL: two network namespaces with a
cable between them, which needs root. The server is a real process with its default limits."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit, urlunsplit

import pytest

from db import far as programs
from e2e.programs import BELVEDERE, Server

TOOLS = ("ip", "nsenter", "unshare")
pytestmark = [
    pytest.mark.alone,
    pytest.mark.limit(120),
    pytest.mark.parametrize("engine", ["postgres"], indirect=True),
    pytest.mark.skipif(
        os.geteuid() != 0 or not all(map(shutil.which, TOOLS)),
        reason="needs root, and ip, nsenter and unshare",
    ),
]
NEAR, FAR = "10.99.0.1", "10.99.0.2"
# As docs/howto/use-postgresql.md says.
ANSWER_S, READY_S = 10.0, 5.0


class NetworkNamespace:
    """A network namespace that exists as long as its first process."""

    def __init__(self) -> None:
        self._programs: list[subprocess.Popen[str]] = []
        self._first = subprocess.Popen(["unshare", "-n", "sleep", "600"])
        own = os.readlink("/proc/self/ns/net")
        while os.readlink(f"/proc/{self.pid}/ns/net") == own:
            time.sleep(0.01)

    @property
    def pid(self) -> int:
        return self._first.pid

    def command(self, *words: str) -> tuple[str, ...]:
        return ("nsenter", "-t", str(self.pid), "-n", *words)

    def run(self, *words: str) -> None:
        subprocess.run(self.command(*words), check=True)

    def start(self, *words: str) -> "subprocess.Popen[str]":
        tests = str(Path(programs.__file__).parents[1])
        program = subprocess.Popen(
            self.command(sys.executable, programs.__file__, *words),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": tests},
        )
        self._programs.append(program)
        return program

    def close(self) -> None:
        for program in self._programs:
            program.kill()
            program.communicate()
        self._first.kill()
        self._first.wait()


@pytest.fixture
def networks() -> Iterator[tuple[NetworkNamespace, NetworkNamespace]]:
    near, far = NetworkNamespace(), NetworkNamespace()
    try:
        other_end = ("peer", "name", "cable", "netns", str(far.pid))
        near.run("ip", "link", "add", "cable", "type", "veth", *other_end)
        for network, address in ((near, NEAR), (far, FAR)):
            network.run("ip", "addr", "add", f"{address}/24", "dev", "cable")
            network.run("ip", "link", "set", "cable", "up")
            network.run("ip", "link", "set", "lo", "up")
        yield near, far
    finally:
        near.close()
        far.close()


@pytest.fixture
def server(
    networks: tuple[NetworkNamespace, NetworkNamespace], database_url: str, tmp_path: Path
) -> Iterator[Server]:
    near, far = networks
    parts = urlsplit(database_url)
    relay = far.start("relay", FAR, f"{parse_qs(parts.query)['host'][0]}/.s.PGSQL.5432")
    assert relay.stdout is not None
    assert relay.stdout.readline() == "ready\n"
    address = f"{parts.username}@{FAR}:{programs.PORT}"
    server = Server(tmp_path / "data", urlunsplit(parts._replace(netloc=address, query="")))
    server.command = near.command(*BELVEDERE)
    assert server.start(), server.read_log()
    yield server
    server.kill()


class Requests:
    """Requests from the server's own network, one at a time."""

    def __init__(self, program: "subprocess.Popen[str]") -> None:
        assert program.stdin is not None
        assert program.stdout is not None
        self._lines = program.stdin
        self._statuses = program.stdout

    def send(self, method: str, path: str, body: object = None) -> tuple[int, float]:
        """The status, and after how many seconds it arrived."""
        began = time.monotonic()
        self._lines.write(f"{method} {path} {json.dumps(body)}\n")
        self._lines.flush()
        return int(self._statuses.readline()), time.monotonic() - began


def test_requests_are_answered_while_the_network_drops_packets(
    networks: tuple[NetworkNamespace, NetworkNamespace], server: Server
) -> None:
    near, far = networks
    requests = Requests(near.start("request", server.url))
    indicator = {"type": "text", "title": "partition", "value": "before"}
    assert requests.send("POST", "/indicator", indicator)[0] == 200

    far.run("ip", "link", "set", "cable", "down")
    # A write on an open connection, then a read that has to open one.
    for method, path in (("POST", "/indicator"), ("GET", "/task")):
        body = {**indicator, "title": "meanwhile"} if method == "POST" else None
        status, seconds = requests.send(method, path, body)
        assert status == 503
        assert seconds < ANSWER_S
        assert requests.send("GET", "/-/health")[0] == 200

    far.run("ip", "link", "set", "cable", "up")
    back_at = time.monotonic()
    while requests.send("GET", "/-/ready")[0] != 200:
        time.sleep(0.05)
    assert time.monotonic() - back_at < READY_S
    assert requests.send("POST", "/indicator", {**indicator, "title": "after"})[0] == 200
