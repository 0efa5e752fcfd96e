"""Endpoints of the sign-in through a provider: redirect to it, and its callback."""

from collections.abc import Awaitable, Callable
from functools import partial
from urllib.parse import urlsplit

import msgspec

from belvedere.access.api.sessions import agent_of, is_secure, session_cookie
from belvedere.access.limits.rate_limits import AttemptKind
from belvedere.access.request import AnyRequest, Request
from belvedere.base.clock import SECOND
from belvedere.base.errors import Forbidden, Refused
from belvedere.providers import (
    account_linking,
    id_tokens,
    issuer_client,
    login_flow,
    model,
    service,
    start_page,
    store,
)
from belvedere.providers.id_tokens import Claims
from belvedere.providers.issuer_client import ProviderClient
from belvedere.providers.login_flow import LoginAttempt
from belvedere.providers.model import ProviderRow
from belvedere.rest.route import Reply, Route


class SignInProviderRecord(msgspec.Struct):
    """A provider on the sign-in page: its name and the address of its button."""

    id: str
    name: str
    begin: str


class MethodsRecord(msgspec.Struct):
    password: bool
    providers: list[SignInProviderRecord]


async def methods(request: Request[None]) -> MethodsRecord:
    password, rows = await request.services.db.read(service.sign_in_methods, request.customer)
    providers = [SignInProviderRecord(row.id, row.name, f"/-/oidc/{row.id}/begin") for row in rows]
    return MethodsRecord(password, providers)


async def begin(request: Request[None]) -> Reply:
    """Redirect to the provider if our own page asks; ask first if the request comes from anywhere
    else or the browser does not say where it comes from."""
    if request.header(b"sec-fetch-site") == "same-origin":
        return await _start(request)
    row, customer_name = await request.services.db.read(
        service.find_with_customer, request.path["id"]
    )
    return start_page.reply(row.name, customer_name)


async def confirm(request: Request[None]) -> Reply:
    start_page.check_own_page(request)
    return await _start(request, status=303)


async def _start(request: Request[None], status: int = 302) -> Reply:
    services = request.services
    row = await services.db.read(store.find_enabled, request.path["id"])
    base = base_url(request)
    # The console sends its path as the browser sees it, including a prefix that a proxy adds.
    target = model.safe_target((request.first("to") or "").removeprefix(urlsplit(base).path))
    attempt = login_flow.start(row, base, target, services.clock())
    cookie = login_flow.set_cookie(services.keyring, attempt, secure=is_secure(request))
    location = login_flow.authorization_url(attempt, row)
    return _redirect(location, {"set-cookie": cookie}, status)


async def callback(request: AnyRequest) -> Reply:
    services, address = request.services, request.actor.address
    services.passwords.limits.check(address, AttemptKind.PROVIDER)
    # Software disagrees on whether the first or the last value of a repeated parameter counts.
    if any(len(request.query.get(name, ())) > 1 for name in ("code", "state", "iss", "error")):
        raise login_flow.invalid_state()
    attempt, row = await services.db.write(
        login_flow.complete,
        services.keyring,
        _cookie(request),
        request.first("state") or "",
        request.path.get("id", ""),
    )
    claims = await _claims(request, attempt, row)
    session, token = await services.db.write(
        account_linking.open_session, services.keyring, row, claims, address, agent_of(request)
    )
    return _redirect(
        _relative_to_callback(request, attempt.target),
        {"set-cookie": session_cookie(request, session, token)},
    )


async def _claims(request: AnyRequest, attempt: LoginAttempt, row: ProviderRow) -> Claims:
    """The verified claims about the person who signs in."""
    services, endpoints = request.services, row.decoded_endpoints
    outgoing = services.egress.of(row.customer_id)
    code = request.first("code")
    if code is None or request.first("error"):
        raise Forbidden("The provider did not complete the sign-in.", code="provider_refused")
    await _check_issuer(request, row)
    secret = services.keyring.unseal(row.box, row.secret_context) if row.box else ""
    tokens = await issuer_client.redeem(
        outgoing,
        endpoints,
        ProviderClient(row.client_id, secret),
        code,
        attempt.redirect_uri,
        attempt.verifier,
    )
    claims = id_tokens.verify(
        tokens.id_token,
        await issuer_client.fetch_key_set(outgoing, endpoints),
        issuer=endpoints.issuer,
        client_id=row.client_id,
        nonce=attempt.nonce,
        now_s=services.clock() // SECOND,
    )
    if "email" in claims or not (endpoints.userinfo and tokens.access_token):
        return claims
    userinfo = await issuer_client.fetch_userinfo(outgoing, endpoints, tokens.access_token)
    if userinfo.get("sub") != claims["sub"]:
        raise id_tokens.invalid_token("the userinfo response is about another subject")
    # Signed claims take precedence.
    return {**userinfo, **claims}


async def _check_issuer(request: AnyRequest, row: ProviderRow) -> None:
    """Check that the response comes from the provider of this attempt (RFC 9207). A code of
    another provider must not be sent to this one, which could use it there."""
    services, issuer = request.services, request.first("iss")
    if issuer is not None:
        if issuer != row.decoded_endpoints.issuer:
            raise Forbidden("The response comes from another provider.", code="provider_refused")
        return
    endpoints = row.decoded_endpoints
    if endpoints.names_itself is None:
        endpoints = await issuer_client.discover(services.egress, row.issuer)
    if endpoints.names_itself:
        raise Forbidden(
            "The provider's response does not name its issuer (iss).", code="provider_refused"
        )
    if row.is_shared and await services.db.read(store.shares_callback, row):
        raise Forbidden(
            "The provider's response does not name its issuer (iss), and other providers share its"
            " callback. An owner must register the provider's own callback and switch to it.",
            code="callback_shared",
        )


def redirect_errors(
    handler: Callable[[AnyRequest], Awaitable[Reply]],
) -> Callable[[AnyRequest], Awaitable[Reply]]:
    """The caller is a browser: an error redirects to the sign-in page with the error code. Failed
    attempts count towards the rate limit like wrong passwords."""

    async def wrapped(request: AnyRequest) -> Reply:
        try:
            return await handler(request)
        except Refused as refusal:
            if isinstance(refusal, Forbidden):
                request.services.passwords.limits.record_failure(
                    request.actor.address, kind=AttemptKind.PROVIDER
                )
            return _redirect(_relative_to_callback(request, f"/ui/login?problem={refusal.code}"))

    return wrapped


def base_url(request: AnyRequest) -> str:
    """The public URL of this server."""
    return str(request.services.settings.url or request.starlette.base_url).rstrip("/")


def _cookie(request: AnyRequest) -> str:
    name = login_flow.SECURE_COOKIE if is_secure(request) else login_flow.PLAIN_COOKIE
    return str(request.starlette.cookies.get(name, ""))


def _relative_to_callback(request: AnyRequest, path: str) -> str:
    """Relative: a proxy may add a prefix to paths and may rewrite absolute addresses."""
    return ("../../.." if "id" in request.path else "../..") + path


def _redirect(location: str, headers: dict[str, str] | None = None, status: int = 302) -> Reply:
    return Reply("", status, {"location": location, **(headers or {})}, "text/plain")


_public = partial(Route, style="plain", from_interface=False, level="anonymous")

_TARGET_QUERY = (("to", "the page under /ui/ to open afterwards"),)

ROUTES: tuple[Route, ...] = (
    _public(
        "GET",
        "/api/auth/methods",
        handler=methods,
        summary="List the ways to sign in",
        answer=MethodsRecord,
        query=(("customer", "the organization's name; optional if there is only one"),),
    ),
    _public(
        "GET",
        "/-/oidc/{id}/begin",
        handler=begin,
        summary="Redirect to a provider to sign in, or show a confirmation page",
        answer=bytes,
        statuses=(302,),
        media=(start_page.HTML, "text/plain"),
        query=_TARGET_QUERY,
    ),
    _public(
        "POST",
        "/-/oidc/{id}/begin",
        handler=confirm,
        summary="Redirect to a provider after the confirmation page",
        answer=bytes,
        statuses=(303,),
        query=_TARGET_QUERY,
    ),
    *(
        _public(
            "GET",
            path,
            handler=redirect_errors(callback),
            summary=summary,
            answer=bytes,
            statuses=(302,),
            query=tuple((name, "from the provider") for name in ("code", "state", "iss")),
        )
        for path, summary in (
            (login_flow.OWN_CALLBACK, "Callback of a provider: complete the sign-in"),
            (login_flow.SHARED_CALLBACK, "Shared callback of older providers"),
        )
    ),
)
