"""The ASGI application: every request is processed here, by the same steps."""

import itertools
import logging
import secrets
import time
from collections.abc import Awaitable, Callable
from types import AsyncGeneratorType
from typing import Any
from urllib.parse import urlsplit

import msgspec

from belvedere.access.actor import Actor, Level
from belvedere.access.request import AnyRequest, Request
from belvedere.access.signin import cookies
from belvedere.base.errors import Refused, Unauthenticated
from belvedere.base.log_format import REQUEST, RequestIds
from belvedere.base.text import trace_context
from belvedere.rest import error_format, unknown_fields
from belvedere.rest.request import Receive, Scope, Send, off_loop
from belvedere.rest.route import Reply, Route
from belvedere.server.http import authentication, bodies, compression, responses
from belvedere.server.http.routing import RouteMatch, Router
from belvedere.server.runtime import ServerRuntime
from belvedere.server.transport import plain
from belvedere.server.transport.interface import Respond
from belvedere.server.transport.proxies import FORWARDED

log = logging.getLogger("belvedere.access")
encode = msgspec.json.Encoder().encode

# No caches, frames, other sites or guessing of types, unless a reply sets these headers.
SECURITY_HEADERS = {
    b"cache-control": b"no-store",
    b"x-content-type-options": b"nosniff",
    b"referrer-policy": b"no-referrer",
    b"x-frame-options": b"DENY",
    b"content-security-policy": b"default-src 'none'; base-uri 'none'; frame-ancestors 'none'",
}
# A browser that used TLS once must use it for a year.
TLS_SECURITY_HEADERS = {**SECURITY_HEADERS, b"strict-transport-security": b"max-age=31536000"}
# Headers that a page of another origin may read.
EXPOSED = (
    b"x-request-id, link, x-total-count, idempotency-replayed, content-range, retry-after,"
    b" belvedere-ignored"
)
# For a second cookie: a mapping has one value for each spelling of a name.
KEEP_SPELLING = frozenset({cookies.SECOND_SET_COOKIE})
# Responses without a body.
EMPTY = frozenset({204, 304})
SLOW_S = 2.0
# Method and route, in the metrics, of requests that no route takes.
UNMATCHED = "other"


AgentEndpoint = Callable[["App", Scope, Receive, Send], Awaitable[None]]


class App:
    """The ASGI application over the runtime and its route table."""

    def __init__(
        self,
        runtime: ServerRuntime,
        router: Router,
        agents: AgentEndpoint | None = None,
        respond: Respond = plain.respond,
    ) -> None:
        self.runtime = runtime
        self._respond = respond
        self.router = router
        self.agents = agents
        self._origins = frozenset(
            origin.strip().encode() for origin in runtime.settings.origins.split(",") if origin
        )
        self._proxies = runtime.proxies
        self._prefix = urlsplit(runtime.settings.base_url).path
        self._number = itertools.count(1)
        self._mark = secrets.token_hex(4)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await self._serve(scope, receive, send)
        elif scope["type"] == "websocket" and self.agents is not None:
            await self.agents(self, scope, receive, send)

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        began = time.perf_counter()
        request_id = f"{self._mark}{next(self._number):08x}"
        headers = dict(scope["headers"])
        trace = headers.get(trace_context.HEADER)
        ids = RequestIds(request_id, "" if trace is None else _trace_id(trace))
        REQUEST.set(ids)
        self._apply_forwarded_scheme(scope, headers)
        template, route = "-", None
        try:
            if scope["method"] == "OPTIONS":
                reply = self._preflight(scope)
            else:
                # uvicorn sends no body for HEAD.
                method = "GET" if scope["method"] == "HEAD" else scope["method"]
                match = self.router.match(method, scope["raw_path"])
                route = match.route
                template = route.path
                self.runtime.watchdog.note_request(template)
                reply = await self._answer(match, scope, receive, headers)
        except Refused as refusal:
            reply = Reply(
                error_format.body_of(refusal, request_id),
                error_format.status_of(refusal),
                error_format.headers_of(refusal),
            )
        except Exception as fault:
            reply = Reply(error_format.failure(fault, template, request_id), 500)
        head = self._head(reply, headers, request_id, scope["scheme"])
        gzip = compression.may_compress(route, reply, headers)
        await self._send(reply, head, receive, send, gzip=gzip)
        took = time.perf_counter() - began
        self._count(route, reply, took)
        self._log_access(scope["method"], template, reply.status, took, request_id)
        ids.clear()

    async def _answer(
        self, match: RouteMatch, scope: Scope, receive: Receive, headers: dict[bytes, bytes]
    ) -> Reply:
        route = match.route
        query = bodies.query_of(scope["query_string"])
        actor = await self._actor(route, scope, headers, query)
        customer = authentication.single_customer(match.customer, *query.get("customer", ()))
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
            customer=customer,
        )
        if route.level != Level.ANONYMOUS:
            authentication.check_customer(actor, customer)
        if route.admit is not None:
            await route.admit(request)
        if route.body is not None or route.raw_body:
            request.raw = await bodies.read(receive, headers, request.max_body or route.max_body)
        if route.body is not None and not route.raw_body:
            await self._check_body(request, headers, customer)
        reply = _reply(await route.handler(request))
        if request.ignored:
            ignored = {unknown_fields.HEADER: unknown_fields.names(request.ignored)}
            reply = msgspec.structs.replace(reply, headers={**reply.headers, **ignored})
        return reply

    async def _check_body(
        self, request: AnyRequest, headers: dict[bytes, bytes], customer: str | None
    ) -> None:
        parsed = await off_loop(len(request.raw), bodies.parse, request.route, request.raw, headers)
        if parsed.unknown and request.is_strict:
            unknown_fields.refuse(parsed.unknown)
        request.body = parsed.body
        request.ignored = [field.path for field in parsed.unknown]
        request.customer = authentication.single_customer(customer, parsed.customer)
        if request.route.level != Level.ANONYMOUS:
            authentication.check_customer(request.actor, request.customer)

    async def _actor(
        self, route: Route, scope: Scope, headers: dict[bytes, bytes], query: dict[str, list[str]]
    ) -> Actor:
        address = self.address(scope, headers)
        if route.level == Level.ANONYMOUS:
            return msgspec.structs.replace(authentication.ANYONE, address=address)
        token = authentication.explicit_token(headers, query)
        if token is None:
            token = authentication.cookie(headers, secure=scope["scheme"] == "https")
            if token is None:
                raise Unauthenticated("Send an access token: Authorization: Bearer <token>.")
            authentication.check_origin(scope["method"], headers)
        actor = await self.runtime.credentials.actor(token, self.runtime.clock())
        authentication.check_level(actor, route)
        return msgspec.structs.replace(actor, address=address)

    def address(self, scope: Scope, headers: dict[bytes, bytes]) -> str:
        """The client's address: the peer, or the forwarded address of a trusted proxy."""
        peer: str = scope["client"][0] if scope.get("client") else "local"
        if self._proxies.trusts(peer):
            return self._proxies.client(peer, scope["headers"])
        if not FORWARDED.isdisjoint(headers):
            self._proxies.record(peer)
        return peer

    def _apply_forwarded_scheme(self, scope: Scope, headers: dict[bytes, bytes]) -> None:
        """Behind a trusted proxy, the scheme is the one that the browser used."""
        scheme = headers.get(b"x-forwarded-proto")
        peer = (scope.get("client") or ("",))[0]
        if scheme in (b"http", b"https") and self._proxies.trusts(peer):
            scope["scheme"] = scheme.decode()

    def _preflight(self, scope: Scope) -> Reply:
        allowed = self.router.methods(scope["raw_path"])
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

    async def _send(
        self,
        reply: Reply,
        head: dict[bytes, bytes],
        receive: Receive,
        send: Send,
        *,
        gzip: bool = False,
    ) -> None:
        if isinstance(reply.body, AsyncGeneratorType):
            await send(_start(reply.status, head))
            is_endless = reply.media_type == responses.EVENT_STREAM
            stopping = self.runtime.stopping if is_endless else None
            await responses.stream(reply.body, receive, send, stopping)
            return
        if reply.status in EMPTY:
            # An empty response has neither a type nor a length.
            data = b""
            del head[b"content-type"]
        else:
            data = _bytes_of(reply)
            packed = await compression.compressed(data) if gzip else None
            if packed is not None:
                data = packed
                head[b"content-encoding"] = b"gzip"
                head[b"vary"] = _vary(head, b"accept-encoding")
            head[b"content-length"] = str(len(data)).encode()
        await self._respond(send, reply.status, head, data)

    def _head(
        self, reply: Reply, request_headers: dict[bytes, bytes], request_id: str, scheme: str
    ) -> dict[bytes, bytes]:
        security_headers = TLS_SECURITY_HEADERS if scheme == "https" else SECURITY_HEADERS
        head = {**security_headers, b"x-request-id": request_id.encode()}
        for name, value in reply.headers.items():
            head[name.encode() if name in KEEP_SPELLING else name.lower().encode()] = value.encode()
        head[b"content-type"] = reply.media_type.encode()
        if self.runtime.drain.is_draining:
            head[b"connection"] = b"close"
        origin = request_headers.get(b"origin")
        if origin is not None and origin in self._origins:
            head[b"access-control-allow-origin"] = origin
            head[b"access-control-expose-headers"] = EXPOSED
            head[b"vary"] = _vary(head, b"origin")
        return head

    def _count(self, route: Route | None, reply: Reply, took: float) -> None:
        method, template = (UNMATCHED, UNMATCHED) if route is None else (route.method, route.path)
        is_stream = isinstance(reply.body, AsyncGeneratorType)
        self.runtime.requests.count(method, template, reply.status, None if is_stream else took)

    def _log_access(
        self, method: str, template: str, status: int, took: float, request_id: str
    ) -> None:
        """The access log: the route's template, never the path or the query."""
        level = logging.INFO if status >= 500 or took > SLOW_S else logging.DEBUG
        if log.isEnabledFor(level):
            log.log(
                level,
                "request answered method=%s route=%s status=%s ms=%.1f request=%s",
                *(method, template, status, took * 1e3, request_id),
            )


def _trace_id(header: bytes) -> str:
    context = trace_context.parse(header.decode("latin-1"))
    return "" if context is None else context.trace_id


def _vary(head: dict[bytes, bytes], name: bytes) -> bytes:
    others = head.get(b"vary")
    return name if others is None else b"%s, %s" % (others, name)


def _start(status: int, head: dict[bytes, bytes]) -> dict[str, Any]:
    return {"type": "http.response.start", "status": status, "headers": list(head.items())}


def _bytes_of(reply: Reply) -> bytes:
    if reply.media_type == "application/json":
        return encode(reply.body)
    body = reply.body
    if isinstance(body, str):
        return body.encode()
    if body is None:
        return b""
    assert isinstance(body, bytes), f"a reply of {reply.media_type} is text or bytes"
    return body


def _reply(answer: object) -> Reply:
    return answer if isinstance(answer, Reply) else Reply(answer)
