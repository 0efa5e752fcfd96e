"""The WebSocket of the agent endpoint, with `websockets` as the client."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import uvicorn
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.frames import Frame, Opcode

from belvedere.server.transport import plain
from belvedere.server.transport.agent_websocket import AgentWebSocket
from server.listening import PATIENCE_S, run_uvicorn

LONGEST = 1 << 20


class Echo:
    """Sends everything back twice; `close` and a number closes with it."""

    def __init__(self) -> None:
        self.scopes: list[Any] = []
        self.refusal = 4404
        self.left: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        # Frames are taken only while it is set.
        self.awake = asyncio.Event()
        self.awake.set()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.scopes.append(scope)
        await receive()
        if scope["raw_path"] != b"/agent":
            refusal = {"type": "websocket.close", "code": self.refusal, "reason": "not here"}
            await send(refusal)
            return
        await send({"type": "websocket.accept"})
        while True:
            await self.awake.wait()
            message = await receive()
            if message["type"] == "websocket.disconnect":
                await self.left.put(message)
                return
            await self._answer(message, send)

    async def _answer(self, message: dict[str, Any], send: Any) -> None:
        text = message.get("text")
        if text == "fail":
            raise ValueError("asked for")
        if text is not None and text.startswith("close"):
            await send({"type": "websocket.close", "code": int(text[5:]), "reason": "as asked"})
        elif text is not None:
            await send({"type": "websocket.send", "text": text * 2})
        else:
            await send({"type": "websocket.send", "bytes": message["bytes"] * 2})


# Our own class, and the library path.
both = pytest.mark.parametrize("ws", [AgentWebSocket, "auto"], ids=["own", "library"])


@asynccontextmanager
async def serving(app: Any, ws: Any = AgentWebSocket) -> AsyncIterator[tuple[str, uvicorn.Server]]:
    app = app if ws is AgentWebSocket else plain.with_statuses(app)
    async with run_uvicorn(app, ws=ws, ws_max_size=LONGEST) as (port, server):
        yield f"ws://127.0.0.1:{port}/agent", server


@asynccontextmanager
async def talking(
    ws: Any = AgentWebSocket, **options: Any
) -> AsyncIterator[tuple[ClientConnection, Echo, uvicorn.Server]]:
    app = Echo()
    async with (
        serving(app, ws) as (url, server),
        asyncio.timeout(PATIENCE_S),
        connect(f"{url}?a=1", compression=None, max_size=None, **options) as socket,
    ):
        yield socket, app, server


@both
async def test_texts_and_bytes_are_echoed(ws: Any) -> None:
    async with talking(ws, additional_headers={"X-Own": "ü"}) as (socket, app, _):
        for item in ("", "hi", "ü" * 70_000, b"", b"\0\xff", b"x" * 200_000):
            await socket.send(item)
            assert await socket.recv() == item * 2
        scope = app.scopes[0]
        assert (scope["path"], scope["query_string"], scope["scheme"]) == ("/agent", b"a=1", "ws")
        assert scope["client"][0] == "127.0.0.1"
        assert "x-own" in {name.decode() for name, _ in scope["headers"]}


@both
async def test_pings_are_answered_and_parts_put_together(ws: Any) -> None:
    async with talking(ws) as (socket, _, _):
        await (await socket.ping(b"who"))
        await socket.send(["a", "b", "c"])
        assert await socket.recv() == "abcabc"


@both
@pytest.mark.parametrize(("code", "status"), [(4404, 403), (4401, 401), (4429, 429), (4503, 503)])
async def test_a_refused_handshake_has_the_status_of_its_code(
    ws: Any, code: int, status: int
) -> None:
    app = Echo()
    app.refusal = code
    async with serving(app, ws) as (url, _):
        with pytest.raises(InvalidStatus) as refusal:
            async with connect(url + "x"):
                pass
    response = refusal.value.response
    assert (response.status_code, response.body) == (status, b'{"message":"not here"}')
    assert response.headers.get("www-authenticate") == ("Bearer" if status == 401 else None)


@pytest.mark.parametrize(
    ("head", "status"),
    [
        ("sec-websocket-version: 8\r\nsec-websocket-key: MDEyMzQ1Njc4OWFiY2RlZg==", b"426"),
        ("sec-websocket-key: MDEyMzQ1Njc4OWFiY2RlZg==", b"426"),
        ("sec-websocket-version: 13\r\nsec-websocket-key: short", b"400"),
        ("sec-websocket-version: 13\r\nsec-websocket-key: \xff", b"400"),
        ("sec-websocket-version: 13", b"400"),
    ],
)
async def test_a_handshake_that_is_none(head: str, status: bytes) -> None:
    app = Echo()
    async with serving(app) as (url, _), asyncio.timeout(PATIENCE_S):
        port = int(url.split(":")[2].partition("/")[0])
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        text = (
            f"GET /agent HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n{head}"
        )
        writer.write(text.encode("latin-1") + b"\r\n\r\n")
        answer = await reader.read()
        writer.close()
    assert answer.startswith(b"HTTP/1.1 " + status) and not app.scopes


@both
async def test_the_app_hangs_up_with_a_reason(ws: Any) -> None:
    async with talking(ws) as (socket, app, _):
        await socket.send("close4409")
        with pytest.raises(ConnectionClosed) as closed:
            await socket.recv()
        assert closed.value.rcvd is not None
        assert (closed.value.rcvd.code, closed.value.rcvd.reason) == (4409, "as asked")
        assert (await app.left.get())["type"] == "websocket.disconnect"


async def test_an_app_that_fails_ends_the_connection() -> None:
    async with talking() as (socket, _, server):
        await socket.send("fail")
        with pytest.raises(ConnectionClosed):
            await socket.recv()
        assert not server.server_state.connections and not server.server_state.tasks


@both
@pytest.mark.parametrize("how", ["close", "abort"])
async def test_the_app_is_notified_of_a_disconnect(ws: Any, how: str) -> None:
    async with talking(ws) as (socket, app, server):
        if how == "close":
            await socket.close(1000)
        else:
            socket.transport.abort()
        assert (await app.left.get())["type"] == "websocket.disconnect"
        while server.server_state.connections:
            await asyncio.sleep(0)


@both
@pytest.mark.parametrize(
    ("frame", "code"),
    [
        (Frame(Opcode.TEXT, b"x").serialize(mask=False), 1002),
        (Frame(Opcode.TEXT, b"\xff").serialize(mask=True), 1007),
        (Frame(Opcode.BINARY, b"x" * (LONGEST + 1)).serialize(mask=True), 1009),
    ],
    # Masks differ from run to run.
    ids=["unmasked", "no text", "too long"],
)
async def test_broken_frames_end_the_connection(ws: Any, frame: bytes, code: int) -> None:
    async with talking(ws) as (socket, app, _):
        socket.transport.write(frame)
        with pytest.raises(ConnectionClosed) as closed:
            await socket.recv()
        # A socket that is closed while bytes still arrive may lose the reason.
        assert closed.value.rcvd is None or closed.value.rcvd.code == code
        assert (await app.left.get())["type"] == "websocket.disconnect"


async def test_frames_are_read_no_faster_than_the_app_handles_them() -> None:
    async with talking() as (socket, app, server):
        app.awake.clear()
        sending = asyncio.create_task(_flood(socket))
        [wire] = server.server_state.connections
        assert isinstance(wire, AgentWebSocket)
        async with asyncio.timeout(PATIENCE_S):
            while not wire._pauses:
                await asyncio.sleep(0)
        assert not sending.done() and len(wire._inbox) < 1_000
        app.awake.set()
        for number in range(2_000):
            assert await socket.recv() == f"{number} ".encode() * 2_000 * 2
        await sending


async def _flood(socket: ClientConnection) -> None:
    for number in range(2_000):
        await socket.send(f"{number} ".encode() * 2_000)


@both
async def test_a_stopping_server_sends_a_close_frame(ws: Any) -> None:
    async with talking(ws) as (socket, _, server):
        server.should_exit = True
        with pytest.raises(ConnectionClosed) as closed:
            await socket.recv()
        assert closed.value.rcvd is not None and closed.value.rcvd.code == 1012


class RecordingApp:
    """Keeps apart what it received and what was handed to it."""

    def __init__(self, fault: str = "") -> None:
        self.fault = fault
        self.taken: list[str | bytes] = []
        self.received: asyncio.Queue[dict[str, Any] | Exception] = asyncio.Queue()
        self.wire: asyncio.Future[AgentWebSocket] = asyncio.get_running_loop().create_future()
        # Received only while it is set.
        self.awake = asyncio.Event()
        self.awake.set()

    def take(self, frame: str | bytes) -> None:
        if frame == self.fault:
            raise ValueError("asked for")
        self.taken.append(frame)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        self.wire.set_result(scope["extensions"]["agent_socket"])
        while True:
            await self.awake.wait()
            try:
                message: dict[str, Any] | Exception = await receive()
            except ValueError as fault:
                message = fault
            await self.received.put(message)
            if isinstance(message, dict) and message["type"] == "websocket.disconnect":
                return


async def test_frames_go_directly_to_the_receiver() -> None:
    app = RecordingApp(fault="fault")
    async with serving(app) as (url, _), asyncio.timeout(PATIENCE_S):
        async with connect(url, compression=None) as socket:
            wire = await app.wire
            wire.deliver_to(app.take)
            for frame in ("one", b"two", "fault"):
                await socket.send(frame)
            # The error comes where the frame would have come, and nothing more is accepted.
            assert isinstance(await app.received.get(), ValueError)
            await socket.send("three")
            assert await app.received.get() == {"type": "websocket.receive", "text": "three"}
            assert app.taken == ["one", b"two"]
        assert (await app.received.get())["type"] == "websocket.disconnect"  # type: ignore[index]


async def test_no_frame_overtakes_one_that_waits() -> None:
    app = RecordingApp()
    async with serving(app) as (url, _), asyncio.timeout(PATIENCE_S):
        async with connect(url, compression=None) as socket:
            wire = await app.wire
            app.awake.clear()
            await socket.send("zero")
            await app.received.get()
            await socket.send("one")
            while not wire._inbox:
                await asyncio.sleep(0)
            wire.deliver_to(app.take)
            await socket.send("two")
            while len(wire._inbox) < 2 and not app.taken:
                await asyncio.sleep(0)
            app.awake.set()
            for item in ("one", "two"):
                assert await app.received.get() == {"type": "websocket.receive", "text": item}
            await socket.send("three")
        await app.received.get()
        assert app.taken == ["three"]


class KeepingApp:
    """Returns once it has accepted; its connection stays open."""

    def __init__(self, waits_for: int = 0, fault: str = "") -> None:
        self.waits_for, self.fault = waits_for, fault
        self.taken: list[str | bytes] = []
        self.wire: AgentWebSocket | None = None
        self.has_returned = False
        self.ends: asyncio.Queue[Exception | None] = asyncio.Queue()

    def take(self, frame: str | bytes) -> None:
        if frame == self.fault:
            raise ValueError("asked for")
        self.taken.append(frame)

    async def on_end(self, fault: Exception | None) -> None:
        await self.ends.put(fault)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        wire = self.wire = scope["extensions"]["agent_socket"]
        while len(wire._inbox) < self.waits_for:
            await asyncio.sleep(0)
        wire.deliver_to(self.take)
        assert wire.keep(self.on_end)
        self.has_returned = True


@asynccontextmanager
async def keeping(app: KeepingApp) -> AsyncIterator[ClientConnection]:
    async with (
        serving(app) as (url, _),
        asyncio.timeout(PATIENCE_S),
        connect(url, compression=None) as socket,
    ):
        yield socket


async def test_a_connection_is_kept_without_a_task() -> None:
    app = KeepingApp(waits_for=2)
    async with serving(app) as (url, server), asyncio.timeout(PATIENCE_S):
        async with connect(url, compression=None) as socket:
            # These wait when the application returns; none is lost or overtaken.
            for frame in ("one", b"two"):
                await socket.send(frame)
            while len(app.taken) < 2:
                await asyncio.sleep(0)
            assert app.has_returned and not server.server_state.tasks
            await socket.send("three")
            await socket.ping()
            while len(app.taken) < 3:
                await asyncio.sleep(0)
            assert app.taken == ["one", b"two", "three"] and app.ends.empty()
        assert await app.ends.get() is None
        assert app.wire is not None
        app.wire.end(ValueError("too late"))
        assert app.ends.empty()


async def test_a_failed_handler_ends_a_connection_that_is_kept() -> None:
    app = KeepingApp(fault="fault")
    async with keeping(app) as socket:
        for frame in ("one", "fault", "two"):
            await socket.send(frame)
        assert isinstance(await app.ends.get(), ValueError)
        with pytest.raises(ConnectionClosed):
            await socket.recv()
    assert app.taken == ["one"] and app.ends.empty()


async def test_the_application_ends_a_connection_that_it_keeps() -> None:
    app = KeepingApp()
    async with keeping(app) as socket:
        while not app.has_returned:
            await asyncio.sleep(0)
        assert app.wire is not None
        app.wire.end(TimeoutError())
        app.wire.end(ValueError("again"))
        assert isinstance(await app.ends.get(), TimeoutError)
        with pytest.raises(ConnectionClosed):
            await socket.recv()
    assert app.ends.empty()


async def test_sending_waits_for_a_slow_receiver() -> None:
    app = RecordingApp()
    async with (
        serving(app) as (url, _),
        asyncio.timeout(PATIENCE_S),
        connect(url, compression=None, max_size=None, max_queue=1) as socket,
    ):
        wire = await app.wire
        number = 0
        while wire.send_now("x" * 100_000):
            number += 1
            assert number < 1_000
        assert not wire.send_now("y")
        for _ in range(number):
            assert await socket.recv() == '"' + "x" * 100_000 + '"'
        while not wire.send_now("z"):
            await asyncio.sleep(0)
        assert await socket.recv() == '"z"'
        wire.shutdown()
        assert not wire.send_now("too late")


def test_the_library_path_needs_none_of_our_own_classes() -> None:
    """A uvicorn without the internals that our own classes use must not stop a server."""
    program = (
        "import sys\n"
        "sys.modules['uvicorn.protocols.http.httptools_impl'] = None\n"
        "from belvedere.server import main\n"
        "from belvedere.server.transport import plain\n"
        "from belvedere.settings import Settings\n"
        "server = plain.transport(Settings()).server(lambda *_: None)\n"
        "print(sorted(name for name in sys.modules if name.startswith('belvedere.server.tr')))\n"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert "http_protocol" not in result.stdout and "agent_websocket" not in result.stdout
