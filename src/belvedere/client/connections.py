"""Connections: plain, TLS or through a unix socket."""

import http.client
import os
import select
import socket
import ssl
from urllib.parse import SplitResult, unquote

from belvedere.base.unix_sockets import short_path
from belvedere.client.errors import ServerUnreachable

# What a connection that breaks raises, while sending or receiving.
CONNECTION_ERRORS = (OSError, http.client.HTTPException)


class UnixConnection(http.client.HTTPConnection):
    """HTTP over a Unix socket, for programs on the server's machine."""

    def __init__(self, path: str, timeout_s: float) -> None:
        super().__init__("localhost", timeout=timeout_s)
        self.path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        path, fd = short_path(*os.path.split(self.path))
        try:
            self.sock.connect(path)
        finally:
            if fd >= 0:
                os.close(fd)


def open_connection(
    address: SplitResult, timeout_s: float, tls: ssl.SSLContext | None
) -> http.client.HTTPConnection:
    if address.scheme == "unix":
        return UnixConnection(unquote(address.path), timeout_s)
    host, port = address.hostname or "", address.port
    if tls is not None:
        return http.client.HTTPSConnection(host, port, timeout=timeout_s, context=tls)
    return http.client.HTTPConnection(host, port, timeout=timeout_s)


def tls_context(ca_file: str | None) -> ssl.SSLContext:
    """Trust the system's certificate authorities, or those in the file."""
    try:
        return ssl.create_default_context(cafile=ca_file or None)
    except OSError as fault:
        raise ServerUnreachable(f"The CA file {ca_file} cannot be used ({fault}).") from None


def is_dead(connection: http.client.HTTPConnection) -> bool:
    """An idle connection that is readable has been closed by the other side."""
    if connection.sock is None:
        return True
    poll = select.poll()
    poll.register(connection.sock, select.POLLIN)
    return bool(poll.poll(0))


def unreachable(server: str, fault: Exception) -> ServerUnreachable:
    """The error for a connection that failed."""
    if isinstance(fault, ssl.SSLCertVerificationError):
        return ServerUnreachable(
            f"The certificate of {server} is not trusted ({fault.verify_message}). "
            "Pass its certificate authority with --ca-file or BELVEDERE_CA_FILE."
        )
    if isinstance(fault, TimeoutError):
        return ServerUnreachable(f"{server} did not respond in time.")
    reason = fault.strerror if isinstance(fault, OSError) and fault.strerror else str(fault)
    return ServerUnreachable(
        f"Cannot reach {server} ({reason or type(fault).__name__}). "
        "Check that the server is running and that the address is correct."
    )
