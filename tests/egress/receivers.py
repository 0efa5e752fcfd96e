"""Receivers on this machine that really listen: an HTTP server and a mail server."""

import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

LOOPBACK = "127.0.0.0/8"


@dataclass
class ReceivedMessage:
    """One request, or one mail with its lines as the body."""

    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Sink:
    """What was received. `answers` are statuses, or addresses to redirect to; after the last one,
    200."""

    host: str = "127.0.0.1"
    port: int = 0
    got: list[ReceivedMessage] = field(default_factory=list)
    # Connections, also those that sent nothing.
    calls: int = 0
    answers: list[int | str] = field(default_factory=list)
    came: threading.Event = field(default_factory=threading.Event)
    # While this is set, no request is answered.
    silent: threading.Event = field(default_factory=threading.Event)
    end: threading.Event = field(default_factory=threading.Event)

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.port}/hook"


@contextmanager
def http_sink(host: str = "127.0.0.1") -> Iterator[Sink]:
    sink = Sink(host)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers.get("content-length", "0"))
            names = {name.lower(): value for name, value in self.headers.items()}
            sink.got.append(ReceivedMessage(self.path, names, self.rfile.read(length)))
            sink.came.set()
            if sink.silent.is_set():
                sink.end.wait()
                return
            answer = sink.answers.pop(0) if sink.answers else 200
            self.send_response(answer if isinstance(answer, int) else 307)
            if isinstance(answer, str):
                self.send_header("Location", answer)
            self.send_header("Content-Length", "0")
            self.end_headers()

        do_GET = do_POST

        def log_message(self, format: str, *args: Any) -> None:
            pass

    with _serve_sink(sink, ThreadingHTTPServer((host, 0), Handler)):
        yield sink


@contextmanager
def mail_sink(replies: dict[bytes, str] | None = None) -> Iterator[Sink]:
    """Supports just enough SMTP to accept a mail; `replies` to some commands replace `250 ok`."""
    sink = Sink()
    all_replies = {b"QUIT": "221 bye"} | (replies or {})

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            self._send_messages("220 sink")
            for line in self.rfile:
                word = line[:4].upper().strip()
                if word == b"DATA":
                    self._send_messages("354 go on")
                    lines = list(iter(self.rfile.readline, b".\r\n"))
                    sink.got.append(ReceivedMessage("", {"to": self._to}, b"".join(lines)))
                    sink.came.set()
                elif word == b"RCPT":
                    self._to = line.decode().strip()
                self._send_messages(all_replies.get(word, "250 ok"))
                if word == b"QUIT":
                    return

        _to = ""

        def _send_messages(self, text: str) -> None:
            self.wfile.write(text.encode() + b"\r\n")

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True

    with _serve_sink(sink, Server(("127.0.0.1", 0), Handler)):
        yield sink


@contextmanager
def _serve_sink(sink: Sink, server: socketserver.TCPServer) -> Iterator[None]:
    sink.port = server.socket.getsockname()[1]

    def count_call(request: Any, client_address: Any) -> bool:
        sink.calls += 1
        return True

    server.verify_request = count_call  # type: ignore[method-assign]
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield
    finally:
        sink.end.set()
        server.shutdown()
        thread.join()
        server.server_close()
