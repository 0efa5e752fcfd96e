"""Operations on indicators: create, push, change, delete."""

from typing import Any

import msgspec

from belvedere.access import Actor, Level, acl_of, audit, delete_acl, may_run, replace_acl, require
from belvedere.base.clock import DAY, ClockStep
from belvedere.base.errors import Conflict, Fault, Forbidden, Invalid, Stale
from belvedere.base.ids import new_id
from belvedere.db import Tx
from belvedere.indicators import bodies, change_log, history, linked_file, model, queries, store
from belvedere.indicators.bodies import DEFAULTS, IndicatorBody
from belvedere.indicators.model import IndicatorRow
from belvedere.indicators.queries import IndicatorView
from belvedere.rest import text_fields
from belvedere.triggers import store as triggers

# Indicators that are marked stale or purged in one transaction.
BATCH_SIZE = 200


class _Edit(msgspec.Struct):
    """A change: columns, a value, an ACL; None for what stays the same."""

    columns: dict[str, Any]
    value: object
    acl: list[str] | None
    # A push renews the value even if it is the same.
    is_push: bool


def create(tx: Tx, actor: Actor, body: IndicatorBody) -> IndicatorView:
    require(actor, Level.ADMIN)
    columns = bodies.columns_in(body)
    if "title" in columns:
        _require_free_title(tx, actor, columns["title"])
    return _create(tx, actor, columns, body)


def _create(tx: Tx, actor: Actor, columns: dict[str, Any], body: IndicatorBody) -> IndicatorView:
    faults = [Fault(n, "This is required.") for n in ("title", "type") if n not in columns]
    if faults:
        message = f"An indicator needs {' and '.join(fault.field for fault in faults)}."
        raise Invalid(message, code="invalid_body", faults=tuple(faults))
    row = model.new_row(new_id(), actor.customer_id, actor.user_id, tx.now)
    bodies.write(row, {**DEFAULTS, **columns}, body.value)
    linked_file.check(tx, row)
    model.set_stale_at(row)
    store.insert(tx, row)
    audit.record(
        tx, actor, "indicator.create", "indicator", row.id, None, change_log.audit_fields(row)
    )
    change_log.record_push(tx, [row], "indicator.created")
    # An indicator that is created in failure has changed to it.
    change_log.record_state_change(tx, row, model.IndicatorState.NORMAL)
    if body.acl:
        replace_acl(tx, actor, "indicator", row.id, body.acl)
    return queries.to_views(tx, [row])[0]


def put(
    tx: Tx, actor: Actor, title: str, body: IndicatorBody, if_match: int | None = None
) -> IndicatorView:
    """Create the indicator with this title, or replace it."""
    require(actor, Level.ADMIN)
    title = model.validate_title(title)
    if body.title is not None and model.validate_title(body.title) != title:
        raise text_fields.invalid_field(
            "title", "The title differs from the one in the path; use PATCH to rename an indicator."
        )
    row = store.find_or_none(tx, actor.customer_id, title, by="title", lock=True)
    columns = {**bodies.columns_in(body), "title": title}
    if row is None:
        return _create(tx, actor, columns, body)
    return _replace(tx, actor, row, columns, body, if_match)


def replace(
    tx: Tx, actor: Actor, indicator_id: str, body: IndicatorBody, if_match: int | None = None
) -> IndicatorView:
    """Fields that the body leaves out get their default, except title and type."""
    require(actor, Level.ADMIN)
    row = store.find(tx, actor.customer_id, indicator_id, lock=True)
    return _replace(tx, actor, row, bodies.columns_in(body), body, if_match)


def _replace(
    tx: Tx,
    actor: Actor,
    row: IndicatorRow,
    columns: dict[str, Any],
    body: IndicatorBody,
    if_match: int | None,
) -> IndicatorView:
    type_ = columns.get("type", row.type)
    value = model.INITIAL_VALUES[type_] if body.value is None else body.value
    return _save(tx, actor, row, _Edit({**DEFAULTS, **columns}, value, body.acl, True), if_match)


def change(
    tx: Tx,
    actor: Actor,
    name: str,
    body: IndicatorBody,
    if_match: int | None = None,
    *,
    by: str = "id",
) -> IndicatorView:
    """Change the fields that the body sets."""
    require(actor, Level.ADMIN)
    row = store.find(tx, actor.customer_id, queries.lookup_key(name, by), by=by, lock=True)
    columns = bodies.columns_in(body)
    is_push = body.value is not None or body.state is not None
    return _save(tx, actor, row, _Edit(columns, body.value, body.acl, is_push), if_match)


def _save(
    tx: Tx, actor: Actor, row: IndicatorRow, edit: _Edit, if_match: int | None
) -> IndicatorView:
    if if_match is not None and if_match != row.version:
        raise Stale(f"The indicator is now at version {row.version}; reload it and try again.")
    if edit.columns.get("title", row.title) != row.title:
        _require_free_title(tx, actor, edit.columns["title"])
    before, state_before = change_log.audit_fields(row), row.state
    bodies.write(row, edit.columns, edit.value)
    if edit.value is not None:
        linked_file.check(tx, row)
    if edit.is_push or change_log.audit_fields(row) != before:
        _write(tx, row, is_push=edit.is_push)
        change_log.record_state_change(tx, row, state_before)
    change_log.audit_change(tx, actor, row, before)
    if edit.acl is not None and edit.acl != acl_of(tx, row.customer_id, "indicator", row.id):
        replace_acl(tx, actor, "indicator", row.id, edit.acl)
    return queries.to_views(tx, [row])[0]


def _write(tx: Tx, row: IndicatorRow, *, is_push: bool) -> None:
    row.version += 1
    row.updated_at = tx.now
    if is_push:
        row.pushed_at = tx.now
    model.set_stale_at(row)
    store.save(tx, row)
    if is_push:
        change_log.record_push(tx, [row])
    else:
        change_log.publish(tx, "indicator.changed", [row])


def delete(tx: Tx, actor: Actor, name: str, *, by: str = "id") -> IndicatorView:
    """Delete the indicator; members that its ACL names may do that too (dismiss)."""
    view = queries.find(tx, actor, name, by=by, lock=True)
    row = view.row
    if not may_run(actor, view.acl.entries):
        raise Forbidden(
            "You don't have permission to dismiss this indicator.", code="may_not_dismiss"
        )
    if row.read_only:
        raise Conflict(
            "The indicator is read-only; an admin has to turn that off first.", code="read_only"
        )
    store.mark_deleted(tx, row)
    # The ACL stays for a while: it decides who may see the event of the deletion.
    triggers.delete(tx, actor.customer_id, source=("indicator", row.id))
    audit.record(
        tx, actor, "indicator.delete", "indicator", row.id, change_log.audit_fields(row), None
    )
    change_log.publish(tx, "indicator.deleted", [row])
    return view


def _require_free_title(tx: Tx, actor: Actor, title: str) -> None:
    if store.find_or_none(tx, actor.customer_id, title, by="title") is not None:
        raise Conflict(f"Another indicator already has the title {title!r}.", code="title_taken")


# Regular work


def publish_stale(tx: Tx) -> bool:
    """Publish that indicators got no push for their ttl; True if there were any."""
    rows = store.mark_stale(tx, BATCH_SIZE)
    change_log.publish(tx, "indicator.stale", rows)
    change_log.fire(tx, rows, "stale")
    return bool(rows)


def purge_old(tx: Tx) -> bool:
    """Thin old values, and purge what was deleted a day ago; True if there may be more."""
    has_more = history.downsample(tx)
    indicators = store.deleted_before(tx, tx.now - DAY, BATCH_SIZE)
    for indicator_id, customer_id in indicators:
        delete_acl(tx, customer_id, "indicator", indicator_id)
        store.purge(tx, customer_id, indicator_id)
    return has_more or len(indicators) == BATCH_SIZE


def move_clock(tx: Tx, step: ClockStep) -> None:
    """After a clock change: keep the time that is left until each indicator becomes stale."""
    tx.execute(
        "update indicators set stale_at = stale_at + ? where stale_at is not null", step.delta
    )
