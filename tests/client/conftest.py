"""A server and a client of it."""

from collections.abc import Iterator

import pytest

import fake_server
from belvedere.client.http_client import Client


@pytest.fixture
def server() -> Iterator[fake_server.FakeServer]:
    yield from fake_server.run_server()


@pytest.fixture
def client(server: fake_server.FakeServer) -> Iterator[Client]:
    with Client(server.url, "bvt_x", "acme") as new_client:
        yield new_client
