"""The rows of channels and rules, and the encrypted address of a channel."""

from collections.abc import Callable, Iterable
from typing import TypeVar

import msgspec

from belvedere.access.crypto.keyring import Keyring
from belvedere.base.errors import NotFound
from belvedere.db import Tx, columns
from belvedere.notifications.model import ChannelRow, Rule, RuleRow, rule_of
from belvedere.rest.listing import Field, FieldKind, Listable, Listing
from belvedere.rest.listing_sql import clauses

R = TypeVar("R", ChannelRow, RuleRow)

_COMMON = {
    "id": Field("id"),
    "name": Field("name", is_name=True),
    "enable": Field("enabled", FieldKind.BOOL),
    "version": Field("version", FieldKind.INT),
    "creation_date": Field("created_at", FieldKind.TIME),
    "last_update": Field("updated_at", FieldKind.TIME),
}
CHANNELS = Listable(fields={**_COMMON, "service": Field("service")})
RULES = Listable(fields={**_COMMON, "severity": Field("severity")})


def channel_not_found() -> NotFound:
    return NotFound("There is no such channel.", code="channel_not_found")


def rule_not_found() -> NotFound:
    return NotFound("There is no such rule.", code="rule_not_found")


# The table of each row type, and the error for an id that it does not contain.
_TABLES: dict[type, tuple[str, Callable[[], NotFound]]] = {
    ChannelRow: ("channels", channel_not_found),
    RuleRow: ("rules", rule_not_found),
}


def find(tx: Tx, row_type: type[R], customer_id: str, row_id: str, *, lock: bool = False) -> R:
    """The row; `lock` holds a row lock until the transaction ends."""
    table, not_found = _TABLES[row_type]
    row = tx.one(
        row_type,
        f"select {columns(row_type)} from {table} where id = ? and customer_id = ?"
        f"{tx.dialect.lock_rows if lock else ''}",
        row_id,
        customer_id,
    )
    if row is None:
        raise not_found()
    return row


def insert(tx: Tx, row: ChannelRow | RuleRow) -> None:
    marks = ", ".join("?" for _ in row.__struct_fields__)
    tx.execute(
        f"insert into {_TABLES[type(row)][0]} ({columns(type(row))}) values ({marks})",
        *msgspec.structs.astuple(row),
    )


def save(tx: Tx, row: ChannelRow | RuleRow) -> None:
    names = [name for name in row.__struct_fields__ if name not in ("id", "customer_id")]
    tx.execute(
        f"update {_TABLES[type(row)][0]} set {', '.join(f'{name} = ?' for name in names)}"
        " where id = ? and customer_id = ?",
        *(getattr(row, name) for name in names),
        row.id,
        row.customer_id,
    )


def delete(tx: Tx, row: ChannelRow | RuleRow) -> None:
    tx.execute(
        f"delete from {_TABLES[type(row)][0]} where id = ? and customer_id = ?",
        row.id,
        row.customer_id,
    )


def select_page(tx: Tx, row_type: type[R], customer_id: str, listing: Listing) -> list[R]:
    sql = clauses(listing)
    return tx.all(
        row_type,
        f"select {columns(row_type)} from {_TABLES[row_type][0]} where customer_id = ?"
        f"{sql.where}{sql.page}",
        customer_id,
        *sql.params,
        *sql.page_params,
    )


def count(tx: Tx, row_type: type[R], customer_id: str, listing: Listing) -> int:
    sql = clauses(listing)
    query = f"select count(*) from {_TABLES[row_type][0]} where customer_id = ?{sql.where}"
    return int(tx.value(query, customer_id, *sql.params))


def active_rules(tx: Tx, customer_ids: Iterable[str]) -> list[Rule]:
    """The enabled rules of these organizations."""
    rows = tx.all(
        RuleRow,
        f"select {columns(RuleRow)} from rules where enabled = 1"
        f" and customer_id in {tx.dialect.in_texts} order by id",
        msgspec.json.encode(sorted(customer_ids)).decode(),
    )
    return [rule_of(row) for row in rows]


def active_channels(tx: Tx, channel_ids: Iterable[str]) -> frozenset[str]:
    rows = tx.rows(
        f"select id from channels where enabled = 1 and id in {tx.dialect.in_texts}",
        msgspec.json.encode(sorted(channel_ids)).decode(),
    )
    return frozenset(channel_id for (channel_id,) in rows)


def active_channel_names(tx: Tx, customer_id: str, channel_ids: Iterable[str]) -> list[str]:
    rows = tx.rows(
        "select name from channels where customer_id = ? and enabled = 1"
        f" and id in {tx.dialect.in_texts} order by lower(name)",
        customer_id,
        msgspec.json.encode(sorted(channel_ids)).decode(),
    )
    return [name for (name,) in rows]


def rules_using(tx: Tx, customer_id: str, channel_id: str) -> list[str]:
    """Names of the rules that use a channel."""
    rows = tx.all(
        RuleRow, f"select {columns(RuleRow)} from rules where customer_id = ?", customer_id
    )
    return [row.name for row in rows if channel_id in msgspec.json.decode(row.channels)]


def channel_url(keys: Keyring, row: ChannelRow) -> str:
    return keys.unseal(row.box, _url_context(row))


def seal_url(keys: Keyring, row: ChannelRow, url: str) -> str:
    return keys.seal(url, _url_context(row))


def _url_context(row: ChannelRow) -> str:
    return f"channel/{row.customer_id}/{row.id}"
