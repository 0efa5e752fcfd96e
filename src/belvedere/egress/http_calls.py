"""Our own webhook: one signed POST. Runs in the courier, with nothing but the standard library."""

import hashlib
import hmac
import http.client
import socket
import ssl
from urllib.parse import SplitResult, urlsplit

import certifi

from belvedere import __version__
from belvedere.egress.messages import Outcome, Parcel

TIMEOUT_S = 10.0
MAX_URL = 2_048
SCHEMES = ("http", "https")


def check(url: str) -> str:
    """Why this cannot be the address of a webhook; nothing when it can."""
    # First of all: urlsplit normalizes what is beyond ASCII, which takes long for a long text.
    if len(url) > MAX_URL or not url.isascii():
        return f"Give an address such as https://example.com/hook, at most {MAX_URL} characters."
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return "This is no address."
    if not host or any(c <= " " for c in url):
        return f"Give an address such as https://example.com/hook, at most {MAX_URL} characters."
    if parts.username is not None or parts.password is not None:
        return "Leave the password out of the address; calls are signed instead."
    return ""


def signature(secret: str, at_s: int, body: bytes) -> str:
    """The same as webhooks of ours understand: one server can call another."""
    signed = f"{at_s}.".encode() + body
    return f"t={at_s},sha256={hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()}"


def post(parcel: Parcel) -> Outcome:
    """Answers of 200 to 299 are good. A redirect is not followed: a signed body goes where the
    address says, or nowhere."""
    url = urlsplit(parcel.url)
    body = parcel.payload.encode()
    connection = connect(url)
    try:
        connection.request("POST", target(url), body, _headers(parcel, body))
        status = connection.getresponse().status
    except (OSError, http.client.HTTPException) as fault:
        return Outcome(error_text(fault))
    finally:
        connection.close()
    if 200 <= status < 300:
        return Outcome()
    return Outcome(f"The receiver answered {status}.", for_good=status == 410)


def connect(url: SplitResult) -> http.client.HTTPConnection:
    assert url.hostname is not None
    if url.scheme == "http":
        return http.client.HTTPConnection(url.hostname, url.port, timeout=TIMEOUT_S)
    trust = ssl.create_default_context()
    trust.load_verify_locations(certifi.where())
    return http.client.HTTPSConnection(url.hostname, url.port, timeout=TIMEOUT_S, context=trust)


def target(url: SplitResult) -> str:
    return (url.path or "/") + (f"?{url.query}" if url.query else "")


def _headers(parcel: Parcel, body: bytes) -> dict[str, str]:
    return {
        "Content-Type": "application/json",
        "User-Agent": f"Belvedere/{__version__}",
        # The same at every try: whoever has it already may forget it.
        "Idempotency-Key": parcel.message_id,
        "X-Belvedere-Signature": signature(parcel.secret, parcel.at_s, body),
    }


def error_text(fault: Exception) -> str:
    if isinstance(fault, ssl.SSLCertVerificationError):
        return f"The certificate is not good: {fault.verify_message}."
    if isinstance(fault, socket.gaierror):
        return "The name of the receiver cannot be resolved."
    if isinstance(fault, TimeoutError):
        return "The receiver did not answer in time."
    return f"The receiver could not be called ({type(fault).__name__})."
