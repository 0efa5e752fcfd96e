"""Clients that send or read slowly: disconnected after a deadline, and without delaying others."""

import asyncio
import resource
import socket
from pathlib import Path
from typing import Any

import pytest

from belvedere.server.transport import connections
from belvedere.server.transport import http_protocol as protocol
from e2e.programs import Server
from security.serving import Site, read_answer, request, serving
from server.listening import PATIENCE_S

HALF = b"GET / HTTP/1.1\r\nhost: x\r\n"
LARGE = 8 << 20


class App:
    """Reads the body, and responds to `/large` with many bytes and to `/wait` never."""

    def __init__(self) -> None:
        self.waiting = 0
        self.gone = asyncio.Event()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        while (message := await receive()).get("more_body"):
            pass
        if scope["path"] == "/wait":
            self.waiting += 1
            await receive()
            self.gone.set()
            return
        body = b"a" * (LARGE if scope["path"] == "/large" else 2)
        length = str(len(body)).encode()
        start = {"type": "http.response.start", "status": 200}
        if message["type"] == "http.request":
            await send({**start, "headers": [(b"content-length", length)]})
            await send({"type": "http.response.body", "body": body})


async def until(done: Any) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while not done():
            await asyncio.sleep(0.001)


async def half_sent(site: Site, count: int) -> list[asyncio.StreamWriter]:
    before = len(site.connections)
    opened = []
    for _ in range(count):
        _, writer = await site.open()
        writer.write(HALF)
        opened.append(writer)
    await until(lambda: len(site.connections) >= min(before + count, site.connections.per_address))
    return opened


def close(writers: list[asyncio.StreamWriter]) -> None:
    for writer in writers:
        writer.transport.abort()


@pytest.mark.parametrize("data", [b"", HALF, b"POST / HTTP/1.1\r\nhost: x"])
async def test_a_head_has_a_deadline(data: bytes) -> None:
    async with serving(App()) as site:
        reader, writer = await site.open()
        writer.write(data)
        await until(lambda: len(site.connections) == 1)
        site.sweep(protocol.HEAD_S - 2)
        assert len(site.connections) == 1
        site.sweep(protocol.HEAD_S + 2)
        assert len(site.connections) == 0
        with pytest.raises(ConnectionError):
            assert await reader.read() == b""
            raise ConnectionResetError
        close([writer])


async def test_bytes_that_drip_do_not_extend_the_deadline() -> None:
    async with serving(App()) as site:
        (writer,) = await half_sent(site, 1)
        actual_connections: Any = next(iter(site.server.server_state.connections))
        for _ in range(5):
            before = actual_connections.unread
            writer.write(b"x: y\r\n")
            await until(lambda was=before: actual_connections.unread > was)
        site.sweep(protocol.HEAD_S + 2)
        assert len(site.connections) == 0
        close([writer])


async def test_an_idle_connection_stays_open_and_is_closed_eventually() -> None:
    async with serving(App()) as site:
        reader, writer = await site.open()
        writer.write(request("GET", "/"))
        assert (await read_answer(reader)).status == 200
        site.sweep(protocol.KEEP_ALIVE_S - 2)
        writer.write(request("GET", "/"))
        assert (await read_answer(reader)).status == 200
        site.sweep(protocol.KEEP_ALIVE_S + 2)
        assert len(site.connections) == 0
        close([writer])


async def test_idle_connections_go_sooner_when_few_are_left() -> None:
    async with serving(App(), per_address=8, capacity=8) as site:
        site.connections.per_address = 8
        opened = []
        for _ in range(7):
            reader, writer = await site.open()
            writer.write(request("GET", "/"))
            assert (await read_answer(reader)).status == 200
            opened.append(writer)
        site.sweep(protocol.PRESSURE_S + 1)
        assert len(site.connections) == 0
        close(opened)


async def test_a_body_must_make_progress() -> None:
    start = b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 100000\r\n\r\n"
    async with serving(App()) as site:
        _, writer = await site.open()
        writer.write(start + b"a" * 10)
        await until(lambda: len(site.connections) == 1)
        actual_connections: Any = next(iter(site.server.server_state.connections))
        await until(lambda: actual_connections.body_bytes == 10)
        site.sweep(protocol.BODY_GRACE_S - 2)
        assert len(site.connections) == 1
        writer.write(b"a" * 40_960)
        await until(lambda: actual_connections.body_bytes == 40_970)
        # 40 KiB add 40 seconds.
        site.sweep(protocol.BODY_GRACE_S + 30)
        assert len(site.connections) == 1
        site.sweep(protocol.BODY_GRACE_S + 45)
        assert len(site.connections) == 0
        close([writer])


async def test_an_unread_body_is_not_awaited_for_long() -> None:
    """The response is sent before the body; the rest of the body has only a moment."""

    async def impatient(scope: Any, receive: Any, send: Any) -> None:
        start = {"type": "http.response.start", "status": 403}
        await send({**start, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body", "body": b""})

    async with serving(impatient) as site:
        reader, writer = await site.open()
        writer.write(b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 100000\r\n\r\n")
        assert (await read_answer(reader)).status == 403
        writer.write(b"a" * 1_000)
        site.sweep(protocol.LINGER_S - 2)
        assert len(site.connections) == 1
        site.sweep(protocol.LINGER_S + 2)
        assert len(site.connections) == 0
        close([writer])


async def not_reading(site: Site) -> socket.socket:
    """A client that requests many bytes and reads none."""
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
    client.setblocking(False)
    loop = asyncio.get_running_loop()
    await loop.sock_connect(client, ("127.0.0.1", site.port))
    await loop.sock_sendall(client, request("GET", "/large"))
    return client


async def test_a_client_that_reads_nothing_is_cut() -> None:
    async with serving(App()) as site:
        client = await not_reading(site)
        await until(lambda: len(site.connections) == 1)
        actual_connections: Any = next(iter(site.server.server_state.connections))
        await until(lambda: actual_connections.transport.get_write_buffer_size() > 0)
        site.sweep()
        site.sweep(protocol.WRITE_S - 2)
        assert len(site.connections) == 1
        site.sweep(protocol.WRITE_S + 2)
        assert len(site.connections) == 0
        await until(lambda: actual_connections.transport.get_write_buffer_size() == 0)
        client.close()


async def test_a_client_that_reads_slowly_is_served_to_the_end() -> None:
    async with serving(App()) as site, asyncio.timeout(PATIENCE_S):
        client = await not_reading(site)
        loop = asyncio.get_running_loop()
        later, size = 0.0, 0
        while size < LARGE:
            number = len(await loop.sock_recv(client, 1 << 20))
            assert number
            size += number
            later += 1.0
            site.sweep(later)
        client.close()


async def test_unread_responses_have_a_common_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connections, "MAX_UNSENT", LARGE * 2)
    async with serving(App()) as site:
        clients = [await not_reading(site) for _ in range(4)]
        await until(lambda: len(site.connections) == 4)
        every: list[Any] = list(site.server.server_state.connections)
        await until(lambda: all(item.transport.get_write_buffer_size() for item in every))
        site.sweep()
        assert len(site.connections) == 4
        site.sweep(connections.STALLED_S + 1)
        assert 1 <= len(site.connections) <= 2
        for client in clients:
            client.close()


async def test_clients_that_read_a_little_do_not_hold_unlimited_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Progress keeps a connection; many of them together must not keep any amount of responses."""
    monkeypatch.setattr(connections, "MAX_UNSENT", LARGE)
    monkeypatch.setattr(connections, "MAX_SLOWLY_SENT", LARGE * 2)
    async with serving(App()) as site:
        clients = [await not_reading(site) for _ in range(4)]
        await until(lambda: len(site.connections) == 4)
        every: list[Any] = list(site.server.server_state.connections)
        await until(lambda: all(item.transport.get_write_buffer_size() for item in every))
        # At the first check no client has stalled yet.
        site.sweep()
        assert 1 <= len(site.connections) < 4
        for client in clients:
            client.close()


async def test_connections_of_one_address_are_limited() -> None:
    """Incomplete requests are closed for a new one of the same address."""
    async with serving(App(), per_address=8) as site:
        slow = await half_sent(site, 8)
        assert (await site.answer(request("GET", "/"))).status == 200
        assert len(site.connections) <= 8
        close(slow)


async def test_an_address_whose_connections_are_all_at_work_is_refused() -> None:
    app = App()
    async with serving(app, per_address=4) as site:
        opened = []
        for _ in range(4):
            _, writer = await site.open()
            writer.write(request("GET", "/wait"))
            opened.append(writer)
        await until(lambda: app.waiting == 4)
        refused = await site.answer(b"")
        assert (refused.status, refused.code) == (429, "too_many_requests")
        close(opened)
        await until(lambda: len(site.connections) == 0)
        assert (await site.answer(request("GET", "/"))).status == 200


def test_a_declared_proxy_has_no_limit_of_its_own() -> None:
    registry = connections.Connections(4, 100, ["10.0.0.1"])
    assert registry.limit_of("10.0.0.1") == 100
    assert registry.limit_of("192.0.2.1") == 4


def test_one_address_never_gets_more_than_half_of_the_connections() -> None:
    assert connections.Connections(1_000, 100).per_address == 50


async def test_an_earlier_request_on_a_connection_is_ended_with_it() -> None:
    app = App()
    async with serving(app) as site:
        _, writer = await site.open()
        writer.write(request("GET", "/wait") + request("GET", "/"))
        await until(lambda: app.waiting == 1)
        writer.transport.abort()
        async with asyncio.timeout(PATIENCE_S):
            await app.gone.wait()


@pytest.mark.limit(120)
def test_half_sent_requests_do_not_keep_others_out(tmp_path: Path) -> None:
    """A real server with 256 descriptors, and more incomplete requests than that."""
    server = Server(tmp_path)
    server.command = ("sh", "-c", 'ulimit -n 256; exec "$@"', "sh", *server.command)
    server.start()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 2_048), hard))
    port = int(server.url.rpartition(":")[2])
    slow: list[socket.socket] = []
    try:
        for _ in range(400):
            item = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S)
            item.sendall(HALF)
            slow.append(item)
        for _ in range(20):
            with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S) as client:
                client.sendall(request("GET", "/-/health", {"connection": "close"}))
                assert client.recv(65_536).startswith(b"HTTP/1.1 200 ")
    finally:
        for item in slow:
            item.close()
        server.stop()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_the_limit_of_open_files_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = {"now": (1_024, 4_096)}
    monkeypatch.setattr(resource, "getrlimit", lambda _: limits["now"])
    monkeypatch.setattr(resource, "setrlimit", lambda _, expected: limits.update(now=expected))
    connections.raise_nofile()
    assert limits["now"] == (4_096, 4_096)
    assert connections.capacity() == 4_096 - 512
