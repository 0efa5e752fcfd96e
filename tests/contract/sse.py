"""Reading server-sent events from the application, and disconnecting at any time."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from contract.client import Client, Response

PATIENCE_S = 30.0


@dataclass(frozen=True)
class ServerEvent:
    """One event; a comment or a bare id has no kind."""

    id: str
    kind: str
    data: Any


class Stream:
    """An open stream: `async with Stream(ada, "/-/events") as stream`."""

    def __init__(self, client: Client, target: str, headers: Mapping[str, str] = {}) -> None:
        body = {**client.headers, **headers}
        self._app, self._scope = client.app, client.scope("GET", target, body)
        self._client, self._target = client, target
        self._gone = asyncio.Event()
        self._said: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._text = ""
        self.status = 0
        self.headers: dict[str, str] = {}
        self.task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> "Stream":
        self.task = asyncio.create_task(self._app(self._scope, self._receive, self._said.put))
        start = await asyncio.wait_for(self._said.get(), PATIENCE_S)
        self.status = start["status"]
        self.headers = {name.decode(): value.decode() for name, value in start["headers"]}
        self._client.check("GET", self._target, Response(self.status, self.headers, b""))
        return self

    async def __aexit__(
        self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None
    ) -> None:
        """Disconnect as a browser does; the server must notice it by itself."""
        self._gone.set()
        assert self.task is not None
        await asyncio.wait_for(self.task, PATIENCE_S)

    async def _receive(self) -> dict[str, Any]:
        await self._gone.wait()
        return {"type": "http.disconnect"}

    async def next(self) -> ServerEvent | None:
        """The next event, also one that carries only an id; None at the end of the stream."""
        while "\n\n" not in self._text:
            part = await asyncio.wait_for(self._said.get(), PATIENCE_S)
            self._text += part.get("body", b"").decode()
            if not part.get("more_body"):
                assert not self._text, "the stream ended within an event"
                return None
        block, _, self._text = self._text.partition("\n\n")
        fields = dict(line.split(": ", 1) for line in block.split("\n") if line[0] != ":")
        value = json.loads(fields["data"]) if "data" in fields else None
        return ServerEvent(fields.get("id", ""), fields.get("event", ""), value)

    async def until(self, kind: str) -> ServerEvent:
        """The next event of this kind."""
        while True:
            server_event = await self.next()
            assert server_event is not None, f"the stream ended before {kind}"
            if server_event.kind == kind:
                return server_event

    async def rest(self) -> list[ServerEvent]:
        """All events up to the end of the stream that have a kind."""
        items = []
        while (happened := await self.next()) is not None:
            if happened.kind:
                items.append(happened)
        return items
