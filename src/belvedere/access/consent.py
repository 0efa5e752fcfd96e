"""Memberships that wait for the person's consent.

An invitation and a provider make an account of their organization, whatever account the person has
elsewhere. The membership becomes one of the person's own account only here: when the person, signed
in to that account by its own password, accepts it.
"""

import msgspec

from belvedere.access import invitations, roster, sessions, users
from belvedere.access.model import Actor
from belvedere.access.roster import Member
from belvedere.access.users import User
from belvedere.base.errors import Conflict
from belvedere.base.ids import is_id
from belvedere.db import Tx

MAX_OFFERS = 100

_WAITING = (
    "select m.id, c.id, c.name, m.level, case when m.invited_at is null then 0 else 1 end,"
    " m.created_at from members m join users u on u.id = m.user_id"
    " join customers c on c.id = m.customer_id"
    " where u.email = ? and u.scope = m.customer_id and c.enabled = 1 and m.enabled = 1"
    # Where passwords are off, the person comes through the provider.
    " and u.enabled = 1 and c.providers_only = 0"
)


class Offer(msgspec.Struct, frozen=True):
    """A membership with the person's e-mail that is not of the person's own account."""

    id: str
    customer_id: str
    customer_name: str
    level: str
    # Nobody has used it yet; else somebody signs in there, by a link or a provider.
    is_invitation: int
    created_at: int


def offers(tx: Tx, actor: Actor) -> list[Offer]:
    user = _own_account(tx, actor)
    if user is None:
        return []
    return tx.all(Offer, f"{_WAITING} order by m.id limit ?", user.email, MAX_OFFERS)


def accept(tx: Tx, actor: Actor, member_id: str) -> Offer:
    """The membership is one of the person's own account from now on. What opened it before ends."""
    user = _own_account(tx, actor)
    offer = None
    if user is not None and is_id(member_id):
        offer = tx.one(Offer, f"{_WAITING} and m.id = ?", user.email, member_id)
    if user is None or offer is None:
        raise Conflict(
            "There is no such membership to accept, or you are not signed in to your own account"
            " by its password.",
            code="nothing_to_accept",
        )
    # As whenever members change: one after the other.
    tx.row(f"select id from customers where id = ?{tx.sql.lock_rows}", offer.customer_id)
    member = roster.find(tx, offer.customer_id, member_id)
    there = roster.as_actor(tx, member, actor.address)
    _carry_over(tx, member, user)
    sessions.kill(tx, member.user_id)
    mine = msgspec.structs.replace(there, user_id=user.id, username=user.username)
    invitations.activate(tx, member, mine, "consent")
    return offer


def _own_account(tx: Tx, actor: Actor) -> User | None:
    """The account, if it is the person's own, its address is proved, and the session began with its
    password: a provider speaks for its own organization only."""
    sessions.require_session(actor)
    user = users.find(tx, actor.user_id)
    is_own = user is not None and not user.scope and bool(user.proof)
    return user if is_own and not actor.provider_id else None


# What belongs to somebody in one organization. These tables are of features above this one.
_IN_ORGANIZATION = ("views", "notifications", "inboxes")


def _carry_over(tx: Tx, member: Member, user: User) -> None:
    before, customer_id = member.user_id, member.customer_id
    tx.run("delete from inboxes where user_id = ? and customer_id = ?", user.id, customer_id)
    for table in _IN_ORGANIZATION:
        sql = f"update {table} set user_id = ? where user_id = ? and customer_id = ?"
        tx.run(sql, user.id, before, customer_id)
    tx.run("update identities set user_id = ? where user_id = ?", user.id, before)
    tx.run(
        "update tokens set created_by = ? where created_by = ? and customer_id = ?",
        user.id,
        before,
        customer_id,
    )
