"""A small OpenID provider: discovery, keys, authorization code with PKCE, ID tokens. It is pure:
`answer` gets a request and returns a response, in process or behind a socket (`openid_server`)."""

import base64
import hashlib
import json
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, unquote, urlencode, urlsplit

from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256

Json = dict[str, Any]


def b64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def number(value: int) -> str:
    return b64(value.to_bytes((value.bit_length() + 7) // 8))


class Signer:
    """A key pair under a name; `alg` is RS256 or ES256."""

    def __init__(self, kid: str, alg: str = "RS256", bits: int = 2_048) -> None:
        self.kid, self.alg = kid, alg
        self._rsa = rsa.generate_private_key(65_537, bits) if alg == "RS256" else None
        self._ec = ec.generate_private_key(ec.SECP256R1()) if alg == "ES256" else None

    def public(self) -> Json:
        named = {"kid": self.kid, "use": "sig", "alg": self.alg}
        if self._rsa is not None:
            rsa_public_numbers = self._rsa.public_key().public_numbers()
            return {
                **named,
                "kty": "RSA",
                "n": number(rsa_public_numbers.n),
                "e": number(rsa_public_numbers.e),
            }
        assert self._ec is not None
        point = self._ec.public_key().public_numbers()
        x, y = b64(point.x.to_bytes(32)), b64(point.y.to_bytes(32))
        return {**named, "kty": "EC", "crv": "P-256", "x": x, "y": y}

    def sign(self, data: bytes) -> bytes:
        if self._rsa is not None:
            return self._rsa.sign(data, padding.PKCS1v15(), SHA256())
        assert self._ec is not None
        r, s = decode_dss_signature(self._ec.sign(data, ec.ECDSA(SHA256())))
        return r.to_bytes(32) + s.to_bytes(32)

    def token(self, claims: Json, **header: Any) -> str:
        head = {"alg": self.alg, "kid": self.kid, **header}
        parts = ".".join(b64(json.dumps(item).encode()) for item in (head, claims))
        return f"{parts}.{b64(self.sign(parts.encode()))}"


@dataclass
class ProviderResponse:
    status: int
    body: Json = field(default_factory=dict)
    location: str = ""


@dataclass
class Provider:
    """`person` signs in next; `claims` replace those of the ID token, None removes one; `userinfo`
    moves the person's claims out of it."""

    issuer: str
    client_id: str = "belvedere"
    client_secret: str = "s3cret of the client"
    person: Json = field(default_factory=dict)
    claims: Json = field(default_factory=dict)
    has_userinfo: bool = False
    proofs: tuple[str, ...] = ("client_secret_basic", "client_secret_post")
    # RFC 9207: whether discovery announces `iss`, and whether responses contain it.
    advertises_iss: bool = False
    sends_iss: bool = True
    # The redirect addresses that are registered; empty: any.
    registered: tuple[str, ...] = ()
    # Set by a malicious provider: where people are really sent.
    authorization: str = ""
    signer: Signer = field(default_factory=lambda: Signer("k1"))
    now: Callable[[], float] = time.time
    # Created for a request with a code, which is valid for one exchange.
    codes: dict[str, Json] = field(default_factory=dict)
    access: dict[str, Json] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def answer(self, method: str, url: str, headers: dict[str, str], body: str) -> ProviderResponse:
        parts = urlsplit(url)
        path = parts.path.removeprefix(urlsplit(self.issuer).path)
        self.asked.append(f"{method} {path}")
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        match method, path:
            case "GET", "/.well-known/openid-configuration":
                return ProviderResponse(200, self.discovery())
            case "GET", "/keys":
                return ProviderResponse(200, {"keys": [self.signer.public()]})
            case "GET", "/authorize":
                return self.authorize(query)
            case "POST", "/token":
                form = {name: values[0] for name, values in parse_qs(body).items()}
                return self.exchange(form, headers)
            case "GET", "/userinfo":
                response = self.access.get(headers.get("authorization", "").removeprefix("Bearer "))
                return ProviderResponse(200, response) if response else ProviderResponse(401)
        return ProviderResponse(404)

    def discovery(self) -> Json:
        body: Json = {
            "issuer": self.issuer,
            "authorization_endpoint": self.authorization or f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/keys",
            "token_endpoint_auth_methods_supported": list(self.proofs),
            "code_challenge_methods_supported": ["S256"],
        }
        if self.advertises_iss:
            body["authorization_response_iss_parameter_supported"] = True
        return {**body, "userinfo_endpoint": f"{self.issuer}/userinfo"}

    def authorize(self, asked: dict[str, str]) -> ProviderResponse:
        """The person is already signed in there, and agrees."""
        is_whole = {
            "redirect_uri",
            "state",
            "nonce",
            "code_challenge",
        } <= set(asked) and asked.get("response_type") == "code"
        is_for_us = asked.get("client_id") == self.client_id
        has_scope = "openid" in asked.get("scope", "").split()
        if not (is_whole and is_for_us and has_scope) or asked["code_challenge_method"] != "S256":
            return ProviderResponse(400, {"error": "invalid_request"})
        if self.registered and asked["redirect_uri"] not in self.registered:
            return ProviderResponse(400, {"error": "invalid_request"})
        code = secrets.token_urlsafe(16)
        self.codes[code] = {**asked, "person": dict(self.person)}
        named = {"iss": self.issuer} if self.sends_iss else {}
        back = urlencode({"code": code, "state": asked["state"], **named})
        return ProviderResponse(302, location=f"{asked['redirect_uri']}?{back}")

    def exchange(self, form: dict[str, str], headers: dict[str, str]) -> ProviderResponse:
        if not self._is_client(form, headers):
            return ProviderResponse(401, {"error": "invalid_client"})
        record = self.codes.pop(form.get("code", ""), None)
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        if record is None or (form.get("redirect_uri"), b64(digest)) != (
            record["redirect_uri"],
            record["code_challenge"],
        ):
            return ProviderResponse(400, {"error": "invalid_grant"})
        access = secrets.token_urlsafe(16)
        self.access[access] = record["person"]
        body = {"access_token": access, "token_type": "Bearer"}
        return ProviderResponse(200, {**body, "id_token": self.id_token(record)})

    def id_token(self, asked: Json) -> str:
        now = int(self.now())
        person = asked["person"]
        record = {"sub": person["sub"]} if self.has_userinfo else person
        fields = {"iss": self.issuer, "aud": self.client_id, "iat": now, "exp": now + 300}
        claims = {**fields, "nonce": asked["nonce"], **record, **self.claims}
        return self.signer.token({k: v for k, v in claims.items() if v is not None})

    def _is_client(self, form: dict[str, str], headers: dict[str, str]) -> bool:
        pair = headers.get("authorization", "").removeprefix("Basic ")
        if "client_secret_basic" in self.proofs and pair:
            name, _, secret = base64.b64decode(pair).decode().partition(":")
            return (unquote(name), unquote(secret)) == (self.client_id, self.client_secret)
        input_pair = form.get("client_id"), form.get("client_secret", "")
        return input_pair == (self.client_id, self.client_secret)
