"""Signing in at a provider: there, and back again."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import msgspec

from belvedere.access.api.sessions import agent_of, baked, is_secure
from belvedere.access.limits.rate_limits import Kind
from belvedere.base.clock import SECOND
from belvedere.base.errors import Forbidden, Refused
from belvedere.providers import (
    account_linking,
    id_tokens,
    issuer_client,
    login_flow,
    model,
    service,
    store,
)
from belvedere.providers.id_tokens import Claims
from belvedere.providers.issuer_client import Client
from belvedere.providers.login_flow import Trip
from belvedere.providers.model import ProviderRow
from belvedere.rest.route import Ask, Reply, Route


class DoorRecord(msgspec.Struct):
    """A provider as the sign-in page shows it: its name, and where its button leads."""

    id: str
    name: str
    begin: str


class MethodsRecord(msgspec.Struct):
    password: bool
    providers: list[DoorRecord]


async def methods(ask: Ask) -> MethodsRecord:
    password, rows = await ask.house.db.read(service.doors, ask.customer)
    doors = [DoorRecord(row.id, row.name, f"/-/oidc/{row.id}/begin") for row in rows]
    return MethodsRecord(password, doors)


async def begin(ask: Ask) -> Reply:
    house = ask.house
    row = await house.db.read(store.open_door, ask.path["id"])
    base = base_url(ask)
    # The console says where it is as the browser sees it, with what a proxy put before our paths.
    target = model.target((ask.first("to") or "").removeprefix(urlsplit(base).path))
    trip = login_flow.leave(row, base, target, house.clock())
    cookie = login_flow.baked(house.keys, trip, secure=is_secure(ask))
    return _to(login_flow.address(trip, row), {"set-cookie": cookie})


async def callback(ask: Ask) -> Reply:
    house, address = ask.house, ask.actor.address
    house.turnstile.limits.check(address, Kind.PROVIDER)
    # A parameter that comes twice is read by one as the first and by another as the last.
    if any(len(ask.query.get(name, ())) > 1 for name in ("code", "state", "iss", "error")):
        raise login_flow.bad_state()
    trip, row = await house.db.write(
        login_flow.come_back,
        house.keys,
        _cookie(ask),
        ask.first("state") or "",
        ask.path.get("id", ""),
    )
    claims = await _claims(ask, trip, row)
    session, token = await house.db.write(
        account_linking.enter, house.keys, row, claims, address, agent_of(ask)
    )
    return _to(_seen_from_callback(ask, trip.target), {"set-cookie": baked(ask, session, token)})


async def _claims(ask: Ask, trip: Trip, row: ProviderRow) -> Claims:
    """What the provider says of the person who came back."""
    house, where = ask.house, row.where
    outgoing = house.couriers.of(row.customer_id)
    code = ask.first("code")
    if code is None or ask.first("error"):
        raise Forbidden("The provider did not sign you in.", code="provider_refused")
    await _check_issuer(ask, row)
    secret = house.keys.unseal(row.box, row.about) if row.box else ""
    given = await issuer_client.redeem(
        outgoing, where, Client(row.client_id, secret), code, trip.redirect_uri, trip.verifier
    )
    claims = id_tokens.verify(
        given.id_token,
        await issuer_client.key_set(outgoing, where),
        issuer=where.issuer,
        client_id=row.client_id,
        nonce=trip.nonce,
        now_s=house.clock() // SECOND,
    )
    if "email" in claims or not (where.userinfo and given.access_token):
        return claims
    more = await issuer_client.more_of(outgoing, where, given.access_token)
    if more.get("sub") != claims["sub"]:
        raise id_tokens.bad("the provider tells of somebody else")
    # What is signed wins.
    return {**more, **claims}


async def _check_issuer(ask: Ask, row: ProviderRow) -> None:
    """Whether the response is of the provider to which the person was sent (RFC 9207). A code of
    another one must not be shown to this one, which could use it there."""
    house, named = ask.house, ask.first("iss")
    if named is not None:
        if named != row.where.issuer:
            raise Forbidden("Another provider sent you back.", code="provider_refused")
        return
    where = row.where
    if where.names_itself is None:
        where = await issuer_client.look_up(house.couriers, row.issuer)
    if where.names_itself:
        raise Forbidden("The provider did not say who it is (iss).", code="provider_refused")
    if row.is_shared and await house.db.read(store.shares_with_strangers, row):
        raise Forbidden(
            "The provider does not say who it is (iss) and shares its callback with others; the"
            " owner registers its own callback and switches to it.",
            code="callback_shared",
        )


def for_people(handler: Callable[[Ask], Awaitable[Reply]]) -> Callable[[Ask], Awaitable[Reply]]:
    """A browser stands here, not a program: a refusal leads back to the sign-in page, with its
    word. Who is refused too often is held up like one who guesses passwords."""

    async def guided(ask: Ask) -> Reply:
        try:
            return await handler(ask)
        except Refused as refusal:
            if isinstance(refusal, Forbidden):
                ask.house.turnstile.limits.wrong(ask.actor.address, kind=Kind.PROVIDER)
            return _to(_seen_from_callback(ask, f"/ui/login?problem={refusal.code}"))

    return guided


def base_url(ask: Ask) -> str:
    """What people call this server."""
    return str(ask.house.settings.url or ask.request.base_url).rstrip("/")


def _cookie(ask: Ask) -> str:
    name = login_flow.SECURE if is_secure(ask) else login_flow.PLAIN
    return str(ask.request.cookies.get(name, ""))


def _seen_from_callback(ask: Ask, path: str) -> str:
    """Relative: a proxy may have put something before our paths, and may change addresses that it
    takes for its own."""
    return ("../../.." if "id" in ask.path else "../..") + path


def _to(location: str, more: dict[str, str] | None = None) -> Reply:
    return Reply("", 302, {"location": location, **(more or {})}, "text/plain")


_door: Any = partial(Route, style="plain", known=False, level="anonymous")

ROUTES: tuple[Route, ...] = (
    _door(
        "GET",
        "/api/auth/methods",
        handler=methods,
        summary="How one can sign in",
        answer=MethodsRecord,
        query=(("customer", "the organization's name; may be left out where there is only one"),),
    ),
    _door(
        "GET",
        "/-/oidc/{id}/begin",
        handler=begin,
        summary="Go to a provider to sign in",
        answer=bytes,
        statuses=(302,),
        query=(("to", "a page under /ui/ for afterwards"),),
    ),
    *(
        _door(
            "GET",
            path,
            handler=for_people(callback),
            summary=summary,
            answer=bytes,
            statuses=(302,),
            query=tuple((name, "from the provider") for name in ("code", "state", "iss")),
        )
        for path, summary in (
            (login_flow.OWN_CALLBACK, "Come back from a provider, signed in"),
            (login_flow.SHARED_CALLBACK, "The same for providers that share one callback"),
        )
    ),
)
