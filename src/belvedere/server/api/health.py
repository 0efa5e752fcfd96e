"""Health, readiness, and the description of the API."""

from dataclasses import replace
from functools import cache
from typing import Any

import msgspec

from belvedere import __version__
from belvedere.access.request import AnyRequest, Request
from belvedere.base.clock import iso
from belvedere.base.errors import Unauthenticated, Unavailable
from belvedere.db import Tx, installation
from belvedere.rest.route import Handler, Route
from belvedere.server.http import openapi
from belvedere.server.http.routing import Router
from belvedere.server.runtime import runtime_of


class Health(msgspec.Struct):
    status: str
    version: str
    time: str


class EventLoop(msgspec.Struct, frozen=True):
    """Iterations of the event loop over 250 ms since the start: how many, the longest, and when
    and on which route the last one was."""

    slow: int = 0
    longest_ms: int = 0
    last_ms: int | None = None
    last_at: str | None = None
    last_route: str | None = None


class Readiness(msgspec.Struct):
    status: str
    database: str
    agents: int
    # Names of warnings for the operator; the console and `doctor` have the details.
    warnings: list[str] = []
    event_loop: EventLoop = EventLoop()


async def health(request: Request[None]) -> Health:
    return Health("ok", __version__, iso(request.services.clock()))


async def ready(request: Request[None]) -> Readiness:
    """Whether the server takes requests, and its database is available and accepts writes."""
    if not request.services.settings.ready:
        raise Unauthenticated("The readiness check is disabled on this server (BELVEDERE_READY).")
    drain = runtime_of(request).drain
    drain.record_check(request.actor.address)
    if drain.is_draining:
        raise Unavailable("The server is stopping.", code="stopping")
    # Anonymous requests share one write, however many there are.
    await request.services.db.write_batched(_touch, None)
    warnings = ["undeclared_proxy"] if runtime_of(request).proxies.undeclared() else []
    agents = len(runtime_of(request).agents)
    return Readiness("ok", request.services.db.dialect.name, agents, warnings, _event_loop(request))


def _event_loop(request: AnyRequest) -> EventLoop:
    watchdog = runtime_of(request).watchdog
    last = watchdog.last
    if last is None:
        return EventLoop()
    return EventLoop(watchdog.slow, watchdog.longest_ms, last.ms, iso(last.at), last.route)


def _touch(tx: Tx, callers: list[None]) -> list[None]:
    installation.write(tx, "ready", str(tx.now))
    return callers


async def description(request: Request[None]) -> msgspec.Raw:
    return _description(runtime_of(request).router, request.services.settings.base_url)


@cache
def _description(table: Router, base_url: str) -> msgspec.Raw:
    """Built once: it takes as long as a hundred requests."""
    return msgspec.Raw(msgspec.json.encode(openapi.document(table, base_url)))


def plain_route(
    path: str, handler: Handler, summary: str, answer: object, media: str = ""
) -> Route:
    return Route(
        "GET",
        path,
        "anonymous",
        handler,
        summary,
        style="plain",
        from_interface=False,
        answer=answer,
        media=(media,),
    )


ROUTES = (
    plain_route("/-/health", health, "Check that the server is running", Health),
    replace(
        plain_route("/api/status", health, "Check that the server is running", Health),
        from_interface=True,
    ),
    plain_route("/-/ready", ready, "Check that the server takes requests", Readiness),
    plain_route("/-/openapi.json", description, "This API as OpenAPI 3.1", dict[str, Any]),
)
