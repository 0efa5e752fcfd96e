"""Requests to other servers: the response is returned, whatever it is, and only from allowed
addresses."""

import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from belvedere.base import networks
from belvedere.egress.http_calls import MAX_ANSWER
from belvedere.egress.messages import EgressRequest
from belvedere.egress.network_guard import CallRefused, Guard
from belvedere.egress.pool import EgressPool
from egress.receivers import LOOPBACK

ANSWERS = {
    "/large": b"x" * (MAX_ANSWER + 1),
    "/whole": b"x" * MAX_ANSWER,
    "/": b'{"a": "\xc3\xa4"}',
}


class Oracle(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", "0")))
        response = ANSWERS.get(self.path, self.path.encode() + b" " + body)
        self.send_response(307 if self.path == "/away" else 400 if body else 200)
        self.send_header("Location", "http://127.0.0.1:1/")
        self.send_header("Content-Length", str(len(response)))
        self.end_headers()
        self.wfile.write(response)

    do_POST = do_GET

    def log_message(self, *_: object) -> None:
        """No log lines."""


@contextmanager
def oracle() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Oracle)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@asynccontextmanager
async def pool(networks: str = LOOPBACK) -> AsyncIterator[EgressPool]:
    egress_pool = EgressPool(networks)
    try:
        yield egress_pool
    finally:
        await egress_pool.close()


async def test_a_response_is_returned() -> None:
    with oracle() as url:
        async with pool() as new_pool:
            egress_result = await new_pool.send(EgressRequest(url=f"{url}/", method="GET"))
            assert (egress_result.status, egress_result.text, egress_result.fault) == (
                200,
                '{"a": "ä"}',
                "",
            )
            egress_result = await new_pool.send(
                EgressRequest(url=f"{url}/x", method="POST", payload="a=1")
            )
            assert (egress_result.status, egress_result.text) == (400, "/x a=1")
            # A redirect is returned as a response.
            assert (
                await new_pool.send(EgressRequest(url=f"{url}/away", method="GET"))
            ).status == 307


async def test_an_answer_has_a_largest_size() -> None:
    with oracle() as url:
        async with pool() as new_pool:
            assert (
                len((await new_pool.send(EgressRequest(url=f"{url}/whole", method="GET"))).text) > 0
            )
            egress_result = await new_pool.send(EgressRequest(url=f"{url}/large", method="GET"))
            assert "longer than" in egress_result.fault and egress_result.text == ""


async def test_an_internal_address_is_called_only_if_allowed() -> None:
    with oracle() as url:
        async with pool(networks="") as new_pool:
            egress_result = await new_pool.send(EgressRequest(url=f"{url}/", method="GET"))
            assert "internal network" in egress_result.fault and egress_result.status == 0


@pytest.mark.parametrize("url", ["", "x", "http://", "https://a:b@example.com/", "http://[::"])
async def test_an_invalid_address_is_refused(url: str) -> None:
    async with pool() as new_pool:
        assert (await new_pool.send(EgressRequest(url=url, method="GET"))).fault


def test_plain_http_is_allowed_only_to_internal_networks() -> None:
    """An attacker who could change a response on its way would decide who may sign in."""
    guard = Guard()
    guard.allow(networks.parse_networks("10.0.0.0/8"), only_inner=True)
    guard.check_address(("10.1.2.3", 80))
    for address in ("8.8.8.8", "192.168.0.1"):
        with pytest.raises(CallRefused):
            guard.check_address((address, 80))
    guard.allow(())
    guard.check_address(("8.8.8.8", 443))
