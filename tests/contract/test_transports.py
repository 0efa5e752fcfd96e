"""What a client sees on the connection itself, with our own protocol classes and with those of the
library (`BELVEDERE_PLAIN_HTTP=1`). Whole features are tested with both by `every_transport`."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import h11
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from contract.client import Client
from contract.over_socket import SocketApp, real_transports
from contract.sse import Stream
from contract.world import World
from security.serving import read_answer as read_response
from security.serving import request

TIMEOUT_S = 20.0
# The transport does not depend on the engine.
pytestmark = [real_transports, pytest.mark.parametrize("engine", ["sqlite"], indirect=True)]


@asynccontextmanager
async def connection(
    world: World,
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    assert isinstance(world.app, SocketApp)
    await world.app.start()
    reader, writer = await asyncio.open_connection("127.0.0.1", world.app.port)
    try:
        async with asyncio.timeout(TIMEOUT_S):
            yield reader, writer
    finally:
        writer.transport.abort()


def bearer(world: World) -> dict[str, str]:
    return {"authorization": f"Bearer {world.credential('ada')}"}


async def test_a_connection_serves_several_requests(world: World) -> None:
    async with connection(world) as (reader, writer):
        for method, target, status in (
            ("GET", "/-/health", 200),
            ("GET", "/acme/nothing", 404),
            ("POST", "/acme/job", 400),
            ("OPTIONS", "/acme/job", 204),
            ("GET", "/-/health", 200),
        ):
            writer.write(request(method, target, bearer(world)))
            response = await read_response(reader)
            assert response.status == status, target
            assert response.headers.get("connection") != "close"


async def test_pipelined_requests_are_answered_in_their_order(world: World) -> None:
    targets = ["/-/health", "/acme/nothing", "/acme/task", "/-/health"]
    async with connection(world) as (reader, writer):
        writer.write(b"".join(request("GET", target, bearer(world)) for target in targets))
        statuses = [(await read_response(reader)).status for _ in targets]
    assert statuses == [200, 404, 200, 200]


async def test_a_response_to_head_has_no_body(world: World) -> None:
    async with connection(world) as (reader, writer):
        writer.write(request("HEAD", "/-/health"))
        head = await reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200 ")
        # What follows is the head of the next response.
        writer.write(request("GET", "/-/health"))
        assert (await read_response(reader)).status == 200


async def test_a_chunked_body_is_read(world: World) -> None:
    task_id = await world.task()
    body = b'{"description": "' + b"x" * 900 + b'"}'
    parser = h11.Connection(h11.CLIENT)
    head = [("host", "belvedere.test"), ("transfer-encoding", "chunked")]
    head += [("content-type", "application/json"), *bearer(world).items()]
    async with connection(world) as (reader, writer):
        target = f"/acme/task/{task_id}"
        writer.write(parser.send(h11.Request(method="PATCH", target=target, headers=head)) or b"")
        for start in range(0, len(body), 100):
            writer.write(parser.send(h11.Data(data=body[start : start + 100])) or b"")
            await writer.drain()
        writer.write(parser.send(h11.EndOfMessage()) or b"")
        response = await read_response(reader)
    assert (response.status, json.loads(response.body)["description"]) == (200, "x" * 900)


async def test_a_client_may_ask_before_it_sends_a_body(world: World) -> None:
    body = b'{"task": "x"}'
    more = {"expect": "100-continue", "content-length": str(len(body))}
    headers = {"content-type": "application/json", **more, **bearer(world)}
    async with connection(world) as (reader, writer):
        writer.write(request("POST", "/acme/job", headers))
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 100 ")
        writer.write(body)
        assert (await read_response(reader)).status == 404


@pytest.mark.parametrize("data", [b"\x16\x03\x01 hello\r\n\r\n", b"GET /-/health SMTP/1.1\r\n\r\n"])
async def test_a_request_that_is_not_http_is_refused(world: World, data: bytes) -> None:
    async with connection(world) as (reader, writer):
        writer.write(data)
        text = await reader.read()
    assert text.startswith(b"HTTP/1.1 400 ")


async def test_a_request_that_asks_for_it_closes_the_connection(world: World) -> None:
    async with connection(world) as (reader, writer):
        writer.write(request("GET", "/-/health", {"connection": "close"}))
        assert (await read_response(reader)).status == 200
        assert await reader.read() == b""


async def test_a_reader_that_disconnects_is_noticed(world: World, ada: Client) -> None:
    listeners = world.runtime.feed._listeners
    async with asyncio.timeout(TIMEOUT_S):
        async with Stream(ada, "/-/events"):
            # The head of the response may arrive before the server listens; nothing reports when it
            # starts or stops to listen.
            while not listeners:
                await asyncio.sleep(0.001)
        while listeners:
            await asyncio.sleep(0.001)


async def test_a_handshake_is_refused_with_its_status(world: World) -> None:
    assert isinstance(world.app, SocketApp)
    await world.app.start()
    address = f"ws://127.0.0.1:{world.app.port}/-/agent"
    with pytest.raises(InvalidStatus) as refusal:
        async with connect(address, additional_headers={"authorization": "Bearer wrong"}):
            pass
    assert refusal.value.response.status_code == 401
