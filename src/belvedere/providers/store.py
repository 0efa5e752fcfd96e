"""The rows of providers, of who is who there, and of sign-ins that came back."""

import msgspec

from belvedere.base.errors import NotFound
from belvedere.db import Tx, columns
from belvedere.providers.model import OWN, ProviderRow

_ROW = columns(ProviderRow)


def of_customer(tx: Tx, customer_id: str) -> list[ProviderRow]:
    sql = f"select {_ROW} from providers where customer_id = ? order by name, id"
    return tx.all(ProviderRow, sql, customer_id)


def find(tx: Tx, customer_id: str, provider_id: str) -> ProviderRow:
    sql = f"select {_ROW} from providers where customer_id = ? and id = ?"
    found = tx.one(ProviderRow, sql, customer_id, provider_id)
    if found is None:
        raise missing()
    return found


def open_door(tx: Tx, provider_id: str) -> ProviderRow:
    """For somebody who has not signed in yet: one that is in use."""
    found = tx.one(
        ProviderRow,
        f"select {_ROW} from providers where id = ? and enabled = 1 and exists (select 1"
        " from customers c where c.id = providers.customer_id and c.enabled = 1)",
        provider_id,
    )
    if found is None:
        raise missing()
    return found


def shares_with_strangers(tx: Tx, row: ProviderRow) -> bool:
    """Whether another issuer, of another organization, may send people to the shared callback."""
    found = tx.row(
        "select 1 from providers where callback <> ? and enabled = 1 and customer_id <> ?"
        " and issuer <> ? limit 1",
        OWN,
        row.customer_id,
        row.issuer,
    )
    return found is not None


def insert(tx: Tx, row: ProviderRow) -> None:
    marks = ", ".join("?" for _ in ProviderRow.__struct_fields__)
    tx.run(f"insert into providers ({_ROW}) values ({marks})", *msgspec.structs.astuple(row))


def save(tx: Tx, row: ProviderRow) -> None:
    tx.run(
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
    forget_people(tx, row.id)
    tx.run("delete from providers where id = ? and customer_id = ?", row.id, row.customer_id)


def forget_people(tx: Tx, provider_id: str) -> None:
    tx.run("delete from identities where provider_id = ?", provider_id)


def end_sessions(tx: Tx, provider_id: str) -> None:
    """Whoever came in through it is out."""
    tx.run(
        "update sessions set revoked_at = ? where provider_id = ? and revoked_at is null",
        tx.now,
        provider_id,
    )
    tx.rung.add("access")


def bound_user(tx: Tx, provider_id: str, subject: str) -> str | None:
    sql = "select user_id from identities where provider_id = ? and subject = ?"
    found: str | None = tx.value(sql, provider_id, subject)
    return found


def bind(tx: Tx, provider_id: str, subject: str, user_id: str) -> bool:
    """False when either of them belongs to another already."""
    made = tx.run(
        "insert into identities (provider_id, subject, user_id, created_at) values (?, ?, ?, ?)"
        " on conflict do nothing",
        provider_id,
        subject,
        user_id,
        tx.now,
    )
    return made == 1


def use_state(tx: Tx, digest: str, until: int) -> bool:
    """Whether it comes back for the first time."""
    tx.run("delete from used_states where expires_at <= ?", tx.now)
    made = tx.run(
        "insert into used_states (digest, expires_at) values (?, ?) on conflict do nothing",
        digest,
        until,
    )
    return made == 1


def missing() -> NotFound:
    return NotFound("There is no such provider.", code="provider_not_found")
