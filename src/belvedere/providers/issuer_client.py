"""What is asked of an issuer, through the couriers: they alone call the outside, under a guard."""

import base64
from typing import Any, Protocol
from urllib.parse import quote, urlencode, urlsplit

import msgspec

from belvedere.base.errors import Conflict, Forbidden
from belvedere.egress.messages import Outcome, Parcel
from belvedere.providers.model import MAX_URL, Endpoints

WELL_KNOWN = "/.well-known/openid-configuration"
_FORM = {"Content-Type": "application/x-www-form-urlencoded"}


class Carrier(Protocol):
    async def carry(self, parcel: Parcel) -> Outcome: ...


class Client(msgspec.Struct, frozen=True):
    """Who we are at the provider."""

    id: str
    secret: str


class Given(msgspec.Struct, frozen=True):
    """What a code is worth."""

    id_token: str
    access_token: str


async def look_up(carrier: Carrier, issuer: str) -> Endpoints:
    """What the issuer says of itself."""
    url = issuer.rstrip("/") + WELL_KNOWN
    said = await _record(carrier, Parcel(url=url, method="GET"))
    named = said.get("issuer")
    if not isinstance(named, str) or named.rstrip("/") != issuer.rstrip("/"):
        raise _bad_issuer("it calls itself by another name")
    proofs = said.get("token_endpoint_auth_methods_supported", ["client_secret_basic"])
    is_basic = isinstance(proofs, list) and "client_secret_basic" in proofs
    return Endpoints(
        named,
        _address(said, "authorization_endpoint", issuer),
        _address(said, "token_endpoint", issuer),
        _address(said, "jwks_uri", issuer),
        _address(said, "userinfo_endpoint", issuer) if "userinfo_endpoint" in said else "",
        "client_secret_basic" if is_basic else "client_secret_post",
        said.get("authorization_response_iss_parameter_supported") is True,
    )


async def redeem(
    carrier: Carrier, where: Endpoints, client: Client, code: str, redirect_uri: str, verifier: str
) -> Given:
    """The code for tokens, once. Only we can: it needs the verifier, which never left us."""
    form = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": redirect_uri,
        "code_verifier": verifier,
    }
    headers = dict(_FORM)
    if client.secret and where.proof == "client_secret_basic":
        pair = f"{quote(client.id, safe='')}:{quote(client.secret, safe='')}"
        headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
    else:
        form["client_id"] = client.id
        if client.secret:
            form["client_secret"] = client.secret
    asked = Parcel(url=where.token, method="POST", headers=headers, payload=urlencode(form))
    said = await _record(carrier, asked)
    id_token, access_token = said.get("id_token"), said.get("access_token", "")
    if not isinstance(id_token, str) or not isinstance(access_token, str):
        raise Forbidden("The provider gave no ID token.", code="bad_id_token")
    return Given(id_token, access_token)


async def key_set(carrier: Carrier, where: Endpoints) -> str:
    """Its keys as they are now: a key that was changed is known, and one taken back is not."""
    outcome = await _answered(carrier, Parcel(url=where.keys, method="GET"))
    return outcome.text


async def more_of(carrier: Carrier, where: Endpoints, access_token: str) -> dict[str, Any]:
    """What it tells of the person beside the ID token."""
    headers = {"Authorization": f"Bearer {access_token}"}
    return await _record(carrier, Parcel(url=where.userinfo, method="GET", headers=headers))


async def _record(carrier: Carrier, parcel: Parcel) -> dict[str, Any]:
    outcome = await _answered(carrier, parcel)
    try:
        found = msgspec.json.decode(outcome.text)
    except msgspec.DecodeError:
        found = None
    if not isinstance(found, dict):
        raise _unreachable(parcel, "the answer is no JSON object")
    return found


async def _answered(carrier: Carrier, parcel: Parcel) -> Outcome:
    outcome = await carrier.carry(parcel)
    if outcome.fault:
        raise _unreachable(parcel, outcome.fault.rstrip("."))
    if outcome.status == 400 and parcel.method == "POST":
        raise Forbidden(
            "The provider does not accept this sign-in; begin again.", code="provider_refused"
        )
    if outcome.status != 200:
        raise _unreachable(parcel, f"it answered {outcome.status}")
    return outcome


def _address(said: dict[str, Any], name: str, issuer: str) -> str:
    """An issuer of https leads to nothing that is less."""
    found = said.get(name)
    allowed = {"https", urlsplit(issuer).scheme}
    if not isinstance(found, str) or len(found) > MAX_URL or not found.isascii():
        raise _bad_issuer(f"it names no {name}")
    if urlsplit(found).scheme not in allowed or not urlsplit(found).hostname:
        raise _bad_issuer(f"its {name} is no https address")
    return found


def _bad_issuer(reason: str) -> Conflict:
    return Conflict(f"The issuer cannot be used: {reason}.", code="bad_issuer")


def _unreachable(parcel: Parcel, reason: str) -> Conflict:
    # The path may carry what is nobody's business; the host tells enough.
    host = urlsplit(parcel.url).hostname
    return Conflict(
        f"The provider at {host} cannot be asked: {reason}.", code="provider_unreachable"
    )
