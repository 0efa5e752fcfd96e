"""Signing in and out, and the sessions of whoever asks."""

import base64
import binascii
import logging
from functools import partial
from typing import Any

import msgspec

from belvedere.access.actor import Actor
from belvedere.access.api import records, scopes
from belvedere.access.api.doors import plain
from belvedere.access.limits import anonymous_requests, known_browsers
from belvedere.access.limits.known_browsers import Browser
from belvedere.access.people import naming, preferences, users
from belvedere.access.request import AnyRequest, Request
from belvedere.access.signin import cookies, sessions
from belvedere.access.signin import login as entrance
from belvedere.access.signin.login import Entered
from belvedere.access.signin.sessions import Session
from belvedere.base.clock import SECOND, iso, iso_or_none
from belvedere.base.errors import Unauthenticated
from belvedere.db import Tx
from belvedere.rest.route import Reply

_log = logging.getLogger("belvedere.access.api_session")


class Login(msgspec.Struct):
    """E-mail or user name under any of the three names."""

    email: str = ""
    username: str = ""
    identifier: str = ""
    password: str = ""
    customer: str | None = None


class SignedIn(msgspec.Struct):
    access_token: str
    session_id: str
    customer_id: str
    expires: str


class LoginAnswer(msgspec.Struct, omit_defaults=True):
    """A session; or what is still asked for (`totp`: a code, `setup`: an app first) and the ticket
    to bring along."""

    access_token: str | msgspec.UnsetType = msgspec.UNSET
    session_id: str | msgspec.UnsetType = msgspec.UNSET
    customer_id: str | msgspec.UnsetType = msgspec.UNSET
    expires: str | msgspec.UnsetType = msgspec.UNSET
    second_factor: str | msgspec.UnsetType = msgspec.UNSET
    ticket: str | msgspec.UnsetType = msgspec.UNSET
    # Only of a second factor that was set up on the way in; shown once.
    recovery_codes: list[str] | msgspec.UnsetType = msgspec.UNSET


class Place(msgspec.Struct):
    id: str
    name: str


class Profile(msgspec.Struct):
    """Who asks, and where else this person could go."""

    id: str
    name: str
    username: str
    email: str
    customers: list[Place]
    current_customer: Place
    credential: str
    protocol: str
    member_id: str
    notifications: dict[str, str] = {}
    # The same as `credential`, by the name that everything else has for it.
    level: str = ""
    # What PUT /api/session/preferences keeps.
    settings: dict[str, Any] = {}
    # When the session ends; null for a token.
    expires: str | None = None
    # Parts that `scopes[]` asks for.
    principal: scopes.Principal | msgspec.UnsetType = msgspec.UNSET
    organization: scopes.Organization | msgspec.UnsetType = msgspec.UNSET
    member: scopes.Membership | msgspec.UnsetType = msgspec.UNSET


class Done(msgspec.Struct):
    message: str


async def admit_login(request: AnyRequest) -> None:
    """Refuse an address that was wrong too often before its body is read. A browser that the owner
    of the account used before has a count of its own, and only the body names the account."""
    if not known_browsers.of(request).token:
        request.services.limits.check(request.actor.address)


async def login(request: Request[Login]) -> Reply:
    body = request.body or Login()
    identifier, password = basic(request) or (
        body.email or body.username or body.identifier,
        body.password,
    )
    services, address = request.services, request.actor.address
    customer, seen = body.customer or request.customer, known_browsers.of(request)
    named = await services.db.read(known_browsers.named, identifier, customer, seen.digest)
    found = [user for user in named.users if user.enabled and user.password_hash]
    browser = seen if named.is_known else known_browsers.NO_BROWSER
    kept = await services.passwords.which(
        address,
        # As it was typed, not as it was found: how long this takes must not depend on that.
        identifier.strip().lower()[: users.MAX_IDENTIFIER],
        [str(user.password_hash) for user in found],
        password,
        checks=named.checks,
        browser=browser.digest,
        user_ids=[user.id for user in named.users],
        customer=naming.organization_key(customer or "") or "",
    )
    user = next((user for user in found if user.password_hash == kept), None)
    if user is None or kept is None:
        raise sessions.bad_login()
    renewed = await services.passwords.renewed(address, kept, password)
    browser = known_browsers.marked(request, browser)
    entered = await services.db.write(
        entrance.sign_in,
        *(services.keyring, user, renewed, customer, address, agent_of(request)),
        browser=browser.digest,
    )
    return with_browser(request, answered(request, entered), browser)


async def logout(request: Request[None]) -> Reply:
    await request.services.db.write(sessions.revoke, request.actor, request.actor.credential_id)
    gone = cookies.cleared(secure=is_secure(request))
    return Reply(Done("You are signed out."), headers={"set-cookie": gone})


async def logout_by_get(request: Request[None]) -> Reply:
    """A page of another site can make a browser send a GET with its cookie, but not a header."""
    if not (request.header(b"authorization") or "").lower().startswith("bearer "):
        raise Unauthenticated(
            "Send the token in the header Authorization, or sign out with POST.",
            code="header_required",
        )
    return await logout(request)


async def profile(request: Request[None]) -> Profile:
    shown: Profile = await request.services.db.read(profile_of, request.actor)
    for scope in scopes.asked(request.query):
        setattr(shown, scope, scopes.PARTS[scope](request.actor, shown.name))
    return shown


async def listing(request: Request[None]) -> list[records.SessionRecord]:
    found = await request.services.db.read(sessions.live, request.actor)
    return [records.session(one, request.actor) for one in found]


async def revoke(request: Request[None]) -> records.SessionRecord:
    found = await request.services.db.write(sessions.revoke, request.actor, request.path["id"])
    return records.session(found, request.actor)


async def revoke_others(request: Request[None]) -> list[records.SessionRecord]:
    found = await request.services.db.write(sessions.revoke_others, request.actor)
    return [records.session(one, request.actor) for one in found]


async def switch(request: Request[None]) -> Reply:
    session, token = await request.services.db.write(
        sessions.renew, request.services.keyring, request.actor, request.path["id"]
    )
    return signed_in(request, session, token)


async def refresh(request: Request[None]) -> Reply:
    session, token = await request.services.db.write(
        sessions.renew, request.services.keyring, request.actor
    )
    return signed_in(request, session, token)


def profile_of(tx: Tx, actor: Actor) -> Profile:
    here = Place(actor.customer_id, actor.customer_name)
    user = users.find(tx, actor.user_id)
    known = [] if actor.provider_id else sessions.memberships(tx, actor.user_id)
    places = [Place(one.customer_id, one.customer_name) for one in known]
    return Profile(
        actor.user_id,
        actor.username if user is None else user.name,
        actor.username,
        actor.email,
        places or [here],
        here,
        actor.level,
        "oidc" if actor.provider_id else "local" if actor.kind == "member" else actor.kind,
        actor.member_id,
        level=actor.level,
        settings=preferences.find(tx, actor),
        expires=iso_or_none(sessions.end_of(tx, actor)),
    )


def signed_in(request: AnyRequest, session: Session, token: str) -> Reply:
    """The answer that carries a new session token, in the body and as a cookie."""
    body = SignedIn(token, session.id, session.customer_id, iso(session.expires_at))
    return Reply(body, headers={"set-cookie": baked(request, session, token)})


def answered(request: AnyRequest, entered: Entered) -> Reply:
    """The same, or the ticket without a cookie."""
    session = entered.session
    if session is None:
        return Reply(LoginAnswer(second_factor=entered.asks, ticket=entered.ticket))
    body = LoginAnswer(entered.token, session.id, session.customer_id, iso(session.expires_at))
    if entered.recovery_codes:
        body.recovery_codes = entered.recovery_codes
    return Reply(body, headers={"set-cookie": baked(request, session, entered.token)})


async def rotated(request: AnyRequest, body: Any) -> Reply:
    """The answer with a new token in the cookie: whoever copied the old cookie is out. Programs
    hold their token themselves and keep it."""
    reply, secure = Reply(body), is_secure(request)
    is_shown = "authorization" in request.starlette.headers or "access_token" in request.query
    if is_shown or cookies.token_in(request.starlette.cookies, secure=secure) is None:
        return reply
    session, token = await request.services.db.write(
        sessions.renew, request.services.keyring, request.actor
    )
    reply.headers = {"set-cookie": baked(request, session, token)}
    return reply


def with_browser(request: AnyRequest, reply: Reply, browser: Browser) -> Reply:
    """The same, and the mark by which the browser is known at the next sign-in."""
    if browser.token:
        cookie = cookies.baked_browser(browser.token, secure=is_secure(request))
        reply.headers = {**reply.headers, cookies.SECOND_SET_COOKIE: cookie}
    return reply


def baked(request: AnyRequest, session: Session, token: str) -> str:
    secure = is_secure(request)
    if not secure:
        _log.warning("A session token was sent over plain http; use https or a TLS proxy.")
    life_s = (session.expires_at - session.used_at) // SECOND
    return cookies.baked(token, secure=secure, life_s=life_s)


def is_secure(request: AnyRequest) -> bool:
    return request.starlette.url.scheme == "https"


def agent_of(request: AnyRequest) -> str:
    return request.starlette.headers.get("user-agent", "")


def basic(request: AnyRequest) -> tuple[str, str] | None:
    """Name and password of HTTP Basic, if that is what came."""
    scheme, _, encoded = request.starlette.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "basic":
        return None
    try:
        name, colon, password = base64.b64decode(encoded, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        raise sessions.bad_login() from None
    if not colon:
        raise sessions.bad_login()
    return name, password


_login = partial(
    plain,
    body=Login,
    answer=LoginAnswer,
    codes=("too_many_requests", "passwords_off"),
    admit=admit_login,
    max_body=anonymous_requests.SMALL_BODY,
)

ROUTES = (
    _login("POST", "/api/auth/login", "anonymous", login, "Sign in"),
    _login("POST", "/api/auth/login/local", "anonymous", login, "Sign in"),
    plain(
        "GET",
        "/api/session/profile",
        "viewer",
        profile,
        "Who am I",
        answer=Profile,
        query=(("scopes[]", "principal, organization or member: this part as well"),),
    ),
    plain("POST", "/api/session/logout", "viewer", logout, "Sign out", answer=Done, people=True),
    plain(
        "GET",
        "/api/session/logout",
        "viewer",
        logout_by_get,
        "Sign out, with the token in the header Authorization only",
        answer=Done,
        people=True,
        codes=("header_required",),
    ),
    plain(
        "PUT",
        "/api/session/refresh",
        "viewer",
        refresh,
        "A new token for this session",
        answer=SignedIn,
        people=True,
    ),
    plain(
        "PUT",
        "/api/session/customer/{id}",
        "viewer",
        switch,
        "Go to another organization",
        answer=SignedIn,
        people=True,
    ),
    plain(
        "GET",
        "/api/session",
        "viewer",
        listing,
        "My sessions",
        answer=list[records.SessionRecord],
        known=False,
        people=True,
    ),
    plain(
        "DELETE",
        "/api/session",
        "viewer",
        revoke_others,
        "End all my sessions but this one",
        answer=list[records.SessionRecord],
        known=False,
        people=True,
    ),
    plain(
        "DELETE",
        "/api/session/{id}",
        "viewer",
        revoke,
        "End one of my sessions",
        answer=records.SessionRecord,
        known=False,
        people=True,
    ),
)
