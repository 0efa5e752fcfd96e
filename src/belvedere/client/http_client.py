"""Calls to the server: JSON in, JSON out, one connection kept open between them."""

import http.client
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Self
from urllib.parse import quote, urlencode, urlsplit

from belvedere import __version__
from belvedere.client import connections
from belvedere.client.errors import Problem, Unreachable, problem_of

Query = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Answer:
    """A 2xx answer; `body` is the decoded JSON, or text when it is not JSON."""

    status: int
    headers: Mapping[str, str]
    body: Any


class Client:
    """A server's address with a credential and an organization. Not for several threads at once."""

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
        self._address = urlsplit(self.server)
        if self._address.scheme not in ("http", "https", "unix"):
            raise Unreachable(f"{server!r} is no server address; write http://HOST:PORT.")
        self._tls = connections.trust(ca_file) if self._address.scheme == "https" else None
        self._idle: http.client.HTTPConnection | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def get(self, path: str, query: Query | None = None) -> Any:
        return self.ask("GET", path, query=query).body

    def post(self, path: str, body: Any = None, query: Query | None = None) -> Any:
        return self.ask("POST", path, body, query=query).body

    def put(self, path: str, body: Any = None, query: Query | None = None) -> Any:
        return self.ask("PUT", path, body, query=query).body

    def patch(self, path: str, body: Any = None, query: Query | None = None) -> Any:
        return self.ask("PATCH", path, body, query=query).body

    def delete(self, path: str, query: Query | None = None) -> Any:
        return self.ask("DELETE", path, query=query).body

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        query: Query | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """One call. Raises Problem when the server refuses, Unreachable when it does not answer."""
        payload = None if body is None else json.dumps(body).encode()
        target, sent = self._target(path, query), self._headers(payload, headers or {})
        # A kept connection may be closed by the server in the moment we use it. Only what may
        # safely arrive twice is sent again; for anything else the caller must know.
        again = self._idle is not None and (method == "GET" or "Idempotency-Key" in sent)
        while True:
            try:
                return self._exchange(method, target, payload, sent)
            except connections.BROKEN as fault:
                if not again or isinstance(fault, TimeoutError):
                    raise connections.unreachable(self.server, fault) from fault
                again = False

    @contextmanager
    def open(
        self, path: str, query: Query | None = None, headers: Mapping[str, str] | None = None
    ) -> Iterator[http.client.HTTPResponse]:
        """A GET on a connection of its own, whose body is read while it comes."""
        target, sent = self._target(path, query), self._headers(None, headers or {})
        line = connections.connection(self._address, self.timeout_s, self._tls)
        try:
            try:
                line.request("GET", target, None, sent)
                response = line.getresponse()
                refusal = response.read() if response.status >= 300 else b""
            except connections.BROKEN as fault:
                raise connections.unreachable(self.server, fault) from fault
            with response:
                if response.status >= 300:
                    raise problem_of(response.status, refusal)
                yield response
        finally:
            line.close()

    def close(self) -> None:
        if self._idle is not None:
            self._idle.close()
            self._idle = None

    def _exchange(
        self, method: str, target: str, payload: bytes | None, headers: dict[str, str]
    ) -> Answer:
        line = self._idle or connections.connection(self._address, self.timeout_s, self._tls)
        self._idle = None
        if connections.is_dead(line):
            # Closed, it connects anew by itself.
            line.close()
        try:
            line.request(method, target, payload, headers)
            response = line.getresponse()
            content = response.read()
        except BaseException:
            line.close()
            raise
        if response.will_close:
            line.close()
        else:
            self._idle = line
        if response.status >= 300:
            raise problem_of(response.status, content)
        return Answer(response.status, dict(response.headers), _decoded(response, content))

    def _target(self, path: str, query: Query | None) -> str:
        prefix = "" if self._address.scheme == "unix" else self._address.path
        asked = dict(query or {})
        if self.customer:
            asked.setdefault("customer", self.customer)
        # Callers quote what is not theirs; this only keeps a stray character off the wire.
        target = quote(prefix + path, safe="/%:@!$&'()*+,;=~-._")
        return f"{target}?{urlencode(asked, doseq=True)}" if asked else target

    def _headers(self, payload: bytes | None, extra: Mapping[str, str]) -> dict[str, str]:
        headers = {"Accept": "application/json", "User-Agent": f"belvedere/{__version__}", **extra}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        if payload is not None:
            headers["Content-Type"] = "application/json"
        return headers


def _decoded(response: http.client.HTTPResponse, content: bytes) -> Any:
    if "json" not in response.headers.get("Content-Type", ""):
        return content.decode(errors="replace")
    try:
        return json.loads(content) if content else None
    except ValueError:
        raise Problem(response.status, "malformed_answer", "The answer is not JSON.") from None
