"""From a credential to an Actor, and from the names given to one organization."""

from belvedere import access
from belvedere.access.actor import Actor, Level
from belvedere.access.crypto.keyring import Keyring
from belvedere.access.signin import cookies
from belvedere.base.clock import MINUTE, SECOND, Millis
from belvedere.base.errors import Forbidden, Invalid, Unauthenticated
from belvedere.db import Database
from belvedere.db.signals import Signal
from belvedere.rest.route import Route

ANYONE = Actor("", "", Level.ANONYMOUS, "anonymous")
# How long an answer of the database may be trusted when the doorbell of another server is lost.
TRUST: Millis = 1 * SECOND
NOT_YOURS = "This credential does not open that organization."


class Credentials:
    """Actors by token, kept for a moment; dropped at once when anybody's access changes."""

    def __init__(self, db: Database, keys: Keyring) -> None:
        self._db = db
        self._keys = keys
        self._known: dict[str, tuple[Millis, Actor]] = {}
        self._used: dict[str, Millis] = {}

    def forget(self, _: Signal | None = None) -> None:
        self._known.clear()

    async def actor(self, token: str, now: Millis) -> Actor:
        known = self._known.get(token)
        # An answer from the future was given before the clock was set back.
        if known is not None and now < known[0] <= now + TRUST:
            return known[1]
        actor = await self._db.read_inline(access.authenticate, self._keys, token)
        if actor is None:
            raise Unauthenticated("The credential is unknown, expired or revoked.")
        if len(self._known) > 10_000:
            self._known.clear()
        self._known[token] = (now + TRUST, actor)
        self._used[actor.credential_id] = now
        return actor

    def take_used(self) -> list[tuple[str, Millis]]:
        """Last uses since the last call; written down once a minute."""
        used, self._used = list(self._used.items()), {}
        return used


FLUSH: Millis = 1 * MINUTE


def token_of(
    headers: dict[bytes, bytes], query: dict[str, list[str]], route: Route, *, secure: bool
) -> str | None:
    """The token from header or query, else from the cookie. Two that differ are refused."""
    token = shown(headers, query)
    if token is not None or route.level == Level.ANONYMOUS:
        return token
    return cookie(headers, secure=secure)


def shown(headers: dict[bytes, bytes], query: dict[str, list[str]]) -> str | None:
    """The token that the caller shows: no browser does that on its own, as it does with cookies."""
    token = bearer(headers)
    if "access_token" not in query:
        return token
    given = {*query["access_token"]} if token is None else {*query["access_token"], token}
    if len(given) > 1:
        raise Invalid("Two different tokens were given; send one.", code="two_tokens")
    return given.pop()


def bearer(headers: dict[bytes, bytes]) -> str | None:
    kind, _, token = headers.get(b"authorization", b"").partition(b" ")
    return token.strip().decode("latin-1") if kind.lower() == b"bearer" else None


def cookie(headers: dict[bytes, bytes], *, secure: bool) -> str | None:
    pairs = headers.get(b"cookie", b"").decode("latin-1").split(";")
    split = (pair.strip().partition("=") for pair in pairs)
    return cookies.session_token({name: value for name, _, value in split}, secure=secure)


def check_origin(method: str, headers: dict[bytes, bytes]) -> None:
    """A cookie counts for a change only when the page that sends it is our own."""
    if method in ("GET", "HEAD", "OPTIONS"):
        return
    site = headers.get(b"sec-fetch-site")
    origin = headers.get(b"origin")
    if site is not None and site not in (b"same-origin", b"none"):
        raise Forbidden("Cross-site request blocked.", code="cross_site")
    if origin is not None and origin.partition(b"://")[2] != headers.get(b"host"):
        raise Forbidden("Cross-site request blocked.", code="cross_site")


def check_level(actor: Actor, route: Route) -> None:
    if route.also_agent and actor.level is Level.AGENT:
        return
    if not actor.level.reaches(route.level):
        raise Forbidden(
            f"This needs the level {route.level}; yours is {actor.level}.", code="level"
        )


def one_name(*names: str | None) -> str | None:
    """The organization as named in path, query and body: once, or always the same."""
    given: str | None = None
    for name in map(str.lower, filter(None, names)):
        if given not in (None, name):
            raise Invalid("Two different organizations were named.", code="two_customers")
        given = name
    return given


def check_customer(actor: Actor, name: str | None) -> None:
    if name is not None and name != actor.customer_name.lower():
        raise Forbidden(NOT_YOURS, code="other_customer")
