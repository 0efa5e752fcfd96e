"""Operations on status pages."""

from typing import Any

import msgspec

from belvedere import events
from belvedere.access import Actor, Level, audit, require
from belvedere.base.errors import Conflict, NotFound, Stale
from belvedere.base.ids import new_id
from belvedere.db import Tx, columns
from belvedere.rest import text_fields
from belvedere.statuspages import model
from belvedere.statuspages.model import StatusPageBody, StatusPageRow

_ROW = columns(StatusPageRow)
# What is deleted with a page.
_DELETE_PARTS = (
    "delete from statuspage_incidents where statuspage_id = ?",
    "delete from statuspage_logos where statuspage_id = ?",
    "delete from statuspage_mailings where statuspage_id = ?",
    "delete from statuspage_subscribers where statuspage_id = ?",
)


def list_all(tx: Tx, actor: Actor) -> list[StatusPageRow]:
    require(actor, Level.MANAGER)
    return tx.all(
        StatusPageRow,
        f"select {_ROW} from statuspages where customer_id = ? order by id",
        actor.customer_id,
    )


def show(tx: Tx, actor: Actor, page_id: str, *, lock: bool = False) -> StatusPageRow:
    require(actor, Level.MANAGER)
    return _find(tx, actor.customer_id, page_id, lock=lock)


def public_row(tx: Tx, slug: str) -> StatusPageRow:
    """The page with this slug, if everybody may see it."""
    row = _enabled(tx, slug) if model.is_slug(slug) else None
    if row is None:
        raise NotFound("There is no such status page.", code="statuspage_not_found")
    return row


def _enabled(tx: Tx, slug: str) -> StatusPageRow | None:
    return tx.one(
        StatusPageRow,
        f"select {columns(StatusPageRow, 's.')} from statuspages s"
        " join customers c on c.id = s.customer_id"
        " where s.slug = ? and s.enabled = 1 and c.enabled = 1",
        slug,
    )


def create(tx: Tx, actor: Actor, body: StatusPageBody) -> StatusPageRow:
    require(actor, Level.ADMIN)
    row = model.new_row(new_id(), actor.customer_id, tx.now)
    model.write(row, body)
    _check(tx, row)
    count = tx.value("select count(*) from statuspages where customer_id = ?", row.customer_id)
    if count >= model.MAX_PAGES:
        message = f"The limit of {model.MAX_PAGES} status pages is reached; delete one first."
        raise Conflict(message, code="too_many_statuspages")
    marks = ", ".join("?" for _ in StatusPageRow.__struct_fields__)
    tx.execute(f"insert into statuspages ({_ROW}) values ({marks})", *msgspec.structs.astuple(row))
    _record_change(tx, actor, row, "create", None, _audit_fields(row))
    return row


def change(
    tx: Tx, actor: Actor, page_id: str, body: StatusPageBody, if_match: int | None = None
) -> StatusPageRow:
    require(actor, Level.ADMIN)
    row = _find(tx, actor.customer_id, page_id, lock=True)
    if if_match not in (None, row.version):
        raise Stale(f"The status page is now at version {row.version}; reload it and try again.")
    before = _audit_fields(row)
    model.write(row, body)
    _check(tx, row)
    row.version, row.updated_at = row.version + 1, tx.now
    tx.execute(
        "update statuspages set slug = ?, title = ?, description = ?, enabled = ?, parts = ?,"
        " version = ?, updated_at = ? where id = ? and customer_id = ?",
        *(row.slug, row.title, row.description, row.enabled, row.parts),
        *(row.version, row.updated_at, row.id, row.customer_id),
    )
    _record_change(tx, actor, row, "change", before, _audit_fields(row))
    return row


def delete(tx: Tx, actor: Actor, page_id: str) -> StatusPageRow:
    require(actor, Level.ADMIN)
    row = _find(tx, actor.customer_id, page_id, lock=True)
    for sql in _DELETE_PARTS:
        tx.execute(sql, row.id)
    tx.execute("delete from statuspages where id = ? and customer_id = ?", row.id, row.customer_id)
    _record_change(tx, actor, row, "delete", _audit_fields(row), None)
    return row


def _find(tx: Tx, customer_id: str, page_id: str, *, lock: bool = False) -> StatusPageRow:
    row = tx.one(
        StatusPageRow,
        f"select {_ROW} from statuspages where id = ? and customer_id = ?"
        f"{tx.dialect.lock_rows if lock else ''}",
        *(page_id, customer_id),
    )
    if row is None:
        raise NotFound("There is no such status page.", code="statuspage_not_found")
    return row


def _check(tx: Tx, row: StatusPageRow) -> None:
    """The slug is free, and the monitors and indicators of the parts exist."""
    other_page = tx.row("select 1 from statuspages where slug = ? and id <> ?", row.slug, row.id)
    if other_page is not None:
        raise Conflict(f"The slug {row.slug!r} is used by another page.", code="slug_taken")
    for n, part in enumerate(row.part_list):
        for table, object_id in (("monitors", part.monitor_id), ("indicators", part.indicator_id)):
            if object_id and not _exists(tx, table, row.customer_id, object_id):
                raise text_fields.invalid_field(
                    f"parts[{n}]", f"No {table[:-1]} with the id {object_id[:24]!r}."
                )


def _exists(tx: Tx, table: str, customer_id: str, object_id: str) -> bool:
    row = tx.row(
        f"select 1 from {table} where id = ? and customer_id = ? and deleted_at is null",
        *(object_id, customer_id),
    )
    return row is not None


def _audit_fields(row: StatusPageRow) -> dict[str, Any]:
    fields: dict[str, Any] = msgspec.to_builtins(row)
    return {**fields, "parts": msgspec.to_builtins(row.part_list)}


def _record_change(
    tx: Tx,
    actor: Actor,
    row: StatusPageRow,
    action: str,
    before: dict[str, Any] | None,
    after: dict[str, Any] | None,
) -> None:
    audit.record(tx, actor, f"statuspage.{action}", "statuspage", row.id, before, after)
    data = {"title": row.title, "slug": row.slug, "version": row.version}
    events.append(tx, row.customer_id, f"statuspage.{action}d", row.id, data)
