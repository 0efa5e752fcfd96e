"""Requests to the server: JSON in, JSON out, one connection that stays open between them."""

import http.client
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Self
from urllib.parse import parse_qs, quote, urlencode, urlsplit

from belvedere import __version__
from belvedere.client import connections
from belvedere.client.errors import Problem, ServerUnreachable, problem_from_response

Query = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class ApiResponse:
    """A 2xx response; `body` is the decoded JSON, or text if it is not JSON."""

    status: int
    headers: Mapping[str, str]
    # JSON of any shape: the caller knows what it asked for.
    body: Any

    @property
    def next_after(self) -> str | None:
        """Where the next page begins, from a header such as `Link: </job?after=…>; rel="next"`."""
        link = {name.lower(): value for name, value in self.headers.items()}.get("link", "")
        address, _, relation = link.partition(">")
        if not address.startswith("<") or 'rel="next"' not in relation:
            return None
        return next(iter(parse_qs(urlsplit(address[1:]).query).get("after", [])), None)


class Client:
    """A server's address with a credential and an organization. Not safe for several threads."""

    def __init__(
        self,
        server: str,
        token: str = "",
        customer: str = "",
        *,
        ca_file: str | None = None,
        timeout_s: float = 60,
    ) -> None:
        self.server = server.rstrip("/")
        self.token = token
        self.customer = customer
        self.timeout_s = timeout_s
        # Fields that have no effect are refused; a server that ignores some names them.
        self.is_strict = False
        self.on_ignored: Callable[[str], None] | None = None
        self._address = urlsplit(self.server)
        if self._address.scheme not in ("http", "https", "unix"):
            raise ServerUnreachable(f"{server!r} is not a server address; use http://HOST:PORT.")
        self._tls = connections.tls_context(ca_file) if self._address.scheme == "https" else None
        self._idle: http.client.HTTPConnection | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def get(self, path: str, query: Query | None = None) -> Any:  # JSON
        return self.request("GET", path, query=query).body

    def read_list(self, path: str, query: Query, limit: int | None = None) -> list[Any]:
        """Records of a list up to `limit`, None: all of them. Follows Link until there is none: a
        page may be short or empty without being the last one."""
        records: list[Any] = []
        page_query = dict(query)
        while True:
            if limit is not None:
                page_query["limit"] = limit - len(records)
            response = self.request("GET", path, query=page_query)
            records += response.body
            after = response.next_after
            if after is None or (limit is not None and len(records) >= limit):
                return records
            page_query["after"] = after

    def post(self, path: str, body: object = None, query: Query | None = None) -> Any:  # JSON
        return self.request("POST", path, body, query=query).body

    def put(self, path: str, body: object = None, query: Query | None = None) -> Any:  # JSON
        return self.request("PUT", path, body, query=query).body

    def patch(self, path: str, body: object = None, query: Query | None = None) -> Any:  # JSON
        return self.request("PATCH", path, body, query=query).body

    def delete(self, path: str, query: Query | None = None) -> Any:  # JSON
        return self.request("DELETE", path, query=query).body

    def request(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        query: Query | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> ApiResponse:
        """Send a request. Raises Problem for an error response, ServerUnreachable without one."""
        payload = None if body is None else json.dumps(body).encode()
        if self.is_strict and payload is not None:
            query = {**(query or {}), "strict": "1"}
        target, all_headers = self._target(path, query), self._headers(payload, headers or {})
        # The server may close an idle connection in the moment it is used. Only a request that may
        # safely arrive twice is sent again; for any other the caller has to decide.
        may_retry = self._idle is not None and (method == "GET" or "Idempotency-Key" in all_headers)
        while True:
            try:
                return self._exchange(method, target, payload, all_headers)
            except connections.CONNECTION_ERRORS as fault:
                if not may_retry or isinstance(fault, TimeoutError):
                    raise connections.unreachable(self.server, fault) from fault
                may_retry = False

    @contextmanager
    def open(
        self, path: str, query: Query | None = None, headers: Mapping[str, str] | None = None
    ) -> Iterator[http.client.HTTPResponse]:
        """A GET on a connection of its own, for a body that is read while it arrives."""
        target, all_headers = self._target(path, query), self._headers(None, headers or {})
        connection = self._open_connection()
        try:
            try:
                connection.request("GET", target, None, all_headers)
                response = connection.getresponse()
                error_body = response.read() if response.status >= 300 else b""
            except connections.CONNECTION_ERRORS as fault:
                raise connections.unreachable(self.server, fault) from fault
            with response:
                if response.status >= 300:
                    raise problem_from_response(response.status, error_body)
                yield response
        finally:
            connection.close()

    def close(self) -> None:
        if self._idle is not None:
            self._idle.close()
            self._idle = None

    def _exchange(
        self, method: str, target: str, payload: bytes | None, headers: dict[str, str]
    ) -> ApiResponse:
        connection = self._idle or self._open_connection()
        self._idle = None
        if connections.is_dead(connection):
            # http.client connects again by itself after a close.
            connection.close()
        try:
            connection.request(method, target, payload, headers)
            response = connection.getresponse()
            content = response.read()
        except BaseException:
            connection.close()
            raise
        if response.will_close:
            connection.close()
        else:
            self._idle = connection
        if response.status >= 300:
            raise problem_from_response(response.status, content)
        ignored = response.headers.get("Belvedere-Ignored")
        if ignored and self.on_ignored is not None:
            self.on_ignored(ignored)
        return ApiResponse(response.status, dict(response.headers), _decode(response, content))

    def _open_connection(self) -> http.client.HTTPConnection:
        return connections.open_connection(self._address, self.timeout_s, self._tls)

    def _target(self, path: str, query: Query | None) -> str:
        prefix = "" if self._address.scheme == "unix" else self._address.path
        parameters = dict(query or {})
        if self.customer:
            parameters.setdefault("customer", self.customer)
        # Callers quote values; this only keeps a stray character out of the request line.
        target = quote(prefix + path, safe="/%:@!$&'()*+,;=~-._")
        return f"{target}?{urlencode(parameters, doseq=True)}" if parameters else target

    def _headers(self, payload: bytes | None, extra: Mapping[str, str]) -> dict[str, str]:
        headers = {"Accept": "application/json", "User-Agent": f"belvedere/{__version__}", **extra}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        if payload is not None:
            headers["Content-Type"] = "application/json"
        return headers


def _decode(response: http.client.HTTPResponse, content: bytes) -> Any:  # JSON
    if "json" not in response.headers.get("Content-Type", ""):
        return content.decode(errors="replace")
    try:
        return json.loads(content) if content else None
    except ValueError:
        raise Problem(response.status, "malformed_answer", "The response is not JSON.") from None
