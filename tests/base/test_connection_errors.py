"""Failed connections in plain sentences."""

import errno
import socket
import ssl
from urllib.error import URLError

import pytest

from belvedere.base.text.connection_errors import describe


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        (
            ConnectionRefusedError(errno.ECONNREFUSED, "Connect call failed ('127.0.0.1', 8612)"),
            "Connection refused at shop port 80: nothing accepts connections there.",
        ),
        (
            OSError("Multiple exceptions: [Errno 111] Connect call failed ('::1', 80, 0, 0), …"),
            "Connection refused at shop port 80: nothing accepts connections there.",
        ),
        (URLError(ConnectionResetError(errno.ECONNRESET, "x")), "closed by the other side"),
        (TimeoutError(), "No response in time at shop port 80."),
        (socket.gaierror(socket.EAI_NONAME, "Name or service not known"), "cannot be resolved"),
        (socket.gaierror(socket.EAI_AGAIN, "x"), "the DNS server does not respond"),
        (OSError(errno.EHOSTUNREACH, "x"), "The host cannot be reached"),
        (ssl.SSLError(1, "[SSL: WRONG_VERSION_NUMBER] x (_ssl.c:1)"), "TLS handshake failed"),
    ],
)
def test_a_connection_error_is_described_in_a_sentence(fault: Exception, sentence: str) -> None:
    text = describe(fault, "shop port 80") or ""
    assert sentence in text
    assert "Errno" not in text and "(" not in text.replace("(unknown reason)", "")


def test_another_error_is_left_to_the_caller() -> None:
    assert describe(ValueError("no number")) is None
    assert describe(OSError("10.0.0.1 is an inner address")) is None
