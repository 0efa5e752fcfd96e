"""Changes of indicators: events, stored values, audit and triggers."""

from collections.abc import Sequence
from typing import Any

import msgspec

from belvedere import events
from belvedere.access import Actor, audit
from belvedere.db import Tx
from belvedere.indicators import history
from belvedere.indicators.model import LARGE_TYPES, IndicatorRow, IndicatorState, PlainValue
from belvedere.triggers import store

# Longer texts are not part of the event.
MAX_EVENT_TEXT = 1_024
# Scripts push these all the time; changes of all other fields are audited.
UNAUDITED = frozenset({"state", "value", "version"})
STATE_EVENTS = {
    IndicatorState.FAILURE: "indicator.failed",
    IndicatorState.NORMAL: "indicator.recovered",
}


def record_push(tx: Tx, rows: Sequence[IndicatorRow], kind: str = "indicator.changed") -> None:
    """Store pushed values for the sparkline, and publish the change."""
    history.record_values(tx, rows)
    publish(tx, kind, rows)


def publish(tx: Tx, kind: str, rows: Sequence[IndicatorRow]) -> None:
    events.append_all(tx, kind, [(row.customer_id, row.id, event_data(row)) for row in rows])


def record_state_change(tx: Tx, row: IndicatorRow, state_before: str) -> None:
    """Publish a changed state, and fire its triggers."""
    if row.state == state_before:
        return
    publish(tx, STATE_EVENTS[IndicatorState(row.state)], [row])
    fire(tx, [row], row.state)


def fire(tx: Tx, rows: Sequence[IndicatorRow], event_name: str) -> None:
    """Fire the triggers of this event; disabled indicators start nothing."""
    store.fire(
        tx,
        "indicator",
        [
            (row.customer_id, row.id, event_name, {"arguments": trigger_arguments(row)})
            for row in rows
            if row.enabled
        ],
    )


def trigger_arguments(row: IndicatorRow) -> list[PlainValue]:
    """The arguments of a task that the indicator starts."""
    return [row.title, row.state, row.summary]


def event_data(row: IndicatorRow) -> dict[str, Any]:
    data: dict[str, Any] = {
        "title": row.title,
        "type": row.type,
        "state": row.state,
        "severity": row.severity,
        "alerts": bool(row.alerts),
        "enable": bool(row.enabled),
        "version": row.version,
    }
    if row.type not in LARGE_TYPES and (
        row.text_value is None or len(row.text_value) <= MAX_EVENT_TEXT
    ):
        data["value"] = row.value
    return data


def audit_change(tx: Tx, actor: Actor, row: IndicatorRow, before: dict[str, Any]) -> None:
    after = audit_fields(row)
    if any(after[name] != before[name] for name in after.keys() - UNAUDITED):
        audit.record(tx, actor, "indicator.change", "indicator", row.id, before, after)


def audit_fields(row: IndicatorRow) -> dict[str, Any]:
    return {
        **event_data(row),
        "value": row.summary,
        "description": row.description,
        "sticky": bool(row.sticky),
        "read_only": bool(row.read_only),
        "tags": msgspec.json.decode(row.tags),
        "order": row.place,
        "width": row.width,
        "height": row.height,
        "ttl": row.ttl,
    }
