"""Tickets: somebody's password was right; with the second factor a ticket becomes a session."""

import msgspec

from belvedere.access.crypto.keyring import TICKET, Keyring, make_token
from belvedere.base.clock import MINUTE, Millis
from belvedere.base.errors import Unauthenticated
from belvedere.db import Tx, columns

LIFE: Millis = 5 * MINUTE
TRIES = 5
# What is still to come: a code, or first of all an app that makes codes.
TOTP, SETUP = "totp", "setup"

_GOOD = "digest = ? and expires_at > ? and tries < ?"


class LoginTicket(msgspec.Struct, frozen=True):
    digest: str
    user_id: str
    customer_id: str
    asks: str
    tries: int
    expires_at: int
    # Digest of the browser that gave the password; empty for programs.
    browser: str


def create(
    tx: Tx, keys: Keyring, user_id: str, customer_id: str, asks: str, browser: str = ""
) -> str:
    """For this person in this organization. Old ones are swept away by the way."""
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
    """One that a browser was given counts only in that browser."""
    sql = f"select {columns(LoginTicket)} from tickets where {_GOOD}"
    ticket = tx.one(LoginTicket, sql, keys.digest(token), tx.now, TRIES)
    if ticket is None or asks not in (None, ticket.asks) or ticket.browser not in ("", browser):
        raise ticket_gone()
    return ticket


def owner(tx: Tx, keys: Keyring, token: str) -> str:
    """Whose ticket it is; empty when it is gone."""
    return tx.value("select user_id from tickets where digest = ?", keys.digest(token)) or ""


def count_try(tx: Tx, ticket: LoginTicket) -> None:
    """One try less, unless it is dead meanwhile."""
    sql = f"update tickets set tries = tries + 1 where {_GOOD}"
    if not tx.execute(sql, ticket.digest, tx.now, TRIES):
        raise ticket_gone()


def delete(tx: Tx, ticket: LoginTicket) -> None:
    tx.execute("delete from tickets where digest = ?", ticket.digest)


def delete_for_user(tx: Tx, user_id: str, customer_id: str = "") -> None:
    """Of somebody whose password or second factor is another one now, or in one organization."""
    tx.execute(
        "delete from tickets where user_id = ? and (? = '' or customer_id = ?)",
        user_id,
        customer_id,
        customer_id,
    )


def ticket_gone() -> Unauthenticated:
    return Unauthenticated(
        "This took too long, or too many codes were wrong; sign in with the password again.",
        code="ticket_gone",
    )
