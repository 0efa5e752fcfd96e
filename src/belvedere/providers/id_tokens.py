"""Verification of ID tokens.

joserfc verifies signatures and registered claims. Decided here: which algorithms and keys are
accepted, and the claims that OpenID Connect adds.
"""

import warnings
from typing import Any

import msgspec
from joserfc import jws, jwt
from joserfc.errors import BadSignatureError, JoseError
from joserfc.jwk import ECKey, RSAKey
from joserfc.jws import JWSRegistry

from belvedere.base.errors import Forbidden

Claims = dict[str, Any]

# Every provider supports one of these. `none` and algorithms with a shared secret are excluded.
ALGORITHMS = ("RS256", "ES256")
# Clocks differ; and the token was issued a moment ago, during this sign-in.
LEEWAY_S, MAX_AGE_S = 60, 600
MAX_TOKEN_LENGTH, MAX_KEYS, MIN_RSA_BITS, MAX_RSA_BITS = 16 * 1024, 50, 2_048, 8_192
_KINDS: dict[str, type[RSAKey] | type[ECKey]] = {"RSA": RSAKey, "EC": ECKey}
# What joserfc and the libraries below it raise for input that cannot be read.
_UNREADABLE = (JoseError, ValueError, TypeError, KeyError, AttributeError)


class _Registry(JWSRegistry):
    """Some issuers put their certificates into the header, so it may be as long as the token."""

    max_header_length = MAX_TOKEN_LENGTH
    max_payload_length = MAX_TOKEN_LENGTH


def verify(
    token: str, key_set: str, *, issuer: str, client_id: str, nonce: str, now_s: int
) -> Claims:
    """The claims of the token; raises Forbidden unless everything about it is valid."""
    claims = _verify_signature(token, key_set)
    required = jwt.JWTClaimsRegistry(
        now=now_s,
        leeway=LEEWAY_S,
        iss={"essential": True, "value": issuer},
        aud={"essential": True, "value": client_id},
        exp={"essential": True},
        iat={"essential": True},
        sub={"essential": True},
        nonce={"essential": True, "value": nonce},
    )
    try:
        required.validate(claims)
    except _UNREADABLE as fault:
        raise invalid_token(str(fault).rstrip(".")) from None
    _check_openid_claims(claims, client_id, now_s)
    return claims


def _check_openid_claims(claims: Claims, client_id: str, now_s: int) -> None:
    # The library also accepts a list that contains the expected value.
    for name in ("iss", "sub", "nonce"):
        if not isinstance(claims[name], str):
            raise invalid_token(f"the claim {name} is not a text")
    if len(claims["sub"]) > 255:
        raise invalid_token("the claim sub is longer than 255 characters")
    if claims["iat"] < now_s - MAX_AGE_S:
        raise invalid_token("it was issued too long ago; check this server's clock")
    # With several audiences, `azp` must name this client.
    is_single = isinstance(claims["aud"], str) or len(claims["aud"]) == 1
    if claims.get("azp", client_id if is_single else None) != client_id:
        raise invalid_token("it was issued to another client")


def _verify_signature(token: str, key_set: str) -> Claims:
    if len(token) > MAX_TOKEN_LENGTH:
        raise invalid_token(f"it is longer than {MAX_TOKEN_LENGTH} bytes")
    registry = _Registry(algorithms=ALGORITHMS, strict_check_header=False)
    try:
        header = jws.extract_compact(token.encode("ascii"), registry=registry).headers()
        for key in _candidate_keys(key_set, header):
            try:
                return jwt.decode(token, key, registry=registry).claims
            except BadSignatureError:
                continue
    except _UNREADABLE as fault:
        raise invalid_token(str(fault).rstrip(".") or "it cannot be read") from None
    raise invalid_token("no key of the issuer matches the signature")


def _candidate_keys(key_set: str, header: Claims) -> list[RSAKey | ECKey]:
    """The keys that may have signed the token; by key id if the token names one."""
    entries = msgspec.json.decode(key_set)["keys"][:MAX_KEYS]
    keys = [_import_key(entry) for entry in entries if isinstance(entry, dict)]
    return [
        key
        for key in keys
        if key is not None
        and key.get("use", "sig") == "sig"
        and key.get("alg", header["alg"]) == header["alg"]
        and (header["alg"][:2] == "RS") == (key.key_type == "RSA")
        and ("kid" not in header or key.kid == header["kid"])
    ]


def _import_key(entry: Claims) -> RSAKey | ECKey | None:
    """A key of the set; None if it is of another type, invalid or too weak. The issuer may publish
    such keys beside the one that it uses."""
    kind = _KINDS.get(str(entry.get("kty")))
    if kind is None:
        return None
    try:
        with warnings.catch_warnings(action="ignore"):
            key = kind.import_key(entry)
    except _UNREADABLE:
        return None
    bits = key.public_key.key_size
    is_strong = kind is ECKey or MIN_RSA_BITS <= bits <= MAX_RSA_BITS
    return key if is_strong else None


def invalid_token(reason: str) -> Forbidden:
    return Forbidden(f"The provider's ID token is not accepted: {reason}.", code="bad_id_token")
