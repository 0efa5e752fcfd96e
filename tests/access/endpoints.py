"""Calls the endpoints of access without a server: a row of the route table, a body, a response."""

from dataclasses import dataclass, field
from typing import Any

import msgspec

from belvedere.access import Actor, Level
from belvedere.access.api import ROUTES
from belvedere.access.request import AnyRequest, Request
from belvedere.base.errors import Forbidden
from belvedere.rest.route import Reply, Route
from call_handler import no_body


@dataclass
class EndpointResponse:
    status: int
    headers: dict[str, str]
    body: Any


@dataclass
class Endpoints:
    """`call` finds the row of the route table by method and template, and calls its handler."""

    runtime: Any
    slept: list[float] = field(default_factory=list)

    async def call(
        self,
        endpoint: str,
        actor: Actor,
        body: dict[str, Any] | None = None,
        *,
        headers: dict[str, str] | None = None,
        query: dict[str, list[str]] | None = None,
        customer: str | None = None,
        scheme: str = "http",
        **path: str,
    ) -> EndpointResponse:
        route = find(endpoint)
        if not actor.level.reaches(Level(route.level)):
            raise Forbidden("The level is too low.", code="level")
        checked = None if route.body is None else msgspec.convert(body or {}, route.body)
        request: AnyRequest = Request(
            scope(headers or {}, scheme),
            no_body,
            route,
            path,
            query or {},
            actor=actor,
            services=self.runtime,
            body=checked,
            customer=customer,
        )
        result = await route.handler(request)
        await self.runtime.passwords.wait_idle()
        reply = result if isinstance(result, Reply) else Reply(result)
        text = msgspec.json.decode(msgspec.json.encode(reply.body))
        return EndpointResponse(reply.status, reply.headers, text)


def find(endpoint: str) -> Route:
    (actual_route,) = [route for route in ROUTES if f"{route.method} {route.path}" == endpoint]
    return actual_route


def scope(headers: dict[str, str], scheme: str) -> dict[str, Any]:
    raw = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    return {
        "type": "http",
        "method": "GET",
        "scheme": scheme,
        "server": ("belvedere.test", 443),
        "path": "/",
        "root_path": "",
        "query_string": b"",
        "headers": [*raw, (b"host", b"belvedere.test")],
    }
