"""A server to talk to, and one who talks to it."""

from collections.abc import Iterator

import pytest

import fakeserver
from belvedere.client.http_client import Client


@pytest.fixture
def server() -> Iterator[fakeserver.FakeServer]:
    yield from fakeserver.running()


@pytest.fixture
def client(server: fakeserver.FakeServer) -> Iterator[Client]:
    with Client(server.url, "bvt_x", "acme") as made:
        yield made
