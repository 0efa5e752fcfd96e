"""HTTP calls: requests, responses, and reuse of connections."""

import socket
import ssl
from pathlib import Path

import pytest

from belvedere.base.errors import Fault
from belvedere.client.errors import Problem, ServerUnreachable
from belvedere.client.http_client import Client
from fake_server import CannedResponse, FakeServer


def test_a_request_has_organization_and_token(server: FakeServer, client: Client) -> None:
    server.on("POST", "/job", {"id": "1", "lifecycle": "ready"})
    assert client.post("/job", {"task": "t"}) == {"id": "1", "lifecycle": "ready"}
    recorded_request = server.asked[0]
    assert recorded_request.body == {"task": "t"}
    assert recorded_request.query == {"customer": "acme"}
    assert recorded_request.headers["Authorization"] == "Bearer bvt_x"
    assert recorded_request.headers["Content-Type"] == "application/json"


def test_a_query_parameter_is_repeated_for_each_value(server: FakeServer, client: Client) -> None:
    server.on("GET", "/job", [])
    client.get("/job", {"where[state][$in][]": ["lost", "error"]})
    assert server.asked[0].query == {"where[state][$in][]": "lost,error", "customer": "acme"}


def test_the_client_keeps_its_connection(server: FakeServer, client: Client) -> None:
    server.on("GET", "/task", [])
    for _ in range(3):
        client.get("/task")
    assert {request.connection for request in server.asked} == {1}


def test_a_text_response_is_returned_as_text(server: FakeServer, client: Client) -> None:
    server.on(
        "GET", "/job/1/log", CannedResponse("größer\n", media_type="text/plain; charset=utf-8")
    )
    assert client.get("/job/1/log") == "größer\n"


def test_the_path_of_the_server_address_is_kept(server: FakeServer) -> None:
    server.on("GET", "/belvedere/task", [])
    with Client(f"{server.url}/belvedere/") as client:
        assert client.get("/task") == []


def test_a_refusal_is_raised_with_its_fields(server: FakeServer, client: Client) -> None:
    problem_body = {
        "statusCode": 400,
        "code": "missing_arguments",
        "message": "An argument is missing.",
        "errors": [{"field": "task_arguments[1]", "message": "is required"}],
    }
    server.on("POST", "/job", CannedResponse(problem_body, 400))
    with pytest.raises(Problem) as caught:
        client.post("/job", {})
    problem = caught.value
    assert (problem.status, problem.code) == (400, "missing_arguments")
    assert problem.faults == (Fault("task_arguments[1]", "is required"),)


def test_an_error_of_a_proxy_is_understood(server: FakeServer, client: Client) -> None:
    server.on("GET", "/task", CannedResponse("<html>nginx", 502, media_type="text/html"))
    with pytest.raises(Problem, match="502 Bad Gateway") as caught:
        client.get("/task")
    assert caught.value.code == "http_502"


def test_a_closed_idle_connection_is_replaced(server: FakeServer, client: Client) -> None:
    server.on("POST", "/job", CannedResponse({"id": "1"}, hang_up=True))
    client.post("/job", {})
    assert client._idle is not None
    # The close has arrived: from here on the idle connection can be read, and reads as ended.
    client._idle.sock.recv(1, socket.MSG_PEEK)
    assert client.post("/job", {}) == {"id": "1"}
    assert [request.connection for request in server.asked] == [1, 2]


def test_a_read_is_repeated_once_when_an_idle_connection_breaks(
    server: FakeServer, client: Client
) -> None:
    server.on("GET", "/task", ["first"], CannedResponse(silent=True), ["third"])
    assert client.get("/task") == ["first"]
    assert client.get("/task") == ["third"]


def test_a_request_with_an_idempotency_key_is_repeated(server: FakeServer, client: Client) -> None:
    server.on("GET", "/task", [])
    server.on("POST", "/job", CannedResponse(silent=True), {"id": "1"})
    client.get("/task")
    response = client.request("POST", "/job", {}, headers={"Idempotency-Key": "k"})
    assert response.body == {"id": "1"}
    keys = [
        request.headers["Idempotency-Key"] for request in server.asked if request.path == "/job"
    ]
    assert keys == ["k", "k"]


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_a_change_is_never_sent_twice(server: FakeServer, client: Client, method: str) -> None:
    server.on("GET", "/task", [])
    server.on(method, "/job/1/restart", CannedResponse(silent=True), {"id": "2"})
    client.get("/task")
    with pytest.raises(ServerUnreachable):
        client.request(method, "/job/1/restart")
    assert len([request for request in server.asked if request.method == method]) == 1


def test_an_unreachable_server_is_named() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{unused.getsockname()[1]}"
        with pytest.raises(ServerUnreachable, match="Connection refused") as caught:
            Client(address).get("/task")
    assert address in caught.value.message
    assert caught.value.status == 0


def test_a_slow_response_is_reported_as_a_timeout() -> None:
    with socket.create_server(("127.0.0.1", 0)) as mute:
        address = f"http://127.0.0.1:{mute.getsockname()[1]}"
        with pytest.raises(ServerUnreachable, match="did not respond in time"):
            Client(address, timeout_s=0.05).get("/task")


@pytest.mark.parametrize("address", ["localhost:8430", "ftp://x", ""])
def test_an_invalid_server_address_is_refused(address: str) -> None:
    with pytest.raises(ServerUnreachable, match="not a server address"):
        Client(address)


def test_an_unusable_ca_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ServerUnreachable, match="missing.pem"):
        Client("https://localhost", ca_file=str(tmp_path / "missing.pem"))


def test_an_untrusted_certificate_is_reported_with_the_option_to_trust_it() -> None:
    from belvedere.client import connections

    fault = ssl.SSLCertVerificationError()
    fault.verify_message = "self-signed certificate"
    assert "--ca-file" in connections.unreachable("https://x", fault).message
