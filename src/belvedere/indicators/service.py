"""What people and programs do with indicators: make, push, change, dismiss."""

from typing import Any

import msgspec

from belvedere.access import Actor, Level, acl_of, audit, may_run, replace_acl, require
from belvedere.base.errors import Conflict, Fault, Forbidden, Invalid, Stale
from belvedere.base.ids import new_id
from belvedere.db import Tx
from belvedere.indicators import bodies, change_log, linked_file, model, queries, store
from belvedere.indicators.bodies import DEFAULTS, IndicatorBody
from belvedere.indicators.model import IndicatorRow
from belvedere.indicators.queries import Shown
from belvedere.rest import text_fields
from belvedere.triggers import store as triggers


class _Edit(msgspec.Struct):
    """What is to be different: columns, a value, an ACL; None for what stays."""

    columns: dict[str, Any]
    value: Any
    acl: list[str] | None
    # The source speaks: the value counts as new even when it is the same.
    is_push: bool


def create(tx: Tx, actor: Actor, body: IndicatorBody) -> Shown:
    require(actor, Level.ADMIN)
    columns = bodies.columns_in(body)
    if "title" in columns:
        _check_free(tx, actor, columns["title"])
    return _create(tx, actor, columns, body)


def _create(tx: Tx, actor: Actor, columns: dict[str, Any], body: IndicatorBody) -> Shown:
    faults = [Fault(n, "This is required.") for n in ("title", "type") if n not in columns]
    if faults:
        told = f"An indicator needs {' and '.join(fault.field for fault in faults)}."
        raise Invalid(told, code="invalid_body", faults=tuple(faults))
    row = model.blank(new_id(), actor.customer_id, actor.user_id, tx.now)
    bodies.write(row, {**DEFAULTS, **columns}, body.value)
    linked_file.check(tx, row)
    model.set_stale_at(row)
    store.insert(tx, row)
    audit.record(tx, actor, "indicator.create", "indicator", row.id, None, change_log.audited(row))
    change_log.pushed(tx, [row], "indicator.created")
    # One that is born in failure has entered it.
    change_log.entered(tx, row, model.State.NORMAL)
    if body.acl:
        replace_acl(tx, actor, "indicator", row.id, body.acl)
    return queries.together(tx, [row])[0]


def put(
    tx: Tx, actor: Actor, title: str, body: IndicatorBody, if_match: int | None = None
) -> Shown:
    """Make the indicator with this title, or replace it."""
    require(actor, Level.ADMIN)
    title = model.title(title)
    if body.title is not None and model.title(body.title) != title:
        raise text_fields.bad("title", "The path names another title; PATCH renames an indicator.")
    row = store.look_up(tx, actor.customer_id, title, by="title", hold=True)
    columns = {**bodies.columns_in(body), "title": title}
    if row is None:
        return _create(tx, actor, columns, body)
    return _replace(tx, actor, row, columns, body, if_match)


def replace(
    tx: Tx, actor: Actor, indicator_id: str, body: IndicatorBody, if_match: int | None = None
) -> Shown:
    """Everything that the body does not say goes back to its default, except title and type."""
    require(actor, Level.ADMIN)
    row = store.find(tx, actor.customer_id, indicator_id, hold=True)
    return _replace(tx, actor, row, bodies.columns_in(body), body, if_match)


def _replace(
    tx: Tx,
    actor: Actor,
    row: IndicatorRow,
    columns: dict[str, Any],
    body: IndicatorBody,
    if_match: int | None,
) -> Shown:
    type_ = columns.get("type", row.type)
    value = model.FIRST[type_] if body.value is None else body.value
    return _save(tx, actor, row, _Edit({**DEFAULTS, **columns}, value, body.acl, True), if_match)


def change(
    tx: Tx,
    actor: Actor,
    name: str,
    body: IndicatorBody,
    if_match: int | None = None,
    *,
    by: str = "id",
) -> Shown:
    """The given parts of it."""
    require(actor, Level.ADMIN)
    row = store.find(tx, actor.customer_id, queries.key(name, by), by=by, hold=True)
    columns = bodies.columns_in(body)
    is_push = body.value is not None or body.state is not None
    return _save(tx, actor, row, _Edit(columns, body.value, body.acl, is_push), if_match)


def _save(tx: Tx, actor: Actor, row: IndicatorRow, edit: _Edit, if_match: int | None) -> Shown:
    if if_match is not None and if_match != row.version:
        raise Stale(f"The indicator is at version {row.version} now; read it again.")
    if edit.columns.get("title", row.title) != row.title:
        _check_free(tx, actor, edit.columns["title"])
    before, was = change_log.audited(row), row.state
    bodies.write(row, edit.columns, edit.value)
    if edit.value is not None:
        linked_file.check(tx, row)
    if edit.is_push or change_log.audited(row) != before:
        _write(tx, row, is_push=edit.is_push)
        change_log.entered(tx, row, was)
    change_log.audit_change(tx, actor, row, before)
    if edit.acl is not None and edit.acl != acl_of(tx, row.customer_id, "indicator", row.id):
        replace_acl(tx, actor, "indicator", row.id, edit.acl)
    return queries.together(tx, [row])[0]


def _write(tx: Tx, row: IndicatorRow, *, is_push: bool) -> None:
    row.version += 1
    row.updated_at = tx.now
    if is_push:
        row.pushed_at = tx.now
    model.set_stale_at(row)
    store.save(tx, row)
    if is_push:
        change_log.pushed(tx, [row])
    else:
        change_log.tell(tx, "indicator.changed", [row])


def delete(tx: Tx, actor: Actor, name: str, *, by: str = "id") -> Shown:
    """Gone for every reader; members whom its ACL names dismiss it so."""
    last = queries.find(tx, actor, name, by=by, hold=True)
    row = last.row
    if not may_run(actor, last.acl):
        raise Forbidden("Its ACL does not let you dismiss it.", code="may_not_dismiss")
    if row.read_only:
        raise Conflict(
            "The indicator is read-only; an admin can change that first.", code="read_only"
        )
    store.mark_deleted(tx, row)
    # The ACL stays a while: it says who may see that it is gone.
    triggers.delete(tx, actor.customer_id, source=("indicator", row.id))
    audit.record(tx, actor, "indicator.delete", "indicator", row.id, change_log.audited(row), None)
    change_log.tell(tx, "indicator.deleted", [row])
    return last


def _check_free(tx: Tx, actor: Actor, title: str) -> None:
    if store.look_up(tx, actor.customer_id, title, by="title") is not None:
        raise Conflict(f"Another indicator is called {title!r} already.", code="title_taken")
