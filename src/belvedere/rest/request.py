"""A request as HTTP delivers it. What the layers above add is in `access.request`."""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import msgspec
from starlette.requests import Request as StarletteRequest

from belvedere.rest.route import Route

# As ASGI defines them.
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]


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
    def if_match(self) -> int | None:
        """The version that the client wants to change, from If-Match."""
        text = self.starlette.headers.get("if-match", "*").strip().strip('"')
        if text == "*":
            return None
        # A text that is not a version matches none: the edit is refused as stale.
        return int(text) if text.isdecimal() and len(text) < 19 else -1
