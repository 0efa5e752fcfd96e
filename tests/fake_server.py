"""A server that responds from a table, records requests, and disconnects on demand."""

import json
import ssl
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit


@dataclass
class RecordedRequest:
    """One request as it arrived."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: Any
    # Which connection it came on, counted from 1.
    connection: int
    # Whether fields without effect are to be refused; not part of `query`.
    is_strict: bool = False


@dataclass
class CannedResponse:
    """One response. `raw` is sent as it is, piece by piece, and then the connection is closed."""

    body: Any = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    media_type: str = "application/json"
    raw: list[bytes] | None = None
    # Close the connection after the response without announcing it.
    hang_up: bool = False
    # Close it without any response.
    silent: bool = False


Answerer = CannedResponse | Callable[[RecordedRequest], CannedResponse]


class FakeServer(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked: list[RecordedRequest] = []
        self.answers: dict[tuple[str, str], list[Answerer]] = {}
        self.connections = 0
        self.scheme = "http"

    def handle_error(self, *_: Any) -> None:
        """These tests are about clients that disconnect."""

    @property
    def url(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.server_address[1]}"

    def on(self, method: str, path: str, *answers: Any, **how: Any) -> None:
        """The responses, one after the other; the last one is repeated."""
        items = [
            a if isinstance(a, CannedResponse) or callable(a) else CannedResponse(a, **how)
            for a in answers
        ]
        self.answers[method, path] = items

    def bodies(self, method: str, path: str) -> list[Any]:
        return [item.body for item in self.asked if (item.method, item.path) == (method, path)]

    def answer(self, asked: RecordedRequest) -> CannedResponse:
        self.asked.append(asked)
        waiting = self.answers.get((asked.method, asked.path))
        if not waiting:
            body = {"statusCode": 404, "code": "not_found", "message": f"No {asked.path} here."}
            return CannedResponse(body, 404)
        canned_response = waiting.pop(0) if len(waiting) > 1 else waiting[0]
        return (
            canned_response
            if isinstance(canned_response, CannedResponse)
            else canned_response(asked)
        )


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: FakeServer

    def setup(self) -> None:
        super().setup()
        self.server.connections += 1
        self.number = self.server.connections

    def reply(self) -> None:
        where = urlsplit(self.path)
        length = int(self.headers.get("Content-Length") or 0)
        text = self.rfile.read(length)
        query = _query(where.query)
        is_strict = query.pop("strict", "") == "1"
        recorded_request = RecordedRequest(
            self.command,
            where.path,
            query,
            dict(self.headers),
            json.loads(text) if text else None,
            self.number,
            is_strict,
        )
        self.send(self.server.answer(recorded_request))

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = reply

    def send(self, say: CannedResponse) -> None:
        self.close_connection = say.hang_up or say.silent or say.raw is not None
        if say.silent:
            return
        self.send_response_only(say.status)
        self.send_header("Content-Type", say.media_type)
        for name, value in say.headers.items():
            self.send_header(name, value)
        if say.raw is not None:
            self.end_headers()
            for piece in say.raw:
                self.wfile.write(piece)
            return
        is_json = say.media_type == "application/json"
        content = json.dumps(say.body).encode() if is_json else str(say.body).encode()
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: Any) -> None:
        """Tests read `asked` instead."""


def _query(text: str) -> dict[str, str]:
    """The values of a repeated parameter, separated by commas."""
    fields: dict[str, str] = {}
    for name, value in parse_qsl(text, keep_blank_values=True):
        fields[name] = f"{fields[name]},{value}" if name in fields else value
    return fields


def run_server(tls: ssl.SSLContext | None = None) -> Iterator[FakeServer]:
    """For a fixture: a server that runs during the test."""
    server = FakeServer()
    if tls is not None:
        server.scheme = "https"
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def stream(*events: tuple[str, str, str], end: bytes = b"") -> CannedResponse:
    """A response of server-sent events (kind, data, id), closed after `end`."""
    pieces = [
        f"event: {kind}\n".encode()
        + b"".join(f"data: {line}\n".encode() for line in data.split("\n"))
        + f"id: {id_}\n\n".encode()
        for kind, data, id_ in events
    ]
    return CannedResponse(raw=[*pieces, end], media_type="text/event-stream")
