"""`GET /access/explain`: who may see and run something, and why."""

from collections.abc import Sequence

import msgspec

from belvedere.access import Actor, Level, may_run, may_see, read_acl, require
from belvedere.access.people import memberships
from belvedere.access.people.memberships import Member
from belvedere.access.request import Request
from belvedere.access.searches import run_search
from belvedere.base.errors import NotFound
from belvedere.base.ids import is_id
from belvedere.db import Tx
from belvedere.overview.event_sources import EMITTERS
from belvedere.rest import query
from belvedere.rest.route import Route
from belvedere.triggers.sources import SOURCES

# Objects that have an ACL.
OBJECTS = tuple(name for name, emitter in EMITTERS.items() if emitter.has_acl)


class MemberAccess(msgspec.Struct):
    """What one member may do with the object."""

    member_id: str
    user_id: str
    email: str
    username: str
    credential: str
    sees: bool
    runs: bool
    # The entries of the ACL that name this member.
    by: list[str]
    why: str


class AccessReport(msgspec.Struct):
    object: str
    id: str
    name: str
    acl: list[str]
    # E-mail addresses in the ACL that no member has yet.
    pending: list[str]
    members: list[MemberAccess]


async def explain(request: Request[None]) -> AccessReport:
    kind = request.first("object") or ""
    if kind not in OBJECTS:
        raise query.invalid_query("object", f"object must be one of {', '.join(OBJECTS)}.")
    report: AccessReport = await run_search(
        request,
        access_report,
        request.actor,
        kind,
        request.first("id") or "",
        request.first("user"),
    )
    return report


def access_report(
    tx: Tx, actor: Actor, kind: str, object_id: str, user: str | None
) -> AccessReport:
    """For every member, or for the one with this e-mail address, user name or id."""
    require(actor, Level.MANAGER)
    name = _name(tx, actor, kind, object_id)
    current = read_acl(tx, actor.customer_id, kind, object_id)
    acl = current.entries
    is_open = EMITTERS[kind].open_when_empty
    members = [_access(member, actor, acl, is_open=is_open) for member in _members(tx, actor, user)]
    return AccessReport(kind, object_id, name, acl, current.pending, members)


def _name(tx: Tx, actor: Actor, kind: str, object_id: str) -> str:
    source = SOURCES[kind]
    name: str | None = None
    if is_id(object_id):
        name = tx.value(
            f"select {source.name} from {source.table}"
            f" where id = ? and customer_id = ? and {source.live}",
            object_id,
            actor.customer_id,
        )
    if name is None:
        raise NotFound(f"There is no such {kind}.", code="not_found")
    return name


def _members(tx: Tx, actor: Actor, user: str | None) -> Sequence[Member]:
    members = memberships.list_members(tx, actor)
    if user is None:
        return members
    user_key = user.strip().lower()
    names = [
        (member, {member.email, member.username.lower(), member.user_id, member.id})
        for member in members
    ]
    matches = [member for member, keys in names if user_key in keys]
    if not matches:
        raise NotFound("There is no such member.", code="member_not_found")
    return matches


def _access(member: Member, actor: Actor, acl: list[str], *, is_open: bool) -> MemberAccess:
    member_actor = memberships.actor_for(member, actor.customer_name)
    may_sign_in = bool(member.enabled and member.user_enabled) and member.invited_at is None
    by = [entry for entry in acl if entry.lower() in member_actor.entries]
    return MemberAccess(
        member_id=member.id,
        user_id=member.user_id,
        email=member.email,
        username=member.username,
        credential=member.level,
        sees=may_sign_in and may_see(member_actor, acl, open_when_empty=is_open),
        runs=may_sign_in and may_run(member_actor, acl),
        by=by,
        why=_why(member_actor, acl, by, is_open=is_open) if may_sign_in else "Cannot sign in.",
    )


def _why(member: Actor, acl: list[str], by: list[str], *, is_open: bool) -> str:
    if member.runs_all:
        return f"The level {member.level} sees and runs everything."
    named = f"The ACL names {', '.join(by)}." if by else "The ACL does not name this member."
    if member.sees_all:
        return f"The level {member.level} sees everything. {named}"
    if not acl:
        rule = "everyone sees it" if is_open else "only managers and above see it"
        return f"The ACL is empty: {rule}."
    return (
        f"{named} The level viewer cannot run anything."
        if by and member.level == "viewer"
        else named
    )


ROUTES: tuple[Route, ...] = (
    Route(
        "GET",
        "/access/explain",
        "manager",
        explain,
        "Show who may see and run an object, and why",
        answer=AccessReport,
        from_interface=False,
        query=(
            ("object", f"one of {', '.join(OBJECTS)}"),
            ("id", "its id"),
            ("user", "only this member: e-mail, user name or id"),
        ),
    ),
)
