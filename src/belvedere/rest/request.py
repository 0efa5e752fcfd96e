"""A request as HTTP delivers it. What the layers above add is in `access.request`."""

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ParamSpec, TypeVar

import msgspec
from starlette.requests import Request as StarletteRequest

from belvedere.rest.route import Route

P = ParamSpec("P")
R = TypeVar("R")

# Bodies up to this size are parsed on the event loop: a thread would cost more. The worst of them
# (objects with short keys, escaped forms) takes the time of about ten plain requests.
MAX_ON_LOOP = 64 * 1024
# One thread: the parser holds the interpreter lock, so more would only use more memory.
_thread = ThreadPoolExecutor(1, "bodies")

# As ASGI defines them.
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]


class HttpRequest(msgspec.Struct):
    scope: Scope
    receive: Receive
    route: Route
    path: dict[str, str]
    query: dict[str, list[str]]
    # What a proxy puts before our paths, for links.
    prefix: str = ""
    # The body as it was sent, for routes that read several encodings.
    raw: bytes = b""
    # Bytes that are read of the body; 0: the limit of the route.
    max_body: int = 0
    # Fields and arguments of the body that have no effect; the response names them.
    ignored: list[str] = []
    _starlette: StarletteRequest | None = None

    @property
    def starlette(self) -> StarletteRequest:
        """Starlette's view, built for the few handlers that need more than one header."""
        if self._starlette is None:
            self._starlette = StarletteRequest(self.scope, self.receive)
        return self._starlette

    def header(self, name: bytes) -> str | None:
        """The first header of this name, which is in lower case."""
        for key, value in self.scope["headers"]:
            if key == name:
                text: str = value.decode("latin-1")
                return text
        return None

    def first(self, name: str) -> str | None:
        """The first value of a query parameter."""
        values = self.query.get(name)
        return values[0] if values else None

    @property
    def is_strict(self) -> bool:
        """Whether the client wants an error for fields that have no effect."""
        return "strict" in self.query and self.first("strict") in ("1", "true", "")

    @property
    def if_match(self) -> int | None:
        """The version that the client wants to change, from If-Match."""
        text = self.starlette.headers.get("if-match", "*").strip().strip('"')
        if text == "*":
            return None
        # A text that is not a version matches none: the edit is refused as stale.
        return int(text) if text.isdecimal() and len(text) < 19 else -1


async def off_loop(size: int, work: Callable[P, R], *args: P.args, **options: P.kwargs) -> R:
    """The result of `work` on a body of this size. Large ones are parsed in a thread, so that other
    requests are not delayed."""
    if size <= MAX_ON_LOOP:
        return work(*args, **options)
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(_thread, lambda: work(*args, **options))
