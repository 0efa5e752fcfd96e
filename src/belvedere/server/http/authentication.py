"""Authentication of a request, and the organization that it names."""

import msgspec

from belvedere import access
from belvedere.access.actor import Actor, Level
from belvedere.access.crypto.keyring import Keyring
from belvedere.access.request import AnyRequest
from belvedere.access.signin import cookies
from belvedere.base.clock import SECOND, Millis
from belvedere.base.errors import Forbidden, Invalid, Unauthenticated
from belvedere.db import Database
from belvedere.db.signals import Signal
from belvedere.rest.route import Route

ANYONE = Actor("", "", Level.ANONYMOUS, "anonymous")
# How long an actor is cached when a signal of another server is lost.
MAX_CACHE_AGE: Millis = 1 * SECOND
NO_ACCESS = "This credential has no access to that organization."


class CredentialCache:
    """Actors by token, cached for a moment; cleared at once when anybody's access changes."""

    def __init__(self, db: Database, keys: Keyring) -> None:
        self._db = db
        self._keys = keys
        self._actors: dict[str, tuple[Millis, Actor]] = {}
        self._used: dict[str, Millis] = {}

    def clear(self, _: Signal | None = None) -> None:
        self._actors.clear()

    async def actor(self, token: str, now: Millis) -> Actor:
        entry = self._actors.get(token)
        # An entry from the future was made before the clock was set back.
        if entry is not None and now < entry[0] <= now + MAX_CACHE_AGE:
            return entry[1]
        actor = await self._db.read_inline(access.authenticate, self._keys, token)
        if actor is None:
            raise Unauthenticated("The credential is unknown, expired or revoked.")
        if len(self._actors) > 10_000:
            self._actors.clear()
        self._actors[token] = (now + MAX_CACHE_AGE, actor)
        self._used[actor.credential_id] = now
        return actor

    async def is_current(self, token: str, actor: Actor, now: Millis) -> bool:
        """Whether the token is still valid, for the same actor with the same permissions."""
        try:
            current = await self.actor(token, now)
        except Unauthenticated:
            return False
        return bool(msgspec.structs.replace(current, address=actor.address) == actor)

    def take_used(self) -> list[tuple[str, Millis]]:
        """Last uses since the last call; stored once a minute. What was cached meanwhile has
        expired: thousands of agents sign in once and stay connected."""
        self._actors.clear()
        used, self._used = list(self._used.items()), {}
        return used


def token_of(
    headers: dict[bytes, bytes], query: dict[str, list[str]], route: Route, *, secure: bool
) -> str | None:
    """The token from header or query, else from the cookie. Two that differ are refused."""
    token = explicit_token(headers, query)
    if token is not None or route.level == Level.ANONYMOUS:
        return token
    return cookie(headers, secure=secure)


def token_of_request(request: AnyRequest) -> str:
    """The token of a request that was authenticated."""
    scope = request.starlette.scope
    headers, secure = dict(scope["headers"]), scope["scheme"] == "https"
    return token_of(headers, request.query, request.route, secure=secure) or ""


def explicit_token(headers: dict[bytes, bytes], query: dict[str, list[str]]) -> str | None:
    """The token that the caller sends; unlike a cookie, no browser sends it by itself."""
    token = bearer(headers)
    if "access_token" not in query:
        return token
    tokens = {*query["access_token"]} if token is None else {*query["access_token"], token}
    if len(tokens) > 1:
        raise Invalid("The request has two different tokens; send one.", code="two_tokens")
    return tokens.pop()


def bearer(headers: dict[bytes, bytes]) -> str | None:
    kind, _, token = headers.get(b"authorization", b"").partition(b" ")
    return token.strip().decode("latin-1") if kind.lower() == b"bearer" else None


def cookie(headers: dict[bytes, bytes], *, secure: bool) -> str | None:
    pairs = headers.get(b"cookie", b"").decode("latin-1").split(";")
    split = (pair.strip().partition("=") for pair in pairs)
    return cookies.session_token({name: value for name, _, value in split}, secure=secure)


def check_origin(method: str, headers: dict[bytes, bytes]) -> None:
    """A cookie is valid for a change only in a request from our own pages."""
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


def single_customer(*names: str | None) -> str | None:
    """The organization in path, query and body: named once, or always the same."""
    customer: str | None = None
    for name in map(str.lower, filter(None, names)):
        if customer not in (None, name):
            raise Invalid(
                "The request names two different organizations; name one.", code="two_customers"
            )
        customer = name
    return customer


def check_customer(actor: Actor, name: str | None) -> None:
    if name is not None and name != actor.customer_name.lower():
        raise Forbidden(NO_ACCESS, code="other_customer")
