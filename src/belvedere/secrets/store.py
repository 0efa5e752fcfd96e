"""The rows of secrets."""

import msgspec

from belvedere.base.errors import NotFound
from belvedere.db import Tx, columns
from belvedere.rest.listing import Field, FieldKind, Listable, Listing
from belvedere.rest.listing_sql import clauses
from belvedere.secrets.model import SecretRow

SECRETS = Listable(
    fields={
        "id": Field("id"),
        "name": Field("name", is_name=True),
        "task_id": Field("task_id"),
        "secret": Field("is_secret", FieldKind.BOOL),
        "version": Field("version", FieldKind.INT),
        "creation_date": Field("created_at", FieldKind.TIME),
        "last_update": Field("updated_at", FieldKind.TIME),
    }
)
_ROW = columns(SecretRow)


def not_found() -> NotFound:
    return NotFound("There is no such secret.", code="secret_not_found")


def look_up(tx: Tx, customer_id: str, task_id: str, name: str) -> SecretRow | None:
    if "\0" in task_id + name:
        # No secret has such a name, and PostgreSQL rejects such a parameter.
        return None
    return tx.one(
        SecretRow,
        f"select {_ROW} from secrets where customer_id = ? and task_id = ? and name = ?",
        customer_id,
        task_id,
        name,
    )


def for_customer(tx: Tx, customer_id: str) -> list[SecretRow]:
    """All secrets, also those of tasks, sorted by name."""
    return tx.all(
        SecretRow,
        f"select {_ROW} from secrets where customer_id = ? order by lower(name), name",
        customer_id,
    )


def select_page(tx: Tx, customer_id: str, listing: Listing) -> list[SecretRow]:
    sql = clauses(listing)
    return tx.all(
        SecretRow,
        f"select {_ROW} from secrets where customer_id = ?{sql.where}{sql.page}",
        customer_id,
        *sql.params,
        *sql.page_params,
    )


def insert(tx: Tx, row: SecretRow) -> None:
    marks = ", ".join("?" for _ in SecretRow.__struct_fields__)
    tx.execute(f"insert into secrets ({_ROW}) values ({marks})", *msgspec.structs.astuple(row))


def save(tx: Tx, row: SecretRow) -> None:
    tx.execute(
        "update secrets set is_secret = ?, box = ?, size = ?, description = ?, updated_by = ?,"
        " version = ?, updated_at = ? where id = ? and customer_id = ?",
        row.is_secret,
        row.box,
        row.size,
        row.description,
        row.updated_by,
        row.version,
        row.updated_at,
        row.id,
        row.customer_id,
    )


def delete(tx: Tx, row: SecretRow) -> None:
    tx.execute("delete from secrets where id = ? and customer_id = ?", row.id, row.customer_id)
