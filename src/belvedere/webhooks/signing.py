"""Checking that a body was signed with the webhook's secret. Pure: headers, body, keys, now."""

import hashlib
import hmac
import re
from collections.abc import Mapping, Sequence

from belvedere.base.clock import MINUTE, SECOND, Millis
from belvedere.webhooks.model import Signature

OURS, GITHUB = "x-belvedere-signature", "x-hub-signature-256"
GITLAB = "x-gitlab-token"
# How old a signed moment may be, and how far ahead the caller's clock.
TOLERANCE: Millis = 5 * MINUTE
_PLAIN = re.compile(r"sha256=([0-9a-f]{64})")
_TIMED = re.compile(r"t=([0-9]{1,12}),sha256=([0-9a-f]{64})")


def is_signed(
    kind: str, headers: Mapping[str, str], body: bytes, secrets: Sequence[str], now: Millis
) -> bool:
    """Whether one of the secrets made the signature that the kind asks for.

    Ours is `sha256=<hex>` over the body, or `t=<seconds>,sha256=<hex>` over the seconds, a dot and
    the body: then a call that was overheard is good for minutes only.
    """
    match kind:
        case Signature.GITHUB:
            return _fits(_PLAIN.fullmatch(headers.get(GITHUB, "")), body, secrets)
        case Signature.GITLAB:
            given = headers.get(GITLAB, "")
            return bool(given) and any([_same(given, secret) for secret in secrets])
        case Signature.HMAC:
            given = headers.get(OURS, "").replace(" ", "")
            timed = _TIMED.fullmatch(given)
            if timed is None:
                return _fits(_PLAIN.fullmatch(given), body, secrets)
            if abs(now - int(timed[1]) * SECOND) > TOLERANCE:
                return False
            return _fits(timed, timed[1].encode() + b"." + body, secrets)
    return False


def sign(secret: str, body: bytes) -> str:
    return hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def _same(given: str, secret: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), secret.encode())


def _fits(found: "re.Match[str] | None", signed: bytes, secrets: Sequence[str]) -> bool:
    given = "" if found is None else found[found.re.groups]
    # Every secret is tried: which of them fits must not show in the time it takes.
    fits = [hmac.compare_digest(given, sign(secret, signed)) for secret in secrets]
    return any(fits)
