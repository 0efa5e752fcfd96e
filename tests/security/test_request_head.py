"""Heads of requests: limited while they arrive, and read in linear time."""

import asyncio
import sys
from typing import Any

import pytest

from belvedere.base.errors import BadMediaType, Invalid
from belvedere.rest import run_arguments
from belvedere.rest.bodies import multipart
from belvedere.server.transport import http_protocol as protocol
from security.serving import read_answer, request, serving
from server.listening import PATIENCE_S


async def fine(scope: Any, receive: Any, send: Any) -> None:
    while (await receive()).get("more_body"):
        pass
    await send(
        {"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]}
    )
    await send({"type": "http.response.body", "body": b"ok"})


LARGE = {
    "a long header": {"x": "a" * protocol.MAX_HEADER},
    "many headers": {f"x{n}": "a" for n in range(protocol.MAX_HEADERS)},
    "headers that are too large together": {f"x{n}": "a" * 8_000 for n in range(9)},
}


@pytest.mark.parametrize("how", LARGE)
async def test_headers_over_a_limit_are_refused(how: str) -> None:
    async with serving(fine) as site:
        refused = await site.answer(request("GET", "/", LARGE[how]))
    assert (refused.status, refused.code) == (431, "headers_too_large")
    assert refused.headers["connection"] == "close"


async def test_headers_at_the_limits_are_read() -> None:
    headers = {"x": "a" * (protocol.MAX_HEADER - 1)}
    headers |= {f"y{n}": "a" for n in range(protocol.MAX_HEADERS - 2)}
    async with serving(fine) as site:
        assert (await site.answer(request("GET", "/", headers))).status == 200


async def test_an_address_over_the_limit_is_refused() -> None:
    async with serving(fine) as site:
        longest = request("GET", "/?" + "a" * (protocol.MAX_URL - 2))
        assert (await site.answer(longest)).status == 200
        refused = await site.answer(request("GET", "/?" + "a" * protocol.MAX_URL))
    assert (refused.status, refused.code) == (414, "address_too_long")


async def test_a_path_over_the_limit_is_refused() -> None:
    """Each of its escapes is decoded, by the HTTP library and by the table of routes."""
    longest = "/" + "a" * (protocol.MAX_PATH - 1)
    async with serving(fine) as site:
        for to in (longest, f"{longest}?{'a' * protocol.MAX_PATH}"):
            assert (await site.answer(request("GET", to))).status == 200
        refused = await site.answer(request("GET", f"{longest}a?b"))
    assert (refused.status, refused.code) == (414, "address_too_long")
    assert b"8192 bytes" in refused.body


ENDLESS = {
    "a header name": b"GET / HTTP/1.1\r\n",
    "a header value": b"GET / HTTP/1.1\r\nx: ",
    "an address": b"GET /",
    "a chunk extension": b"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n1;",
    "a trailer": b"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n0\r\nx: ",
}


@pytest.mark.parametrize("how", ENDLESS)
async def test_an_endless_head_is_refused_while_it_arrives(how: str) -> None:
    """The server takes little more than the limit from a client that never stops."""
    number = 0
    async with serving(fine) as site, asyncio.timeout(PATIENCE_S):
        reader, writer = await site.open()
        writer.write(ENDLESS[how])
        with pytest.raises(ConnectionError):
            while True:
                writer.write(b"a" * 65_536)
                await writer.drain()
                connections: Any = next(iter(site.server.server_state.connections), None)
                number = max(number, 0 if connections is None else connections.unread)
        writer.transport.abort()
        while len(site.connections):
            await asyncio.sleep(0)
    assert number <= protocol.MAX_HEAD + protocol.SLICE


async def test_many_trailers_are_refused() -> None:
    start = request("POST", "/", {"transfer-encoding": "chunked", "content-length": "0"})
    start = start.replace(b"content-length: 0\r\n", b"") + b"0\r\n"
    trailers = b"".join(b"x%d: %s\r\n" % (n, b"a" * 1_000) for n in range(100))
    async with serving(fine) as site, asyncio.timeout(PATIENCE_S):
        reader, writer = await site.open()
        writer.write(start + trailers)
        assert b"HTTP/1.1 200" not in await reader.read()
        writer.close()


async def test_a_body_of_tiny_chunks_is_refused() -> None:
    start = b"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n"
    async with serving(fine) as site, asyncio.timeout(PATIENCE_S):
        reader, writer = await site.open()
        writer.write(start + b"1\r\na\r\n" * (protocol.FREE_CHUNKS + 1))
        assert await reader.read() == b""
        writer.close()


async def test_the_queued_requests_of_one_connection_are_limited() -> None:
    async with serving(fine) as site, asyncio.timeout(PATIENCE_S):
        reader, writer = await site.open()
        writer.write(request("GET", "/") * protocol.MAX_PIPELINED)
        for _ in range(protocol.MAX_PIPELINED):
            assert (await read_answer(reader)).status == 200
        writer.write(request("GET", "/") * (protocol.MAX_PIPELINED * 2))
        assert (await reader.read()).count(b"200 OK") <= protocol.MAX_PIPELINED
        writer.close()


async def test_a_request_that_is_not_http_gets_a_response() -> None:
    async with serving(fine) as site:
        refused = await site.answer(b"HELLO\r\n\r\n")
    assert (refused.status, refused.code) == (400, "malformed_request")


def steps(content_type: str) -> int:
    """How many bytecode lines reading a content type takes; C functions count by their bytes."""
    count = 0

    def tracer(frame: Any, event: str, arg: Any) -> Any:
        nonlocal count
        count += 1
        return tracer

    before = sys.gettrace()
    sys.settrace(tracer)
    try:
        with pytest.raises(BadMediaType):
            run_arguments.media_type(content_type)
    finally:
        sys.settrace(before)
    return count


def test_a_content_type_of_many_parameters_is_not_parsed() -> None:
    """The review's request: 128,000 semicolons."""
    assert steps("application/json" + ";" * 128_000) <= steps("application/json" + ";" * 17)


def test_a_multipart_type_of_many_parameters_is_not_parsed() -> None:
    with pytest.raises(Invalid, match="parameters"):
        multipart.read("multipart/form-data" + ';a="' * 128_000, b"")


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        ("application/json", "application/json"),
        ("Application/JSON ; Charset=UTF-8", "application/json"),
        ('text/plain; a=b; charset="utf-8"', "text/plain"),
        ("text/plain; charset='us-ascii'; x=y", "text/plain"),
        ("text/plain;", "text/plain"),
    ],
)
def test_content_types_are_read(given: str, kind: str) -> None:
    assert run_arguments.media_type(given) == kind


def test_another_charset_is_refused() -> None:
    with pytest.raises(BadMediaType, match="latin-1"):
        run_arguments.media_type("text/plain; charset=latin-1")
