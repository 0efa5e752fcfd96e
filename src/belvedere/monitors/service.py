"""What people do with monitors: make, change, delete, look, pause, mute."""

from typing import Any

import msgspec

from belvedere import events
from belvedere.access import Actor, Level, acl_of, audit, may_see, replace_acl, require
from belvedere.access.credentials import secret_keys
from belvedere.access.crypto.keyring import Keyring
from belvedere.base.clock import Millis
from belvedere.base.errors import Conflict, Fault, Stale
from belvedere.base.ids import new_id
from belvedere.base.text import request_masking
from belvedere.db import Tx
from belvedere.hosts import managed_objects
from belvedere.monitors import bindings, model, store, watch_changes
from belvedere.monitors.config import bodies, secrecy
from belvedere.monitors.config.bodies import MonitorBody
from belvedere.monitors.config.validation import refusal
from belvedere.monitors.evaluation import state_changes, transitions
from belvedere.monitors.model import MonitorRow, State, Type
from belvedere.monitors.store import MonitorView
from belvedere.rest.listing import Listing
from belvedere.triggers import store as triggers
from belvedere.triggers.store import Trigger

Shown = tuple[MonitorView, list[str], list[Trigger]]


def create(
    tx: Tx,
    keys: Keyring,
    actor: Actor,
    body: MonitorBody,
    host_id: str | None,
    *,
    refuses_masks: bool = True,
) -> Shown:
    """A monitor that is checked from now on; its state is unknown until then. A definition of an
    earlier version may bring masks."""
    require(actor, Level.ADMIN)
    type_ = bodies.type_of(body)
    if type_ is Type.HOST:
        raise refusal([Fault("type", "A host's own monitor is made with the host.")])
    columns = bodies.columns_in(body)
    if "name" not in columns:
        raise refusal([Fault("name", "This is required.")])
    config = bodies.config_in(type_, body, {})
    if refuses_masks:
        secrecy.refuse_masks(config)
    host = bindings.host_of(tx, actor, body, host_id) if type_.needs_host else None
    bindings.check(tx, actor.customer_id, type_, config)
    row = new_row(actor.customer_id, type_, host, tx.now)
    _write(row, {**columns, "config": _text(config), "user_id": actor.user_id})
    if body.enable is False:
        _pause(tx, row, None)
    store.insert(tx, row)
    if type_ is Type.PUSH:
        secret_keys.make(tx, keys, actor.customer_id, "monitor", row.id)
    _told(tx, actor, row, "created", None)
    if body.acl:
        replace_acl(tx, actor, "monitor", row.id, body.acl)
    return shown(tx, actor, row.id)


def new_row(customer_id: str, type_: Type, host_id: str | None, now: Millis) -> MonitorRow:
    """One that nobody has looked at yet."""
    row = MonitorRow(
        id=new_id(),
        customer_id=customer_id,
        name="",
        type=type_.value,
        host_id=host_id,
        config="{}",
        config_version=1,
        enabled=1,
        paused_until=None,
        muted_until=None,
        state=State.UNKNOWN.value,
        state_at=now,
        fails_count=0,
        recovery_count=0,
        is_failing=0,
        flips="[]",
        is_flapping=0,
        last_event="{}",
        checked_at=None,
        due_at=None,
        user_id="",
        version=1,
        created_at=now,
        updated_at=now,
        **bodies.DEFAULTS,
    )
    if type_ is Type.NESTED:
        # Its members have been patient already.
        row.fail_threshold = 1
    return row


def change(
    tx: Tx,
    actor: Actor,
    monitor_id: str,
    body: MonitorBody,
    if_match: int | None,
    *,
    whole: bool,
    follows: bool = False,
) -> Shown:
    """Replace the definition (`whole`), or the given parts of it. `follows`: by the definition
    that it follows, which nobody else may change it past."""
    require(actor, Level.ADMIN)
    row = _held(tx, actor, monitor_id, if_match)
    if not follows:
        managed_objects.refuse(tx, "monitor", monitor_id)
    before = msgspec.structs.replace(row)
    if (body.type or body.kind) and bodies.type_of(body) != row.type:
        raise refusal([Fault("type", f"A monitor stays what it is ({row.type}); make another.")])
    columns = bodies.columns_in(body)
    if whole:
        if "name" not in columns:
            raise refusal([Fault("name", "This is required.")])
        columns = {**bodies.DEFAULTS, **columns}
    config = bodies.config_in(Type(row.type), body, {} if whole else row.settings)
    config = secrecy.unmasked(config, row.settings)
    request_masking.check_address(
        config, row.settings, body.config or {}, msgspec.structs.asdict(body)
    )
    if not follows:
        secrecy.refuse_masks(config)
    bindings.check(tx, actor.customer_id, Type(row.type), config)
    _write(row, {**columns, "config": _text(config)})
    row.host_id = bindings.host_again(tx, actor, row, body)
    if body.enable is not None and body.enable != bool(row.enabled):
        _pause(tx, row, None) if row.enabled else _resume(tx, row)
    _save(tx, actor, before, row)
    if body.acl is not None and body.acl != acl_of(tx, actor.customer_id, "monitor", row.id):
        replace_acl(tx, actor, "monitor", row.id, body.acl)
    return shown(tx, actor, monitor_id)


def pause(tx: Tx, actor: Actor, monitor_id: str, until: Millis | None) -> Shown:
    """Not checked until that time, or until somebody resumes it."""
    require(actor, Level.ADMIN)
    row = _held(tx, actor, monitor_id, None)
    before = msgspec.structs.replace(row)
    _future(until, tx.now)
    _pause(tx, row, until)
    _save(tx, actor, before, row)
    return shown(tx, actor, monitor_id)


def resume(tx: Tx, actor: Actor, monitor_id: str) -> Shown:
    require(actor, Level.ADMIN)
    row = _held(tx, actor, monitor_id, None)
    before = msgspec.structs.replace(row)
    if not row.enabled:
        _resume(tx, row)
        _save(tx, actor, before, row)
    return shown(tx, actor, monitor_id)


def mute(tx: Tx, actor: Actor, monitor_id: str, alerts: bool, until: Millis | None) -> Shown:
    """Whether people are told of it; silence may have an end."""
    require(actor, Level.ADMIN)
    row = _held(tx, actor, monitor_id, None)
    before = msgspec.structs.replace(row)
    _future(until, tx.now)
    row.alerts, row.muted_until = int(alerts), None if alerts else until
    _save(tx, actor, before, row)
    return shown(tx, actor, monitor_id)


def _future(until: Millis | None, now: Millis) -> None:
    if until is not None and until <= now:
        raise refusal([Fault("until", "Give a time that is still to come.")])


def _pause(tx: Tx, row: MonitorRow, until: Millis | None) -> None:
    row.enabled, row.paused_until, row.due_at = 0, until, None
    state_changes.move(row, transitions.paused(state_changes.seen_of(row)), (), tx.now)


def _resume(tx: Tx, row: MonitorRow) -> None:
    row.enabled, row.paused_until = 1, None
    model.expect(row, tx.now)
    state_changes.move(row, transitions.resumed(state_changes.seen_of(row)), (), tx.now)


def delete(tx: Tx, actor: Actor, monitor_id: str, *, follows: bool = False) -> Shown:
    require(actor, Level.ADMIN)
    row = store.find(tx, actor.customer_id, monitor_id, hold=True)
    if not follows:
        managed_objects.refuse(tx, "monitor", monitor_id)
    if row.type == Type.HOST:
        raise Conflict(
            "A host's own monitor lives as long as the host; pause or mute it, or delete the host.",
            code="host_monitor",
        )
    last = shown(tx, actor, monitor_id)
    remove(tx, row)
    audit.record(tx, actor, "monitor.delete", "monitor", row.id, _audited(row), None)
    return last


def remove(tx: Tx, row: MonitorRow) -> None:
    """Gone for every reader; what it saw is purged later."""
    store.mark_deleted(tx, row)
    triggers.delete(tx, row.customer_id, source=("monitor", row.id))
    secret_keys.forget(tx, row.customer_id, "monitor", row.id)
    # The ACL stays: it says who may see the event.
    watch_changes.changed(tx, row.host_id, row.id)
    events.append(tx, row.customer_id, "monitor.deleted", row.id, _event(row))


def show(tx: Tx, actor: Actor, monitor_id: str) -> Shown:
    """The monitor, or NotFound for whom its ACL does not name."""
    found = shown(tx, actor, monitor_id)
    if not may_see(actor, found[1], open_when_empty=True):
        raise store.missing()
    return found


def listed(tx: Tx, actor: Actor, listing: Listing) -> tuple[list[Shown], int | None]:
    """A page of what the actor may see, and the total where the caller asked for it."""
    require(actor, Level.VIEWER)
    views = store.page(tx, actor, listing)
    acls = store.acls(tx, actor.customer_id)
    total = store.count(tx, actor, listing) if listing.count else None
    ids = [view.id for view in views]
    started = triggers.for_sources(tx, actor.customer_id, "monitor", ids)
    return [(view, acls.get(view.id, []), started[view.id]) for view in views], total


def _held(tx: Tx, actor: Actor, monitor_id: str, if_match: int | None) -> MonitorRow:
    row = store.find(tx, actor.customer_id, monitor_id, hold=True)
    if if_match is not None and if_match != row.version:
        raise Stale(f"The monitor is at version {row.version} now; read it again.")
    return row


def _write(row: MonitorRow, columns: dict[str, Any]) -> None:
    for column, content in columns.items():
        setattr(row, column, content)
    if row.alerts:
        row.muted_until = None
    if row.enabled:
        model.expect(row, row.updated_at)


def _save(tx: Tx, actor: Actor, before: MonitorRow, row: MonitorRow) -> None:
    """Write what differs, tell it, and let the agent know."""
    if _definition(before) == _definition(row):
        return
    row.version += 1
    row.updated_at = tx.now
    moved = None
    if _check(before) != _check(row):
        # Another check: what the old one saw says nothing about it.
        row.config_version = row.version
        moved = state_changes.move(row, transitions.unseen(state_changes.seen_of(row)), (), tx.now)
        if row.enabled:
            model.expect(row, tx.now)
    store.save(tx, row)
    _told(tx, actor, row, "edited", _audited(before))
    if before.host_id != row.host_id:
        watch_changes.changed(tx, before.host_id, row.id)
    _tell_switches(tx, before, row)
    if before.state != row.state or moved is not None:
        state_changes.tell(
            tx, [state_changes.Moved(row, before.state, (), row.state, row.last_event)]
        )


def _tell_switches(tx: Tx, before: MonitorRow, row: MonitorRow) -> None:
    for column, on, off in (("enabled", "resumed", "paused"), ("alerts", "unmuted", "muted")):
        if getattr(before, column) != getattr(row, column):
            word = on if getattr(row, column) else off
            events.append(tx, row.customer_id, f"monitor.{word}", row.id, _event(row))


def _check(row: MonitorRow) -> tuple[Any, ...]:
    return row.host_id, row.config


def _definition(row: MonitorRow) -> dict[str, Any]:
    own = {*store.SEEN, "version", "updated_at", "config_version"}
    return {k: v for k, v in msgspec.structs.asdict(row).items() if k not in own}


def _told(tx: Tx, actor: Actor, row: MonitorRow, what: str, before: dict[str, Any] | None) -> None:
    verb = {"created": "create", "edited": "edit"}[what]
    audit.record(tx, actor, f"monitor.{verb}", "monitor", row.id, before, _audited(row))
    events.append(tx, row.customer_id, f"monitor.{what}", row.id, _event(row))
    watch_changes.changed(tx, row.host_id, row.id)


def _audited(row: MonitorRow) -> dict[str, Any]:
    kept = {k: v for k, v in _definition(row).items() if k != "config"}
    return {**kept, "config": secrecy.shown_config(row.settings)}


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


def shown(tx: Tx, actor: Actor, monitor_id: str) -> Shown:
    customer_id = actor.customer_id
    return (
        store.view(tx, customer_id, monitor_id),
        acl_of(tx, customer_id, "monitor", monitor_id),
        triggers.for_source(tx, customer_id, "monitor", monitor_id),
    )


def _text(config: dict[str, Any]) -> str:
    return msgspec.json.encode(config).decode()
