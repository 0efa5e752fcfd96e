"""ID tokens: who somebody is, signed by the issuer for us, now, and for this one sign-in.

joserfc verifies signatures and registered claims. What is decided here: which algorithms and keys
are accepted, and the claims that OpenID Connect adds.
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

# Every provider knows one of these. `none` and algorithms with a shared secret are not among them.
ALGORITHMS = ("RS256", "ES256")
# Clocks differ; and it was made a moment ago, while the person was on the way back to us.
LEEWAY_S, OLDEST_S = 60, 600
MAX_LENGTH, MAX_KEYS, MIN_RSA_BITS, MAX_RSA_BITS = 16 * 1024, 50, 2_048, 8_192
_KINDS: dict[str, type[RSAKey] | type[ECKey]] = {"RSA": RSAKey, "EC": ECKey}
# What joserfc and the libraries below it raise for input that cannot be read.
_UNREADABLE = (JoseError, ValueError, TypeError, KeyError, AttributeError)


class _Registry(JWSRegistry):
    """Some issuers put their certificates into the header."""

    max_header_length = MAX_LENGTH
    max_payload_length = MAX_LENGTH


def verify(
    token: str, key_set: str, *, issuer: str, client_id: str, nonce: str, now_s: int
) -> Claims:
    """What it says, once everything about it is right."""
    claims = _opened(token, key_set)
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
        raise bad(str(fault).rstrip(".")) from None
    _check_rest(claims, client_id, now_s)
    return claims


def _check_rest(claims: Claims, client_id: str, now_s: int) -> None:
    # The library takes a list that holds the value for the value.
    for name in ("iss", "sub", "nonce"):
        if not isinstance(claims[name], str):
            raise bad(f"the claim {name} is not a text")
    if len(claims["sub"]) > 255:
        raise bad("the claim sub is longer than 255 characters")
    if claims["iat"] < now_s - OLDEST_S:
        raise bad("it was issued too long ago; check the clock of this server")
    # With several audiences it must say for which one it was made.
    is_single = isinstance(claims["aud"], str) or len(claims["aud"]) == 1
    if claims.get("azp", client_id if is_single else None) != client_id:
        raise bad("it was made for another client")


def _opened(token: str, key_set: str) -> Claims:
    if len(token) > MAX_LENGTH:
        raise bad(f"it is longer than {MAX_LENGTH} bytes")
    registry = _Registry(algorithms=ALGORITHMS, strict_check_header=False)
    try:
        header = jws.extract_compact(token.encode("ascii"), registry=registry).headers()
        for key in _fitting(key_set, header):
            try:
                return jwt.decode(token, key, registry=registry).claims
            except BadSignatureError:
                continue
    except _UNREADABLE as fault:
        raise bad(str(fault).rstrip(".") or "it cannot be read") from None
    raise bad("the signature is not the issuer's")


def _fitting(key_set: str, header: Claims) -> list[RSAKey | ECKey]:
    """The keys that could have made it; by name where the token gives one."""
    found = msgspec.json.decode(key_set)["keys"][:MAX_KEYS]
    keys = [_imported(one) for one in found if isinstance(one, dict)]
    return [
        key
        for key in keys
        if key is not None
        and key.get("use", "sig") == "sig"
        and key.get("alg", header["alg"]) == header["alg"]
        and (header["alg"][:2] == "RS") == (key.key_type == "RSA")
        and ("kid" not in header or key.kid == header["kid"])
    ]


def _imported(shown: Claims) -> RSAKey | ECKey | None:
    """A key of the set; None for one that is of another kind, broken or too weak. The issuer may
    show such keys beside the one that it uses."""
    kind = _KINDS.get(str(shown.get("kty")))
    if kind is None:
        return None
    try:
        with warnings.catch_warnings(action="ignore"):
            key = kind.import_key(shown)
    except _UNREADABLE:
        return None
    bits = key.public_key.key_size
    is_strong = kind is ECKey or MIN_RSA_BITS <= bits <= MAX_RSA_BITS
    return key if is_strong else None


def bad(reason: str) -> Forbidden:
    return Forbidden(f"The provider's ID token is not accepted: {reason}.", code="bad_id_token")
