"""The front door: every request passes here, in one order, and leaves in one shape."""

import itertools
import logging
import secrets
import time
from typing import Any
from urllib.parse import urlsplit

import msgspec

from belvedere.access.actor import Actor, Level
from belvedere.access.request import AnyRequest, Request
from belvedere.access.signin import cookies
from belvedere.base.errors import Invalid, Refused, Unauthenticated
from belvedere.rest import off_loop
from belvedere.rest.route import Reply, Route
from belvedere.server.http import authentication, bodies, errors, responses
from belvedere.server.http.outflow import stream_out
from belvedere.server.http.routing import Match, Table
from belvedere.server.runtime import ServerRuntime
from belvedere.server.transport.proxies import FORWARDED

log = logging.getLogger("belvedere.access")
encode = msgspec.json.Encoder().encode

# Nothing we answer is for caches, frames, other sites or guessing of types, unless a reply says so.
MANNERS = {
    b"cache-control": b"no-store",
    b"x-content-type-options": b"nosniff",
    b"referrer-policy": b"no-referrer",
    b"x-frame-options": b"DENY",
    b"content-security-policy": b"default-src 'none'; base-uri 'none'; frame-ancestors 'none'",
}
# A browser that came by TLS once comes by TLS for a year.
SECURE_MANNERS = {**MANNERS, b"strict-transport-security": b"max-age=31536000"}
# What a page of another origin may read beside the body.
EXPOSED = b"x-request-id, link, x-total-count, idempotency-replayed, content-range, retry-after"
# A second cookie: the mapping has room for one line of each spelling.
SPELLED = frozenset({cookies.SECOND_SET_COOKIE})
# Answers without a body.
EMPTY = frozenset({204, 304})
SLOW_S = 2.0


class App:
    """An ASGI application over the house and its route table."""

    def __init__(self, runtime: ServerRuntime, table: Table, agents: Any = None) -> None:
        self.runtime = runtime
        self.table = table
        self.agents = agents
        self._origins = frozenset(
            origin.strip().encode() for origin in runtime.settings.origins.split(",") if origin
        )
        self._proxies = runtime.proxies
        self._prefix = urlsplit(runtime.settings.base_url).path
        self._number = itertools.count(1)
        self._mark = secrets.token_hex(4)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            await self._serve(scope, receive, send)
        elif scope["type"] == "websocket" and self.agents is not None:
            await self.agents(self, scope, receive, send)

    async def _serve(self, scope: Any, receive: Any, send: Any) -> None:
        began = time.perf_counter()
        request_id = f"{self._mark}{next(self._number):08x}"
        headers = dict(scope["headers"])
        self._believe_proxy(scope, headers)
        template = "-"
        try:
            if scope["method"] == "OPTIONS":
                reply = self._preflight(scope)
            else:
                # The server below sends no body to HEAD.
                method = "GET" if scope["method"] == "HEAD" else scope["method"]
                match = self.table.match(method, scope["raw_path"])
                template = self.runtime.watchdog.route = match.route.path
                reply = await self._answer(match, scope, receive, headers)
        except Refused as refusal:
            reply = Reply(
                errors.body_of(refusal, request_id),
                errors.status_of(refusal),
                errors.headers_of(refusal),
            )
        except Exception as fault:
            reply = Reply(errors.failure(fault, template, request_id), 500)
        head = self._head(reply, headers, request_id, scope["scheme"])
        await self._send(reply, head, receive, send)
        self._note(scope["method"], template, reply.status, time.perf_counter() - began, request_id)

    async def _answer(
        self, match: Match, scope: Any, receive: Any, headers: dict[bytes, bytes]
    ) -> Reply:
        route = match.route
        query = bodies.query_of(scope["query_string"])
        actor = await self._actor(route, scope, headers, query)
        named = authentication.one_name(match.customer, *query.get("customer", ()))
        request: AnyRequest = Request(
            scope,
            receive,
            route,
            match.path,
            query,
            self._prefix,
            actor=actor,
            services=self.runtime,
            body=None,
            customer=named,
        )
        if route.level != Level.ANONYMOUS:
            authentication.check_customer(actor, named)
        if route.admit is not None:
            await route.admit(request)
        if route.body is not None or route.raw_body:
            request.raw = await bodies.read(receive, headers, request.max_body or route.max_body)
        if route.body is not None and not route.raw_body:
            await self._check_body(request, headers, named)
        return _reply(await route.handler(request))

    async def _check_body(
        self, request: AnyRequest, headers: dict[bytes, bytes], named: str | None
    ) -> None:
        request.body, said = await off_loop.read(
            len(request.raw), bodies.checked, request.route, request.raw, headers
        )
        request.customer = authentication.one_name(named, said)
        if request.route.level != Level.ANONYMOUS:
            authentication.check_customer(request.actor, request.customer)

    async def _actor(
        self, route: Route, scope: Any, headers: dict[bytes, bytes], query: dict[str, list[str]]
    ) -> Actor:
        address = self.address(scope, headers)
        if route.level == Level.ANONYMOUS:
            return msgspec.structs.replace(authentication.ANYONE, address=address)
        token = authentication.shown(headers, query)
        if token is None:
            token = authentication.cookie(headers, secure=scope["scheme"] == "https")
            if token is None:
                raise Unauthenticated("Send an access token: Authorization: Bearer <token>.")
            authentication.check_origin(scope["method"], headers)
        actor = await self.runtime.credentials.actor(token, self.runtime.clock())
        authentication.check_level(actor, route)
        return msgspec.structs.replace(actor, address=address)

    def address(self, scope: Any, headers: dict[bytes, bytes]) -> str:
        """Who calls: the peer, or what a proxy that we trust says of it."""
        peer: str = scope["client"][0] if scope.get("client") else "local"
        if self._proxies.trusts(peer):
            return self._proxies.client(peer, scope["headers"])
        if any(name in headers for name in FORWARDED):
            self._proxies.note(peer)
        return peer

    def _believe_proxy(self, scope: Any, headers: dict[bytes, bytes]) -> None:
        """Behind a proxy that we trust, the scheme is what the browser used."""
        told = headers.get(b"x-forwarded-proto")
        if told in (b"http", b"https") and self._proxies.trusts((scope.get("client") or ("",))[0]):
            scope["scheme"] = told.decode()

    def _preflight(self, scope: Any) -> Reply:
        allowed = self.table.methods(scope["raw_path"])
        return Reply(
            status=204,
            headers={
                "allow": ", ".join((*allowed, "OPTIONS")),
                "access-control-allow-methods": ", ".join(allowed),
                "access-control-allow-headers": "authorization, content-type, idempotency-key,"
                " if-match, last-event-id, range",
                "access-control-max-age": "600",
            },
        )

    async def _send(self, reply: Reply, head: dict[bytes, bytes], receive: Any, send: Any) -> None:
        if hasattr(reply.body, "__aiter__"):
            await send(_start(reply.status, head))
            await stream_out(reply.body, receive, send, self.runtime.stopping)
            return
        if reply.status in EMPTY:
            # Nothing has neither a type nor a length.
            data = b""
            del head[b"content-type"]
        else:
            data = _bytes_of(reply)
            head[b"content-length"] = str(len(data)).encode()
        cycle = responses.cycle_of(send)
        if cycle is not None:
            await responses.answer(cycle, reply.status, head, data)
            return
        await send(_start(reply.status, head))
        await send({"type": "http.response.body", "body": data})

    def _head(
        self, reply: Reply, asked: dict[bytes, bytes], request_id: str, scheme: str
    ) -> dict[bytes, bytes]:
        manners = SECURE_MANNERS if scheme == "https" else MANNERS
        head = {**manners, b"x-request-id": request_id.encode()}
        for name, value in reply.headers.items():
            head[name.encode() if name in SPELLED else name.lower().encode()] = value.encode()
        head[b"content-type"] = reply.media_type.encode()
        origin = asked.get(b"origin")
        if origin is not None and origin in self._origins:
            head[b"access-control-allow-origin"] = origin
            head[b"access-control-expose-headers"] = EXPOSED
            others = head.get(b"vary")
            head[b"vary"] = b"origin" if others is None else b"%s, origin" % others
        return head

    def _note(self, method: str, template: str, status: int, took: float, request_id: str) -> None:
        """The access log: the route's template, never the path or the query."""
        level = logging.INFO if status >= 500 or took > SLOW_S else logging.DEBUG
        if log.isEnabledFor(level):
            log.log(level, "%s %s %s %.1f ms %s", method, template, status, took * 1e3, request_id)


def _start(status: int, head: dict[bytes, bytes]) -> dict[str, Any]:
    return {"type": "http.response.start", "status": status, "headers": list(head.items())}


def _bytes_of(reply: Reply) -> bytes:
    if reply.media_type == "application/json":
        return encode(reply.body)
    return reply.body.encode() if isinstance(reply.body, str) else reply.body or b""


def _reply(answer: Any) -> Reply:
    return answer if isinstance(answer, Reply) else Reply(answer)


def require_customer(request: AnyRequest) -> str:
    """Secret routes: the organization must be named."""
    if request.customer is None:
        raise Invalid("Name the organization: ?customer=<name>.", code="customer_required")
    return request.customer
