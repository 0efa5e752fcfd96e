"""Login tickets: issued for a correct password; exchanged for a session with the second factor."""

import msgspec

from belvedere.access.crypto.keyring import TICKET, Keyring, make_token
from belvedere.base.clock import MINUTE, Millis
from belvedere.base.errors import Unauthenticated
from belvedere.db import Tx, columns

LIFE: Millis = 5 * MINUTE
TRIES = 5
# What is still required: a code, or first the set-up of an app that generates codes.
TOTP, SETUP = "totp", "setup"

_GOOD = "digest = ? and expires_at > ? and tries < ?"


class LoginTicket(msgspec.Struct, frozen=True):
    digest: str
    user_id: str
    customer_id: str
    asks: str
    tries: int
    expires_at: int
    # Digest of the browser that sent the password; empty for programs.
    browser: str


def create(
    tx: Tx, keys: Keyring, user_id: str, customer_id: str, asks: str, browser: str = ""
) -> str:
    """A ticket for this person in this organization. Expired tickets are deleted."""
    tx.execute("delete from tickets where expires_at <= ?", tx.now)
    token = make_token(TICKET)
    ticket = LoginTicket(keys.digest(token), user_id, customer_id, asks, 0, tx.now + LIFE, browser)
    tx.execute(
        f"insert into tickets ({columns(LoginTicket)}) values (?, ?, ?, ?, ?, ?, ?)",
        *msgspec.structs.astuple(ticket),
    )
    return token


def find(
    tx: Tx, keys: Keyring, token: str, asks: str | None = None, browser: str = ""
) -> LoginTicket:
    """The ticket, while it is valid. A ticket of a browser is only valid in that browser."""
    sql = f"select {columns(LoginTicket)} from tickets where {_GOOD}"
    ticket = tx.one(LoginTicket, sql, keys.digest(token), tx.now, TRIES)
    if ticket is None or asks not in (None, ticket.asks) or ticket.browser not in ("", browser):
        raise ticket_gone()
    return ticket


def owner(tx: Tx, keys: Keyring, token: str) -> str:
    """The user of the ticket; empty when it does not exist any more."""
    return tx.value("select user_id from tickets where digest = ?", keys.digest(token)) or ""


def count_try(tx: Tx, ticket: LoginTicket) -> None:
    """Count a try, unless the ticket is no longer valid."""
    sql = f"update tickets set tries = tries + 1 where {_GOOD}"
    if not tx.execute(sql, ticket.digest, tx.now, TRIES):
        raise ticket_gone()


def delete(tx: Tx, ticket: LoginTicket) -> None:
    tx.execute("delete from tickets where digest = ?", ticket.digest)


def delete_for_user(tx: Tx, user_id: str, customer_id: str = "") -> None:
    """For a user whose password or second factor changed; in one organization, or in all."""
    tx.execute(
        "delete from tickets where user_id = ? and (? = '' or customer_id = ?)",
        user_id,
        customer_id,
        customer_id,
    )


def ticket_gone() -> Unauthenticated:
    return Unauthenticated(
        "The sign-in took too long, or too many codes were wrong. Sign in with the password again.",
        code="ticket_gone",
    )
