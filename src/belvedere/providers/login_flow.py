"""Sign-in attempts: the state between the redirect to a provider and the callback.

It is stored encrypted in a cookie of the browser. So any server of the installation can handle the
callback, nothing is written for attempts that never complete, and a link from somebody else's
attempt is useless in another browser.
"""

import base64
import hashlib
import hmac
import secrets
from urllib.parse import urlencode

import msgspec

from belvedere.access.crypto.keyring import Keyring
from belvedere.base.clock import MINUTE, SECOND, Millis
from belvedere.base.errors import Forbidden, Unavailable
from belvedere.db import Tx
from belvedere.providers import store
from belvedere.providers.model import ProviderRow

LIFETIME_MS: Millis = 10 * MINUTE
SECURE_COOKIE, PLAIN_COOKIE = "__Host-belvedere-oidc", "belvedere-oidc"
SHARED_CALLBACK = "/-/oidc/callback"
OWN_CALLBACK = "/-/oidc/{id}/callback"
_SEAL_CONTEXT = "sign-in at a provider"


class LoginAttempt(msgspec.Struct, frozen=True):
    provider_id: str
    state: str
    nonce: str
    verifier: str
    redirect_uri: str
    target: str
    expires_at: int


def callback(row: ProviderRow) -> str:
    """The path to which the provider redirects: one per provider, so that a callback identifies
    the provider that it comes from."""
    return SHARED_CALLBACK if row.is_shared else OWN_CALLBACK.format(id=row.id)


def start(row: ProviderRow, base_url: str, target: str, now: Millis) -> LoginAttempt:
    state, nonce, verifier = (secrets.token_urlsafe(32) for _ in range(3))
    uri = base_url.rstrip("/") + callback(row)
    return LoginAttempt(row.id, state, nonce, verifier, uri, target, now + LIFETIME_MS)


def authorization_url(attempt: LoginAttempt, row: ProviderRow) -> str:
    """The URL at the provider to which the browser is redirected."""
    digest = hashlib.sha256(attempt.verifier.encode()).digest()
    parameters = {
        "response_type": "code",
        "client_id": row.client_id,
        "redirect_uri": attempt.redirect_uri,
        "scope": " ".join(msgspec.json.decode(row.scopes, type=list[str])),
        "state": attempt.state,
        "nonce": attempt.nonce,
        "code_challenge": base64.urlsafe_b64encode(digest).rstrip(b"=").decode(),
        "code_challenge_method": "S256",
    }
    url = row.decoded_endpoints.authorization
    return f"{url}{'&' if '?' in url else '?'}{urlencode(parameters)}"


def set_cookie(keys: Keyring, attempt: LoginAttempt, *, secure: bool) -> str:
    """The value of a Set-Cookie header. Lax, not Strict like the session's: the callback is a
    navigation from the provider's site, with which a browser sends no strict cookie."""
    name, tail = (SECURE_COOKIE, "; Secure") if secure else (PLAIN_COOKIE, "")
    sealed = keys.seal(msgspec.json.encode(attempt).decode(), _SEAL_CONTEXT)
    lifetime_s = LIFETIME_MS // SECOND
    return f"{name}={sealed}; Path=/; HttpOnly; SameSite=Lax; Max-Age={lifetime_s}{tail}"


def complete(
    tx: Tx, keys: Keyring, cookie: str, state: str, provider_id: str
) -> tuple[LoginAttempt, ProviderRow]:
    """Check that the attempt was started in this browser, has not expired or been used, and that
    this is the callback of its provider. `provider_id` is empty at the shared callback."""
    attempt = _open_cookie(keys, cookie)
    is_same = hmac.compare_digest(attempt.state.encode(), state.encode())
    if not is_same or attempt.expires_at <= tx.now:
        raise invalid_state()
    row = store.find_enabled(tx, attempt.provider_id)
    if provider_id != ("" if row.is_shared else row.id):
        raise invalid_state()
    if not store.use_state(tx, keys.digest(attempt.state), attempt.expires_at):
        raise invalid_state()
    return attempt, row


def _open_cookie(keys: Keyring, cookie: str) -> LoginAttempt:
    try:
        return msgspec.json.decode(keys.unseal(cookie, _SEAL_CONTEXT), type=LoginAttempt)
    except (Unavailable, msgspec.DecodeError):
        raise invalid_state() from None


def invalid_state() -> Forbidden:
    return Forbidden(
        "This sign-in has expired, was used before or was started in another browser; start again.",
        code="bad_state",
    )
