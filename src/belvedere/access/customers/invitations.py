"""Inviting people by a one-time link.

An invitation creates an account of the inviting organization, whether or not the server knows the
address: so the inviter learns nothing about others. The link that the inviter sees sets the
password of that account, which can only sign in to that organization. The membership moves to the
person's own account when the person proves to be its owner: with its password, or, where there is
none yet, with a link that was sent to the address.
"""

import msgspec

from belvedere.access.actor import Actor, Level, require, require_person
from belvedere.access.credentials import one_time_links
from belvedere.access.credentials.one_time_links import OneTimeLink
from belvedere.access.crypto.keyring import Keyring
from belvedere.access.customers import approver_tags, member_changes, password_recovery
from belvedere.access.people import memberships, naming, users
from belvedere.access.people.memberships import Member
from belvedere.access.people.users import User
from belvedere.access.signin import login, sessions
from belvedere.access.signin.login import LoginResult
from belvedere.base.errors import Conflict, Forbidden
from belvedere.db import Tx


class Invitation(msgspec.Struct, frozen=True):
    member: Member
    link: OneTimeLink
    token: str


class LinkDetails(msgspec.Struct, frozen=True):
    """What somebody who has a link may know before using it."""

    kind: str
    user_id: str
    email: str
    customer_name: str
    # The password that is required instead of a new one. Always null for an invitation that the
    # inviter has seen, who must not learn whether the person has an account.
    password_hash: str | None
    # Passwords are off in the organization: the person signs in through a provider.
    passwords_off: int
    proof: str


def invite(
    tx: Tx, keys: Keyring, actor: Actor, email: str, name: str, level: Level, tags: list[str]
) -> Invitation:
    """An invited member, and the link for the person. The result is the same whether or not the
    server knows the e-mail address."""
    memberships.require_current(tx, actor)
    require(actor, Level.MANAGER)
    require_person(actor)
    memberships.check_grant(actor, level)
    approver_tags.check_change(tx, actor, [], tags)
    approver_tags.check_credential(tx, actor, [naming.email(email)])
    user = users.find_or_create(tx, email, name, actor.customer_id)
    member = memberships.add(tx, actor, user, level, tags)
    link, token = one_time_links.create(
        tx, keys, one_time_links.INVITATION, user.id, actor.customer_id, actor.user_id or actor.kind
    )
    memberships.record_change(
        tx, actor, "invite", "invited", member.id, None, memberships.audit_fields(member)
    )
    return Invitation(member, link, token)


def change_member(
    tx: Tx,
    keys: Keyring,
    actor: Actor,
    member_id: str,
    *,
    level: Level | None = None,
    tags: list[str] | None = None,
    enabled: bool | None = None,
    version: int | None = None,
) -> tuple[Member, tuple[OneTimeLink, str] | None]:
    """Change a member, and create a new invitation if the change has made the previous one
    invalid."""
    had_link = one_time_links.has_invitation(tx, actor.customer_id, member_id)
    member = member_changes.change(
        tx, actor, member_id, level=level, tags=tags, enabled=enabled, version=version
    )
    has_link = one_time_links.has_invitation(tx, actor.customer_id, member_id)
    if not had_link or has_link or not member.enabled:
        return member, None
    try:
        return member, password_recovery.issue_link(tx, keys, actor, member_id)
    except Forbidden:
        # The actor may change this member, but not create a credential for them.
        return member, None


def link_details(tx: Tx, keys: Keyring, token: str) -> LinkDetails | None:
    """What the link is for; None when it is not valid (any more)."""
    link = one_time_links.find(tx, keys, token)
    if link is None:
        return None
    details = tx.one(
        LinkDetails,
        "select l.kind, u.id, u.email, c.name, u.password_hash, c.providers_only, l.proof"
        " from links l join users u on u.id = l.user_id join customers c on c.id = l.customer_id"
        " where l.id = ? and u.enabled = 1 and c.enabled = 1",
        link.id,
    )
    if details is None:
        return None
    if details.kind == one_time_links.INVITATION:
        account = (
            None
            if link.proof == one_time_links.SHOWN
            else users.find_own_account(tx, details.email)
        )
        password_hash = None if account is None else account.password_hash
        return msgspec.structs.replace(details, password_hash=password_hash)
    # All organizations of an account share its password: a new one is useful if any of them accepts
    # passwords.
    places = sessions.list_memberships(tx, details.user_id)
    all_refuse = bool(places) and all(place.providers_only for place in places)
    return msgspec.structs.replace(details, passwords_off=int(all_refuse))


def account_password(tx: Tx, email: str) -> str | None:
    """The password hash of the person's own account."""
    user = users.find_own_account(tx, email)
    return None if user is None or not user.enabled else user.password_hash


def accept(
    tx: Tx,
    keys: Keyring,
    token: str,
    current_hash: str | None,
    password_hash: str | None,
    address: str,
    agent: str = "",
) -> LoginResult:
    """Use the link, and sign in. `current_hash` is the hash of the person's own account that the
    password was checked against; without it `password_hash` is a new one."""
    link = one_time_links.redeem(tx, keys, token, one_time_links.INVITATION)
    # Changes of members are serialized.
    tx.row(f"select id from customers where id = ?{tx.dialect.lock_rows}", link.customer_id)
    member = memberships.for_user(tx, link.customer_id, link.user_id)
    if member is None or member.invited_at is None or not member.user_enabled:
        raise one_time_links.link_gone()
    if current_hash is not None:
        user, proof = _confirm_account(tx, member, link, current_hash), "password"
    else:
        assert password_hash
        user, proof = _set_new_password(tx, member, link, password_hash)
    actor = msgspec.structs.replace(memberships.load_actor(tx, member, address), user_id=user.id)
    activate(tx, member, actor, proof)
    return login.open_session(tx, keys, user.id, actor.customer_name, address, agent)


def _confirm_account(tx: Tx, member: Member, link: OneTimeLink, current_hash: str) -> User:
    """The person's own account, whose password was right and has not changed since."""
    user = users.find_own_account(tx, member.email)
    if (
        user is None
        or not user.enabled
        or not users.exchange_password(tx, user.id, current_hash, current_hash)
    ):
        raise _password_changed()
    if link.proof != one_time_links.SHOWN and not user.proof:
        users.set_password(tx, user.id, current_hash, link.proof)
    return user


def _set_new_password(
    tx: Tx, member: Member, link: OneTimeLink, password_hash: str
) -> tuple[User, str]:
    """A link that the inviter has seen sets the password of the organization's account. One that
    was sent to the address, or created by the operator, makes the account the person's own."""
    user = users.find(tx, member.user_id)
    assert user is not None
    if link.proof == one_time_links.SHOWN:
        # Invited before accounts had a scope: the link must not set the password of an account that
        # other organizations use.
        user = user if user.scope else users.find_or_create(tx, user.email, "", link.customer_id)
        users.set_password(tx, user.id, password_hash)
        return user, "link"
    account = users.find_own_account(tx, member.email)
    if account is None:
        users.set_scope(tx, user, "")
        account = user
    if not users.exchange_password(tx, account.id, None, password_hash):
        raise _password_changed()
    users.set_password(tx, account.id, password_hash, link.proof)
    return account, link.proof


def activate(tx: Tx, member: Member, actor: Actor, proof: str) -> None:
    """Make the membership of an invited person usable, for the account of the actor."""
    user = users.find(tx, actor.user_id)
    if user is not None and not user.scope:
        users.rename_conflicting_account(tx, user, member.customer_id)
    memberships.activate(tx, member, actor.user_id, proof)
    one_time_links.delete(tx, member.user_id, member.customer_id, one_time_links.INVITATION)
    # A reset link that another organization created earlier must not give access to this one.
    one_time_links.delete_resets(tx, actor.user_id)
    if member.scope and member.user_id != actor.user_id:
        users.retire(tx, member.user_id)
        users.delete_unused(tx, member.user_id)
    details = {**memberships.audit_fields(member), "proof": proof}
    memberships.record_change(tx, actor, "accept", "accepted", member.id, None, details)


def _password_changed() -> Conflict:
    return Conflict(
        "The password of this account has just changed. Use the link again with the new password.",
        code="password_changed",
    )
