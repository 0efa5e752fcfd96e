"""The minimal HTTP connection sends requests and reads responses."""

import socket
from collections.abc import Iterator

import pytest

import fake_server
from belvedere.bench.measure.http_connection import HttpConnection, encode_request
from belvedere.client.errors import ServerUnreachable
from belvedere.client.http_client import Client
from fake_server import CannedResponse, FakeServer


@pytest.fixture
def server() -> Iterator[FakeServer]:
    yield from fake_server.run_server()


def test_requests_share_one_connection(server: FakeServer) -> None:
    server.on("POST", "/job", CannedResponse({"n": 1}), CannedResponse({"n": 2}, status=409))
    connection = HttpConnection(server.url)
    request = encode_request(Client(server.url, "bvt_x", "acme"), "POST", "/job", {"task": "t"})
    assert connection.exchange(request) == (200, b'{"n": 1}')
    assert connection.exchange(request) == (409, b'{"n": 2}')
    connection.close()
    [first, second] = server.asked
    assert (first.query, first.body) == ({"customer": "acme"}, {"task": "t"})
    assert first.headers["authorization"] == "Bearer bvt_x"
    assert first.connection == second.connection


def test_a_closed_connection_is_reported(server: FakeServer) -> None:
    server.on("POST", "/job", CannedResponse(silent=True))
    connection = HttpConnection(server.url)
    with pytest.raises(ServerUnreachable, match="closed the connection"):
        connection.exchange(encode_request(Client(server.url), "POST", "/job", {}))
    connection.close()


def test_a_response_without_its_length_is_refused(server: FakeServer) -> None:
    server.on("POST", "/job", CannedResponse(raw=[b"{}"]))
    connection = HttpConnection(server.url)
    with pytest.raises(ServerUnreachable, match="Content-Length"):
        connection.exchange(encode_request(Client(server.url), "POST", "/job", {}))
    connection.close()


def test_an_unreachable_server_is_reported() -> None:
    with socket.socket() as actual_socket:
        # Bound, so that no other program can listen there either.
        actual_socket.bind(("127.0.0.1", 0))
        with pytest.raises(ServerUnreachable, match="Cannot reach"):
            HttpConnection(f"http://127.0.0.1:{actual_socket.getsockname()[1]}")
