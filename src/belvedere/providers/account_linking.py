"""Which member signs in through a provider: matched by subject, and the first time by e-mail.

A provider gives access to its own organization and to no other. An e-mail counts only if the
provider says that it is verified, and only once: then the subject is bound to the member, and
neither a changed e-mail nor another account with the same e-mail leads to somebody else.

Someone who joins through a provider gets an account of that organization, even if the person has
an account elsewhere. The two are merged only when the person, signed in to the other account,
accepts that (`access.consent`).
"""

from typing import Any

import msgspec

from belvedere.access import audit
from belvedere.access.actor import Actor, Level
from belvedere.access.credentials import one_time_links, tokens
from belvedere.access.crypto.keyring import Keyring
from belvedere.access.customers import invitations, service
from belvedere.access.people import memberships, naming, users
from belvedere.access.people.memberships import Member
from belvedere.access.signin import login_tickets, second_factors, sessions
from belvedere.access.signin.sessions import Session
from belvedere.base.errors import Forbidden
from belvedere.db import Tx
from belvedere.providers import login_flow, store
from belvedere.providers.model import ProviderRow, level_of

METHOD = sessions.PROVIDER


def open_session(
    tx: Tx, keys: Keyring, row: ProviderRow, claims: dict[str, Any], address: str, agent: str
) -> tuple[Session, str]:
    """A session for the member whom the claims describe."""
    customer = service.find(tx, row.customer_id)
    # Changes of members are serialized by a lock on the customer.
    tx.row(f"select id from customers where id = ?{tx.dialect.lock_rows}", customer.id)
    # Deleted or disabled since the attempt started: refused. Changed: the claims may come from
    # another issuer, whose subjects are other people.
    if store.find_enabled(tx, row.id).version != row.version:
        raise login_flow.invalid_state()
    by = Actor(customer.id, customer.name, Level.ADMIN, METHOD, username=row.name, address=address)
    _check_domain(row, claims)
    member = _find_bound(tx, row, claims) or _bind_member(tx, by, row, claims)
    if not member.enabled or not member.user_enabled:
        raise Forbidden(
            "Your account is disabled in this organization; ask an admin.", code="not_active"
        )
    if member.invited_at is not None:
        invitations.activate(tx, member, memberships.load_actor(tx, member, address), METHOD)
    users.record_login(tx, member.user_id)
    return sessions.begin(
        tx, keys, member.user_id, customer.name, address, agent, METHOD, provider_id=row.id
    )


def _find_bound(tx: Tx, row: ProviderRow, claims: dict[str, Any]) -> Member | None:
    user_id = store.bound_user(tx, row.id, claims["sub"])
    if user_id is None:
        return None
    member = memberships.for_user(tx, row.customer_id, user_id)
    if member is None:
        raise _not_invited()
    return member


def _bind_member(tx: Tx, by: Actor, row: ProviderRow, claims: dict[str, Any]) -> Member:
    email = _verified_email(claims)
    member = memberships.for_email(tx, row.customer_id, email)
    if member is None:
        member = _join(tx, by, row, claims, email)
    elif member.invited_at is not None and not member.scope:
        member = _move_to_own_account(tx, by, member)
    elif member.proof == "link":
        _drop_password(tx, by, member)
    if not store.bind(tx, row.id, claims["sub"], member.user_id):
        raise Forbidden(
            "This e-mail is already linked to another account of the provider; ask an admin.",
            code="subject_bound",
        )
    data = {"provider": row.name, "subject": claims["sub"]}
    audit.record(tx, by, "member.bind", "member", member.id, None, data)
    return member


def _join(tx: Tx, by: Actor, row: ProviderRow, claims: dict[str, Any], email: str) -> Member:
    level = level_of(row, claims)
    if level is None:
        raise _not_invited()
    claim = claims.get("name")
    name = claim if isinstance(claim, str) and len(claim) <= 128 and claim.isprintable() else ""
    user = users.find_or_create(tx, email, name, row.customer_id)
    member = memberships.add(tx, by, user, level, [], proof=METHOD)
    memberships.record_change(
        tx, by, "add", "added", member.id, None, memberships.audit_fields(member)
    )
    return member


def _move_to_own_account(tx: Tx, by: Actor, member: Member) -> Member:
    """The invitation was sent to the person's account elsewhere. The provider cannot accept it for
    that account, whose password would give access to this organization from now on."""
    user = users.find_or_create(tx, member.email, member.name, member.customer_id)
    memberships.set_user(tx, member.id, user.id)
    users.replace_account(tx, member.customer_id, member.user_id, user.id)
    return memberships.find(tx, member.customer_id, member.id)


def _drop_password(tx: Tx, by: Actor, member: Member) -> None:
    """The password was set through a link that a manager saw. The provider knows who the person
    is, so everything that somebody else may have set up before ends here."""
    users.set_password(tx, member.user_id, None)
    second_factors.delete(tx, member.user_id)
    login_tickets.delete_for_user(tx, member.user_id)
    sessions.revoke_for_user(tx, member.user_id)
    one_time_links.delete_resets(tx, member.user_id)
    tokens.revoke_created_by(tx, by, member.user_id)
    memberships.set_proof(tx, member.id, METHOD)


def _verified_email(claims: dict[str, Any]) -> str:
    email = claims.get("email")
    # The standard requires a boolean: the text "true" or an absent claim does not count.
    if not isinstance(email, str) or claims.get("email_verified") is not True:
        raise Forbidden(
            "The provider has not verified your e-mail address; verify it there first.",
            code="email_unverified",
        )
    return naming.email(email)


def _check_domain(row: ProviderRow, claims: dict[str, Any]) -> None:
    allowed = msgspec.json.decode(row.domains, type=list[str])
    email = claims.get("email")
    domain = email.rpartition("@")[2].strip().lower() if isinstance(email, str) else ""
    if allowed and domain not in allowed:
        raise Forbidden(
            "E-mail addresses of this domain are not allowed here; ask an admin.",
            code="email_not_allowed",
        )


def _not_invited() -> Forbidden:
    return Forbidden("You are not invited to this organization; ask an admin.", code="not_invited")
