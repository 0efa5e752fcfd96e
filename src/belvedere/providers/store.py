"""The rows of providers, of subjects linked to members, and of used sign-in states."""

import msgspec

from belvedere.access import Level
from belvedere.access.signin import sessions
from belvedere.base.errors import NotFound
from belvedere.db import Tx, columns
from belvedere.providers.model import OWN, ProviderRow

_ROW = columns(ProviderRow)


def for_customer(tx: Tx, customer_id: str) -> list[ProviderRow]:
    sql = f"select {_ROW} from providers where customer_id = ? order by lower(name), id"
    return tx.all(ProviderRow, sql, customer_id)


def find(tx: Tx, customer_id: str, provider_id: str) -> ProviderRow:
    sql = f"select {_ROW} from providers where customer_id = ? and id = ?"
    row = tx.one(ProviderRow, sql, customer_id, provider_id)
    if row is None:
        raise not_found()
    return row


def find_enabled(tx: Tx, provider_id: str) -> ProviderRow:
    """An enabled provider of an enabled organization, for someone who is not signed in yet."""
    row = tx.one(
        ProviderRow,
        f"select {_ROW} from providers where id = ? and enabled = 1 and exists (select 1"
        " from customers c where c.id = providers.customer_id and c.enabled = 1)",
        provider_id,
    )
    if row is None:
        raise not_found()
    return row


def shares_callback(tx: Tx, row: ProviderRow) -> bool:
    """Whether another organization's issuer may redirect to the shared callback too."""
    other = tx.row(
        "select 1 from providers where callback <> ? and enabled = 1 and customer_id <> ?"
        " and issuer <> ? limit 1",
        OWN,
        row.customer_id,
        row.issuer,
    )
    return other is not None


def insert(tx: Tx, row: ProviderRow) -> None:
    marks = ", ".join("?" for _ in ProviderRow.__struct_fields__)
    tx.execute(f"insert into providers ({_ROW}) values ({marks})", *msgspec.structs.astuple(row))


def save(tx: Tx, row: ProviderRow) -> None:
    tx.execute(
        "update providers set name = ?, issuer = ?, client_id = ?, box = ?, scopes = ?,"
        " domains = ?, level = ?, level_claim = ?, level_map = ?, enabled = ?, endpoints = ?,"
        " version = ?, updated_at = ?, callback = ? where id = ? and customer_id = ?",
        *msgspec.structs.astuple(row)[2:14],
        row.updated_at,
        row.callback,
        row.id,
        row.customer_id,
    )


def delete(tx: Tx, row: ProviderRow) -> None:
    delete_identities(tx, row.id)
    tx.execute("delete from providers where id = ? and customer_id = ?", row.id, row.customer_id)


def delete_identities(tx: Tx, provider_id: str) -> None:
    tx.execute("delete from identities where provider_id = ?", provider_id)


def delete_identities_of(tx: Tx, user_id: str, customer_id: str) -> None:
    """The providers of this organization no longer know the account."""
    tx.execute(
        "delete from identities where user_id = ? and provider_id in"
        " (select id from providers where customer_id = ?)",
        user_id,
        customer_id,
    )


def move_identities(tx: Tx, customer_id: str, former_id: str, user_id: str) -> None:
    """Providers sign in the other account from now on; an account of one organization is known to
    providers of that one only."""
    tx.execute("update identities set user_id = ? where user_id = ?", user_id, former_id)


def has_identity(tx: Tx, user_id: str) -> bool:
    """Whether any provider knows the account."""
    return tx.row("select 1 from identities where user_id = ? limit 1", user_id) is not None


def has_owner_with_provider(tx: Tx, customer_id: str, except_id: str = "") -> bool:
    """Whether an owner has signed in through an enabled provider other than this one: only then is
    it certain that the organization can be administered without a password."""
    row = tx.value(
        "select 1 from identities i join providers p on p.id = i.provider_id"
        " join customers c on c.id = p.customer_id join users u on u.id = i.user_id"
        " join members m on m.customer_id = c.id and m.user_id = u.id"
        " where c.id = ? and p.id <> ? and p.enabled = 1 and m.level = ?"
        f" and {sessions.ACTIVE} limit 1",
        customer_id,
        except_id,
        Level.OWNER,
    )
    return row is not None


def bound_user(tx: Tx, provider_id: str, subject: str) -> str | None:
    sql = "select user_id from identities where provider_id = ? and subject = ?"
    user_id: str | None = tx.value(sql, provider_id, subject)
    return user_id


def bind(tx: Tx, provider_id: str, subject: str, user_id: str) -> bool:
    """Link a subject to a user; False if either is linked to another already."""
    inserted = tx.execute(
        "insert into identities (provider_id, subject, user_id, created_at) values (?, ?, ?, ?)"
        " on conflict do nothing",
        provider_id,
        subject,
        user_id,
        tx.now,
    )
    return inserted == 1


def use_state(tx: Tx, digest: str, until: int) -> bool:
    """Mark a state as used; False if it was used before."""
    tx.execute("delete from used_states where expires_at <= ?", tx.now)
    inserted = tx.execute(
        "insert into used_states (digest, expires_at) values (?, ?) on conflict do nothing",
        digest,
        until,
    )
    return inserted == 1


def not_found() -> NotFound:
    return NotFound("There is no such provider.", code="provider_not_found")
