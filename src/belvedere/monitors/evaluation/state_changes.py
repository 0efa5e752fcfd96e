"""Applying a new status to a monitor's row, and publishing state changes."""

from collections.abc import Sequence
from typing import Any

import msgspec

from belvedere import events
from belvedere.base.clock import Millis
from belvedere.base.text import json_text
from belvedere.db import Tx
from belvedere.monitors import store
from belvedere.monitors.config.redaction import redact
from belvedere.monitors.evaluation.transitions import RECOVERED, STARTED, MonitorStatus
from belvedere.monitors.model import MonitorRow, MonitorState
from belvedere.triggers import store as triggers


class StateChange(msgspec.Struct):
    """A status change: the state before and after, and the names of events to publish."""

    row: MonitorRow
    before: str
    names: tuple[str, ...] = ()
    # The state at this change; the row may have changed again since.
    after: str = ""
    last_event: str = "{}"


def status_from_row(row: MonitorRow) -> MonitorStatus:
    return MonitorStatus(
        MonitorState(row.state),
        row.fails_count,
        bool(row.is_failing),
        msgspec.json.decode(row.flips, type=tuple[Millis, ...]),
        bool(row.is_flapping),
    )


def apply_status(
    row: MonitorRow, status: MonitorStatus, names: tuple[str, ...], at: Millis
) -> StateChange:
    """Put the status into the row; the caller saves it."""
    before = row.state
    row.state = status.state.value
    if row.state != before:
        row.state_at = at
    row.fails_count = status.fails
    row.is_failing = int(status.is_failing)
    row.flips = msgspec.json.encode(status.flips).decode()
    row.is_flapping = int(status.is_flapping)
    row.recovery_count += sum(name in (RECOVERED, STARTED) for name in names)
    return StateChange(row, before, names, row.state, row.last_event)


def publish(tx: Tx, changes: Sequence[StateChange]) -> None:
    """Append one `monitor.state` per state change and one event per name, and fire triggers."""
    published = [change for change in changes if change.before != change.after or change.names]
    if not published:
        return
    events.append_all(
        tx,
        "monitor.state",
        [
            (change.row.customer_id, change.row.id, {**_event_data(change), "from": change.before})
            for change in published
            if change.before != change.after
        ],
    )
    named_changes = [(change, name) for change in published for name in change.names]
    for name in dict.fromkeys(name for _, name in named_changes):
        events.append_all(
            tx,
            f"monitor.{name}",
            [
                (change.row.customer_id, change.row.id, _event_data(change))
                for change, event_name in named_changes
                if event_name == name
            ],
        )
    _fire_triggers(tx, named_changes)


def _event_data(change: StateChange) -> dict[str, Any]:
    row = change.row
    last = msgspec.json.decode(change.last_event)
    return {
        "name": row.name,
        "type": row.type,
        "host_id": row.host_id,
        "state": change.after,
        "failure_severity": row.severity,
        # False: the monitor is muted.
        "alerts": bool(row.alerts),
        "message": last.get("message", ""),
    }


def _fire_triggers(tx: Tx, named_changes: list[tuple[StateChange, str]]) -> None:
    """Start the tasks and workflows of these events, with the event as JSON in one argument."""
    if not named_changes:
        return
    hosts = store.hostnames(
        tx, {change.row.host_id for change, _ in named_changes if change.row.host_id}
    )
    triggers.fire(
        tx,
        "monitor",
        [
            (
                change.row.customer_id,
                change.row.id,
                name,
                {"arguments": [json_text.compact(_trigger_argument(change, name, hosts))]},
            )
            for change, name in named_changes
        ],
    )


def _trigger_argument(change: StateChange, name: str, hosts: dict[str, str]) -> dict[str, Any]:
    row = change.row
    last = msgspec.json.decode(change.last_event)
    return {
        "type": row.type,
        "monitor_id": row.id,
        "name": row.name,
        "hostname": hosts.get(row.host_id or "", ""),
        "state": change.after,
        "event_name": name,
        "output": {"message": last.get("message", ""), "data": last.get("data", {})},
        "config": redact(row.settings),
    }
