"""Checking that a body was signed with the webhook's secret. Pure: headers, body, keys, now."""

import hashlib
import hmac
import re
from collections.abc import Callable, Mapping, Sequence
from enum import Enum

from belvedere.base.clock import MINUTE, SECOND, Millis
from belvedere.webhooks.model import Signature

OURS, GITHUB = "x-belvedere-signature", "x-hub-signature-256"
GITLAB, STRIPE = "x-gitlab-token", "stripe-signature"
SLACK, SLACK_MOMENT = "x-slack-signature", "x-slack-request-timestamp"
# How old a signed moment may be, and how far ahead the caller's clock.
TOLERANCE: Millis = 5 * MINUTE
# Stripe sends one signature for each of its live secrets: two, while one is being changed.
MOST_SIGNATURES, MAX_HEADER = 16, 4_096
_PLAIN = re.compile(r"sha256=([0-9a-f]{64})")
_TIMED = re.compile(r"t=([0-9]{1,12}),sha256=([0-9a-f]{64})")
_SECONDS, _MAC = re.compile(r"[0-9]{1,12}"), re.compile(r"[0-9a-f]{64}")
_SLACK = re.compile(r"v0=([0-9a-f]{64})")

Headers = Mapping[str, str]


class Fit(Enum):
    """Whether a signature fits; one that is too old fitted once."""

    FITS = "fits"
    TOO_OLD = "too old"
    WRONG = "wrong"


def judge(kind: str, headers: Headers, body: bytes, secrets: Sequence[str], now: Millis) -> Fit:
    """Whether one of the secrets made the signature that the kind asks for."""
    if kind == Signature.GITLAB:
        given = headers.get(GITLAB, "")
        fits = bool(given) and any([_same(given, secret) for secret in secrets])
        return Fit.FITS if fits else Fit.WRONG
    read = _SCHEMES.get(kind)
    return Fit.WRONG if read is None else _judged(read(headers), body, secrets, now)


def is_claimed(kind: str, headers: Headers) -> bool:
    """Whether the headers hold a signature of this kind at all; it needs no body."""
    if kind == Signature.GITLAB:
        return bool(headers.get(GITLAB))
    read = _SCHEMES.get(kind)
    return read is not None and bool(read(headers).macs)


class _Signed:
    """What a header says: signatures over something before the body, made at some second."""

    def __init__(self, macs: Sequence[str], before: str = "", seconds: str = "") -> None:
        self.macs, self.before, self.seconds = macs, before.encode(), seconds


def _github(headers: Headers) -> _Signed:
    return _plain(headers.get(GITHUB, ""))


def _ours(headers: Headers) -> _Signed:
    """With a moment in it, a call that was overheard is good for minutes only."""
    given = headers.get(OURS, "").replace(" ", "")
    timed = _TIMED.fullmatch(given)
    return _plain(given) if timed is None else _Signed([timed[2]], f"{timed[1]}.", timed[1])


def _plain(given: str) -> _Signed:
    found = _PLAIN.fullmatch(given)
    return _Signed([] if found is None else [found[1]])


def _stripe(headers: Headers) -> _Signed:
    """`t=<seconds>,v1=<hex>`, with more of v1 while a secret is changed, and parts not ours."""
    given = headers.get(STRIPE, "")
    if len(given) > MAX_HEADER:
        return _Signed([])
    parts = [part.strip().partition("=") for part in given.split(",")]
    moments = [value for name, _, value in parts if name == "t"]
    macs = [value for name, _, value in parts if name == "v1"]
    # Two moments: nobody can say which of them was signed.
    if len(moments) != 1 or not _SECONDS.fullmatch(moments[0]) or len(macs) > MOST_SIGNATURES:
        return _Signed([])
    return _Signed([mac for mac in macs if _MAC.fullmatch(mac)], f"{moments[0]}.", moments[0])


def _slack(headers: Headers) -> _Signed:
    found, seconds = _SLACK.fullmatch(headers.get(SLACK, "")), headers.get(SLACK_MOMENT, "")
    if found is None or not _SECONDS.fullmatch(seconds):
        return _Signed([])
    return _Signed([found[1]], f"v0:{seconds}:", seconds)


_SCHEMES: dict[str, Callable[[Headers], _Signed]] = {
    Signature.HMAC: _ours,
    Signature.GITHUB: _github,
    Signature.STRIPE: _stripe,
    Signature.SLACK: _slack,
}


def _judged(signed: _Signed, body: bytes, secrets: Sequence[str], now: Millis) -> Fit:
    wanted = [sign(secret, signed.before + body) for secret in secrets]
    # Every secret is tried: which of them fits must not show in the time it takes.
    fits = [hmac.compare_digest(mac, one) for mac in signed.macs or [""] for one in wanted]
    if not any(fits):
        return Fit.WRONG
    if signed.seconds and abs(now - int(signed.seconds) * SECOND) > TOLERANCE:
        return Fit.TOO_OLD
    return Fit.FITS


def sign(secret: str, signed: bytes) -> str:
    return hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()


def _same(given: str, secret: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), secret.encode())
