"""A minimal HTTP connection: one socket, and requests that were encoded beforehand.

An HTTP library would cost more processor time per request than the server that is measured.
"""

import socket
import ssl
from urllib.parse import urlencode, urlsplit

import msgspec

from belvedere.client.errors import ServerUnreachable
from belvedere.client.http_client import Client

READ_SIZE = 256 * 1024


class HttpConnection:
    """A connection; responses arrive in the order of the requests."""

    def __init__(self, url: str, tls: ssl.SSLContext | None = None) -> None:
        address = urlsplit(url)
        host = address.hostname or ""
        port = address.port or (443 if tls is not None else 80)
        try:
            plain = socket.create_connection((host, port), timeout=60)
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.socket = plain if tls is None else tls.wrap_socket(plain, server_hostname=host)
        except OSError as fault:
            raise ServerUnreachable(f"Cannot reach {url} ({fault}).") from None
        self._buffer = b""

    def fileno(self) -> int:
        return self.socket.fileno()

    def send(self, request: bytes) -> None:
        self.socket.sendall(request)

    def receive(self) -> tuple[int, bytes]:
        """The status and body of the next response."""
        data = self._buffer
        while (end := data.find(b"\r\n\r\n")) < 0:
            data += self._read()
        total = end + 4 + _length(data[:end])
        while len(data) < total:
            data += self._read()
        self._buffer = data[total:]
        return int(data[9:12]), data[end + 4 : total]

    def exchange(self, request: bytes) -> tuple[int, bytes]:
        self.send(request)
        return self.receive()

    def _read(self) -> bytes:
        try:
            data = self.socket.recv(READ_SIZE)
        except OSError as fault:
            raise ServerUnreachable(f"The server stopped responding ({fault}).") from None
        if not data:
            raise ServerUnreachable("The server closed the connection.")
        return data

    def close(self) -> None:
        self.socket.close()


def _length(head: bytes) -> int:
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            return int(line[15:])
    raise ServerUnreachable(
        "The server, or a proxy in front of it, sends responses without Content-Length."
    )


def encode_request(
    client: Client, method: str, path: str, body: object = None, **query: str
) -> bytes:
    """A complete request that can be sent any number of times."""
    address = urlsplit(client.server)
    data = b"" if body is None else msgspec.json.encode(body)
    if client.customer:
        query["customer"] = client.customer
    return (
        f"{method} {address.path}{path}?{urlencode(query)} HTTP/1.1\r\n"
        f"host: {address.netloc}\r\nauthorization: Bearer {client.token}\r\n"
        f"content-type: application/json\r\ncontent-length: {len(data)}\r\n\r\n"
    ).encode() + data
