"""People, known to the whole server by their e-mail; members of organizations are made of them."""

import msgspec

from belvedere.access import names
from belvedere.base.ids import new_id
from belvedere.db import Tx, columns

MAX_IDENTIFIER = 254


class User(msgspec.Struct, frozen=True):
    id: str
    email: str
    username: str
    name: str
    password_hash: str | None
    enabled: int


def find(tx: Tx, user_id: str) -> User | None:
    return tx.one(User, f"select {columns(User)} from users where id = ?", user_id)


def by_identifier(tx: Tx, identifier: str) -> User | None:
    """By e-mail or user name; they cannot be mistaken for each other."""
    text = identifier.strip().lower()
    if len(text) > MAX_IDENTIFIER or not text.isprintable():
        return None
    return tx.one(
        User, f"select {columns(User)} from users where email = ? or username = ?", text, text
    )


def find_or_create(tx: Tx, email: str, name: str = "") -> User:
    """The person with this e-mail; a new one has no password and cannot sign in yet."""
    address = names.email(email)
    proposal = names.username_from(address)
    number = 1
    while True:
        found = by_identifier(tx, address)
        if found is not None and hold(tx, found.id):
            return found
        username = proposal if number == 1 else f"{proposal}-{number}"
        # Does nothing when the user name is taken, or when another server was faster.
        tx.run(
            "insert into users (id, email, username, name, created_at, updated_at)"
            " values (?, ?, ?, ?, ?, ?) on conflict do nothing",
            new_id(),
            address,
            username,
            names.person(name),
            tx.now,
            tx.now,
        )
        number += 1


def hold(tx: Tx, user_id: str) -> bool:
    """Keep the row as it is until the commit; False when it has gone meanwhile. So nobody is
    forgotten while another organization invites the same person."""
    return tx.row(f"select id from users where id = ?{tx.sql.lock_rows}", user_id) is not None


def set_password(tx: Tx, user_id: str, password_hash: str) -> None:
    tx.run(
        "update users set password_hash = ?, updated_at = ? where id = ?",
        password_hash,
        tx.now,
        user_id,
    )


def exchange_password(tx: Tx, user_id: str, seen: str | None, password_hash: str) -> bool:
    """The same, unless the password changed since `seen` was read."""
    changed = tx.run(
        "update users set password_hash = ?, updated_at = ?"
        " where id = ? and coalesce(password_hash, '') = ?",
        password_hash,
        tx.now,
        user_id,
        seen or "",
    )
    return changed == 1


# What belongs to somebody and to nobody else; it goes with them.
_OWN = ("links", "tickets", "recovery_codes", "second_factors", "preferences")
_UNUSED = (
    "password_hash is null"
    " and not exists (select 1 from members where user_id = users.id)"
    " and not exists (select 1 from sessions where user_id = users.id)"
    # Whom a provider of another organization knows is somebody there.
    " and not exists (select 1 from identities where user_id = users.id)"
)


def forget_unused(tx: Tx, user_id: str) -> None:
    """Drop somebody who has no password here and belongs nowhere any more."""
    hold(tx, user_id)
    if tx.row(f"select 1 from users where id = ? and {_UNUSED}", user_id) is None:
        return
    for table in _OWN:
        tx.run(f"delete from {table} where user_id = ?", user_id)
    tx.run("delete from users where id = ?", user_id)
