"""The rows of deliveries, their results, and their retention."""

from collections.abc import Iterable, Sequence

import msgspec

from belvedere.access import history_lists
from belvedere.access.crypto import sealed_values
from belvedere.access.history_lists import HistoryScope, HistoryTable
from belvedere.access.id_ranges import TimeField
from belvedere.base.clock import DAY, Millis
from belvedere.base.errors import NotFound
from belvedere.base.text import json_text
from belvedere.base.text.credentials import MASK, is_credential
from belvedere.db import Tx, columns
from belvedere.rest.listing import Field, FieldKind, Listable, Listing
from belvedere.rest.pagination import ListPage
from belvedere.webhooks.model import Delivery

RETENTION: Millis = 30 * DAY
# Limits of each webhook.
MAX_DELIVERIES, MAX_BYTES = 500, 16 << 20
BATCH_SIZE = 200
MAX_HEADERS, MAX_HEADER = 64, 1_024
DELIVERIES = Listable(
    fields={
        "id": Field("id"),
        "date": Field("at", FieldKind.TIME),
        "verdict": Field("verdict"),
        "address": Field("address"),
        "door": Field("door"),
        "delivery": Field("delivery_key"),
    },
    newest_first=True,
    most=100,
)
_ROW = columns(Delivery)


def redact_headers(headers: Iterable[tuple[str, str]]) -> str:
    """Headers as JSON for the database: values that look like secrets are masked."""
    values = {
        name: MASK if is_credential(name) else value[:MAX_HEADER]
        for name, value in list(headers)[:MAX_HEADERS]
    }
    return msgspec.json.encode(values).decode()


def body_text(raw: bytes) -> str:
    """A body as text for the database; bytes that are not UTF-8 are replaced."""
    return json_text.clean(raw.decode("utf-8", "replace"))


def context(delivery_id: str) -> str:
    return f"delivery/{delivery_id}"


def seal_body(tx: Tx, delivery: Delivery, body: str) -> str:
    """A body as the database stores it: sealed where a part of it is masked."""
    if delivery.masked == "[]" and not body.startswith(sealed_values.TEXT):
        return body
    return sealed_values.seal_text(tx, context(delivery.id), body)


def insert(tx: Tx, deliveries: Sequence[tuple[Delivery, str]]) -> None:
    marks = ", ".join("?" for _ in Delivery.__struct_fields__)
    tx.execute_many(
        f"insert into deliveries ({_ROW}, body) values ({marks}, ?)",
        [
            (*msgspec.structs.astuple(delivery), seal_body(tx, delivery, body))
            for delivery, body in deliveries
        ],
    )


def find(tx: Tx, customer_id: str, webhook_id: str, delivery_id: str) -> tuple[Delivery, str]:
    """A delivery and its body."""
    row = tx.row(
        f"select {_ROW}, body from deliveries where id = ? and webhook_id = ? and customer_id = ?",
        delivery_id,
        webhook_id,
        customer_id,
    )
    if row is None:
        raise NotFound("There is no such delivery.", code="delivery_not_found")
    *fields, body = row
    delivery = Delivery(*fields)
    return delivery, sealed_values.open_text(tx, context(delivery.id), body, "")


_TABLE = HistoryTable(
    Delivery,
    "deliveries",
    ("webhook_id",),
    TimeField("date"),
    size="octet_length(jobs) + octet_length(headers)",
)


def read_page(
    tx: Tx,
    customer_id: str,
    webhook_id: str,
    listing: Listing,
    count_limit: int | None,
    row_limit: int | None,
    size: int = 0,
) -> ListPage[Delivery]:
    """One step of a list; see `searches.read_list`."""
    scope = HistoryScope((webhook_id,), {"customer_id": customer_id})
    return history_lists.read_page(tx, _TABLE, scope, listing, count_limit, row_limit, size)


# Retention


def purge_old(tx: Tx) -> bool:
    """Delete a batch of old deliveries; whether there may be more. Ids begin with their time."""
    gone = tx.execute(
        "delete from deliveries where id in"
        " (select id from deliveries where id < ? order by id limit ?)",
        f"{max(0, tx.now - RETENTION):012x}",
        BATCH_SIZE,
    )
    return gone == BATCH_SIZE


def purge_excess(tx: Tx, after: str) -> str | None:
    """Delete what exceeds the limits of the webhook after this one; its id, None: there is none."""
    webhook_id: str | None = tx.value(
        "select id from webhooks where id > ? order by id limit 1", after
    )
    if webhook_id is None:
        return None
    last = _oldest_retained(
        tx.rows(
            "select id, size from deliveries where webhook_id = ? order by id desc limit ?",
            webhook_id,
            MAX_DELIVERIES + 1,
        )
    )
    if last is not None:
        tx.execute("delete from deliveries where webhook_id = ? and id < ?", webhook_id, last)
    return webhook_id


def _oldest_retained(newest_first: Sequence[tuple[str, int]]) -> str | None:
    """The oldest delivery within the limits; None when all are."""
    total = 0
    for n, (_, size) in enumerate(newest_first):
        total += size
        if n == MAX_DELIVERIES or (total > MAX_BYTES and n > 0):
            return newest_first[n - 1][0]
    return None
