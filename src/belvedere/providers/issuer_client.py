"""Requests to an issuer: discovery, tokens, keys, userinfo. They go through the egress pool, the
only part that calls the outside."""

import base64
from typing import Any, Protocol
from urllib.parse import quote, urlencode, urlsplit

import msgspec

from belvedere.base.errors import Conflict, Forbidden
from belvedere.egress.messages import EgressRequest, EgressResult
from belvedere.providers.model import MAX_URL, Endpoints

WELL_KNOWN = "/.well-known/openid-configuration"
_FORM = {"Content-Type": "application/x-www-form-urlencoded"}


class Egress(Protocol):
    async def send(self, request: EgressRequest) -> EgressResult: ...


class ProviderClient(msgspec.Struct, frozen=True):
    """The client that is registered at the provider."""

    id: str
    secret: str


class TokenResponse(msgspec.Struct, frozen=True):
    """The tokens that the issuer returns for a code."""

    id_token: str
    access_token: str


async def discover(egress: Egress, issuer: str) -> Endpoints:
    """Read the issuer's discovery document."""
    url = issuer.rstrip("/") + WELL_KNOWN
    document = await _fetch_object(egress, EgressRequest(url=url, method="GET"))
    name = document.get("issuer")
    if not isinstance(name, str) or name.rstrip("/") != issuer.rstrip("/"):
        raise _invalid_issuer("its discovery document names another issuer")
    proofs = document.get("token_endpoint_auth_methods_supported", ["client_secret_basic"])
    is_basic = isinstance(proofs, list) and "client_secret_basic" in proofs
    return Endpoints(
        name,
        _address(document, "authorization_endpoint", issuer),
        _address(document, "token_endpoint", issuer),
        _address(document, "jwks_uri", issuer),
        _address(document, "userinfo_endpoint", issuer) if "userinfo_endpoint" in document else "",
        "client_secret_basic" if is_basic else "client_secret_post",
        document.get("authorization_response_iss_parameter_supported") is True,
    )


async def redeem(
    egress: Egress,
    endpoints: Endpoints,
    client: ProviderClient,
    code: str,
    redirect_uri: str,
    verifier: str,
) -> TokenResponse:
    """Exchange the code for tokens. It needs the PKCE verifier, which never left this server and
    the sealed cookie."""
    form = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": redirect_uri,
        "code_verifier": verifier,
    }
    headers = dict(_FORM)
    if client.secret and endpoints.proof == "client_secret_basic":
        pair = f"{quote(client.id, safe='')}:{quote(client.secret, safe='')}"
        headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
    else:
        form["client_id"] = client.id
        if client.secret:
            form["client_secret"] = client.secret
    request = EgressRequest(
        url=endpoints.token, method="POST", headers=headers, payload=urlencode(form)
    )
    response = await _fetch_object(egress, request)
    id_token, access_token = response.get("id_token"), response.get("access_token", "")
    if not isinstance(id_token, str) or not isinstance(access_token, str):
        raise Forbidden("The provider returned no ID token.", code="bad_id_token")
    return TokenResponse(id_token, access_token)


async def fetch_key_set(egress: Egress, endpoints: Endpoints) -> str:
    """The issuer's current keys; not cached, so that rotated and withdrawn keys count at once."""
    result = await _fetch(egress, EgressRequest(url=endpoints.keys, method="GET"))
    return result.text


async def fetch_userinfo(egress: Egress, endpoints: Endpoints, access_token: str) -> dict[str, Any]:
    """Further claims about the person, from the userinfo endpoint."""
    headers = {"Authorization": f"Bearer {access_token}"}
    return await _fetch_object(
        egress, EgressRequest(url=endpoints.userinfo, method="GET", headers=headers)
    )


async def _fetch_object(egress: Egress, request: EgressRequest) -> dict[str, Any]:
    result = await _fetch(egress, request)
    try:
        document = msgspec.json.decode(result.text)
    except msgspec.DecodeError:
        document = None
    if not isinstance(document, dict):
        raise _unreachable(request, "the response is not a JSON object")
    return document


async def _fetch(egress: Egress, request: EgressRequest) -> EgressResult:
    result = await egress.send(request)
    if result.fault:
        raise _unreachable(request, result.fault.rstrip("."))
    if result.status == 400 and request.method == "POST":
        raise Forbidden("The provider rejected this sign-in; start again.", code="provider_refused")
    if result.status != 200:
        raise _unreachable(request, f"it responded with status {result.status}")
    return result


def _address(document: dict[str, Any], name: str, issuer: str) -> str:
    """The endpoint's URL; an issuer with https must not name endpoints with http."""
    address = document.get(name)
    allowed = {"https", urlsplit(issuer).scheme}
    if not isinstance(address, str) or len(address) > MAX_URL or not address.isascii():
        raise _invalid_issuer(f"its discovery document has no valid {name}")
    if urlsplit(address).scheme not in allowed or not urlsplit(address).hostname:
        raise _invalid_issuer(f"its {name} is not an https address")
    return address


def _invalid_issuer(reason: str) -> Conflict:
    return Conflict(f"The issuer cannot be used: {reason}.", code="bad_issuer")


def _unreachable(request: EgressRequest, reason: str) -> Conflict:
    # The path may contain private data; the host is enough.
    host = urlsplit(request.url).hostname
    return Conflict(
        f"The provider at {host} cannot be reached: {reason}.", code="provider_unreachable"
    )
