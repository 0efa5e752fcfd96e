"""Calls a handler without a server, for tests of a feature's api.py."""

from collections.abc import MutableMapping
from dataclasses import dataclass
from typing import Any

import msgspec

from belvedere.access import Actor
from belvedere.access.crypto.keyring import Keyring
from belvedere.access.limits.rate_limits import LoginLimits
from belvedere.access.request import AnyRequest, Request
from belvedere.access.services import Services
from belvedere.access.signin.password_checker import PasswordChecker
from belvedere.base.clock import wall
from belvedere.base.text import json_text
from belvedere.db import Database
from belvedere.db.signals import SignalBus
from belvedere.rest.route import Reply, Route
from belvedere.settings import Settings


async def no_body() -> MutableMapping[str, Any]:
    raise AssertionError("this handler reads no body")


def services(db: Database, keys: Keyring) -> Services:
    """The part of the server that handlers of a feature use."""
    limits = LoginLimits(wall)
    return Services(Settings(), db, db, keys, SignalBus(), limits, PasswordChecker(limits))


@dataclass
class HandlerReply:
    """A reply as a client reads it: `body` is JSON of any shape, or bytes."""

    body: Any
    status: int
    headers: dict[str, str]
    media_type: str


@dataclass
class Caller:
    """The routes of one feature, ready to be called."""

    services: Services
    routes: tuple[Route, ...]

    async def __call__(
        self,
        actor: Actor,
        method: str,
        path: str,
        *,
        object_id: str = "",
        query: dict[str, list[str]] | None = None,
        body: Any = None,
        raw: bytes = b"",
        headers: dict[str, str] | None = None,
    ) -> HandlerReply:
        """The reply with its body as a client would read it."""
        route = next(item for item in self.routes if (item.method, item.path) == (method, path))
        request: AnyRequest = Request(
            scope=_scope(method, path, headers or {}),
            receive=no_body,
            route=route,
            actor=actor,
            services=self.services,
            path={"id": object_id},
            query=query or {},
            body=_convert_body(route, body),
            raw=raw,
        )
        answer = await route.handler(request)
        reply = answer if isinstance(answer, Reply) else Reply(answer)
        body = reply.body
        if reply.media_type == "application/json":
            body = msgspec.json.decode(msgspec.json.encode(body))
        return HandlerReply(body, reply.status, reply.headers, reply.media_type)


def _convert_body(route: Route, body: Any) -> Any:
    if route.raw_body or route.body is None:
        return None
    result = json_text.parse(msgspec.json.encode(body if body is not None else {}), exact=False)
    return msgspec.convert(result, route.body, strict=False)


def _scope(method: str, path: str, headers: dict[str, str]) -> dict[str, Any]:
    raw = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    return {"type": "http", "method": method, "path": path, "headers": raw, "query_string": b""}
