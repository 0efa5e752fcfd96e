"""What admins do with status pages: make, change, delete."""

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


def listed(tx: Tx, actor: Actor) -> list[StatusPageRow]:
    require(actor, Level.MANAGER)
    return tx.all(
        StatusPageRow,
        f"select {_ROW} from statuspages where customer_id = ? order by id",
        actor.customer_id,
    )


def show(tx: Tx, actor: Actor, page_id: str) -> StatusPageRow:
    require(actor, Level.MANAGER)
    return _find(tx, actor.customer_id, page_id)


def create(tx: Tx, actor: Actor, body: StatusPageBody) -> StatusPageRow:
    require(actor, Level.ADMIN)
    row = model.new_row(new_id(), actor.customer_id, tx.now)
    model.write(row, body)
    _check(tx, row)
    held = tx.value("select count(*) from statuspages where customer_id = ?", row.customer_id)
    if held >= model.MOST_PAGES:
        message = f"There are {model.MOST_PAGES} status pages; delete one first."
        raise Conflict(message, code="too_many_statuspages")
    marks = ", ".join("?" for _ in StatusPageRow.__struct_fields__)
    tx.execute(f"insert into statuspages ({_ROW}) values ({marks})", *msgspec.structs.astuple(row))
    _told(tx, actor, row, "create", None, _audited(row))
    return row


def change(
    tx: Tx, actor: Actor, page_id: str, body: StatusPageBody, if_match: int | None = None
) -> StatusPageRow:
    require(actor, Level.ADMIN)
    row = _find(tx, actor.customer_id, page_id, hold=True)
    if if_match not in (None, row.version):
        raise Stale(f"The status page is at version {row.version} now; read it again.")
    before = _audited(row)
    model.write(row, body)
    _check(tx, row)
    row.version, row.updated_at = row.version + 1, tx.now
    tx.execute(
        "update statuspages set slug = ?, title = ?, description = ?, enabled = ?, parts = ?,"
        " version = ?, updated_at = ? where id = ? and customer_id = ?",
        *(row.slug, row.title, row.description, row.enabled, row.parts),
        *(row.version, row.updated_at, row.id, row.customer_id),
    )
    _told(tx, actor, row, "change", before, _audited(row))
    return row


def delete(tx: Tx, actor: Actor, page_id: str) -> StatusPageRow:
    require(actor, Level.ADMIN)
    row = _find(tx, actor.customer_id, page_id, hold=True)
    tx.execute("delete from statuspages where id = ? and customer_id = ?", row.id, row.customer_id)
    _told(tx, actor, row, "delete", _audited(row), None)
    return row


def _find(tx: Tx, customer_id: str, page_id: str, *, hold: bool = False) -> StatusPageRow:
    found = tx.one(
        StatusPageRow,
        f"select {_ROW} from statuspages where id = ? and customer_id = ?"
        f"{tx.dialect.lock_rows if hold else ''}",
        *(page_id, customer_id),
    )
    if found is None:
        raise NotFound("There is no such status page.", code="statuspage_not_found")
    return found


def _check(tx: Tx, row: StatusPageRow) -> None:
    """The slug is free, and what it names is there."""
    taken = tx.row("select 1 from statuspages where slug = ? and id <> ?", row.slug, row.id)
    if taken is not None:
        raise Conflict(f"Another page is at {row.slug!r} already.", code="slug_taken")
    for n, part in enumerate(row.part_list):
        for table, object_id in (("monitors", part.monitor_id), ("indicators", part.indicator_id)):
            if object_id and not _is_there(tx, table, row.customer_id, object_id):
                raise text_fields.bad(
                    f"parts[{n}]", f"There is nothing with the id {object_id[:24]!r}."
                )


def _is_there(tx: Tx, table: str, customer_id: str, object_id: str) -> bool:
    found = tx.row(
        f"select 1 from {table} where id = ? and customer_id = ? and deleted_at is null",
        *(object_id, customer_id),
    )
    return found is not None


def _audited(row: StatusPageRow) -> dict[str, Any]:
    kept: dict[str, Any] = msgspec.to_builtins(row)
    return {**kept, "parts": msgspec.to_builtins(row.part_list)}


def _told(
    tx: Tx,
    actor: Actor,
    row: StatusPageRow,
    verb: str,
    before: dict[str, Any] | None,
    after: dict[str, Any] | None,
) -> None:
    audit.record(tx, actor, f"statuspage.{verb}", "statuspage", row.id, before, after)
    said = {"title": row.title, "slug": row.slug, "version": row.version}
    events.append(tx, row.customer_id, f"statuspage.{verb}d", row.id, said)
