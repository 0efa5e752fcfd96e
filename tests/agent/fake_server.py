"""A server without a database: it sends orders, grants credit, and records what the agent sends."""

import asyncio
import hashlib
import json
from collections.abc import Callable
from typing import Any

from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import ConnectionClosed

from belvedere.protocol import CHUNK, pack_blob, unpack_output

PATIENCE_S = 40.0
BEAT_MS = 1_000


class FakeServer:
    def __init__(self) -> None:
        self.blobs: dict[str, bytes] = {}
        self.hellos: list[dict[str, Any]] = []
        self.heard: list[dict[str, Any]] = []
        self.output: dict[int, bytearray] = {}
        # Gaps that the agent reported: (fence, from, to).
        self.gaps: list[tuple[int, int, int]] = []
        self.faults: list[str] = []
        self.ended: dict[int, dict[str, Any]] = {}
        self.ends_heard = 0
        self.acks = True
        self.gives_blobs = True
        self.credit = 4 * 1024 * 1024
        # Credit is granted again as output arrives.
        self.generous = True
        self.in_flight = 0
        self.session = 0
        self.authorization = ""
        self.close_with: tuple[int, str] | None = None
        self.socket: ServerConnection | None = None
        self._news = asyncio.Event()
        self._server: Server | None = None
        self._fence = 1_000
        self._granted = 0
        self._lines: dict[int, int] = {}

    async def open(self, port: int = 0) -> None:
        self._server = await serve(
            self._talk, "127.0.0.1", port, compression=None, max_size=None, ping_interval=None
        )
        self.port = next(iter(self._server.sockets)).getsockname()[1]

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()
            await self._server.wait_closed()
            self._server = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def cut(self) -> None:
        """The network is gone: the connection is not closed properly."""
        if self.socket is not None:
            self.socket.transport.abort()

    async def _talk(self, socket: ServerConnection) -> None:
        assert socket.request is not None
        self.authorization = socket.request.headers["Authorization"]
        if self.close_with is not None:
            await socket.close(*self.close_with)
            return
        try:
            hello = json.loads(await socket.recv())[0]
            self.hellos.append(hello)
            self.session += 1
            self.socket = socket
            await self._welcome(socket, hello)
            self._news.set()
            async for frame in socket:
                await self._hear(socket, frame)
                self._news.set()
        except ConnectionClosed:
            pass
        finally:
            if self.socket is socket:
                self.socket = None
            self._news.set()

    async def _welcome(self, socket: ServerConnection, hello: dict[str, Any]) -> None:
        self.in_flight = 0
        self._granted = self.credit
        resume = {str(e["fence"]): len(self.output.get(e["fence"], b"")) for e in hello["entries"]}
        welcome = {
            "kind": "welcome",
            "session": self.session,
            "host_id": "host",
            "beat_ms": BEAT_MS,
            "credit": self.credit,
            "resume": resume,
        }
        await socket.send(json.dumps([welcome]))

    async def _hear(self, socket: ServerConnection, frame: str | bytes) -> None:
        if isinstance(frame, bytes):
            await self._keep(socket, frame)
            return
        acked = []
        for message in json.loads(frame):
            self.heard.append(message)
            if message["kind"] == "ended":
                self.ends_heard += 1
                self.ended[message["fence"]] = message["report"]
                acked.append(message["fence"])
            elif message["kind"] == "want" and self.gives_blobs:
                await self._give_blob(socket, message["sha256"])
        if acked and self.acks:
            await self.send_messages({"kind": "ack", "fences": acked})

    async def _keep(self, socket: ServerConnection, frame: bytes) -> None:
        fence, at_byte, at_line, data = unpack_output(frame)
        have = self.output.setdefault(fence, bytearray())
        self._granted -= len(data)
        if self._granted < 0:
            self.faults.append(f"{fence}: more output than was granted")
        if at_byte < len(have):
            self.faults.append(f"{fence}: byte {at_byte} again, {len(have)} are here")
        elif at_byte > len(have):
            self.gaps.append((fence, len(have), at_byte))
            have.extend(b"\0" * (at_byte - len(have)))
        elif at_line != self._lines.get(fence, 0):
            self.faults.append(f"{fence}: line {at_line} at byte {at_byte}")
        have.extend(data)
        self._lines[fence] = at_line + data.count(b"\n")
        if fence in self.ended:
            self.faults.append(f"{fence}: output after its end")
        if self.generous:
            await self.grant(len(data))
            await self.send_messages({"kind": "kept", "fence": fence, "offset": len(have)})

    async def grant(self, count: int) -> None:
        self._granted += count
        await self.send_messages({"kind": "credit", "bytes": count})

    async def _give_blob(self, socket: ServerConnection, sha256: str) -> None:
        content = self.blobs.get(sha256)
        if content is None:
            await self.send_messages({"kind": "missing", "sha256": sha256})
            return
        for start in range(0, max(1, len(content)), CHUNK):
            piece = content[start : start + CHUNK]
            await socket.send(pack_blob(sha256, piece, last=start + CHUNK >= len(content)))

    async def send_messages(self, *messages: dict[str, Any]) -> None:
        if self.socket is not None:
            await self.socket.send(json.dumps(messages))

    def script(self, source: str | bytes) -> str:
        content = source.encode() if isinstance(source, str) else source
        digest = hashlib.sha256(content).hexdigest()
        self.blobs[digest] = content
        return digest

    def make_order(self, source: str, *arguments: str, **fields: Any) -> dict[str, Any]:
        self._fence += 1
        order = {
            "kind": "order",
            "session": self.session,
            "fence": self._fence,
            "job_id": f"job{self._fence}",
            "sha256": self.script(source),
            "filename": "test.sh",
            "runas": [],
            "arguments": list(arguments),
            "env": {},
            "timeout_ms": 60_000,
        }
        return {**order, **fields}

    async def order(self, source: str, *arguments: str, **fields: Any) -> int:
        order = self.make_order(source, *arguments, **fields)
        await self.send_messages(order)
        return int(order["fence"])

    async def until(self, claim: Callable[[], object]) -> None:
        """Wait for messages until this is true."""
        async with asyncio.timeout(PATIENCE_S):
            while not claim():
                self._news.clear()
                await self._news.wait()

    async def wait_connected(self, session: int = 1) -> None:
        await self.until(lambda: self.session >= session and self.socket is not None)

    async def log(self, fence: int) -> str:
        """Its whole output, inside the report or streamed, when the script has ended."""
        report = await self.end(fence)
        log: str | None = report["log"]
        return log if log is not None else self.output[fence].decode()

    async def end(self, fence: int) -> dict[str, Any]:
        """The report of this fence, when it has arrived."""
        await self.until(lambda: fence in self.ended)
        return self.ended[fence]
