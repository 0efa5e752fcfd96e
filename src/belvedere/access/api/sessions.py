"""Signing in and out, and the caller's sessions."""

import base64
import binascii
import logging
from functools import partial

import msgspec

from belvedere.access import anonymous_requests
from belvedere.access.api import profile, records
from belvedere.access.api.route_builders import plain_route
from belvedere.access.people import naming, users
from belvedere.access.request import AnyRequest, Request
from belvedere.access.signin import cookies, known_browsers, sessions
from belvedere.access.signin import login as signin
from belvedere.access.signin.known_browsers import Browser
from belvedere.access.signin.login import LoginResult
from belvedere.access.signin.sessions import Session
from belvedere.base.clock import SECOND, iso
from belvedere.base.errors import Unauthenticated
from belvedere.rest.route import Reply

_log = logging.getLogger("belvedere.access.api_session")


class Login(msgspec.Struct):
    """The e-mail address or user name, in any of the first three fields."""

    email: str = ""
    username: str = ""
    identifier: str = ""
    password: str = ""
    customer: str | None = None


class SessionToken(msgspec.Struct):
    access_token: str
    session_id: str
    customer_id: str
    expires: str


class LoginAnswer(msgspec.Struct, omit_defaults=True):
    """A session; or what is still required (`totp`: a code, `setup`: first set up an app) and the
    ticket to send with it."""

    access_token: str | msgspec.UnsetType = msgspec.UNSET
    session_id: str | msgspec.UnsetType = msgspec.UNSET
    customer_id: str | msgspec.UnsetType = msgspec.UNSET
    expires: str | msgspec.UnsetType = msgspec.UNSET
    second_factor: str | msgspec.UnsetType = msgspec.UNSET
    ticket: str | msgspec.UnsetType = msgspec.UNSET
    # Only of a second factor that was set up during this sign-in; shown once.
    recovery_codes: list[str] | msgspec.UnsetType = msgspec.UNSET


class StatusMessage(msgspec.Struct):
    message: str


async def admit_login(request: AnyRequest) -> None:
    """Refuse an address with too many failed attempts before the body is read. A browser that the
    owner of the account used before has a count of its own, and only the body names the account."""
    if not anonymous_requests.browser_of(request).token:
        request.services.limits.check(request.actor.address)


async def login(request: Request[Login]) -> Reply:
    body = request.body or Login()
    identifier, password = basic_credentials(request) or (
        body.email or body.username or body.identifier,
        body.password,
    )
    services, address = request.services, request.actor.address
    customer, cookie_browser = (
        body.customer or request.customer,
        anonymous_requests.browser_of(request),
    )
    name = await services.db.read(
        known_browsers.look_up_name, identifier, customer, cookie_browser.digest
    )
    accounts = [user for user in name.users if user.enabled and user.password_hash]
    browser = cookie_browser if name.is_known else known_browsers.NO_BROWSER
    matching_hash = await services.passwords.find_match(
        address,
        # As it was typed, not as it was found: the time must not depend on the look-up.
        identifier.strip().lower()[: users.MAX_IDENTIFIER],
        [str(user.password_hash) for user in accounts],
        password,
        checks=name.checks,
        browser=browser.digest,
        user_ids=[user.id for user in name.users],
        customer=naming.customer_key(customer or "") or "",
    )
    user = next((user for user in accounts if user.password_hash == matching_hash), None)
    if user is None or matching_hash is None:
        raise sessions.bad_login()
    renewed = await services.passwords.rehash(address, matching_hash, password)
    browser = anonymous_requests.browser_to_remember(request, browser)
    result = await services.db.write(
        signin.sign_in,
        *(services.keyring, user, renewed, customer, address, agent_of(request)),
        browser=browser.digest,
    )
    return with_browser_cookie(request, login_reply(request, result), browser)


async def logout(request: Request[None]) -> Reply:
    await request.services.db.write(sessions.revoke, request.actor, request.actor.credential_id)
    gone = cookies.expired_cookie(secure=is_secure(request))
    return Reply(StatusMessage("You are signed out."), headers={"set-cookie": gone})


async def logout_by_get(request: Request[None]) -> Reply:
    """A page of another site can make a browser send a GET with its cookie, but not with a
    header."""
    if not (request.header(b"authorization") or "").lower().startswith("bearer "):
        raise Unauthenticated(
            "Send the token in the Authorization header, or sign out with POST.",
            code="header_required",
        )
    return await logout(request)


async def listing(request: Request[None]) -> list[records.SessionRecord]:
    rows = await request.services.db.read(sessions.list_active, request.actor)
    return [records.session(session, request.actor) for session in rows]


async def revoke(request: Request[None]) -> records.SessionRecord:
    session = await request.services.db.write(sessions.revoke, request.actor, request.path["id"])
    return records.session(session, request.actor)


async def revoke_others(request: Request[None]) -> list[records.SessionRecord]:
    ended = await request.services.db.write(sessions.revoke_others, request.actor)
    return [records.session(session, request.actor) for session in ended]


async def switch(request: Request[None]) -> Reply:
    session, token = await request.services.db.write(
        sessions.renew, request.services.keyring, request.actor, request.path["id"]
    )
    return session_reply(request, session, token)


async def refresh(request: Request[None]) -> Reply:
    session, token = await request.services.db.write(
        sessions.renew, request.services.keyring, request.actor
    )
    return session_reply(request, session, token)


def session_reply(request: AnyRequest, session: Session, token: str) -> Reply:
    """The response with a new session token, in the body and as a cookie."""
    body = SessionToken(token, session.id, session.customer_id, iso(session.expires_at))
    return Reply(body, headers={"set-cookie": session_cookie(request, session, token)})


def login_reply(request: AnyRequest, result: LoginResult) -> Reply:
    """The response with a new session, or with the ticket and without a cookie."""
    session = result.session
    if session is None:
        return Reply(LoginAnswer(second_factor=result.asks, ticket=result.ticket))
    body = LoginAnswer(result.token, session.id, session.customer_id, iso(session.expires_at))
    if result.recovery_codes:
        body.recovery_codes = result.recovery_codes
    return Reply(body, headers={"set-cookie": session_cookie(request, session, result.token)})


async def reply_with_new_token(request: AnyRequest, body: object) -> Reply:
    """The response with a new token in the cookie, so that a copy of the old cookie becomes
    invalid. Programs that send the token themselves do not get a new one."""
    reply, secure = Reply(body), is_secure(request)
    has_own_token = "authorization" in request.starlette.headers or "access_token" in request.query
    if has_own_token or cookies.session_token(request.starlette.cookies, secure=secure) is None:
        return reply
    session, token = await request.services.db.write(
        sessions.renew, request.services.keyring, request.actor
    )
    reply.headers = {"set-cookie": session_cookie(request, session, token)}
    return reply


def with_browser_cookie(request: AnyRequest, reply: Reply, browser: Browser) -> Reply:
    """The same response with the cookie by which the browser is recognised at the next sign-in."""
    if browser.token:
        cookie = cookies.browser_cookie(browser.token, secure=is_secure(request))
        reply.headers = {**reply.headers, cookies.SECOND_SET_COOKIE: cookie}
    return reply


def session_cookie(request: AnyRequest, session: Session, token: str) -> str:
    secure = is_secure(request)
    if not secure:
        _log.warning("session token sent over plain http; use https or a TLS proxy")
    life_s = (session.expires_at - session.used_at) // SECOND
    return cookies.session_cookie(token, secure=secure, life_s=life_s)


def is_secure(request: AnyRequest) -> bool:
    return request.starlette.url.scheme == "https"


def agent_of(request: AnyRequest) -> str:
    return request.starlette.headers.get("user-agent", "")


def basic_credentials(request: AnyRequest) -> tuple[str, str] | None:
    """Name and password of HTTP Basic, if the request has them."""
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
    plain_route,
    body=Login,
    answer=LoginAnswer,
    codes=("too_many_requests", "passwords_off"),
    admit=admit_login,
    max_body=anonymous_requests.SMALL_BODY,
)

ROUTES = (
    _login("POST", "/api/auth/login", "anonymous", login, "Sign in"),
    _login("POST", "/api/auth/login/local", "anonymous", login, "Sign in"),
    plain_route(
        "GET",
        "/api/session/profile",
        "viewer",
        profile.show_profile,
        "Show my profile",
        answer=profile.Profile,
        query=(("scopes[]", "principal, organization or member: include this part"),),
    ),
    plain_route(
        "POST",
        "/api/session/logout",
        "viewer",
        logout,
        "Sign out",
        answer=StatusMessage,
        people=True,
    ),
    plain_route(
        "GET",
        "/api/session/logout",
        "viewer",
        logout_by_get,
        "Sign out, with the token in the Authorization header only",
        answer=StatusMessage,
        people=True,
        codes=("header_required",),
    ),
    plain_route(
        "PUT",
        "/api/session/refresh",
        "viewer",
        refresh,
        "Create a new token for this session",
        answer=SessionToken,
        people=True,
    ),
    plain_route(
        "PUT",
        "/api/session/customer/{id}",
        "viewer",
        switch,
        "Switch to another organization",
        answer=SessionToken,
        people=True,
    ),
    plain_route(
        "GET",
        "/api/session",
        "viewer",
        listing,
        "List my sessions",
        answer=list[records.SessionRecord],
        from_interface=False,
        people=True,
    ),
    plain_route(
        "DELETE",
        "/api/session",
        "viewer",
        revoke_others,
        "End all my sessions except this one",
        answer=list[records.SessionRecord],
        from_interface=False,
        people=True,
    ),
    plain_route(
        "DELETE",
        "/api/session/{id}",
        "viewer",
        revoke,
        "End one of my sessions",
        answer=records.SessionRecord,
        from_interface=False,
        people=True,
    ),
)
