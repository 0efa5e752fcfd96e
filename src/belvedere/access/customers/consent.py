"""Memberships that wait for the person's consent.

An invitation and a provider create an account of their organization, whatever account the person
has elsewhere. The membership moves to the person's own account only here: when the person, signed
in to that account with its own password, accepts it. Where the account cannot sign in with a
password, the provider through which the person signs in counts instead: it gives access to its own
organization only, even after it has accepted another one. The person can decline instead.
"""

import msgspec

from belvedere.access.actor import Actor
from belvedere.access.customers import invitations, member_changes
from belvedere.access.people import memberships, users
from belvedere.access.people.memberships import Member
from belvedere.access.people.users import User
from belvedere.access.signin import sessions
from belvedere.base.errors import Conflict, NotFound
from belvedere.base.ids import is_id
from belvedere.db import Tx
from belvedere.db.ports import PortList

MAX_OFFERS = 100
# (organization, former account, account): the rows of a person in one organization follow the
# membership to another account.
move_personal_rows: PortList[[Tx, str, str, str], None] = PortList("consent.move_personal_rows")

_SELECT_OFFERS = (
    "select m.id, c.id, c.name, m.level, case when m.invited_at is null then 0 else 1 end,"
    " m.created_at from members m join users u on u.id = m.user_id"
    " join customers c on c.id = m.customer_id"
    " where u.email = ? and u.scope = m.customer_id and c.enabled = 1 and m.enabled = 1"
    # Where passwords are off, the person signs in through the provider.
    " and u.enabled = 1 and c.providers_only = 0 and m.declined_at is null"
)


class Offer(msgspec.Struct, frozen=True):
    """A membership with the person's e-mail that belongs to an account of the organization."""

    id: str
    customer_id: str
    customer_name: str
    level: str
    # True: nobody has used it yet. False: somebody signs in there, by a link or a provider.
    is_invitation: int
    created_at: int


def list_offers(tx: Tx, actor: Actor) -> list[Offer]:
    user = _own_account(tx, actor)
    if user is None:
        return []
    return tx.all(Offer, f"{_SELECT_OFFERS} order by m.id limit ?", user.email, MAX_OFFERS)


def accept(tx: Tx, actor: Actor, member_id: str) -> Offer:
    """Move the membership to the person's own account. Its earlier sessions and credentials end."""
    user, offer = _lock_offer(tx, actor, member_id)
    member = memberships.find(tx, offer.customer_id, member_id)
    member_actor = memberships.load_actor(tx, member, actor.address)
    _carry_over(tx, member, user)
    sessions.revoke_for_user(tx, member.user_id)
    own_actor = msgspec.structs.replace(member_actor, user_id=user.id, username=user.username)
    invitations.activate(tx, member, own_actor, "consent")
    return offer


def decline(tx: Tx, actor: Actor, member_id: str) -> Offer:
    """Delete an invitation. A membership that somebody uses stays with the organization's account,
    and is not offered again."""
    try:
        user, offer = _lock_offer(tx, actor, member_id)
    except Conflict as refusal:
        # The id is in the path: a record that the caller may not see does not exist.
        raise NotFound(refusal.message) from refusal
    member = memberships.find(tx, offer.customer_id, member_id)
    member_actor = memberships.load_actor(tx, member, actor.address)
    own_actor = msgspec.structs.replace(member_actor, user_id=user.id, username=user.username)
    before = memberships.audit_fields(member)
    if offer.is_invitation:
        member_changes.delete_membership(tx, own_actor, member)
        memberships.record_change(tx, own_actor, "decline", "removed", member.id, before, None)
    else:
        tx.execute("update members set declined_at = ? where id = ?", tx.now, member.id)
        memberships.record_change(tx, own_actor, "decline", "changed", member.id, None, before)
    return offer


def _lock_offer(tx: Tx, actor: Actor, member_id: str) -> tuple[User, Offer]:
    """The person's own account and the offer, both locked until the commit."""
    offer = _offer(tx, _own_account(tx, actor), member_id)
    # Changes of members are serialized. Both are read again under the locks: a manager's reset link
    # may have moved the account to that organization meanwhile.
    tx.row(f"select id from customers where id = ?{tx.dialect.lock_rows}", offer.customer_id)
    users.lock(tx, actor.user_id)
    user = _own_account(tx, actor)
    offer = _offer(tx, user, member_id)
    assert user is not None
    return user, offer


def _offer(tx: Tx, user: User | None, member_id: str) -> Offer:
    offer = None
    if user is not None and is_id(member_id):
        offer = tx.one(Offer, f"{_SELECT_OFFERS} and m.id = ?", user.email, member_id)
    if offer is None:
        raise Conflict(
            "There is no such membership to accept or decline, or you are not signed in to your own"
            " account with its password.",
            code="nothing_to_accept",
        )
    return offer


def _own_account(tx: Tx, actor: Actor) -> User | None:
    """The account, if it is the person's own and the session proves that the person sends the
    request: it began with a password that was proved, or, where the account cannot sign in with a
    password, with a provider. Else a provider is trusted for its own organization only."""
    sessions.require_session(actor)
    user = users.find(tx, actor.user_id)
    if user is None or user.scope:
        return None
    if actor.provider_id:
        return None if _has_password(tx, user) else user
    return user if user.proof else None


def _has_password(tx: Tx, user: User) -> bool:
    """Whether the account can sign in to one of its organizations with a password."""
    memberships = sessions.list_memberships(tx, user.id)
    return user.password_hash is not None and not all(
        membership.providers_only for membership in memberships
    )


def _carry_over(tx: Tx, member: Member, user: User) -> None:
    before, customer_id = member.user_id, member.customer_id
    for _ in move_personal_rows.each(tx, customer_id, before, user.id):
        pass
    tx.execute(
        "update tokens set created_by = ? where created_by = ? and customer_id = ?",
        user.id,
        before,
        customer_id,
    )
