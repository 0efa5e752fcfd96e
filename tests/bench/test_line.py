"""The lean caller reads what a server says."""

import socket
from collections.abc import Iterator

import pytest

import fakeserver
from belvedere.bench.measure.http_connection import Line, request
from belvedere.client.errors import ServerUnreachable
from belvedere.client.http_client import Client
from fakeserver import FakeServer, Say


@pytest.fixture
def server() -> Iterator[FakeServer]:
    yield from fakeserver.running()


def test_it_works(server: FakeServer) -> None:
    server.on("POST", "/job", Say({"n": 1}), Say({"n": 2}, status=409))
    line = Line(server.url)
    asked_for = request(Client(server.url, "bvt_x", "acme"), "POST", "/job", {"task": "t"})
    assert line.ask(asked_for) == (200, b'{"n": 1}')
    assert line.ask(asked_for) == (409, b'{"n": 2}')
    line.close()
    [asked, again] = server.asked
    assert (asked.query, asked.body) == ({"customer": "acme"}, {"task": "t"})
    assert asked.headers["authorization"] == "Bearer bvt_x"
    assert asked.connection == again.connection


def test_a_server_that_hangs_up_is_told(server: FakeServer) -> None:
    server.on("POST", "/job", Say(silent=True))
    line = Line(server.url)
    with pytest.raises(ServerUnreachable, match="hung up"):
        line.ask(request(Client(server.url), "POST", "/job", {}))
    line.close()


def test_an_answer_without_its_length_is_refused(server: FakeServer) -> None:
    server.on("POST", "/job", Say(raw=[b"{}"]))
    line = Line(server.url)
    with pytest.raises(ServerUnreachable, match="length"):
        line.ask(request(Client(server.url), "POST", "/job", {}))
    line.close()


def test_a_server_that_is_not_there_is_told() -> None:
    with socket.socket() as taken:
        # Bound, so that nobody else can listen there either.
        taken.bind(("127.0.0.1", 0))
        with pytest.raises(ServerUnreachable, match="Cannot reach"):
            Line(f"http://127.0.0.1:{taken.getsockname()[1]}")
