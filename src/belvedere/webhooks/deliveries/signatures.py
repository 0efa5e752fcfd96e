"""Verifies that a body was signed with the webhook's secret. Pure: headers, body, keys, now."""

import hashlib
import hmac
import re
from collections.abc import Callable, Mapping, Sequence
from enum import Enum

from belvedere.base.clock import MINUTE, SECOND, Millis
from belvedere.webhooks.model import Signature

BELVEDERE, GITHUB = "x-belvedere-signature", "x-hub-signature-256"
GITLAB, STRIPE = "x-gitlab-token", "stripe-signature"
SLACK, SLACK_TIMESTAMP = "x-slack-signature", "x-slack-request-timestamp"
# How far a signed time may be from this server's clock, in either direction.
TOLERANCE: Millis = 5 * MINUTE
# Stripe sends one signature for each of its valid secrets: two while one is being rotated.
MAX_SIGNATURES, MAX_HEADER = 16, 4_096
_PLAIN = re.compile(r"sha256=([0-9a-f]{64})")
_TIMED = re.compile(r"t=([0-9]{1,12}),sha256=([0-9a-f]{64})")
_SECONDS, _MAC = re.compile(r"[0-9]{1,12}"), re.compile(r"[0-9a-f]{64}")
_SLACK = re.compile(r"v0=([0-9a-f]{64})")

Headers = Mapping[str, str]


class SignatureCheck(Enum):
    """Whether a signature is valid; an expired one was valid before."""

    VALID = "valid"
    EXPIRED = "expired"
    INVALID = "invalid"


def verify(
    kind: str, headers: Headers, body: bytes, secrets: Sequence[str], now: Millis
) -> SignatureCheck:
    """Whether the signature of this kind was made with one of the secrets."""
    if kind == Signature.GITLAB:
        token = headers.get(GITLAB, "")
        fits = bool(token) and any([_is_equal(token, secret) for secret in secrets])
        return SignatureCheck.VALID if fits else SignatureCheck.INVALID
    read = _SCHEMES.get(kind)
    return (
        SignatureCheck.INVALID if read is None else _verify_macs(read(headers), body, secrets, now)
    )


def has_signature(kind: str, headers: Headers) -> bool:
    """Whether the headers contain a signature of this kind; needs no body."""
    if kind == Signature.GITLAB:
        return bool(headers.get(GITLAB))
    read = _SCHEMES.get(kind)
    return read is not None and bool(read(headers).macs)


class _SignatureHeader:
    """A parsed header: signatures over a prefix and the body, and the time in seconds."""

    def __init__(self, macs: Sequence[str], before: str = "", seconds: str = "") -> None:
        self.macs, self.before, self.seconds = macs, before.encode(), seconds


def _github(headers: Headers) -> _SignatureHeader:
    return _plain(headers.get(GITHUB, ""))


def _belvedere(headers: Headers) -> _SignatureHeader:
    """With a time in it, an intercepted call can be repeated for minutes only."""
    header = headers.get(BELVEDERE, "").replace(" ", "")
    timed = _TIMED.fullmatch(header)
    return (
        _plain(header) if timed is None else _SignatureHeader([timed[2]], f"{timed[1]}.", timed[1])
    )


def _plain(header: str) -> _SignatureHeader:
    match = _PLAIN.fullmatch(header)
    return _SignatureHeader([] if match is None else [match[1]])


def _stripe(headers: Headers) -> _SignatureHeader:
    """`t=<seconds>,v1=<hex>`, with several v1 while a secret is rotated, and other parts."""
    header = headers.get(STRIPE, "")
    if len(header) > MAX_HEADER:
        return _SignatureHeader([])
    parts = [part.strip().partition("=") for part in header.split(",")]
    moments = [value for name, _, value in parts if name == "t"]
    macs = [value for name, _, value in parts if name == "v1"]
    # With two times it is unclear which one was signed.
    if len(moments) != 1 or not _SECONDS.fullmatch(moments[0]) or len(macs) > MAX_SIGNATURES:
        return _SignatureHeader([])
    return _SignatureHeader(
        [mac for mac in macs if _MAC.fullmatch(mac)], f"{moments[0]}.", moments[0]
    )


def _slack(headers: Headers) -> _SignatureHeader:
    match, seconds = _SLACK.fullmatch(headers.get(SLACK, "")), headers.get(SLACK_TIMESTAMP, "")
    if match is None or not _SECONDS.fullmatch(seconds):
        return _SignatureHeader([])
    return _SignatureHeader([match[1]], f"v0:{seconds}:", seconds)


_SCHEMES: dict[str, Callable[[Headers], _SignatureHeader]] = {
    Signature.HMAC: _belvedere,
    Signature.GITHUB: _github,
    Signature.STRIPE: _stripe,
    Signature.SLACK: _slack,
}


def _verify_macs(
    signed: _SignatureHeader, body: bytes, secrets: Sequence[str], now: Millis
) -> SignatureCheck:
    expected = [sign(secret, signed.before + body) for secret in secrets]
    # Every secret is tried: the time must not reveal which one matches.
    fits = [
        hmac.compare_digest(mac, expected_mac)
        for mac in signed.macs or [""]
        for expected_mac in expected
    ]
    if not any(fits):
        return SignatureCheck.INVALID
    if signed.seconds and abs(now - int(signed.seconds) * SECOND) > TOLERANCE:
        return SignatureCheck.EXPIRED
    return SignatureCheck.VALID


def sign(secret: str, signed: bytes) -> str:
    return hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()


def _is_equal(token: str, secret: str) -> bool:
    return hmac.compare_digest(token.encode("utf-8", "replace"), secret.encode())
