"""Responses in one write: byte for byte what uvicorn itself would send."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from belvedere.server.transport import direct_response
from server.listening import PATIENCE_S, run_uvicorn

HEAD = {b"content-type": b"text/plain", b"x-own": b"\xfc and 1", b"content-length": b"5"}


class App:
    """Responds to `/whole` in our way and to everything else in uvicorn's, with the given
    content."""

    def __init__(self) -> None:
        self.status, self.head, self.body = 200, dict(HEAD), b"hello"
        self.took_ours = 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        while (await receive()).get("more_body"):
            pass
        if scope["path"] == "/whole":
            assert direct_response._cycle_of(send) is not None
            self.took_ours += 1
            await direct_response.respond(send, self.status, self.head, self.body)
            return
        start = {"type": "http.response.start", "status": self.status}
        await send({**start, "headers": list(self.head.items())})
        await send({"type": "http.response.body", "body": self.body})


@asynccontextmanager
async def serving(app: Any) -> AsyncIterator[int]:
    bare = {"server_header": False, "date_header": False}
    async with run_uvicorn(app, http="httptools", **bare) as (port, _):
        yield port


async def read_until_closed(port: int, request: bytes) -> bytes:
    """All bytes that are received until the server closes the connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request)
    async with asyncio.timeout(PATIENCE_S):
        answer = await reader.read()
    writer.close()
    return answer


LAST = b"connection: close\r\n\r\n"
REQUESTS = {
    "get": b"GET %s HTTP/1.1\r\nhost: x\r\n" + LAST,
    "head": b"HEAD %s HTTP/1.1\r\nhost: x\r\n" + LAST,
    "old": b"GET %s HTTP/1.0\r\n\r\n",
    "post": b"POST %s HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\n" + LAST + b"abc",
    "continue": b"POST %s HTTP/1.1\r\nexpect: 100-continue\r\ncontent-length: 0\r\n" + LAST,
    "two at once": b"GET %s HTTP/1.1\r\nhost: x\r\n\r\nGET %s HTTP/1.1\r\nhost: x\r\n" + LAST,
}


@pytest.mark.parametrize("how", REQUESTS)
async def test_bytes_equal_those_of_uvicorn(how: str) -> None:
    app = App()
    async with serving(app) as port:
        theirs = await read_until_closed(port, REQUESTS[how].replace(b"%s", b"/theirs"))
        ours = await read_until_closed(port, REQUESTS[how].replace(b"%s", b"/whole"))
    assert ours == theirs and b"200 OK" in ours
    assert app.took_ours == REQUESTS[how].count(b"%s")


async def test_a_response_without_a_body_is_the_same() -> None:
    app = App()
    app.status, app.head, app.body = 204, {b"x-own": b"1"}, b""
    async with serving(app) as port:
        theirs = await read_until_closed(port, REQUESTS["get"].replace(b"%s", b"/theirs"))
        ours = await read_until_closed(port, REQUESTS["get"].replace(b"%s", b"/whole"))
    assert ours == theirs and ours.endswith(b"\r\n\r\n")


@pytest.mark.parametrize("value", [b"a\r\nset-cookie: b", b"a\nb", b"a\rb", b"a\x00b", b"a\x7fb"])
async def test_a_header_cannot_be_split(value: bytes) -> None:
    app = App()
    app.head[b"x-own"] = value
    async with serving(app) as port:
        answer = await read_until_closed(port, REQUESTS["get"].replace(b"%s", b"/whole"))
    assert answer.startswith(b"HTTP/1.1 500 ") and b"x-own" not in answer


PIECES = st.sampled_from([bytes([number]) for number in range(256)] + [b"\r\n", b": ", b"\r\n\r\n"])
WORDS = st.lists(PIECES, max_size=4).map(b"".join)


@given(st.dictionaries(WORDS, WORDS, max_size=4), st.booleans())
def test_lines_are_as_many_as_headers(head: dict[bytes, bytes], closes: bool) -> None:
    unclean = {*range(32), 127} - {ord("\t")}
    if unclean.intersection(b"".join((*head.keys(), *head.values()))):
        with pytest.raises(ValueError, match="control character"):
            direct_response.head_of(200, head, closes=closes)
        return
    lines = [name + b": " + value for name, value in head.items()]
    last = [b"connection: close"] if closes else []
    expected = [b"HTTP/1.1 200 OK", *lines, *last, b"", b""]
    assert direct_response.head_of(200, head, closes=closes) == b"\r\n".join(expected)


async def test_the_connection_is_kept_for_the_next_request() -> None:
    app = App()
    async with serving(app) as port, asyncio.timeout(PATIENCE_S):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for _ in range(3):
            writer.write(b"GET /whole HTTP/1.1\r\nhost: x\r\n\r\n")
            head = await reader.readuntil(b"\r\n\r\n")
            assert b"connection" not in head and await reader.readexactly(5) == b"hello"
        writer.close()
    assert app.took_ours == 3


def test_other_servers_are_answered_in_two_messages() -> None:
    functions: list[Any] = [print, lambda _: None, [].append]
    assert [direct_response._cycle_of(function) for function in functions] == [None] * 3
