"""Inviting people by a one-time link.

A member exists from the invitation on, but opens no door until the link that this organization
handed out is used. So nobody enters as somebody else: neither by inviting that person's e-mail
elsewhere first, nor because another organization set the password.
"""

import msgspec

from belvedere.access import entrance, links, roster, sessions, users
from belvedere.access.entrance import Entered
from belvedere.access.keys import Keys
from belvedere.access.links import Link
from belvedere.access.model import Actor, Level, require, require_person
from belvedere.access.roster import Member
from belvedere.base.errors import Conflict
from belvedere.db import Tx


class Invited(msgspec.Struct, frozen=True):
    member: Member
    link: Link
    token: str


class Greeting(msgspec.Struct, frozen=True):
    """What somebody who holds a link may know before using it."""

    kind: str
    user_id: str
    email: str
    customer_name: str
    # The person has a password already: then it is asked for, not set.
    password_hash: str | None
    # No password opens what the link is for: the person comes through a provider.
    passwords_off: int


def invite(
    tx: Tx, keys: Keys, actor: Actor, email: str, name: str, level: Level, tags: list[str]
) -> Invited:
    """A member to be, and the link to hand to the person. It looks the same whether or not the
    e-mail is known to the server."""
    roster.confirm(tx, actor)
    require(actor, Level.MANAGER)
    require_person(actor)
    roster.check_grant(actor, level)
    user = users.find_or_create(tx, email, name)
    member = roster.add(tx, actor, user.id, level, tags, invited_at=tx.now)
    link, token = links.make(
        tx, keys, links.INVITATION, user.id, actor.customer_id, actor.user_id or actor.kind
    )
    roster.tell(tx, actor, "invite", "invited", member.id, None, roster.shown(member))
    return Invited(member, link, token)


def greet(tx: Tx, keys: Keys, token: str) -> Greeting | None:
    """What the link is for; None when it is good for nothing (any more)."""
    link = links.find(tx, keys, token)
    if link is None:
        return None
    found = tx.one(
        Greeting,
        "select l.kind, u.id, u.email, c.name, u.password_hash, c.providers_only from links l"
        " join users u on u.id = l.user_id join customers c on c.id = l.customer_id"
        " where l.id = ? and u.enabled = 1 and c.enabled = 1",
        link.id,
    )
    if found is None or found.kind == links.INVITATION:
        return found
    # One password opens all organizations of a person: a new one is good if any of them takes it.
    places = sessions.memberships(tx, found.user_id)
    shut = bool(places) and all(place.providers_only for place in places)
    return msgspec.structs.replace(found, passwords_off=int(shut))


def accept(
    tx: Tx,
    keys: Keys,
    token: str,
    seen: str | None,
    password_hash: str | None,
    address: str,
    agent: str = "",
) -> Entered:
    """Use the link, and be in. `seen` is the hash that the given password was checked against;
    where there was none, `password_hash` becomes the person's."""
    link = links.take(tx, keys, token, links.INVITATION)
    member = roster.of_user(tx, link.customer_id, link.user_id)
    if member is None or member.invited_at is None or not member.user_enabled:
        raise links.gone()
    if seen is None and roster.belongs_elsewhere(tx, member):
        # The first password opens that other organization: only its own link may set it.
        raise Conflict(
            "This person has no password yet; use the link of the other organization first.",
            code="password_elsewhere",
        )
    kept = password_hash if seen is None else seen
    assert kept
    if not users.exchange_password(tx, member.user_id, seen, kept):
        raise Conflict(
            "The password of this person has just changed; use the link again with the new one.",
            code="password_changed",
        )
    actor = roster.as_actor(tx, member, address)
    activate(tx, member, actor)
    return entrance.enter(tx, keys, member.user_id, actor.customer_name, address, agent)


def activate(tx: Tx, member: Member, actor: Actor) -> None:
    """The invited person is here: from now on the membership opens doors."""
    tx.run(
        "update members set invited_at = null, version = version + 1, updated_at = ?"
        " where customer_id = ? and id = ?",
        tx.now,
        member.customer_id,
        member.id,
    )
    links.drop(tx, member.user_id, member.customer_id, links.INVITATION)
    # A reset link that another organization made earlier must not open this one.
    links.drop_resets(tx, member.user_id)
    roster.tell(tx, actor, "accept", "accepted", member.id, None, roster.shown(member))
