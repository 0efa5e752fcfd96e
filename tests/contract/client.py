"""A client without a network: every request goes directly to the application."""

import asyncio
import gzip
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from belvedere.server.http.app import App

NOTHING: Any = object()
FORM = "application/x-www-form-urlencoded"


@dataclass(frozen=True)
class Response:
    """The response; each header by its lower-case name."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        packed = self.headers.get("content-encoding") == "gzip"
        return json.loads(gzip.decompress(self.body) if packed else self.body)

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def code(self) -> str:
        """The stable code of a refusal."""
        word: str = self.json["code"]
        return word


Check = Callable[[str, str, Response], None]


@dataclass(frozen=True)
class Client:
    """One principal at one server. `check` gets every response."""

    app: App
    token: str = ""
    address: str = "192.0.2.50"
    scheme: str = "http"
    # Disconnects as soon as the request is sent; what was answered until then counts.
    hangs_up: bool = False
    check: Check = lambda method, target, answer: None
    headers: Mapping[str, str] = field(default_factory=dict)

    async def get(self, target: str, **more: Any) -> Response:
        return await self.request("GET", target, **more)

    async def post(self, target: str, body: Any = NOTHING, **more: Any) -> Response:
        return await self.request("POST", target, body, **more)

    async def put(self, target: str, body: Any = NOTHING, **more: Any) -> Response:
        return await self.request("PUT", target, body, **more)

    async def patch(self, target: str, body: Any = NOTHING, **more: Any) -> Response:
        return await self.request("PATCH", target, body, **more)

    async def delete(self, target: str, **more: Any) -> Response:
        return await self.request("DELETE", target, **more)

    async def request(
        self,
        method: str,
        target: str,
        body: Any = NOTHING,
        *,
        raw: bytes = b"",
        headers: Mapping[str, str] | None = None,
    ) -> Response:
        """`body` is sent as JSON; `raw` as it is, under the content type in `headers`."""
        sent_body = {**self.headers, **(headers or {})}
        if body is not NOTHING:
            raw, sent_body = (
                json.dumps(body).encode(),
                {"content-type": "application/json", **sent_body},
            )
        messages = [{"type": "http.request", "body": raw, "more_body": False}]
        items: list[dict[str, Any]] = []

        async def receive() -> dict[str, Any]:
            if messages:
                return messages.pop()
            if self.hangs_up:
                return {"type": "http.disconnect"}
            return await asyncio.get_running_loop().create_future()  # type: ignore[no-any-return]

        async def send(message: dict[str, Any]) -> None:
            items.append(message)

        await self.app(self.scope(method, target, sent_body), receive, send)
        await self.app.runtime.passwords.wait_idle()
        assert self.hangs_up or not items[-1].get("more_body"), "the answer was cut"
        answer = answer_of(items)
        self.check(method, target, answer)
        return answer

    def scope(self, method: str, target: str, headers: Mapping[str, str]) -> dict[str, Any]:
        path, _, query = target.partition("?")
        body = {"host": "belvedere.test", **headers}
        if self.token:
            body.setdefault("authorization", f"Bearer {self.token}")
        return {
            "type": "http",
            "method": method,
            "scheme": self.scheme,
            "path": unquote(path),
            "raw_path": path.encode(),
            "root_path": "",
            "query_string": query.encode(),
            "headers": [(k.lower().encode(), v.encode("latin-1")) for k, v in body.items()],
            "client": (self.address, 40_000),
            "server": ("belvedere.test", 80),
        }


def answer_of(items: list[dict[str, Any]]) -> Response:
    start, *parts = items
    assert start["type"] == "http.response.start"
    names = [name.decode() for name, _ in start["headers"]]
    assert len(names) == len(set(names)), f"a header is sent twice: {names}"
    headers = {name.decode(): value.decode() for name, value in start["headers"]}
    return Response(start["status"], headers, b"".join(part.get("body", b"") for part in parts))
