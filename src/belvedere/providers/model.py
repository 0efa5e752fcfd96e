"""A provider: an issuer that an organization trusts, and whom it admits. Validation of its body."""

import re
from typing import Any
from urllib.parse import urlsplit

import msgspec

from belvedere.access.actor import LEVEL_ORDER, Level
from belvedere.rest import text_fields

DEFAULT_SCOPES = ("openid", "email", "profile")
# A provider cannot assign the level owner.
ASSIGNABLE_LEVELS = (Level.VIEWER, Level.USER, Level.MANAGER, Level.ADMIN)
MAX_URL, MAX_ENTRIES, MAX_TARGET = 1_024, 50, 512
_SCOPE = re.compile(r"[\x21\x23-\x5b\x5d-\x7e]{1,128}")
_DOMAIN = re.compile(r"[a-z0-9]([a-z0-9-]{0,62}\.)*[a-z0-9-]{1,63}")
_TARGET = re.compile(r"/ui/[A-Za-z0-9._~%!$&'()*+,;=:@/?-]*")
HOME = "/ui/"
# Older providers share one callback; `switched` ones have left it but may still have it registered
# at the provider; all others have their own.
SHARED, SWITCHED, OWN = "shared", "switched", "own"


class Endpoints(msgspec.Struct, frozen=True):
    """The issuer's endpoints, from its discovery document."""

    issuer: str
    authorization: str
    token: str
    keys: str
    userinfo: str = ""
    # Client authentication: client_secret_basic or client_secret_post.
    proof: str = "client_secret_basic"
    # Whether callbacks contain `iss` (RFC 9207); None: stored by a version that did not read this.
    names_itself: bool | None = None


class ProviderRow(msgspec.Struct):
    """A row of `providers`, in the order of the select."""

    id: str
    customer_id: str
    name: str
    issuer: str
    client_id: str
    # The encrypted client secret; empty for a public client (PKCE only).
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
    # Which callback it redirects to.
    callback: str = OWN

    @property
    def is_shared(self) -> bool:
        return self.callback == SHARED

    @property
    def secret_context(self) -> str:
        return f"client of provider {self.id}"

    @property
    def decoded_endpoints(self) -> Endpoints:
        return msgspec.json.decode(self.endpoints, type=Endpoints)


class ProviderBody(msgspec.Struct, forbid_unknown_fields=True):
    """Absent fields keep their value; for a new provider they have these defaults."""

    name: str | None = None
    issuer: str | None = None
    client_id: str | None = None
    client_secret: str | None = None
    # openid, email, profile
    scopes: list[str] | None = None
    # Only e-mail addresses of these domains; empty: any.
    domains: list[str] | None = None
    # The level of people who sign in without an invitation; empty: they are refused.
    level: str | None = None
    # A claim, such as `groups` or `realm_access.roles`, and the level for each of its values.
    level_claim: str | None = None
    level_map: dict[str, str] | None = None
    enabled: bool | None = None
    # `own`: an address of this provider alone; `shared`: the address that older providers share.
    callback: str | None = None


def check_issuer(text: str) -> str:
    address = text_fields.line("issuer", text, most=MAX_URL, least=8)
    try:
        parts = urlsplit(address)
    except ValueError:
        raise text_fields.invalid_field("issuer", "This is not a valid URL.") from None
    is_plain = not (parts.query or parts.fragment or parts.username or parts.password)
    if parts.scheme not in ("http", "https") or not parts.hostname or not is_plain:
        raise text_fields.invalid_field(
            "issuer", "Enter the issuer's URL, such as https://id.example.com."
        )
    return address


def check_scopes(names: list[str]) -> list[str]:
    if len(names) > MAX_ENTRIES or not all(_SCOPE.fullmatch(scope) for scope in names):
        raise text_fields.invalid_field(
            "scopes", f"Enter at most {MAX_ENTRIES} scope names without spaces."
        )
    return list(dict.fromkeys(["openid", *names]))


def check_domains(names: list[str]) -> list[str]:
    domains = [domain.strip().lower().removeprefix("@") for domain in names]
    if len(domains) > MAX_ENTRIES or not all(_DOMAIN.fullmatch(domain) for domain in domains):
        raise text_fields.invalid_field(
            "domains", f"Enter at most {MAX_ENTRIES} domains such as example.com."
        )
    return list(dict.fromkeys(domains))


def check_level(field: str, text: str) -> str:
    if text not in ASSIGNABLE_LEVELS:
        raise text_fields.invalid_field(field, f"Use one of {', '.join(ASSIGNABLE_LEVELS)}.")
    return text


def check_level_map(values: dict[str, str]) -> dict[str, str]:
    if len(values) > MAX_ENTRIES:
        raise text_fields.invalid_field("level_map", f"At most {MAX_ENTRIES} values are allowed.")
    return {
        text_fields.line("level_map", value, least=1): check_level(f"level_map.{value}", word)
        for value, word in values.items()
    }


def level_of(row: ProviderRow, claims: dict[str, Any]) -> Level | None:
    """The level of a new member: the highest that the claim maps to, else the provider's level."""
    claim: object = claims
    for part in row.level_claim.split("."):
        claim = claim.get(part) if isinstance(claim, dict) else None
    values = claim if isinstance(claim, list) else [claim]
    level_map = msgspec.json.decode(row.level_map, type=dict[str, str])
    levels = [
        Level(level_map[value]) for value in values if isinstance(value, str) and value in level_map
    ]
    if levels:
        return max(levels, key=LEVEL_ORDER.index)
    return Level(row.level) if row.level else None


def check_callback(text: str, before: str) -> str:
    """No provider may switch to the shared callback: it does not say who redirects there."""
    if text == OWN:
        return OWN if before == OWN else SWITCHED
    if text != before:
        raise text_fields.invalid_field(
            "callback", f"Use {OWN}; {SHARED} is only for providers that already use it."
        )
    return text


def safe_target(text: str) -> str:
    """The page of the console to open after signing in, or its start page. An address that a
    browser could read as another site's is never accepted."""
    if len(text) > MAX_TARGET or not _TARGET.fullmatch(text):
        return HOME
    is_odd = "//" in text.partition("?")[0] or ".." in text
    return HOME if is_odd else text
