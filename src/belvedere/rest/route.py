"""One row of the route table, and what a handler gets and gives."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
from starlette.requests import Request

from belvedere.base.text.json_text import MAX_ELEMENTS

# Levels are words here, because this room lies below access; the table's own test knows them.
ANONYMOUS, AGENT = "anonymous", "agent"


class Reply(msgspec.Struct):
    """An answer that is more than 200 with a JSON record."""

    body: Any = None
    status: int = 200
    headers: dict[str, str] = {}
    # Set for anything that is not JSON: then `body` is bytes, text or an async iterator of bytes.
    media_type: str = "application/json"


@dataclass(frozen=True, slots=True)
class Route:
    """A door: where it is, who may pass, what comes in and goes out."""

    method: str
    # `{id}` and names that end in `_id` match 24 hex digits; other names match one segment;
    # `{name...}` at the end matches all that is left.
    path: str
    # any level name of access, or "agent"
    level: str
    handler: Callable[[Any], Awaitable[Any]]
    summary: str
    # both: /x?customer=c and /c/x. plain: no organization in the address (sign-in, /-/…).
    style: str = "both"
    # The msgspec.Struct that checks the body; None: no body is read.
    body: Any = None
    answer: Any = None
    # Refusals beyond 400, 401, 403, 404 that this door can give.
    codes: Sequence[str] = ()
    # Answers beside 200 (or 201): a wait that ran out, a part of a text.
    statuses: Sequence[int] = ()
    # What an answer of bytes can be.
    media: Sequence[str] = ("text/plain",)
    # What an answer can be instead of JSON.
    also: Sequence[str] = ()
    # Found in interface.md or facts.md: creation answers 200 and unknown fields are ignored.
    known: bool = True
    # The organization must be named even where the credential would tell it (secret routes).
    needs_customer: bool = False
    max_body: int = 1 << 20
    # Values in a JSON body.
    max_values: int = MAX_ELEMENTS
    # Checks what can be checked without the body, before any of it is read: limits of the address,
    # a secret in the path. Every anonymous route that reads a body has one. It may set
    # `ask.max_body`.
    admit: Callable[[Any], Awaitable[None]] | None = None
    # Numbers in the body keep their spelling (base.text.Number): values that become arguments.
    exact_numbers: bool = False
    # The handler reads `ask.raw` itself (several encodings, uploads); `body` is for the docs.
    raw_body: bool = False
    # An agent's credential passes too; the verb decides what it may have there.
    also_agent: bool = False
    # A token does not pass: the verb asks for a person. (A token may only revoke itself.)
    people: bool = False
    # Query parameters worth documenting: (name, description).
    query: Sequence[tuple[str, str]] = field(default=())


class Ask(msgspec.Struct):
    """A request that has been let in: everything a handler may look at."""

    # The request as ASGI gives it.
    scope: Any
    receive: Any
    route: Route
    # access.Actor; typed loosely because this room lies below access
    actor: Any
    # server.app.House: db, logs, hub, settings, keys
    house: Any
    path: dict[str, str]
    query: dict[str, list[str]]
    # The checked body (an instance of route.body), or None.
    body: Any = None
    # The organization as named in path, query or body, in lower case; None when it was not.
    customer: str | None = None
    # The body as it came, for routes that read several encodings.
    raw: bytes = b""
    # Bytes that are read of the body; 0: as the route says.
    max_body: int = 0
    _request: Request | None = None

    @property
    def request(self) -> Request:
        """Starlette's view of it, made for the few handlers that look at more than one header."""
        if self._request is None:
            self._request = Request(self.scope, self.receive)
        return self._request

    def header(self, name: bytes) -> str | None:
        """The first header of this name, which is in lower case."""
        for key, value in self.scope["headers"]:
            if key == name:
                found: str = value.decode("latin-1")
                return found
        return None

    def first(self, name: str) -> str | None:
        """The first value of a query parameter."""
        values = self.query.get(name)
        return values[0] if values else None

    @property
    def if_match(self) -> int | None:
        """The version that the caller believes to change, from If-Match."""
        text = self.request.headers.get("if-match", "*").strip().strip('"')
        if text == "*":
            return None
        # What is no version of ours matches none: the edit is refused as stale, not let through.
        return int(text) if text.isdecimal() and len(text) < 19 else -1


Handler = Callable[[Ask], Awaitable[Any]]
