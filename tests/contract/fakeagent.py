"""A scripted agent that connects to the server's agent endpoint without a network."""

import asyncio
import json
from dataclasses import asdict
from types import TracebackType
from typing import Any, TypeVar, get_args, get_type_hints

import msgspec

from belvedere.protocol import (
    CHUNK,
    Ack,
    AttemptEnded,
    AttemptStarted,
    BlobMissing,
    BlobRequest,
    FromServer,
    Heartbeat,
    Hello,
    JournaledAttempt,
    Order,
    Report,
    Welcome,
    pack_file,
    pack_output,
    unpack_blob,
)
from belvedere.server.http.app import App

PATIENCE_S = 30.0
SHAPES: dict[str, type] = {
    get_args(get_type_hints(shape)["kind"])[0]: shape for shape in get_args(FromServer)
}
Message = TypeVar("Message")


def hello(
    hostname: str = "web-1", entries: tuple[JournaledAttempt, ...] = (), **more: Any
) -> Hello:
    body: dict[str, Any] = {
        "hostname": hostname,
        "agent_version": "0.1.0",
        "fingerprint": f"machine-of-{hostname}",
        "journal_id": f"journal-of-{hostname}",
        "boot_id": "boot-1",
        "slots": 16,
        "entries": list(entries),
        "os_name": "Linux",
        "os_version": "6.1",
        **more,
    }
    return Hello(**body)


class FakeAgent:
    """`async with FakeAgent(app, token) as agent` is connected and has been accepted."""

    def __init__(self, app: App, token: str, first: Hello | None = None, **headers: str) -> None:
        self._app = app
        self._first = first or hello()
        self._headers = {"authorization": f"Bearer {token}", **headers}
        self._spoken: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._heard: list[Any] = []
        self._news = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._acked: set[int] = set()
        self.frames: list[bytes] = []
        self.closed: tuple[int, str] | None = None
        self.welcome: Welcome | None = None

    async def __aenter__(self) -> "FakeAgent":
        await self.connect()
        await self.send_messages(self._first)
        self.welcome = await self.hear(Welcome)
        return self

    async def __aexit__(
        self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None
    ) -> None:
        await self.leave()

    async def connect(self, path: bytes = b"/-/agent") -> None:
        """Open the socket and send nothing."""
        scope = {
            "type": "websocket",
            "raw_path": path,
            "headers": [(k.encode(), v.encode()) for k, v in self._headers.items()],
            "client": ("192.0.2.7", 40_000),
        }
        await self._spoken.put({"type": "websocket.connect"})
        self._task = asyncio.create_task(self._app(scope, self._spoken.get, self._listen))
        self._task.add_done_callback(lambda _: self._news.set())

    async def leave(self) -> None:
        """Disconnect; an exception of the server is raised here."""
        await self._spoken.put({"type": "websocket.disconnect", "code": 1006})
        assert self._task is not None
        await asyncio.wait_for(self._task, PATIENCE_S)

    async def _listen(self, message: dict[str, Any]) -> None:
        if message["type"] == "websocket.close":
            self.closed = (message["code"], message.get("reason", ""))
        elif message.get("text") is not None:
            record = json.loads(message["text"])
            self._heard += [msgspec.convert(item, SHAPES[item["kind"]]) for item in record]
        elif message.get("bytes") is not None:
            self.frames.append(message["bytes"])
        self._news.set()

    # Sending

    async def send_messages(self, *messages: Any) -> None:
        await self.text(json.dumps([asdict(message) for message in messages]))

    async def text(self, frame: str) -> None:
        await self._spoken.put({"type": "websocket.receive", "text": frame})

    async def binary(self, frame: bytes) -> None:
        await self._spoken.put({"type": "websocket.receive", "bytes": frame})

    async def write(self, fence: int, at_byte: int, at_line: int, data: bytes) -> None:
        await self.binary(pack_output(fence, at_byte, at_line, data))

    async def leave_file(self, fence: int, number: int, content: bytes) -> None:
        """The bytes of a file that the script left; its end names it."""
        for at in range(0, len(content), CHUNK):
            await self.binary(pack_file(fence, number, at, content[at : at + CHUNK]))

    async def start(self, order: Order, ago_ms: int = 0) -> None:
        await self.send_messages(AttemptStarted(order.fence, ago_ms))

    async def end(self, order: Order, **report: Any) -> None:
        """Report how it ended, and wait until the server has it."""
        body: dict[str, Any] = {"ending": "exit", "log": "", **report}
        self._acked.discard(order.fence)
        await self.send_messages(AttemptEnded(order.fence, Report(**body)))
        await self.wait_acked(order.fence)

    async def wait_acked(self, fence: int) -> None:
        """Wait until the server has confirmed that this end is durable."""
        while fence not in self._acked:
            self._acked.update((await self.hear(Ack)).fences)

    async def beat(self, *live: int) -> None:
        await self.send_messages(Heartbeat(list(live)))

    async def fetch(self, sha256: str) -> bytes | None:
        """The bytes behind a hash, or None if the server has none for this agent."""
        await self.send_messages(BlobRequest(sha256))
        await self._until(lambda: self._find(BlobMissing) is not None or self._is_fetched())
        if self._find(BlobMissing) is not None:
            await self.hear(BlobMissing)
            return None
        frames, self.frames = self.frames, []
        return b"".join(unpack_blob(frame)[1] for frame in frames)

    def _is_fetched(self) -> bool:
        return bool(self.frames) and unpack_blob(self.frames[-1])[2]

    # Receiving

    async def hear(self, kind: type[Message]) -> Message:
        """The next message of this kind; others stay for later calls."""
        await self._until(lambda: self._find(kind) is not None)
        message = self._find(kind)
        assert message is not None, (
            f"no {kind.__name__}; closed: {self.closed}, heard {self._heard}"
        )
        self._heard.remove(message)
        return message

    async def order(self) -> Order:
        return await self.hear(Order)

    async def hangs_up(self) -> int:
        """Wait for the server to close; the code."""
        await self._until(lambda: self.closed is not None)
        assert self.closed is not None
        return self.closed[0]

    def has_heard(self, kind: type[Message]) -> bool:
        return self._find(kind) is not None

    def _find(self, kind: type[Message]) -> Message | None:
        return next((item for item in self._heard if isinstance(item, kind)), None)

    async def _until(self, is_there: Any) -> None:
        assert self._task is not None
        async with asyncio.timeout(PATIENCE_S):
            while not is_there() and self.closed is None and not self._task.done():
                self._news.clear()
                await self._news.wait()
