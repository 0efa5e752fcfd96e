"""A network that drops everything between the server and PostgreSQL: two network namespaces with a
cable between them, which only root can lay."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from db import far as programs

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
# The promises of docs/howto/use-postgresql.md, and a little for a busy machine.
ANSWER_S, READY_S, BUSY_S = 10.0, 5.0, 5.0


class Namespace:
    """A network of its own, as long as its first process lives."""

    def __init__(self) -> None:
        self._programs: list[subprocess.Popen[str]] = []
        self._first = subprocess.Popen(["unshare", "-n", "sleep", "600"])
        own = os.readlink("/proc/self/ns/net")
        while os.readlink(f"/proc/{self.pid}/ns/net") == own:
            time.sleep(0.01)

    @property
    def pid(self) -> int:
        return self._first.pid

    def run(self, *words: str) -> None:
        subprocess.run(["nsenter", "-t", str(self.pid), "-n", *words], check=True)

    def start(self, *words: str) -> "subprocess.Popen[str]":
        program = subprocess.Popen(
            ["nsenter", "-t", str(self.pid), "-n", sys.executable, programs.__file__, *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
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
def networks() -> Iterator[tuple[Namespace, Namespace]]:
    near, far = Namespace(), Namespace()
    try:
        other_end = ("peer", "name", "cable", "netns", str(far.pid))
        near.run("ip", "link", "add", "cable", "type", "veth", *other_end)
        for network, address in ((near, NEAR), (far, FAR)):
            network.run("ip", "addr", "add", f"{address}/24", "dev", "cable")
            network.run("ip", "link", "set", "cable", "up")
        yield near, far
    finally:
        near.close()
        far.close()


def answer(program: "subprocess.Popen[str]") -> tuple[str, float]:
    """What comes of a read now, and after how many seconds."""
    assert program.stdin is not None
    assert program.stdout is not None
    began = time.monotonic()
    program.stdin.write("\n")
    program.stdin.flush()
    return program.stdout.readline().strip(), time.monotonic() - began


def test_a_dropped_network_is_answered_and_left_behind(
    networks: tuple[Namespace, Namespace], database_url: str
) -> None:
    near, far = networks
    parts = conninfo_to_dict(database_url)
    socket = Path(str(parts["host"])) / ".s.PGSQL.5432"
    relay = far.start("relay", FAR, str(socket))
    assert relay.stdout is not None
    assert relay.stdout.readline() == "ready\n"
    program = near.start("ask", make_conninfo(database_url, host=FAR, port=programs.PORT))
    assert answer(program)[0] == "ok"

    far.run("ip", "link", "set", "cable", "down")
    for _ in range(2):
        said, seconds = answer(program)
        assert said == "unavailable"
        assert seconds < ANSWER_S + BUSY_S

    far.run("ip", "link", "set", "cable", "up")
    back_at = time.monotonic()
    while answer(program)[0] != "ok":
        time.sleep(0.05)
    assert time.monotonic() - back_at < READY_S + BUSY_S
