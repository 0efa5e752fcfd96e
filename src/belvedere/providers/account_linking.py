"""Who comes in through a provider: known by the subject, and the first time by the e-mail.

The provider's word opens its own organization and no other. An e-mail counts only when the
provider says that it is verified, and only once: then the subject is bound to the person, and
neither a changed e-mail nor another account with the same one leads to somebody else.

Whoever joins through a provider gets an account of that organization, also when the person has an
account elsewhere: the two become one only when the person, signed in to the own account, accepts
that (`access.consent`).
"""

from typing import Any

import msgspec

from belvedere.access import audit
from belvedere.access.actor import Actor, Level
from belvedere.access.credentials import one_time_links, tokens
from belvedere.access.crypto.keyring import Keys
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


def enter(
    tx: Tx, keys: Keys, row: ProviderRow, claims: dict[str, Any], address: str, agent: str
) -> tuple[Session, str]:
    """A session for whoever the claims are about."""
    customer = service.find(tx, row.customer_id)
    # As whenever members change: one after the other.
    tx.row(f"select id from customers where id = ?{tx.sql.lock_rows}", customer.id)
    # Deleted or disabled since the person left: then it lets nobody in. Changed: the claims may be
    # those of another issuer, whose subjects are other people.
    if store.open_door(tx, row.id).version != row.version:
        raise login_flow.bad_state()
    by = Actor(customer.id, customer.name, Level.ADMIN, METHOD, username=row.name, address=address)
    _check_domain(row, claims)
    member = _known(tx, row, claims) or _newly_bound(tx, by, row, claims)
    if not member.enabled or not member.user_enabled:
        raise Forbidden("You are disabled in this organization; ask an admin.", code="not_active")
    if member.invited_at is not None:
        invitations.activate(tx, member, memberships.as_actor(tx, member, address), METHOD)
    tx.run("update users set login_at = ? where id = ?", tx.now, member.user_id)
    return sessions.begin(
        tx, keys, member.user_id, customer.name, address, agent, METHOD, provider_id=row.id
    )


def _known(tx: Tx, row: ProviderRow, claims: dict[str, Any]) -> Member | None:
    user_id = store.bound_user(tx, row.id, claims["sub"])
    if user_id is None:
        return None
    member = memberships.of_user(tx, row.customer_id, user_id)
    if member is None:
        raise _not_invited()
    return member


def _newly_bound(tx: Tx, by: Actor, row: ProviderRow, claims: dict[str, Any]) -> Member:
    email = _verified(claims)
    member = memberships.of_email(tx, row.customer_id, email)
    if member is None:
        member = _joined(tx, by, row, claims, email)
    elif member.invited_at is not None and not member.scope:
        member = _moved_inside(tx, by, member)
    elif member.proof == "link":
        _drop_password(tx, by, member)
    if not store.bind(tx, row.id, claims["sub"], member.user_id):
        raise Forbidden(
            "This e-mail belongs to another account of the provider; ask an admin.",
            code="subject_bound",
        )
    told = {"provider": row.name, "subject": claims["sub"]}
    audit.record(tx, by, "member.bind", "member", member.id, None, told)
    return member


def _joined(tx: Tx, by: Actor, row: ProviderRow, claims: dict[str, Any], email: str) -> Member:
    level = level_of(row, claims)
    if level is None:
        raise _not_invited()
    said = claims.get("name")
    name = said if isinstance(said, str) and len(said) <= 128 and said.isprintable() else ""
    user = users.find_or_create(tx, email, name, row.customer_id)
    member = memberships.add(tx, by, user, level, [], proof=METHOD)
    memberships.tell(tx, by, "add", "added", member.id, None, memberships.shown(member))
    return member


def _moved_inside(tx: Tx, by: Actor, member: Member) -> Member:
    """The provider accepts an invitation of the person's own account: it cannot speak for that
    account, whose password would open this organization from now on."""
    user = users.find_or_create(tx, member.email, member.name, member.customer_id)
    tx.run("update members set user_id = ? where id = ?", user.id, member.id)
    users.replace_account(tx, member.customer_id, member.user_id, user.id)
    return memberships.find(tx, member.customer_id, member.id)


def _drop_password(tx: Tx, by: Actor, member: Member) -> None:
    """It was set through a link that a manager saw. The provider knows who the person is, so what
    somebody else may have set up before ends here."""
    users.set_password(tx, member.user_id, None)
    second_factors.forget(tx, member.user_id)
    login_tickets.drop(tx, member.user_id)
    sessions.kill(tx, member.user_id)
    one_time_links.drop_resets(tx, member.user_id)
    tokens.revoke_made_by(tx, by, member.user_id)
    tx.run("update members set proof = ? where id = ?", METHOD, member.id)


def _verified(claims: dict[str, Any]) -> str:
    email = claims.get("email")
    # `true` as a text is no verdict of the standard's, and an absent one is none at all.
    if not isinstance(email, str) or claims.get("email_verified") is not True:
        raise Forbidden(
            "The provider does not say that your e-mail is verified; verify it there.",
            code="email_unverified",
        )
    return naming.email(email)


def _check_domain(row: ProviderRow, claims: dict[str, Any]) -> None:
    allowed = msgspec.json.decode(row.domains, type=list[str])
    email = claims.get("email")
    domain = email.rpartition("@")[2].strip().lower() if isinstance(email, str) else ""
    if allowed and domain not in allowed:
        raise Forbidden(
            "E-mails of this domain are not let in here; ask an admin.", code="email_not_allowed"
        )


def _not_invited() -> Forbidden:
    return Forbidden(
        "Nobody has invited you to this organization; ask an admin.", code="not_invited"
    )
