"""Who the caller is, in parts as clients of TheEye request them, and the caller's own settings."""

from collections.abc import Callable
from typing import Any

import msgspec

from belvedere.access.actor import Actor
from belvedere.access.api.route_builders import plain_route
from belvedere.access.people import preferences, users
from belvedere.access.request import Request
from belvedere.access.signin import sessions
from belvedere.base.clock import iso_or_none
from belvedere.db import Tx


class Principal(msgspec.Struct):
    id: str
    name: str
    username: str
    email: str


class Organization(msgspec.Struct):
    id: str
    name: str


class MembershipRecord(msgspec.Struct):
    id: str
    user_id: str
    customer_id: str
    customer_name: str
    credential: str
    tags: list[str]


def _member(actor: Actor, _: str) -> MembershipRecord:
    return MembershipRecord(
        actor.member_id,
        actor.user_id,
        actor.customer_id,
        actor.customer_name,
        actor.level,
        list(actor.tags),
    )


PARTS: dict[str, Callable[[Actor, str], msgspec.Struct]] = {
    "principal": lambda actor, name: Principal(actor.user_id, name, actor.username, actor.email),
    "organization": lambda actor, _: Organization(actor.customer_id, actor.customer_name),
    "member": _member,
}


def requested_parts(query: dict[str, list[str]]) -> frozenset[str]:
    """The parts that the query asks for; unknown names are ignored."""
    values = [*query.get("scopes[]", ()), *query.get("scopes", ())]
    return frozenset(name for text in values for name in text.split(",")) & PARTS.keys()


class CustomerReference(msgspec.Struct):
    id: str
    name: str


class Profile(msgspec.Struct):
    """The caller, and the organizations that this person can switch to."""

    id: str
    name: str
    username: str
    email: str
    customers: list[CustomerReference]
    current_customer: CustomerReference
    credential: str
    protocol: str
    member_id: str
    notifications: dict[str, str] = {}
    # The same as `credential`, by the name that the other records use.
    level: str = ""
    # What PUT /api/session/preferences stores.
    settings: dict[str, Any] = {}
    # When the session ends; null for a token.
    expires: str | None = None
    # Parts that the query asks for in `scopes[]`.
    principal: Principal | msgspec.UnsetType = msgspec.UNSET
    organization: Organization | msgspec.UnsetType = msgspec.UNSET
    member: MembershipRecord | msgspec.UnsetType = msgspec.UNSET


class Preferences(msgspec.Struct, forbid_unknown_fields=True):
    """Settings that a console stores: appearance, recent values. At most 32 KiB."""

    settings: dict[str, Any]


async def show_profile(request: Request[None]) -> Profile:
    profile_record: Profile = await request.services.db.read(profile_of, request.actor)
    for scope in requested_parts(request.query):
        setattr(profile_record, scope, PARTS[scope](request.actor, profile_record.name))
    return profile_record


def profile_of(tx: Tx, actor: Actor) -> Profile:
    current = CustomerReference(actor.customer_id, actor.customer_name)
    user = users.find(tx, actor.user_id)
    memberships = [] if actor.provider_id else sessions.list_memberships(tx, actor.user_id)
    customers = [
        CustomerReference(membership.customer_id, membership.customer_name)
        for membership in memberships
    ]
    return Profile(
        actor.user_id,
        actor.username if user is None else user.name,
        actor.username,
        actor.email,
        customers or [current],
        current,
        actor.level,
        "oidc" if actor.provider_id else "local" if actor.kind == "member" else actor.kind,
        actor.member_id,
        level=actor.level,
        settings=preferences.find(tx, actor),
        expires=iso_or_none(sessions.expiry_of(tx, actor)),
    )


async def show(request: Request[None]) -> Preferences:
    return Preferences(await request.services.db.read(preferences.find_own, request.actor))


async def put(request: Request[Preferences]) -> Preferences:
    settings = await request.services.db.write(
        preferences.replace, request.actor, request.body.settings
    )
    return Preferences(settings)


ROUTES = (
    plain_route(
        "GET",
        "/api/session/preferences",
        "viewer",
        show,
        "Show my settings",
        answer=Preferences,
        from_interface=False,
        people=True,
    ),
    plain_route(
        "PUT",
        "/api/session/preferences",
        "viewer",
        put,
        "Replace my settings",
        body=Preferences,
        answer=Preferences,
        from_interface=False,
        people=True,
    ),
)
