"""`GET /access/explain`: who may see and run something, and why."""

from collections.abc import Sequence

import msgspec

from belvedere.access import Actor, Level, acl_of, may_run, may_see, require
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

# What has an ACL.
OBJECTS = tuple(name for name, how in EMITTERS.items() if how.has_acl)


class MemberAccess(msgspec.Struct):
    """What one member may do with it."""

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


class Explained(msgspec.Struct):
    object: str
    id: str
    name: str
    acl: list[str]
    members: list[MemberAccess]


async def explain(request: Request[None]) -> Explained:
    kind = request.first("object") or ""
    if kind not in OBJECTS:
        raise query.bad("object", f"object takes {', '.join(OBJECTS)}.")
    found: Explained = await run_search(
        request, explained, request.actor, kind, request.first("id") or "", request.first("user")
    )
    return found


def explained(tx: Tx, actor: Actor, kind: str, object_id: str, user: str | None) -> Explained:
    """Of every member, or of one by e-mail, user name or id."""
    require(actor, Level.MANAGER)
    name = _name(tx, actor, kind, object_id)
    acl = acl_of(tx, actor.customer_id, kind, object_id)
    people = _people(tx, actor, user)
    is_open = EMITTERS[kind].open_when_empty
    members = [_access(one, actor, acl, is_open=is_open) for one in people]
    return Explained(kind, object_id, name, acl, members)


def _name(tx: Tx, actor: Actor, kind: str, object_id: str) -> str:
    of = SOURCES[kind]
    found: str | None = None
    if is_id(object_id):
        found = tx.value(
            f"select {of.name} from {of.table} where id = ? and customer_id = ? and {of.live}",
            object_id,
            actor.customer_id,
        )
    if found is None:
        raise NotFound(f"There is no such {kind}.", code="not_found")
    return found


def _people(tx: Tx, actor: Actor, user: str | None) -> Sequence[Member]:
    everybody = memberships.everybody(tx, actor)
    if user is None:
        return everybody
    wanted = user.strip().lower()
    names = [(one, {one.email, one.username.lower(), one.user_id, one.id}) for one in everybody]
    found = [one for one, known in names if wanted in known]
    if not found:
        raise NotFound("There is no such member.", code="member_not_found")
    return found


def _access(member: Member, asked_by: Actor, acl: list[str], *, is_open: bool) -> MemberAccess:
    acting = memberships.acting(member, asked_by.customer_name)
    enters = bool(member.enabled and member.user_enabled) and member.invited_at is None
    by = [entry for entry in acl if entry.lower() in acting.entries]
    return MemberAccess(
        member_id=member.id,
        user_id=member.user_id,
        email=member.email,
        username=member.username,
        credential=member.level,
        sees=enters and may_see(acting, acl, open_when_empty=is_open),
        runs=enters and may_run(acting, acl),
        by=by,
        why=_why(acting, acl, by, is_open=is_open) if enters else "Cannot sign in now.",
    )


def _why(member: Actor, acl: list[str], by: list[str], *, is_open: bool) -> str:
    if member.runs_all:
        return f"The level {member.level} sees and runs everything."
    named = f"The ACL names {', '.join(by)}." if by else "The ACL does not name this member."
    if member.sees_all:
        return f"The level {member.level} sees everything. {named}"
    if not acl:
        told = "everybody sees it" if is_open else "only managers and above see it"
        return f"The ACL is empty: {told}."
    return f"{named} The level viewer looks only." if by and member.level == "viewer" else named


ROUTES: tuple[Route, ...] = (
    Route(
        "GET",
        "/access/explain",
        "manager",
        explain,
        "Who may see and run something, and why",
        answer=Explained,
        known=False,
        query=(
            ("object", f"one of {', '.join(OBJECTS)}"),
            ("id", "its id"),
            ("user", "only this member: e-mail, user name or id"),
        ),
    ),
)
