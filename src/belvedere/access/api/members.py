"""The members of an organization."""

import msgspec

from belvedere.access.api import records
from belvedere.access.api.route_builders import plain_route
from belvedere.access.customers import invitations, member_changes, password_recovery
from belvedere.access.people import memberships, naming
from belvedere.access.request import Request
from belvedere.rest.route import Reply


class Person(msgspec.Struct):
    email: str
    name: str = ""


class Invite(msgspec.Struct):
    user: Person
    credential: str = "viewer"
    tags: list[str | records.Tag] = []


class MemberChange(msgspec.Struct):
    """Any subset; fields that are absent or null do not change."""

    credential: str | None = None
    tags: list[str | records.Tag] | None = None
    disabled: bool | None = None


async def listing(request: Request[None]) -> list[records.MemberRecord]:
    members = await request.services.db.read(memberships.list_visible, request.actor)
    return [records.member(member, request.actor) for member in members]


async def show(request: Request[None]) -> records.MemberRecord:
    member = await request.services.db.read(
        memberships.find_visible, request.actor, request.path["id"]
    )
    return records.member(member, request.actor)


async def invite(request: Request[Invite]) -> records.MemberRecord:
    body = request.body
    invitation = await request.services.db.write(
        invitations.invite,
        request.services.keyring,
        request.actor,
        body.user.email,
        body.user.name,
        naming.level(body.credential),
        _texts(body.tags),
    )
    link = records.link(invitation.link, invitation.token, request.services.settings.base_url)
    return records.member(invitation.member, request.actor, link)


async def change(request: Request[MemberChange]) -> records.MemberRecord:
    body = request.body
    member, invitation = await request.services.db.write(
        invitations.change_member,
        request.services.keyring,
        request.actor,
        request.path["id"],
        level=None if body.credential is None else naming.level(body.credential),
        tags=None if body.tags is None else _texts(body.tags),
        enabled=None if body.disabled is None else not body.disabled,
        version=request.if_match,
    )
    if invitation is None:
        return records.member(member, request.actor)
    link = records.link(*invitation, request.services.settings.base_url)
    return records.member(member, request.actor, link)


async def remove(request: Request[None]) -> records.MemberRecord:
    member = await request.services.db.write(
        member_changes.remove, request.actor, request.path["id"]
    )
    return records.member(member, request.actor)


async def reset(request: Request[None]) -> Reply:
    link, token = await request.services.db.write(
        password_recovery.issue_link, request.services.keyring, request.actor, request.path["id"]
    )
    return Reply(records.link(link, token, request.services.settings.base_url), status=201)


def _texts(tags: list[str | records.Tag]) -> list[str]:
    return [tag if isinstance(tag, str) else f"{tag.k}:{tag.v}" for tag in tags]


_CODES = ("already_member", "last_owner", "stale", "approver_tag")

ROUTES = (
    plain_route(
        "GET",
        "/api/member",
        "viewer",
        listing,
        "List members",
        answer=list[records.MemberRecord],
    ),
    plain_route(
        "GET",
        "/api/member/{id}",
        "viewer",
        show,
        "Show a member",
        answer=records.MemberRecord,
        from_interface=False,
    ),
    plain_route(
        "POST",
        "/api/member",
        "manager",
        invite,
        "Invite a person; the link is shown once",
        body=Invite,
        answer=records.MemberRecord,
        codes=(*_CODES, "approver"),
        people=True,
    ),
    plain_route(
        "PATCH",
        "/api/member/{id}",
        "manager",
        change,
        "Change the level or tags of a member, disable or enable it",
        body=MemberChange,
        answer=records.MemberRecord,
        codes=_CODES,
        people=True,
    ),
    plain_route(
        "DELETE",
        "/api/member/{id}",
        "manager",
        remove,
        "Remove a member",
        answer=records.MemberRecord,
        codes=_CODES,
        people=True,
    ),
    plain_route(
        "POST",
        "/api/member/{id}/reset",
        "manager",
        reset,
        "Create a one-time link for a new password, or a new invitation; shown once",
        answer=records.LinkRecord,
        codes=("belongs_elsewhere", "passwords_off", "approver"),
        from_interface=False,
        people=True,
    ),
)
