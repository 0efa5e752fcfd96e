"""The rows of webhooks."""

from collections.abc import Mapping

import msgspec

from belvedere.base.errors import NotFound
from belvedere.db import Tx, columns
from belvedere.rest.listing import Field, FieldKind, Listable, Listing
from belvedere.rest.listing_sql import clauses
from belvedere.webhooks.model import WebhookRow

WEBHOOKS = Listable(
    fields={
        "id": Field("id"),
        "name": Field("name", is_name=True),
        "enable": Field("enabled", FieldKind.BOOL),
        "signature": Field("signature"),
        "trigger_count": Field("trigger_count", FieldKind.INT),
        "last_triggered": Field("triggered_at", FieldKind.TIME),
        "version": Field("version", FieldKind.INT),
        "creation_date": Field("created_at", FieldKind.TIME),
        "last_update": Field("updated_at", FieldKind.TIME),
    }
)
_ROW = columns(WebhookRow)


def find(tx: Tx, customer_id: str, webhook_id: str, *, lock: bool = False) -> WebhookRow:
    """The webhook; with `lock`, locked until the end of the transaction."""
    row = look_up(tx, customer_id, webhook_id, lock=lock)
    if row is None:
        raise not_found()
    return row


def not_found() -> NotFound:
    return NotFound("There is no such webhook.", code="webhook_not_found")


def look_up(tx: Tx, customer_id: str, webhook_id: str, *, lock: bool = False) -> WebhookRow | None:
    return tx.one(
        WebhookRow,
        f"select {_ROW} from webhooks where id = ? and customer_id = ?"
        f"{tx.dialect.lock_rows if lock else ''}",
        webhook_id,
        customer_id,
    )


def insert(tx: Tx, row: WebhookRow) -> None:
    marks = ", ".join("?" for _ in WebhookRow.__struct_fields__)
    tx.execute(f"insert into webhooks ({_ROW}) values ({marks})", *msgspec.structs.astuple(row))


def save(tx: Tx, row: WebhookRow) -> None:
    """Save the fields that people change, not the counter."""
    tx.execute(
        "update webhooks set name = ?, enabled = ?, signature = ?, version = ?, updated_at = ?"
        " where id = ? and customer_id = ?",
        row.name,
        row.enabled,
        row.signature,
        row.version,
        row.updated_at,
        row.id,
        row.customer_id,
    )


def add_calls(tx: Tx, calls: Mapping[str, int]) -> None:
    """Add to the counters of calls, by webhook."""
    tx.execute_many(
        "update webhooks set trigger_count = trigger_count + ?, triggered_at = ? where id = ?",
        [(number, tx.now, webhook_id) for webhook_id, number in sorted(calls.items())],
    )


def delete(tx: Tx, row: WebhookRow) -> None:
    tx.execute("delete from deliveries where webhook_id = ?", row.id)
    tx.execute("delete from webhooks where id = ? and customer_id = ?", row.id, row.customer_id)


def select_page(tx: Tx, customer_id: str, listing: Listing) -> list[WebhookRow]:
    sql = clauses(listing)
    return tx.all(
        WebhookRow,
        f"select {_ROW} from webhooks where customer_id = ?{sql.where}{sql.page}",
        customer_id,
        *sql.params,
        *sql.page_params,
    )


def count_rows(tx: Tx, customer_id: str, listing: Listing) -> int:
    sql = clauses(listing)
    return int(
        tx.value(
            f"select count(*) from webhooks where customer_id = ?{sql.where}",
            customer_id,
            *sql.params,
        )
    )
