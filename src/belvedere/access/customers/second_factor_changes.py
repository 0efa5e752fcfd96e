"""Changes to second factors by the person, by an admin, and by the operator."""

import msgspec

from belvedere.access.actor import Actor, Level, require
from belvedere.access.crypto.keyring import Keyring
from belvedere.access.customers import password_recovery
from belvedere.access.people import memberships
from belvedere.access.people.memberships import Member
from belvedere.access.people.users import User
from belvedere.access.signin import login_tickets, recovery_codes, second_factors, sessions
from belvedere.base.errors import Conflict, Forbidden
from belvedere.db import Tx


class SecondFactorStatus(msgspec.Struct, frozen=True):
    """The state of a person's second factor."""

    since: int | None
    codes_left: int
    # By any organization of the person, not necessarily the current one.
    is_required: bool


def status(tx: Tx, actor: Actor) -> SecondFactorStatus:
    sessions.require_session(actor)
    factor = second_factors.find(tx, actor.user_id)
    return SecondFactorStatus(
        None if factor is None else factor.confirmed_at,
        recovery_codes.count(tx, actor.user_id),
        _is_required(tx, actor.user_id),
    )


def begin(tx: Tx, keys: Keyring, actor: Actor) -> str:
    sessions.require_session(actor)
    return second_factors.begin(tx, keys, actor.user_id)


def confirm(tx: Tx, keys: Keyring, actor: Actor, code: str) -> list[str] | None:
    """Enable the second factor, and end the sessions that used only the password. None: wrong
    code."""
    sessions.require_session(actor)
    codes = second_factors.confirm(tx, keys, actor.user_id, code)
    if codes is None:
        return None
    sessions.revoke_for_user(tx, actor.user_id, except_id=actor.credential_id)
    login_tickets.delete_for_user(tx, actor.user_id)
    method, session_id = second_factors.TOTP, actor.credential_id
    tx.execute("update sessions set method = ? where id = ?", method, session_id)
    _record_change(tx, actor, actor.member_id, "enable_second_factor", "second_factor_on")
    return codes


def renew_codes(tx: Tx, keys: Keyring, actor: Actor) -> list[str]:
    sessions.require_session(actor)
    if second_factors.find(tx, actor.user_id) is None:
        raise second_factors.no_second_factor()
    codes = recovery_codes.renew(tx, keys, actor.user_id)
    _record_change(tx, actor, actor.member_id, "renew_recovery_codes", "recovery_codes_renewed")
    return codes


def disable(tx: Tx, actor: Actor) -> None:
    sessions.require_session(actor)
    if second_factors.find(tx, actor.user_id) is None:
        raise second_factors.no_second_factor()
    if _is_required(tx, actor.user_id):
        raise Conflict(
            "One of your organizations requires a second factor. Ask an admin to reset it instead.",
            code="second_factor_required",
        )
    _delete(tx, actor.user_id)
    _record_change(tx, actor, actor.member_id, "disable_second_factor", "second_factor_off")


def reset(tx: Tx, actor: Actor, member_id: str) -> Member:
    """For an admin, when a person lost both app and codes: the password is enough again."""
    require(actor, Level.ADMIN)
    member = memberships.lock_member_below(tx, actor, member_id)
    if memberships.has_other_customers(tx, member):
        # It protects all organizations of a person: no single one may remove it.
        raise Forbidden(
            "This person is also a member of other organizations. Ask the server's operator to"
            " reset the second factor.",
            code="belongs_elsewhere",
        )
    _reset(tx, actor, member)
    return memberships.find(tx, actor.customer_id, member_id)


def reset_by_operator(tx: Tx, identifier: str, customer_name: str | None = None) -> User:
    user, member = password_recovery.find_account(tx, identifier, customer_name)
    _reset(tx, password_recovery.operator_of(tx, member), member)
    return user


def _reset(tx: Tx, actor: Actor, member: Member) -> None:
    if not member.has_second_factor:
        raise Conflict("This person has no second factor.", code="no_second_factor")
    _delete(tx, member.user_id)
    sessions.revoke_for_user(tx, member.user_id)
    _record_change(tx, actor, member.id, "reset_second_factor", "second_factor_off")


def _delete(tx: Tx, user_id: str) -> None:
    second_factors.delete(tx, user_id)
    login_tickets.delete_for_user(tx, user_id)


def _is_required(tx: Tx, user_id: str) -> bool:
    return any(place.needs_second_factor for place in sessions.list_memberships(tx, user_id))


def _record_change(tx: Tx, actor: Actor, member_id: str, action: str, kind: str) -> None:
    memberships.record_change(tx, actor, action, kind, member_id, None, {})
