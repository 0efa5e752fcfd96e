"""Trips: somebody left for a provider, and what must come back with them.

All of it travels in the browser's own cookie, sealed, so that any server of ours can receive the
person, nothing is written for those who never return, and a link that somebody else began is of
no use in another browser.
"""

import base64
import hashlib
import hmac
import secrets
from urllib.parse import urlencode

import msgspec

from belvedere.access.crypto.keyring import Keys
from belvedere.base.clock import MINUTE, SECOND, Millis
from belvedere.base.errors import Forbidden, Unavailable
from belvedere.db import Tx
from belvedere.providers import store
from belvedere.providers.model import ProviderRow

LIFE: Millis = 10 * MINUTE
SECURE, PLAIN = "__Host-belvedere-oidc", "belvedere-oidc"
SHARED_CALLBACK = "/-/oidc/callback"
OWN_CALLBACK = "/-/oidc/{id}/callback"
_ABOUT = "sign-in at a provider"


class Trip(msgspec.Struct, frozen=True):
    provider_id: str
    state: str
    nonce: str
    verifier: str
    redirect_uri: str
    target: str
    expires_at: int


def callback(row: ProviderRow) -> str:
    """Where the provider sends people back to: one address for each, so that what comes back says
    by itself which provider sent it."""
    return SHARED_CALLBACK if row.is_shared else OWN_CALLBACK.format(id=row.id)


def leave(row: ProviderRow, base_url: str, target: str, now: Millis) -> Trip:
    state, nonce, verifier = (secrets.token_urlsafe(32) for _ in range(3))
    uri = base_url.rstrip("/") + callback(row)
    return Trip(row.id, state, nonce, verifier, uri, target, now + LIFE)


def address(trip: Trip, row: ProviderRow) -> str:
    """Where the browser goes."""
    digest = hashlib.sha256(trip.verifier.encode()).digest()
    asked = {
        "response_type": "code",
        "client_id": row.client_id,
        "redirect_uri": trip.redirect_uri,
        "scope": " ".join(msgspec.json.decode(row.scopes, type=list[str])),
        "state": trip.state,
        "nonce": trip.nonce,
        "code_challenge": base64.urlsafe_b64encode(digest).rstrip(b"=").decode(),
        "code_challenge_method": "S256",
    }
    url = row.where.authorization
    return f"{url}{'&' if '?' in url else '?'}{urlencode(asked)}"


def baked(keys: Keys, trip: Trip, *, secure: bool) -> str:
    """The value of a Set-Cookie header. Lax, not Strict as the session's: the way back is a link
    on the provider's page, with which a browser sends no strict cookie."""
    name, tail = (SECURE, "; Secure") if secure else (PLAIN, "")
    sealed = keys.seal(msgspec.json.encode(trip).decode(), _ABOUT)
    life_s = LIFE // SECOND
    return f"{name}={sealed}; Path=/; HttpOnly; SameSite=Lax; Max-Age={life_s}{tail}"


def come_back(
    tx: Tx, keys: Keys, cookie: str, state: str, provider_id: str
) -> tuple[Trip, ProviderRow]:
    """Whoever left from this browser, in time, for the first time, and comes to the callback of the
    provider to which they were sent. `provider_id` is empty at the shared one."""
    trip = _opened(keys, cookie)
    if not hmac.compare_digest(trip.state.encode(), state.encode()) or trip.expires_at <= tx.now:
        raise bad_state()
    row = store.open_door(tx, trip.provider_id)
    if provider_id != ("" if row.is_shared else row.id):
        raise bad_state()
    if not store.use_state(tx, keys.digest(trip.state), trip.expires_at):
        raise bad_state()
    return trip, row


def _opened(keys: Keys, cookie: str) -> Trip:
    try:
        return msgspec.json.decode(keys.unseal(cookie, _ABOUT), type=Trip)
    except (Unavailable, msgspec.DecodeError):
        raise bad_state() from None


def bad_state() -> Forbidden:
    return Forbidden(
        "This sign-in is too old, was used before or began in another browser; begin again.",
        code="bad_state",
    )
