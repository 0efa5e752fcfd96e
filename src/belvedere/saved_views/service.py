"""Operations on saved views: list, create, change, share and delete."""

import msgspec

from belvedere import events
from belvedere.access import Actor, Level, require, require_person
from belvedere.base.errors import Conflict, Forbidden, NotFound, Stale
from belvedere.base.ids import new_id
from belvedere.db import Tx, columns
from belvedere.saved_views import layouts, model
from belvedere.saved_views.model import ViewBody, ViewRecord, ViewRow

_ROW = columns(ViewRow)


def list_visible(tx: Tx, actor: Actor) -> list[ViewRecord]:
    """The actor's own views by name, then those that others share."""
    require_person(actor)
    rows = tx.rows(
        f"select {columns(ViewRow, 'v.')}, u.email from views v join users u on u.id = v.user_id"
        " where v.customer_id = ? and (v.user_id = ? or v.shared = 1)",
        *(actor.customer_id, actor.user_id),
    )
    views = [model.to_record(ViewRow(*row[:-1]), row[-1], actor.user_id) for row in rows]
    return sorted(views, key=lambda view: (not view.mine, view.name.lower(), view.id))


def move(tx: Tx, customer_id: str, former_id: str, user_id: str) -> None:
    """The views of one account in this organization belong to another one now."""
    tx.execute(
        "update views set user_id = ? where user_id = ? and customer_id = ?",
        user_id,
        former_id,
        customer_id,
    )
    layouts.move(tx, customer_id, former_id, user_id)


def create(tx: Tx, actor: Actor, body: ViewBody) -> ViewRecord:
    require_person(actor)
    row = ViewRow(new_id(), actor.customer_id, actor.user_id, "", "", "", 0, 1, tx.now, tx.now)
    model.write(row, body)
    count = tx.value(
        "select count(*) from views where customer_id = ? and user_id = ?",
        *(actor.customer_id, actor.user_id),
    )
    if count >= model.MAX_VIEWS:
        raise Conflict(
            f"You have {model.MAX_VIEWS} views; delete one first.", code="too_many_views"
        )
    marks = ", ".join("?" for _ in ViewRow.__struct_fields__)
    tx.execute(f"insert into views ({_ROW}) values ({marks})", *msgspec.structs.astuple(row))
    return _append_event(tx, actor, row)


def change(
    tx: Tx, actor: Actor, view_id: str, body: ViewBody, if_match: int | None = None
) -> ViewRecord:
    row = _locked(tx, actor, view_id)
    if if_match not in (None, row.version):
        raise Stale(f"The view is now at version {row.version}; reload it and try again.")
    model.write(row, body)
    row.version, row.updated_at = row.version + 1, tx.now
    tx.execute(
        "update views set name = ?, page = ?, query = ?, shared = ?, version = ?, updated_at = ?"
        " where id = ? and customer_id = ?",
        *(row.name, row.page, row.query, row.shared, row.version, row.updated_at),
        *(row.id, row.customer_id),
    )
    return _append_event(tx, actor, row)


def delete(tx: Tx, actor: Actor, view_id: str) -> ViewRecord:
    row = _locked(tx, actor, view_id)
    tx.execute("delete from views where id = ? and customer_id = ?", row.id, row.customer_id)
    return _append_event(tx, actor, row)


def _locked(tx: Tx, actor: Actor, view_id: str) -> ViewRow:
    """The view, locked: the actor's own, or a shared one if the actor is a manager."""
    require_person(actor)
    row = tx.one(
        ViewRow,
        f"select {_ROW} from views where id = ? and customer_id = ?{tx.dialect.lock_rows}",
        *(view_id, actor.customer_id),
    )
    if row is None or (row.user_id != actor.user_id and not row.shared):
        raise NotFound("There is no such view.", code="view_not_found")
    if row.user_id != actor.user_id and not actor.level.reaches(Level.MANAGER):
        raise Forbidden("This view belongs to another member; save your own.", code="not_your_view")
    require(actor, Level.VIEWER)
    return row


def _append_event(tx: Tx, actor: Actor, row: ViewRow) -> ViewRecord:
    data = {"user_id": row.user_id, "page": row.page, "shared": bool(row.shared)}
    events.append(tx, row.customer_id, "view.changed", row.id, data)
    email = tx.value("select email from users where id = ?", row.user_id)
    return model.to_record(row, email, actor.user_id)
