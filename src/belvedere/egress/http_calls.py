"""Outgoing calls: a signed POST to a webhook, and a request whose response is needed. Runs in the
egress worker, with the standard library only."""

import hashlib
import hmac
import http.client
import ssl
from urllib.parse import SplitResult, urlsplit

import certifi

from belvedere import __version__
from belvedere.base.text import connection_errors
from belvedere.egress.messages import EgressRequest, EgressResult

TIMEOUT_S = 10.0
MAX_URL = 2_048
SCHEMES = ("http", "https")
# The size of a response: documents and lists of keys have a few kilobytes.
MAX_ANSWER = 128 * 1024


def check(url: str) -> str:
    """Why this cannot be the URL of a webhook; empty if it can."""
    # Checked first: urlsplit normalizes non-ASCII text, which is slow for long texts.
    if len(url) > MAX_URL or not url.isascii():
        return f"Must be an address such as https://example.com/hook, at most {MAX_URL} characters."
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return "This is not a valid address."
    if not host or any(c <= " " for c in url):
        return f"Must be an address such as https://example.com/hook, at most {MAX_URL} characters."
    if parts.username is not None or parts.password is not None:
        return "Remove the password from the address; calls are signed instead."
    return ""


def signature(secret: str, at_s: int, body: bytes) -> str:
    """The signature that webhooks of Belvedere accept: one server can call another."""
    signed = f"{at_s}.".encode() + body
    return f"t={at_s},sha256={hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()}"


def post(request: EgressRequest) -> EgressResult:
    """Statuses 200 to 299 are a success. Redirects are not followed: a signed body is sent to its
    URL only."""
    url = urlsplit(request.url)
    body = request.payload.encode()
    connection = connect(url)
    try:
        connection.request("POST", target(url), body, _headers(request, body))
        status = connection.getresponse().status
    except (OSError, http.client.HTTPException) as fault:
        return EgressResult(error_text(fault))
    finally:
        connection.close()
    if 200 <= status < 300:
        return EgressResult()
    return EgressResult(f"The receiver responded with {status}.", for_good=status == 410)


def fetch(request: EgressRequest) -> EgressResult:
    """The response with its status. Redirects are not followed."""
    fault = check(request.url)
    if fault:
        return EgressResult(fault, for_good=True)
    url = urlsplit(request.url)
    connection = connect(url)
    headers = {
        "Accept": "application/json",
        "User-Agent": f"Belvedere/{__version__}",
        **request.headers,
    }
    try:
        body = request.payload.encode() if request.payload else None
        connection.request(request.method, target(url), body, headers)
        answer = connection.getresponse()
        content = answer.read(MAX_ANSWER + 1)
    except (OSError, http.client.HTTPException) as broken:
        return EgressResult(error_text(broken))
    finally:
        connection.close()
    if len(content) > MAX_ANSWER:
        return EgressResult(f"The response is longer than {MAX_ANSWER} bytes.", for_good=True)
    return EgressResult(status=answer.status, text=content.decode(errors="replace"))


def connect(url: SplitResult) -> http.client.HTTPConnection:
    assert url.hostname is not None
    if url.scheme == "http":
        return http.client.HTTPConnection(url.hostname, url.port, timeout=TIMEOUT_S)
    trust = ssl.create_default_context()
    trust.load_verify_locations(certifi.where())
    return http.client.HTTPSConnection(url.hostname, url.port, timeout=TIMEOUT_S, context=trust)


def target(url: SplitResult) -> str:
    return (url.path or "/") + (f"?{url.query}" if url.query else "")


def _headers(request: EgressRequest, body: bytes) -> dict[str, str]:
    return {
        "Content-Type": "application/json",
        "User-Agent": f"Belvedere/{__version__}",
        # The same for every attempt, so that the receiver can ignore duplicates.
        "Idempotency-Key": request.message_id,
        "X-Belvedere-Signature": signature(request.secret, request.at_s, body),
    }


def error_text(fault: Exception) -> str:
    sentence = connection_errors.describe(fault)
    return sentence or f"The receiver could not be called ({type(fault).__name__})."
