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


class Ticket(msgspec.Struct, frozen=True):
    digest: str
    user_id: str
    customer_id: str
    asks: str
    tries: int
    expires_at: int
    # Digest of the browser that gave the password; empty for programs.
    browser: str


def make(
    tx: Tx, keys: Keyring, user_id: str, customer_id: str, asks: str, browser: str = ""
) -> str:
    """For this person in this organization. Old ones are swept away by the way."""
    tx.execute("delete from tickets where expires_at <= ?", tx.now)
    token = make_token(TICKET)
    ticket = Ticket(keys.digest(token), user_id, customer_id, asks, 0, tx.now + LIFE, browser)
    tx.execute(
        f"insert into tickets ({columns(Ticket)}) values (?, ?, ?, ?, ?, ?, ?)",
        *msgspec.structs.astuple(ticket),
    )
    return token


def find(tx: Tx, keys: Keyring, token: str, asks: str | None = None, browser: str = "") -> Ticket:
    """One that a browser was given counts only in that browser."""
    sql = f"select {columns(Ticket)} from tickets where {_GOOD}"
    found = tx.one(Ticket, sql, keys.digest(token), tx.now, TRIES)
    if found is None or asks not in (None, found.asks) or found.browser not in ("", browser):
        raise gone()
    return found


def owner(tx: Tx, keys: Keyring, token: str) -> str:
    """Whose ticket it is; empty when it is gone."""
    return tx.value("select user_id from tickets where digest = ?", keys.digest(token)) or ""


def count_try(tx: Tx, ticket: Ticket) -> None:
    """One try less, unless it is dead meanwhile."""
    sql = f"update tickets set tries = tries + 1 where {_GOOD}"
    if not tx.execute(sql, ticket.digest, tx.now, TRIES):
        raise gone()


def use_up(tx: Tx, ticket: Ticket) -> None:
    tx.execute("delete from tickets where digest = ?", ticket.digest)


def drop(tx: Tx, user_id: str, customer_id: str = "") -> None:
    """Of somebody whose password or second factor is another one now, or in one organization."""
    tx.execute(
        "delete from tickets where user_id = ? and (? = '' or customer_id = ?)",
        user_id,
        customer_id,
        customer_id,
    )


def gone() -> Unauthenticated:
    return Unauthenticated(
        "This took too long, or too many codes were wrong; sign in with the password again.",
        code="ticket_gone",
    )
