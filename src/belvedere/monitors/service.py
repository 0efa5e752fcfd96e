"""Operations on monitors: create, change, delete, list, pause, mute."""

from typing import Any

import msgspec

from belvedere import events
from belvedere.access import (
    Acl,
    Actor,
    Level,
    acl_of,
    audit,
    may_see,
    read_acl,
    replace_acl,
    require,
    with_pending,
)
from belvedere.access.credentials import secret_keys
from belvedere.access.crypto.keyring import Keyring
from belvedere.base.clock import Millis
from belvedere.base.errors import Conflict, Fault, Stale
from belvedere.base.text import request_masking
from belvedere.db import Tx
from belvedere.hosts import managed_objects
from belvedere.monitors import bindings, model, store, watch_changes
from belvedere.monitors.config import bodies, new_rows, redaction
from belvedere.monitors.config.bodies import MonitorBody
from belvedere.monitors.config.validation import invalid_fields
from belvedere.monitors.evaluation import state_changes, transitions
from belvedere.monitors.model import MonitorRow, MonitorType
from belvedere.monitors.store import MonitorView
from belvedere.rest.listing import Listing
from belvedere.triggers import store as triggers
from belvedere.triggers.store import Trigger

MonitorDetails = tuple[MonitorView, Acl, list[Trigger]]
NO_ACL = Acl([], [])


def create(
    tx: Tx,
    keys: Keyring,
    actor: Actor,
    body: MonitorBody,
    host_id: str | None,
    *,
    rejects_masks: bool = True,
) -> MonitorDetails:
    """Create a monitor; its state is unknown until the first result. A definition of an earlier
    version may contain masks, so its caller turns `rejects_masks` off."""
    require(actor, Level.ADMIN)
    type_ = bodies.type_of(body)
    if type_ is MonitorType.HOST:
        raise invalid_fields([Fault("type", "A host monitor is created with its host.")])
    columns = bodies.columns_in(body)
    if "name" not in columns:
        raise invalid_fields([Fault("name", "This is required.")])
    config = bodies.config_in(type_, body, {})
    if rejects_masks:
        redaction.reject_masks(config)
    host = bindings.resolve_host(tx, actor, body, host_id) if type_.needs_host else None
    bindings.check(tx, actor.customer_id, type_, config)
    row = new_rows.new_row(actor.customer_id, type_, host, tx.now)
    _write(row, {**columns, "config": _text(config), "user_id": actor.user_id})
    if body.enable is False:
        _pause(tx, row, None)
    store.insert(tx, row)
    if type_ is MonitorType.PUSH:
        secret_keys.create(tx, keys, actor.customer_id, "monitor", row.id)
    _record_change(tx, actor, row, "created", None)
    if body.acl:
        replace_acl(tx, actor, "monitor", row.id, body.acl)
    return load_details(tx, actor, row.id)


def change(
    tx: Tx,
    actor: Actor,
    monitor_id: str,
    body: MonitorBody,
    if_match: int | None,
    *,
    replaces: bool,
    by_definition: bool = False,
) -> MonitorDetails:
    """Replace the definition (`replaces`), or change parts of it. `by_definition`: the change comes
    from the definition that manages the monitor; other changes of such a monitor are refused."""
    require(actor, Level.ADMIN)
    row = _locked(tx, actor, monitor_id, if_match)
    if not by_definition:
        managed_objects.refuse(tx, "monitor", monitor_id)
    before = msgspec.structs.replace(row)
    if (body.type or body.kind) and bodies.type_of(body) != row.type:
        raise invalid_fields(
            [Fault("type", f"The type {row.type} cannot be changed; create another monitor.")]
        )
    columns = bodies.columns_in(body)
    if replaces:
        if "name" not in columns:
            raise invalid_fields([Fault("name", "This is required.")])
        columns = {**bodies.defaults(MonitorType(row.type)), **columns}
    config = bodies.config_in(MonitorType(row.type), body, {} if replaces else row.settings)
    config = redaction.restore_redacted(config, row.settings)
    request_masking.check_address(
        config, row.settings, body.config or {}, msgspec.structs.asdict(body)
    )
    if not by_definition:
        redaction.reject_masks(config)
    bindings.check(tx, actor.customer_id, MonitorType(row.type), config)
    _write(row, {**columns, "config": _text(config)})
    row.host_id = bindings.resolve_changed_host(tx, actor, row, body)
    if body.enable is not None and body.enable != bool(row.enabled):
        _pause(tx, row, None) if row.enabled else _resume(tx, row)
    _save(tx, actor, before, row)
    if body.acl is not None and body.acl != acl_of(tx, actor.customer_id, "monitor", row.id):
        replace_acl(tx, actor, "monitor", row.id, body.acl)
    return load_details(tx, actor, monitor_id)


def pause(tx: Tx, actor: Actor, monitor_id: str, until: Millis | None) -> MonitorDetails:
    """Stop checks until that time, or until somebody resumes the monitor."""
    require(actor, Level.ADMIN)
    row = _locked(tx, actor, monitor_id, None)
    before = msgspec.structs.replace(row)
    _require_future(until, tx.now)
    _pause(tx, row, until)
    _save(tx, actor, before, row)
    return load_details(tx, actor, monitor_id)


def resume(tx: Tx, actor: Actor, monitor_id: str) -> MonitorDetails:
    require(actor, Level.ADMIN)
    row = _locked(tx, actor, monitor_id, None)
    before = msgspec.structs.replace(row)
    if not row.enabled:
        _resume(tx, row)
        _save(tx, actor, before, row)
    return load_details(tx, actor, monitor_id)


def mute(
    tx: Tx, actor: Actor, monitor_id: str, alerts: bool, until: Millis | None
) -> MonitorDetails:
    """Turn alerts on, or off until a time."""
    require(actor, Level.ADMIN)
    row = _locked(tx, actor, monitor_id, None)
    before = msgspec.structs.replace(row)
    _require_future(until, tx.now)
    row.alerts, row.muted_until = int(alerts), None if alerts else until
    _save(tx, actor, before, row)
    return load_details(tx, actor, monitor_id)


def _require_future(until: Millis | None, now: Millis) -> None:
    if until is not None and until <= now:
        raise invalid_fields([Fault("until", "Must be a time in the future.")])


def _pause(tx: Tx, row: MonitorRow, until: Millis | None) -> None:
    row.enabled, row.paused_until, row.due_at = 0, until, None
    state_changes.apply_status(
        row, transitions.to_paused(state_changes.status_from_row(row)), (), tx.now
    )


def _resume(tx: Tx, row: MonitorRow) -> None:
    row.enabled, row.paused_until = 1, None
    model.set_due(row, tx.now)
    state_changes.apply_status(
        row, transitions.to_resumed(state_changes.status_from_row(row)), (), tx.now
    )


def delete(tx: Tx, actor: Actor, monitor_id: str, *, by_definition: bool = False) -> MonitorDetails:
    require(actor, Level.ADMIN)
    row = store.find(tx, actor.customer_id, monitor_id, lock=True)
    if not by_definition:
        managed_objects.refuse(tx, "monitor", monitor_id)
    if row.type == MonitorType.HOST:
        raise Conflict(
            "A host monitor cannot be deleted alone; pause or mute it, or delete the host.",
            code="host_monitor",
        )
    details = load_details(tx, actor, monitor_id)
    remove(tx, row)
    audit.record(tx, actor, "monitor.delete", "monitor", row.id, _audit_fields(row), None)
    return details


def remove(tx: Tx, row: MonitorRow) -> None:
    """Mark the monitor as deleted; its history is purged later."""
    store.mark_deleted(tx, row)
    triggers.delete(tx, row.customer_id, source=("monitor", row.id))
    secret_keys.delete(tx, row.customer_id, "monitor", row.id)
    # The ACL stays: it decides who may see the event of the deletion.
    watch_changes.record(tx, row.host_id, row.id)
    events.append(tx, row.customer_id, "monitor.deleted", row.id, _event(row))


def show(tx: Tx, actor: Actor, monitor_id: str) -> MonitorDetails:
    """The monitor, or NotFound if the actor may not see it."""
    details = load_details(tx, actor, monitor_id)
    if not may_see(actor, details[1].entries, open_when_empty=True):
        raise store.not_found()
    return details


def list_page(tx: Tx, actor: Actor, listing: Listing) -> tuple[list[MonitorDetails], int | None]:
    """A page of the monitors that the actor may see, and their total if the listing asks for it."""
    require(actor, Level.VIEWER)
    views = store.select_page(tx, actor, listing)
    acls = with_pending(tx, actor.customer_id, store.acls(tx, actor.customer_id))
    total = store.count(tx, actor, listing) if listing.count else None
    ids = [view.id for view in views]
    started = triggers.for_sources(tx, actor.customer_id, "monitor", ids)
    return [(view, acls.get(view.id, NO_ACL), started[view.id]) for view in views], total


def _locked(tx: Tx, actor: Actor, monitor_id: str, if_match: int | None) -> MonitorRow:
    row = store.find(tx, actor.customer_id, monitor_id, lock=True)
    if if_match is not None and if_match != row.version:
        raise Stale(f"The monitor is now at version {row.version}; reload it and try again.")
    return row


def _write(row: MonitorRow, columns: dict[str, Any]) -> None:
    for column, content in columns.items():
        setattr(row, column, content)
    if row.alerts:
        row.muted_until = None
    if row.enabled:
        model.set_due(row, row.updated_at)


def _save(tx: Tx, actor: Actor, before: MonitorRow, row: MonitorRow) -> None:
    """Save a changed definition, record the change, and send the new configuration to the agent."""
    if _definition(before) == _definition(row):
        return
    row.version += 1
    row.updated_at = tx.now
    check_changed = None
    if _check_key(before) != _check_key(row):
        # The check is different now: results of the old one do not apply.
        row.config_version = row.version
        check_changed = state_changes.apply_status(
            row, transitions.to_unknown(state_changes.status_from_row(row)), (), tx.now
        )
        if row.enabled:
            model.set_due(row, tx.now)
    store.save(tx, row)
    _record_change(tx, actor, row, "edited", _audit_fields(before))
    if before.host_id != row.host_id:
        watch_changes.record(tx, before.host_id, row.id)
    _publish_switches(tx, before, row)
    if before.state != row.state or check_changed is not None:
        state_changes.publish(
            tx, [state_changes.StateChange(row, before.state, (), row.state, row.last_event)]
        )


def _publish_switches(tx: Tx, before: MonitorRow, row: MonitorRow) -> None:
    for column, on, off in (("enabled", "resumed", "paused"), ("alerts", "unmuted", "muted")):
        if getattr(before, column) != getattr(row, column):
            word = on if getattr(row, column) else off
            events.append(tx, row.customer_id, f"monitor.{word}", row.id, _event(row))


def _check_key(row: MonitorRow) -> tuple[Any, ...]:
    return row.host_id, row.config


def _definition(row: MonitorRow) -> dict[str, Any]:
    own_columns = {*store.STATUS_COLUMNS, "version", "updated_at", "config_version"}
    return {k: v for k, v in msgspec.structs.asdict(row).items() if k not in own_columns}


def _record_change(
    tx: Tx, actor: Actor, row: MonitorRow, action: str, before: dict[str, Any] | None
) -> None:
    verb = {"created": "create", "edited": "edit"}[action]
    audit.record(tx, actor, f"monitor.{verb}", "monitor", row.id, before, _audit_fields(row))
    events.append(tx, row.customer_id, f"monitor.{action}", row.id, _event(row))
    watch_changes.record(tx, row.host_id, row.id)


def _audit_fields(row: MonitorRow) -> dict[str, Any]:
    fields = {k: v for k, v in _definition(row).items() if k != "config"}
    return {**fields, "config": redaction.redact(row.settings)}


def _event(row: MonitorRow) -> dict[str, Any]:
    return {
        "name": row.name,
        "type": row.type,
        "host_id": row.host_id,
        "enable": bool(row.enabled),
        "alerts": bool(row.alerts),
        "state": row.state,
        "version": row.version,
    }


def load_details(tx: Tx, actor: Actor, monitor_id: str) -> MonitorDetails:
    customer_id = actor.customer_id
    return (
        store.find_view(tx, customer_id, monitor_id),
        read_acl(tx, customer_id, "monitor", monitor_id),
        triggers.for_source(tx, customer_id, "monitor", monitor_id),
    )


def _text(config: dict[str, Any]) -> str:
    return msgspec.json.encode(config).decode()
