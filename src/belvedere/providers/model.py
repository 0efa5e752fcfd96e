"""What a provider is: an issuer that an organization believes, and whom it lets in."""

import re
from typing import Any
from urllib.parse import urlsplit

import msgspec

from belvedere.access.actor import LADDER, Level
from belvedere.rest import text_fields

DEFAULT_SCOPES = ("openid", "email", "profile")
# Whoever owns the organization is not decided elsewhere.
GIVEN = (Level.VIEWER, Level.USER, Level.MANAGER, Level.ADMIN)
MAX_URL, MAX_MANY, MAX_TARGET = 1_024, 50, 512
_SCOPE = re.compile(r"[\x21\x23-\x5b\x5d-\x7e]{1,128}")
_DOMAIN = re.compile(r"[a-z0-9]([a-z0-9-]{0,62}\.)*[a-z0-9-]{1,63}")
_TARGET = re.compile(r"/ui/[A-Za-z0-9._~%!$&'()*+,;=:@/?-]*")
HOME = "/ui/"
# The callback of older providers, of those that have left it, and of all others. Who has left it
# may still have it registered at the provider.
SHARED, SWITCHED, OWN = "shared", "switched", "own"


class Endpoints(msgspec.Struct, frozen=True):
    """Where to go and whom to ask, as the issuer says itself."""

    issuer: str
    authorization: str
    token: str
    keys: str
    userinfo: str = ""
    # How we show our secret: client_secret_basic or client_secret_post.
    proof: str = "client_secret_basic"
    # Whether it says `iss` when it sends people back (RFC 9207); None: saved before this was asked.
    names_itself: bool | None = None


class ProviderRow(msgspec.Struct):
    """A row of `providers`, in the order of the select."""

    id: str
    customer_id: str
    name: str
    issuer: str
    client_id: str
    # Sealed; empty where the provider knows us by PKCE alone.
    box: str
    scopes: str
    domains: str
    level: str
    level_claim: str
    level_map: str
    enabled: int
    endpoints: str
    version: int
    created_at: int
    updated_at: int
    # Where it sends people back to.
    callback: str = OWN

    @property
    def is_shared(self) -> bool:
        return self.callback == SHARED

    @property
    def about(self) -> str:
        return f"client of provider {self.id}"

    @property
    def where(self) -> Endpoints:
        return msgspec.json.decode(self.endpoints, type=Endpoints)


class ProviderBody(msgspec.Struct, forbid_unknown_fields=True):
    """What is left out stays; of a new one it is as written here."""

    name: str | None = None
    issuer: str | None = None
    client_id: str | None = None
    client_secret: str | None = None
    # openid, email, profile
    scopes: list[str] | None = None
    # Only e-mails of these; empty: any.
    domains: list[str] | None = None
    # Of whoever comes in without an invitation; empty: nobody does.
    level: str | None = None
    # A claim, such as `groups` or `realm_access.roles`, and the levels that its values give.
    level_claim: str | None = None
    level_map: dict[str, str] | None = None
    enabled: bool | None = None
    # `own`: an address of this provider alone; `shared`: the one of all older providers.
    callback: str | None = None


def issuer(text: str) -> str:
    found = text_fields.line("issuer", text, most=MAX_URL, least=8)
    try:
        parts = urlsplit(found)
    except ValueError:
        raise text_fields.bad("issuer", "This is no address.") from None
    is_plain = not (parts.query or parts.fragment or parts.username or parts.password)
    if parts.scheme not in ("http", "https") or not parts.hostname or not is_plain:
        raise text_fields.bad(
            "issuer", "Give the issuer's address, such as https://id.example.com."
        )
    return found


def scopes(given: list[str]) -> list[str]:
    if len(given) > MAX_MANY or not all(_SCOPE.fullmatch(scope) for scope in given):
        raise text_fields.bad("scopes", "Give names of scopes, without blanks.")
    return list(dict.fromkeys(["openid", *given]))


def domains(given: list[str]) -> list[str]:
    found = [domain.strip().lower().removeprefix("@") for domain in given]
    if len(found) > MAX_MANY or not all(_DOMAIN.fullmatch(domain) for domain in found):
        raise text_fields.bad("domains", "Give domains such as example.com.")
    return list(dict.fromkeys(found))


def level(field: str, text: str) -> str:
    if text not in GIVEN:
        raise text_fields.bad(field, f"A level is one of {', '.join(GIVEN)}.")
    return text


def level_map(given: dict[str, str]) -> dict[str, str]:
    if len(given) > MAX_MANY:
        raise text_fields.bad("level_map", f"Give at most {MAX_MANY} values.")
    return {
        text_fields.line("level_map", value, least=1): level(f"level_map.{value}", one)
        for value, one in given.items()
    }


def level_of(row: ProviderRow, claims: dict[str, Any]) -> Level | None:
    """What a newcomer gets: the highest level that the claim gives, else the provider's own."""
    found: Any = claims
    for part in row.level_claim.split("."):
        found = found.get(part) if isinstance(found, dict) else None
    values = found if isinstance(found, list) else [found]
    given = msgspec.json.decode(row.level_map, type=dict[str, str])
    levels = [Level(given[value]) for value in values if isinstance(value, str) and value in given]
    if levels:
        return max(levels, key=LADDER.index)
    return Level(row.level) if row.level else None


def callback(text: str, before: str) -> str:
    """Nobody begins to use the shared address: who sends people there is not certain."""
    if text == OWN:
        return OWN if before == OWN else SWITCHED
    if text != before:
        raise text_fields.bad(
            "callback", f"Give {OWN}; {SHARED} is only for providers that use it."
        )
    return text


def target(text: str) -> str:
    """Where to go after signing in: a page of ours, or the first of them. An address that a
    browser could read as another site's never passes."""
    if len(text) > MAX_TARGET or not _TARGET.fullmatch(text):
        return HOME
    is_odd = "//" in text.partition("?")[0] or ".." in text
    return HOME if is_odd else text
