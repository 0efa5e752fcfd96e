"""The rows of the route table, and the response of a handler."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from belvedere.base.text.json_text import MAX_ELEMENTS

# Levels are strings here, because `access` is above this package; a test of the table checks them.
# (name, description) of query parameters.
QueryTable = Sequence[tuple[str, str]]


class Reply(msgspec.Struct):
    """A response that is not just status 200 with a JSON record."""

    body: object = None
    status: int = 200
    headers: dict[str, str] = {}
    # Set for anything that is not JSON: then `body` is bytes, text or an async iterator of bytes.
    media_type: str = "application/json"
    # False: not compressed even if the route allows it.
    compress: bool = True


@dataclass(frozen=True, slots=True)
class Route:
    """A route: method and path, required level, handler, body and response."""

    method: str
    # `{id}` and names that end in `_id` match 24 hex digits; other names match one segment;
    # `{name...}` at the end matches all that is left.
    path: str
    # any level name of access, or "agent"
    level: str
    # Its parameter is `Request[body]`; tests/architecture/test_handlers.py compares them.
    handler: Callable[[Any], Awaitable[object]]
    summary: str
    # both: /x?customer=c and /c/x. plain: no organization in the address (sign-in, /-/…).
    style: str = "both"
    # The types of body and response, as msgspec reads them: a Struct, `list[X]`, `X | Y`. None: no
    # body is read.
    body: object = None
    answer: object = None
    # Error codes of this route besides 400, 401, 403, 404.
    codes: Sequence[str] = ()
    # Statuses besides 200 (or 201): a wait that timed out, a part of a text.
    statuses: Sequence[int] = ()
    # Query parameters may select a part of the record, which is any JSON value.
    selectable: bool = False
    # Media types of a response of bytes.
    media: Sequence[str] = ("text/plain",)
    # Media types of the response besides JSON.
    also: Sequence[str] = ()
    # Described in the interface document: creation returns 200 and unknown fields are ignored.
    from_interface: bool = True
    # The organization must be named even if the credential implies it (secret routes).
    needs_customer: bool = False
    max_body: int = 1 << 20
    # Values in a JSON body.
    max_values: int = MAX_ELEMENTS
    # Checks what can be checked without the body, before any of it is read: limits of the address,
    # a secret in the path. Every anonymous route that reads a body has one. It may set
    # `request.max_body`.
    admit: Callable[[Any], Awaitable[None]] | None = None
    # Numbers in the body keep their notation (json_text.Number): values that become arguments.
    exact_numbers: bool = False
    # The handler reads `request.raw` itself (several encodings, uploads); `body` is for the docs.
    raw_body: bool = False
    # Credentials of agents are accepted too; the operation decides what they may read.
    also_agent: bool = False
    # Tokens are not accepted: the operation needs a person. (A token may only revoke itself.)
    people: bool = False
    # The JSON response may be compressed: it contains no credentials. A reply can refuse it.
    compress: bool = False
    # Query parameters worth documenting: (name, description).
    query: QueryTable = field(default=())


Handler = Callable[[Any], Awaitable[object]]
