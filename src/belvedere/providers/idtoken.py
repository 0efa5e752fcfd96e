"""ID tokens: who somebody is, signed by the issuer for us, now, and for this one sign-in.

Two kinds of signature count, those that every provider knows. The key decides nothing: a token
that says `none`, or one that is signed with the public key as if that were a shared secret, names
an algorithm that is not in the table.
"""

import base64
import binascii
import hmac
from collections.abc import Callable
from typing import Any

import msgspec
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256

from belvedere.base.errors import Forbidden

Claims = dict[str, Any]

# Clocks differ; and it was made a moment ago, while the person was on the way back to us.
LEEWAY_S, OLDEST_S = 60, 600
MAX_LENGTH, MAX_KEYS, MIN_RSA_BITS = 16 * 1024, 50, 2_048
_P256_BYTES = 32


def verify(
    token: str, key_set: str, *, issuer: str, client_id: str, nonce: str, now_s: int
) -> Claims:
    """What it says, once everything about it is right."""
    claims = _opened(token, key_set)
    _check_audience(claims, issuer, client_id)
    _check_times(claims, now_s)
    if not hmac.compare_digest(_text(claims, "nonce").encode(), nonce.encode()):
        raise bad("it was made for another sign-in")
    if not 0 < len(_text(claims, "sub")) <= 255:
        raise bad("it names nobody")
    return claims


def _opened(token: str, key_set: str) -> Claims:
    parts = token.split(".")
    if len(token) > MAX_LENGTH or len(parts) != 3:
        raise bad("it is no signed token")
    header, claims = _record(parts[0]), _record(parts[1])
    check = _CHECKS.get(str(header.get("alg")))
    if check is None or "crit" in header:
        raise bad("it is signed in a way that is not accepted here")
    signed, signature = f"{parts[0]}.{parts[1]}".encode(), _bytes(parts[2])
    if not any(check(key, signature, signed) for key in _fitting(key_set, header)):
        raise bad("the signature is not the issuer's")
    return claims


def _fitting(key_set: str, header: Claims) -> list[Claims]:
    """The keys that could have made it; by name where the token gives one."""
    try:
        found = msgspec.json.decode(key_set)["keys"][:MAX_KEYS]
    except (msgspec.DecodeError, KeyError, TypeError):
        raise bad("the issuer's keys cannot be read") from None
    return [
        key
        for key in found
        if isinstance(key, dict)
        and key.get("use", "sig") == "sig"
        and key.get("alg", header["alg"]) == header["alg"]
        and ("kid" not in header or key.get("kid") == header["kid"])
    ]


def _is_rs256(key: Claims, signature: bytes, signed: bytes) -> bool:
    if key.get("kty") != "RSA":
        return False
    try:
        public = rsa.RSAPublicNumbers(_number(key, "e"), _number(key, "n")).public_key()
        if public.key_size < MIN_RSA_BITS:
            return False
        public.verify(signature, signed, padding.PKCS1v15(), SHA256())
    except (ValueError, InvalidSignature, Forbidden):
        return False
    return True


def _is_es256(key: Claims, signature: bytes, signed: bytes) -> bool:
    if (key.get("kty"), key.get("crv")) != ("EC", "P-256") or len(signature) != 2 * _P256_BYTES:
        return False
    r, s = (int.from_bytes(half) for half in (signature[:_P256_BYTES], signature[_P256_BYTES:]))
    try:
        curve = ec.SECP256R1()
        public = ec.EllipticCurvePublicNumbers(_number(key, "x"), _number(key, "y"), curve)
        der = encode_dss_signature(r, s)
        public.public_key().verify(der, signed, ec.ECDSA(SHA256()))
    except (ValueError, InvalidSignature, Forbidden):
        return False
    return True


_CHECKS: dict[str, Callable[[Claims, bytes, bytes], bool]] = {
    "RS256": _is_rs256,
    "ES256": _is_es256,
}


def _check_audience(claims: Claims, issuer: str, client_id: str) -> None:
    if claims.get("iss") != issuer:
        raise bad("it is of another issuer")
    audience = claims.get("aud")
    names = audience if isinstance(audience, list) else [audience]
    if client_id not in names:
        raise bad("it is for another client")
    # With several readers it must say for whom it was made.
    if claims.get("azp", client_id if len(names) == 1 else None) != client_id:
        raise bad("it was made for another client")


def _check_times(claims: Claims, now_s: int) -> None:
    if _seconds(claims, "exp") <= now_s - LEEWAY_S:
        raise bad("it has expired")
    if not now_s - OLDEST_S <= _seconds(claims, "iat") <= now_s + LEEWAY_S:
        raise bad("it is not of now; is the clock of this server right")
    if "nbf" in claims and _seconds(claims, "nbf") > now_s + LEEWAY_S:
        raise bad("it does not count yet")


def _seconds(claims: Claims, name: str) -> float:
    found = claims.get(name)
    if isinstance(found, bool) or not isinstance(found, int | float):
        raise bad(f"it lacks {name}")
    return found


def _text(claims: Claims, name: str) -> str:
    found = claims.get(name)
    if not isinstance(found, str):
        raise bad(f"it lacks {name}")
    return found


def _record(part: str) -> Claims:
    try:
        found = msgspec.json.decode(_bytes(part))
    except (msgspec.DecodeError, UnicodeDecodeError):
        found = None
    if not isinstance(found, dict):
        raise bad("it cannot be read")
    return found


def _number(key: Claims, name: str) -> int:
    return int.from_bytes(_bytes(_text(key, name)))


def _bytes(part: str) -> bytes:
    """Base64 as it is written in tokens: without padding, and nothing else among it."""
    try:
        padded = part.encode("ascii") + b"=" * (-len(part) % 4)
        return base64.b64decode(padded, altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise bad("it cannot be read") from None


def bad(reason: str) -> Forbidden:
    return Forbidden(f"The provider's ID token is not accepted: {reason}.", code="bad_id_token")
