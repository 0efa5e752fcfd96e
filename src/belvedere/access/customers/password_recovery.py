"""New passwords: changed by the person, or set through a one-time link."""

from belvedere import events
from belvedere.access.actor import Actor
from belvedere.access.credentials import one_time_links
from belvedere.access.credentials.one_time_links import OneTimeLink
from belvedere.access.crypto.keyring import Keyring
from belvedere.access.customers import approver_tags, service
from belvedere.access.people import memberships, users
from belvedere.access.people.memberships import Member
from belvedere.access.people.users import User
from belvedere.access.signin import known_browsers, login_tickets, sessions
from belvedere.base.errors import Conflict, Forbidden, NotFound, Unauthenticated
from belvedere.db import Tx


def issue_link(tx: Tx, keys: Keyring, actor: Actor, member_id: str) -> tuple[OneTimeLink, str]:
    """A link with which a member sets a new password, or a new invitation for an invited one."""
    member = memberships.lock_member_below(tx, actor, member_id)
    entries = [*users.account_ids(tx, actor.customer_id, member.user_id), member.email]
    approver_tags.check_credential(tx, actor, [*entries, *member.tag_list])
    kind = one_time_links.INVITATION if member.invited_at is not None else one_time_links.RESET
    if kind == one_time_links.RESET and memberships.has_other_customers(tx, member):
        # All organizations of an account share its password: no single one may replace it.
        raise Forbidden(
            "This person is also a member of other organizations. Ask the server's operator to"
            " reset the password.",
            code="belongs_elsewhere",
        )
    if kind == one_time_links.RESET and service.find(tx, actor.customer_id).providers_only:
        raise sessions.passwords_off(actor.customer_name)
    link, token = one_time_links.create(
        tx, keys, kind, member.user_id, actor.customer_id, actor.user_id or actor.kind
    )
    memberships.record_change(tx, actor, "link", "link_made", member.id, None, {"kind": kind})
    return link, token


def redeem_reset(tx: Tx, keys: Keyring, token: str, password_hash: str, address: str) -> None:
    """Use a reset link: set the new password, and end every session."""
    link = one_time_links.redeem(tx, keys, token, one_time_links.RESET)
    user = users.find(tx, link.user_id)
    if user is None or not user.enabled:
        raise one_time_links.link_gone()
    is_shown = link.proof == one_time_links.SHOWN
    _replace_password(tx, user, password_hash, "" if is_shown or user.scope else link.proof)
    member = memberships.for_user(tx, link.customer_id, user.id)
    # Checked again, now that the person's row is locked: the link may have been created while the
    # person joined another organization.
    if member is None or (is_shown and memberships.has_other_customers(tx, member)):
        raise one_time_links.link_gone()
    if is_shown:
        _restrict_to_customer(tx, user, member)
    _record_change(tx, memberships.load_actor(tx, member, address), member.id, "reset_password")


def change_password(tx: Tx, actor: Actor, current_hash: str, password_hash: str) -> None:
    """For the person; `current_hash` is the hash that the old password was checked against."""
    sessions.require_session(actor)
    if not users.exchange_password(tx, actor.user_id, current_hash, password_hash):
        raise Unauthenticated("The password has just changed. Sign in again.")
    sessions.revoke_for_user(tx, actor.user_id, except_id=actor.credential_id)
    known_browsers.forget_browsers(tx, actor.user_id, actor.credential_id)
    login_tickets.delete_for_user(tx, actor.user_id)
    one_time_links.delete_resets(tx, actor.user_id)
    _record_change(tx, actor, actor.member_id, "change_password")


def report_forgotten(tx: Tx, identifier: str) -> None:
    """Write an event about a forgotten password for those who can create a link."""
    for user in users.find_by_name(tx, identifier):
        _report_for_user(tx, user)


def _report_for_user(tx: Tx, user: User) -> None:
    # Where passwords are off, a new one would be useless.
    for place in (
        membership
        for membership in sessions.list_memberships(tx, user.id)
        if not membership.providers_only
    ):
        events.append(
            tx,
            place.customer_id,
            "member.recovery_asked",
            place.member_id,
            {"email": user.email},
        )


def reset_password(tx: Tx, keys: Keyring, identifier: str) -> tuple[User, str]:
    """For the operator: a reset link for any account."""
    user, member = find_account(tx, identifier)
    account = (one_time_links.RESET, user.id, member.customer_id, "operator")
    _, token = one_time_links.create(tx, keys, *account, proof=one_time_links.OPERATOR)
    _record_change(tx, operator_of(tx, member), member.id, "link")
    return user, token


def set_password(
    tx: Tx, identifier: str, password_hash: str, customer_name: str | None = None
) -> User:
    """For the operator: set a password without a link."""
    user, member = find_account(tx, identifier, customer_name)
    _replace_password(tx, user, password_hash, "" if user.scope else "operator")
    _record_change(tx, operator_of(tx, member), member.id, "reset_password")
    return user


def _restrict_to_customer(tx: Tx, user: User, member: Member) -> None:
    """A manager of this organization has seen the link, so the password proves nothing to other
    organizations: the account becomes one of this organization."""
    if not user.scope:
        users.set_scope(tx, user, member.customer_id)
    tx.execute("update members set proof = 'link' where id = ?", member.id)


def _replace_password(tx: Tx, user: User, password_hash: str, proof: str) -> None:
    users.set_password(tx, user.id, password_hash, proof)
    sessions.revoke_for_user(tx, user.id)
    known_browsers.forget_browsers(tx, user.id)
    login_tickets.delete_for_user(tx, user.id)
    one_time_links.delete_resets(tx, user.id)


def _record_change(tx: Tx, actor: Actor, member_id: str, action: str) -> None:
    kind = "link_made" if action == "link" else "password_changed"
    memberships.record_change(tx, actor, action, kind, member_id, None, {})


def operator_of(tx: Tx, member: Member) -> Actor:
    return service.operator(service.find(tx, member.customer_id))


def find_account(tx: Tx, identifier: str, customer_name: str | None = None) -> tuple[User, Member]:
    accounts = users.find_by_name(tx, identifier, customer_name)
    if not accounts:
        raise NotFound("No account has this e-mail address or user name.", code="user_not_found")
    if len(accounts) > 1 and customer_name is None:
        raise Conflict(
            "Several accounts have this e-mail address or user name. Name the organization.",
            code="several_accounts",
        )
    user = accounts[0]
    customer_id = _customer_id_of(tx, user, customer_name)
    member = memberships.for_user(tx, customer_id or "", user.id)
    if member is None:
        raise Conflict(
            "This person is not a member of any organization, or not of the one that you named.",
            code="not_a_member",
        )
    return user, member


def _customer_id_of(tx: Tx, user: User, customer_name: str | None) -> str | None:
    """The named organization, else the first one of the person."""
    if customer_name is not None:
        customer = service.by_name(tx, customer_name)
        return None if customer is None else customer.id
    customer_id: str | None = tx.value(
        "select customer_id from members where user_id = ? order by id limit 1", user.id
    )
    return customer_id
