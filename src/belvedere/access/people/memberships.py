"""The rows of members: people in one organization, and who may change them."""

from typing import Any

import msgspec

from belvedere import events
from belvedere.access import audit
from belvedere.access.actor import Actor, Level, require, require_person
from belvedere.access.people import naming, users
from belvedere.access.people.users import User
from belvedere.base.errors import Conflict, Forbidden, NotFound
from belvedere.base.ids import is_id, new_id
from belvedere.db import Tx
from belvedere.db.signals import ACCESS_CHANGED

_SELECT = (
    "select m.id, m.customer_id, m.user_id, m.level, m.tags, m.enabled, m.invited_at, m.version,"
    " m.created_at, m.updated_at, m.proof, u.email, u.username, u.name, u.enabled, u.scope,"
    " case when f.confirmed_at is null then 0 else 1 end from members m"
    " join users u on u.id = m.user_id left join second_factors f on f.user_id = m.user_id"
)


class Member(msgspec.Struct, frozen=True):
    id: str
    customer_id: str
    user_id: str
    level: str
    tags: str
    enabled: int
    # Set until the person has used the link that this organization created.
    invited_at: int | None
    version: int
    created_at: int
    updated_at: int
    # How the invitation was accepted; empty while the person is invited.
    proof: str
    email: str
    username: str
    name: str
    user_enabled: int
    # Empty: the person's own account. Else the account belongs to this organization.
    scope: str
    has_second_factor: int

    @property
    def tag_list(self) -> list[str]:
        return msgspec.json.decode(self.tags, type=list[str])


def list_members(tx: Tx, actor: Actor) -> list[Member]:
    return list_in(tx, actor.customer_id)


def list_in(tx: Tx, customer_id: str) -> list[Member]:
    return tx.all(Member, f"{_SELECT} where m.customer_id = ? order by m.id", customer_id)


def list_visible(tx: Tx, actor: Actor) -> list[Member]:
    """All members for those who manage members. Others see themselves and the members with whom
    they share a task, workflow, indicator or monitor."""
    everyone = list_members(tx, actor)
    if actor.sees_all:
        return everyone
    shared = _shared_entries(tx, actor)
    return [member for member in everyone if _is_visible(member, actor, shared)]


def find_visible(tx: Tx, actor: Actor, member_id: str) -> Member:
    """The member; NotFound for those who may not see it."""
    member = find(tx, actor.customer_id, member_id)
    if actor.sees_all or _is_visible(member, actor, _shared_entries(tx, actor)):
        return member
    raise _not_found()


def _is_visible(member: Member, actor: Actor, shared: frozenset[str]) -> bool:
    entries = actor_for(member, actor.customer_name).entries
    return member.user_id == actor.user_id or not shared.isdisjoint(entries)


def _shared_entries(tx: Tx, actor: Actor) -> frozenset[str]:
    """All entries of the ACLs that name the actor."""
    own_entries = actor.entries
    if not own_entries:
        return frozenset()
    rows = tx.rows(
        "select distinct b.entry from acl a"
        " join acl b on b.object = a.object and b.object_id = a.object_id"
        f" where a.customer_id = ? and a.entry in ({', '.join('?' * len(own_entries))})",
        actor.customer_id,
        *own_entries,
    )
    return frozenset(entry for (entry,) in rows)


def find(tx: Tx, customer_id: str, member_id: str) -> Member:
    sql = f"{_SELECT} where m.customer_id = ? and m.id = ?"
    # A body may contain anything; only a valid id is looked up.
    member = tx.one(Member, sql, customer_id, member_id) if is_id(member_id) else None
    if member is None:
        raise _not_found()
    return member


def _not_found() -> NotFound:
    return NotFound("There is no such member.", code="member_not_found")


def for_user(tx: Tx, customer_id: str, user_id: str) -> Member | None:
    return tx.one(
        Member, f"{_SELECT} where m.customer_id = ? and m.user_id = ?", customer_id, user_id
    )


def for_email(tx: Tx, customer_id: str, email: str) -> Member | None:
    """An organization has at most one account of an e-mail address."""
    return tx.one(Member, f"{_SELECT} where m.customer_id = ? and u.email = ?", customer_id, email)


def add(
    tx: Tx,
    actor: Actor,
    user: User,
    level: Level,
    tags: list[str],
    *,
    proof: str = "",
) -> Member:
    """The row of a new member, who is invited while there is no proof; Conflict when somebody with
    this e-mail is a member already. The caller has locked the organization."""
    if for_email(tx, actor.customer_id, user.email) is not None:
        raise Conflict("This person is already a member.", code="already_member")
    if not user.scope:
        users.rename_conflicting_account(tx, user, actor.customer_id)
    member_id = new_id()
    tx.execute(
        "insert into members"
        " (id, customer_id, user_id, level, tags, invited_at, proof, created_at, updated_at)"
        " values (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        member_id,
        actor.customer_id,
        user.id,
        level.value,
        tags_text(tags),
        None if proof else tx.now,
        proof,
        tx.now,
        tx.now,
    )
    return find(tx, actor.customer_id, member_id)


def activate(tx: Tx, member: Member, user_id: str, proof: str) -> None:
    """Make the membership usable for this account."""
    users.replace_account(tx, member.customer_id, member.user_id, user_id)
    tx.execute(
        "update members set invited_at = null, user_id = ?, proof = ?, version = version + 1,"
        " updated_at = ? where customer_id = ? and id = ?",
        user_id,
        proof,
        tx.now,
        member.customer_id,
        member.id,
    )


def set_user(tx: Tx, member_id: str, user_id: str) -> None:
    """Move the membership to another account."""
    tx.execute("update members set user_id = ? where id = ?", user_id, member_id)


def set_proof(tx: Tx, member_id: str, proof: str) -> None:
    tx.execute("update members set proof = ? where id = ?", proof, member_id)


def has_other_customers(tx: Tx, member: Member) -> bool:
    """Whether the person is an active member of another organization, too."""
    count = tx.value(
        "select count(*) from members where user_id = ? and customer_id <> ?"
        " and invited_at is null",
        member.user_id,
        member.customer_id,
    )
    return bool(count)


def lock_member(tx: Tx, actor: Actor, member_id: str) -> Member:
    """The member, for an actor who may change it. Locks the members of the organization. The member
    must have a lower level than the actor; owners may change everyone, and everyone themselves."""
    member = _lock_current(tx, actor, member_id)
    if actor.level != Level.OWNER and member.id != actor.member_id:
        _check_below(actor, member)
    return member


def lock_member_below(tx: Tx, actor: Actor, member_id: str) -> Member:
    """The member, for an actor who may create a credential for it: the actor could sign in as the
    member, so the member's level must be lower. The operator may for everyone."""
    member = _lock_current(tx, actor, member_id)
    # An invited person has no account yet that could be taken over.
    if actor.kind != "operator" and member.invited_at is None:
        _check_below(actor, member)
    return member


def _lock_current(tx: Tx, actor: Actor, member_id: str) -> Member:
    require_current(tx, actor)
    require(actor, Level.MANAGER)
    require_person(actor)
    member = find(tx, actor.customer_id, member_id)
    check_grant(actor, Level(member.level))
    return member


def _check_below(actor: Actor, member: Member) -> None:
    if Level(member.level).reaches(actor.level):
        raise Forbidden(
            f"Your level is {actor.level}. Only a member with a higher level than {member.level},"
            " or the server's operator, can change this member.",
            code="above_own_level",
        )


def require_current(tx: Tx, actor: Actor) -> None:
    """Lock the organization's members, and check that the actor still has the level that the
    request was authenticated with: of two who demote each other at once, only one may succeed."""
    tx.row(f"select id from customers where id = ?{tx.dialect.lock_rows}", actor.customer_id)
    if actor.kind != "member":
        return
    level = tx.value(
        "select level from members where customer_id = ? and id = ? and enabled = 1",
        actor.customer_id,
        actor.member_id,
    )
    if level is None or not Level(level).reaches(actor.level):
        raise Forbidden("Your level has just changed. Sign in again.", code="level")


def load_actor(tx: Tx, member: Member, address: str) -> Actor:
    """The member as an actor without a session, for somebody who uses a link."""
    name: str = tx.value("select name from customers where id = ?", member.customer_id)
    return actor_for(member, name, address)


def actor_for(member: Member, customer_name: str, address: str = "") -> Actor:
    """The member as an actor."""
    return Actor(
        member.customer_id,
        customer_name,
        Level(member.level),
        "member",
        user_id=member.user_id,
        username=member.username,
        email=member.email,
        tags=tuple(member.tag_list),
        member_id=member.id,
        address=address,
    )


def audit_fields(member: Member) -> dict[str, Any]:
    """The fields of a member in events and in the audit."""
    return {
        "email": member.email,
        "level": member.level,
        "tags": member.tag_list,
        "enabled": bool(member.enabled),
    }


def record_change(
    tx: Tx,
    actor: Actor,
    action: str,
    kind: str,
    member_id: str,
    before: dict[str, Any] | None,
    after: dict[str, Any] | None,
) -> None:
    """Write the audit row and the event, and signal every server to drop its cached actors."""
    audit.record(tx, actor, f"member.{action}", "member", member_id, before, after)
    events.append(tx, actor.customer_id, f"member.{kind}", member_id, after or before)
    tx.signals.add(ACCESS_CHANGED)


def tags_text(tags: list[str]) -> str:
    return msgspec.json.encode(naming.tags(tags)).decode()


def check_grant(actor: Actor, level: Level) -> None:
    if not actor.level.reaches(level):
        raise Forbidden(
            f"You cannot assign or change the level {level}. Your level is {actor.level}.",
            code="above_own_level",
        )
