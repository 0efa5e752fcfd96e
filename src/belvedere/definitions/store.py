"""The rows of definitions."""

import re

import msgspec

from belvedere.access.crypto import sealed_values
from belvedere.base.errors import NotFound
from belvedere.db import Tx, columns
from belvedere.definitions.model import DefinitionRow
from belvedere.rest import response_budget
from belvedere.rest.listing import Field, FieldKind, Listable, Listing
from belvedere.rest.listing_sql import clauses

DEFINITIONS = Listable(
    fields={
        "id": Field("id"),
        "kind": Field("kind"),
        "host_tag": Field("host_tag"),
        "name": Field("name", is_name=True),
        "version": Field("version", FieldKind.INT),
        "creation_date": Field("created_at", FieldKind.TIME),
        "last_update": Field("updated_at", FieldKind.TIME),
    }
)
_ROW = columns(DefinitionRow)
_SECRET = re.compile(r'"(?:env|headers|url|body|task_arguments|script_arguments)":')
_LIVE = "customer_id = ? and deleted_at is null"


def seal_context(definition_id: str) -> str:
    return f"definition/{definition_id}"


def sealed_body(tx: Tx, definition_id: str, text: str) -> str:
    """A definition as it is stored: sealed as one text if it may contain secrets."""
    if not _SECRET.search(text):
        return text
    return sealed_values.seal_text(tx, seal_context(definition_id), text)


def _unsealed(tx: Tx, rows: list[DefinitionRow]) -> list[DefinitionRow]:
    for row in rows:
        row.body = sealed_values.open_text(tx, seal_context(row.id), row.body, "{}")
    return rows


def find(tx: Tx, customer_id: str, definition_id: str, *, lock: bool = False) -> DefinitionRow:
    row = tx.one(
        DefinitionRow,
        f"select {_ROW} from definitions where {_LIVE} and id = ?"
        f"{tx.dialect.lock_rows if lock else ''}",
        customer_id,
        definition_id,
    )
    if row is None:
        raise NotFound("There is no such definition.", code="definition_not_found")
    return _unsealed(tx, [row])[0]


def lock_all(tx: Tx, customer_id: str) -> list[DefinitionRow]:
    """All definitions of the customer, locked until the end of the transaction."""
    rows = tx.all(
        DefinitionRow,
        f"select {_ROW} from definitions where {_LIVE} order by id{tx.dialect.lock_rows}",
        customer_id,
    )
    return _unsealed(tx, rows)


def tags_in_use(tx: Tx, customer_id: str) -> list[str]:
    """The host tags that have definitions, in alphabetical order."""
    rows = tx.rows(
        f"select distinct host_tag from definitions where {_LIVE} order by host_tag", customer_id
    )
    return [tag for (tag,) in rows]


def for_tag(tx: Tx, customer_id: str, tag: str) -> list[DefinitionRow]:
    rows = tx.all(
        DefinitionRow,
        f"select {_ROW} from definitions where {_LIVE} and host_tag = ? order by id",
        customer_id,
        tag,
    )
    return _unsealed(tx, rows)


def insert(tx: Tx, row: DefinitionRow) -> None:
    marks = ", ".join("?" for _ in DefinitionRow.__struct_fields__)
    sealed = msgspec.structs.replace(row, body=sealed_body(tx, row.id, row.body))
    tx.execute(
        f"insert into definitions ({_ROW}) values ({marks})", *msgspec.structs.astuple(sealed)
    )


def save(tx: Tx, row: DefinitionRow) -> None:
    tx.execute(
        "update definitions set host_tag = ?, name = ?, body = ?, version = ?, updated_at = ?"
        " where id = ? and customer_id = ?",
        row.host_tag,
        row.name,
        sealed_body(tx, row.id, row.body),
        row.version,
        row.updated_at,
        row.id,
        row.customer_id,
    )


def mark_deleted(tx: Tx, row: DefinitionRow) -> None:
    tx.execute(
        "update definitions set deleted_at = ? where id = ? and customer_id = ?",
        tx.now,
        row.id,
        row.customer_id,
    )


def fit_page(tx: Tx, customer_id: str, listing: Listing) -> Listing:
    """The listing, shortened to the size limit of a response."""
    sql = clauses(listing)
    rows = tx.rows(
        f"select octet_length(body) from definitions where {_LIVE}{sql.where}{sql.page}",
        *(customer_id, *sql.params, *sql.page_params),
    )
    return response_budget.fit_listing(listing, (size for (size,) in rows))


def select_page(tx: Tx, customer_id: str, listing: Listing) -> list[DefinitionRow]:
    sql = clauses(listing)
    rows = tx.all(
        DefinitionRow,
        f"select {_ROW} from definitions where {_LIVE}{sql.where}{sql.page}",
        customer_id,
        *sql.params,
        *sql.page_params,
    )
    return _unsealed(tx, rows)


def count(tx: Tx, customer_id: str, listing: Listing) -> int:
    sql = clauses(listing)
    statement = f"select count(*) from definitions where {_LIVE}{sql.where}"
    return int(tx.value(statement, customer_id, *sql.params))
