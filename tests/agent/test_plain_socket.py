"""Web checks without TLS: bare sockets that behave like asyncio's streams, with fewer wake-ups."""

import asyncio
import errno
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any
from unittest import mock

import pytest

from agent.test_checks_scraper import scrape
from agent.webpages import page, site
from belvedere.agent.checks import http_client, plain_socket
from belvedere.agent.checks.plain_socket import LIMIT, SocketReader, connect_socket

Reader = SocketReader | asyncio.StreamReader
HEAD = b"HTTP/1.1 200 OK\r\n\r\n"


@contextmanager
def answering_thread(count: int) -> Iterator[int]:
    """The port of a web server on another thread, which accepts this many connections."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            for _ in range(count):
                peer, _ = listener.accept()
                with peer:
                    peer.recv(65_536)
                    peer.sendall(page())

        thread = threading.Thread(target=answer)
        thread.start()
        yield listener.getsockname()[1]
        thread.join()


async def test_a_check_wakes_the_event_loop_for_connection_and_response_only() -> None:
    loop: Any = asyncio.get_running_loop()
    with answering_thread(1) as port:
        select = mock.Mock(wraps=loop._selector.select)
        with mock.patch.object(loop._selector, "select", select):
            outcome = await scrape(f"http://127.0.0.1:{port}/", status_code="200")
    assert outcome.state == "normal"
    # A future that is done resumes its task in the next iteration.
    assert select.call_count <= 4


async def read_head(reader: Reader) -> bytes:
    return await reader.readuntil(b"\r\n\r\n")


async def read_exactly(reader: Reader) -> bytes:
    return await reader.readexactly(10)


async def read_some(reader: Reader) -> bytes:
    return await reader.read(10) + await reader.read(10)


@pytest.mark.parametrize("read", [read_head, read_exactly, read_some])
@pytest.mark.parametrize(
    "data", [b"", b"ab", HEAD, HEAD + b"body", b"x" * (LIMIT - 10) + HEAD, b"x" * 3 * LIMIT]
)
async def test_a_socket_is_read_like_a_stream(read: Any, data: bytes) -> None:
    stream = asyncio.StreamReader()
    stream.feed_data(data)
    stream.feed_eof()
    ours, peer = socket.socketpair()
    with ours, peer:
        ours.setblocking(False)
        thread = threading.Thread(target=send_and_close, args=(peer, data))
        thread.start()
        own, expected = await attempt(read(SocketReader(ours))), await attempt(read(stream))
        ours.close()
        thread.join()
    assert own == expected


def send_and_close(peer: socket.socket, data: bytes) -> None:
    # The reader closes first if the data is too long for it.
    with peer, suppress(OSError):
        peer.sendall(data)


async def attempt(reading: Any) -> object:
    try:
        return await reading
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError) as fault:
        return type(fault)


async def test_the_next_address_is_tried_if_one_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    async with site() as actual_site:
        endpoints = [("127.0.0.2", free_port()), ("127.0.0.1", actual_site.port)]
        resolve_to(monkeypatch, endpoints)
        (await connect_socket({}, "both.test", 80)).close()
        assert (await scrape("http://both.test/")).state == "normal"


async def test_the_first_fault_is_reported_if_no_address_accepts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    resolve_to(monkeypatch, [("127.0.0.1", free_port()), ("127.0.0.2", free_port())])
    with pytest.raises(OSError) as fault:
        await connect_socket({}, "both.test", 80)
    assert fault.value.errno == errno.ECONNREFUSED and "127.0.0.1" in str(fault.value)


async def test_an_address_is_not_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name lookup takes a thread."""
    look_up = mock.AsyncMock(side_effect=AssertionError)
    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", look_up)
    async with site() as actual_site:
        assert (await scrape(actual_site.url)).state == "normal"
    look_up.assert_not_called()


async def test_a_name_is_looked_up_for_every_check(monkeypatch: pytest.MonkeyPatch) -> None:
    """The service may have moved to another address."""
    async with site() as actual_site:
        look_ups = resolve_to(monkeypatch, [("127.0.0.1", actual_site.port)])
        for _ in range(3):
            assert (await scrape("http://shop.test/")).state == "normal"
        assert look_ups.await_count == 3 and len(actual_site.asked) == 3


@pytest.mark.parametrize(
    ("path", "timeout_ms", "event"),
    [("/", 5_000, "success"), ("/silent", 100, "scraper:timeout")],
)
async def test_a_socket_is_closed_after_the_check(
    path: str, timeout_ms: int, event: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sockets: list[socket.socket] = []

    async def record(*args: Any) -> socket.socket:
        sockets.append(await connect_socket(*args))
        return sockets[-1]

    monkeypatch.setattr(http_client, "connect_socket", record)
    async with site() as actual_site:
        actual_site.pages["/silent"] = None
        outcome = await scrape(actual_site.url + path, timeout=timeout_ms)
    assert outcome.event == event
    assert [sock.fileno() for sock in sockets] == [-1]


async def test_a_connection_that_is_established_at_once_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Most are, within a host."""
    codes = iter([errno.EINPROGRESS, 0])
    monkeypatch.setattr(socket.socket, "connect_ex", lambda *_: next(codes))
    add_writer = mock.Mock()
    monkeypatch.setattr(asyncio.get_running_loop(), "add_writer", add_writer)
    (await connect_socket({}, "127.0.0.1", 80)).close()
    add_writer.assert_not_called()


@pytest.mark.parametrize("accepts", [True, False])
async def test_a_slow_connection_is_waited_for(
    accepts: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect = socket.socket.connect_ex
    codes = iter([connect, lambda *_: errno.EALREADY])
    monkeypatch.setattr(socket.socket, "connect_ex", lambda *args: next(codes)(*args))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1] if accepts else free_port()
        connecting = connect_socket({}, "127.0.0.1", port)
        if not accepts:
            with pytest.raises(ConnectionRefusedError):
                await connecting
            return
        with await connecting as sock:
            assert sock.getpeername() == ("127.0.0.1", port)


async def test_a_canceled_connection_closes_its_socket(monkeypatch: pytest.MonkeyPatch) -> None:
    loop, waiting = asyncio.get_running_loop(), asyncio.Event()
    sockets: list[socket.socket] = []

    def begin(sock: socket.socket, _: Any) -> int:
        sockets.append(sock)
        return (errno.EINPROGRESS, errno.EALREADY)[len(sockets) - 1]

    monkeypatch.setattr(socket.socket, "connect_ex", begin)
    monkeypatch.setattr(loop, "add_writer", lambda *_: waiting.set())
    task = asyncio.create_task(connect_socket({}, "127.0.0.1", 80))
    await waiting.wait()
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled() and sockets[0].fileno() == -1


async def test_waiting_for_a_socket_writes_no_text_about_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """asyncio does for a socket that it does not know; with its addresses it is slow."""
    describe = mock.Mock(return_value="")
    monkeypatch.setattr(socket.socket, "__repr__", describe)
    ours, peer = socket.socketpair()
    with ours, peer:
        ours.setblocking(False)
        reading = asyncio.create_task(SocketReader(ours).read(2))
        await asyncio.sleep(0)
        peer.sendall(b"ok")
        assert await reading == b"ok"
    describe.assert_not_called()


@pytest.mark.parametrize("spaces", [0, 3, 30_000])
async def test_the_value_of_a_header_has_no_spaces_around_it(spaces: int) -> None:
    """Many spaces take linear time to read; quadratic would be minutes."""
    blank = " " * spaces
    lengths = f"X-Content-Length: 1\r\nCONTENT-LENGTH:{blank}2{blank}\r\n"
    async with site() as actual_site:
        actual_site.pages["/"] = f"HTTP/1.1 200 OK\r\n{lengths}\r\nok, and more".encode()
        assert (await scrape(actual_site.url)).data["bytes"] == 2


async def test_a_response_to_a_long_body_is_read_before_all_of_it_is_sent() -> None:
    async with site() as actual_site:
        actual_site.pages["/"] = page(status="413 Too Large")
        outcome = await scrape(actual_site.url, method="POST", body="x" * 4_000_000)
    assert outcome.message == "status 413"


def resolve_to(monkeypatch: pytest.MonkeyPatch, endpoints: list[tuple[str, int]]) -> mock.AsyncMock:
    resolved = [(socket.AF_INET, endpoint) for endpoint in endpoints]
    look_up = mock.AsyncMock(return_value=resolved)
    monkeypatch.setattr(plain_socket, "resolve_endpoints", look_up)
    return look_up


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port: int = sock.getsockname()[1]
        return port


class Flood:
    """A socket on which interim responses arrive faster than they are read."""

    def __init__(self) -> None:
        self.pieces = 0

    def recv(self, _: int) -> bytes:
        self.pieces += 1
        assert self.pieces < 1_000, "the time limit of the check had no effect"
        return b"HTTP/1.1 100 Continue\r\n\r\n" * 100


async def test_a_server_that_never_stops_sending_is_ended_by_the_time_limit() -> None:
    flood: Any = Flood()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0):
            await http_client._read(SocketReader(flood), "GET")
