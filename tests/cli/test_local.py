"""The operator's commands: through the running server's socket, otherwise on its database."""

import socket
import socketserver
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from belvedere.server import operator_socket
from belvedere.settings import SOCKET
from cli.conftest import Belvedere
from fake_server import CannedResponse, FakeServer, Handler

Offline = list[tuple[str, str, dict[str, Any]]]
FOUNDED = {"name": "acme", "email": "ada@acme.example", "link": "http://x/ui/link#bvl_1"}
WORDS = ("organization", "create", "acme", "--email", "ada@acme.example")


class UnixFakeServer(FakeServer):
    """The same responses behind a socket in a folder."""

    address_family = socket.AF_UNIX

    def __init__(self, path: Path) -> None:
        socketserver.BaseServer.__init__(self, str(path), Handler)
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.bind(str(path))
        self.socket.listen()
        self.asked, self.answers, self.connections = [], {}, 0


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path


@pytest.fixture
def operator_server(data: Path) -> Iterator[UnixFakeServer]:
    server = UnixFakeServer(data / SOCKET)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(autouse=True)
def offline(monkeypatch: pytest.MonkeyPatch) -> Offline:
    """What would have been done to the database itself."""
    done: Offline = []

    def record_call(item: Any, path: str, payload: dict[str, Any]) -> dict[str, Any]:
        done.append((str(item.folder), path, payload))
        return FOUNDED

    monkeypatch.setattr(operator_socket, "offline", record_call)
    return done


def test_a_request_of_the_operator_uses_the_socket(
    anonymous: Belvedere, operator_server: UnixFakeServer, data: Path, offline: Offline
) -> None:
    operator_server.on("POST", "/organization", FOUNDED)
    ran = anonymous(*WORDS, "--data", str(data))
    assert ran.status == 0
    assert "http://x/ui/link#bvl_1" in ran.out
    body = {"name": "acme", "email": "ada@acme.example"}
    assert operator_server.bodies("POST", "/organization") == [body]
    assert offline == []


def test_a_new_password_is_printed_alone(
    anonymous: Belvedere, operator_server: UnixFakeServer, data: Path
) -> None:
    operator_server.on("POST", "/member/reset-password", {"email": "ada@x", "password": "s3cret"})
    ran = anonymous("member", "reset-password", "ada@x", "--data", str(data))
    assert (ran.status, ran.out) == (0, "s3cret\n")


def test_a_lost_second_factor_is_reset(
    anonymous: Belvedere, operator_server: UnixFakeServer, data: Path
) -> None:
    operator_server.on("POST", "/member/reset-second-factor", {"email": "ada@x"})
    ran = anonymous("member", "reset-second-factor", "ada@x", "--data", str(data))
    assert (ran.status, "ada@x" in ran.out) == (0, True)
    assert operator_server.bodies("POST", "/member/reset-second-factor") == [{"email": "ada@x"}]


def test_passwords_are_allowed_again(
    anonymous: Belvedere, operator_server: UnixFakeServer, data: Path
) -> None:
    operator_server.on("POST", "/organization/allow-passwords", {"name": "acme"})
    ran = anonymous("organization", "allow-passwords", "acme", "--data", str(data))
    assert (ran.status, ran.out) == (0, "Members of acme may sign in with passwords.\n")
    assert operator_server.bodies("POST", "/organization/allow-passwords") == [{"name": "acme"}]


def test_without_a_server_the_database_is_opened(
    anonymous: Belvedere, data: Path, offline: Offline
) -> None:
    assert anonymous(*WORDS, "--data", str(data)).status == 0
    pair = (str(data), "/organization", {"name": "acme", "email": "ada@acme.example"})
    assert offline == [pair]


def test_a_socket_without_a_server_is_ignored(
    anonymous: Belvedere, data: Path, offline: Offline
) -> None:
    with socket.socket(socket.AF_UNIX) as left_behind:
        left_behind.bind(str(data / SOCKET))
    assert anonymous(*WORDS, "--data", str(data)).status == 0
    assert len(offline) == 1


def test_a_server_that_refuses_is_not_bypassed(
    anonymous: Belvedere, operator_server: UnixFakeServer, data: Path, offline: Offline
) -> None:
    operator_server.on(
        "POST", "/organization", CannedResponse({"code": "name_taken", "message": "Taken."}, 409)
    )
    ran = anonymous(*WORDS, "--data", str(data))
    assert (ran.status, ran.err) == (1, "belvedere: Taken.\n")
    assert offline == []


def test_a_server_that_ends_during_the_request_is_not_bypassed(
    anonymous: Belvedere, operator_server: UnixFakeServer, data: Path, offline: Offline
) -> None:
    operator_server.on("POST", "/organization", CannedResponse(silent=True))
    ran = anonymous(*WORDS, "--data", str(data))
    assert ran.status == 1
    assert offline == []
