"""Every change of an indicator as the event log tells it, with its value kept and its triggers."""

from collections.abc import Sequence
from typing import Any

import msgspec

from belvedere import events
from belvedere.access import Actor, audit
from belvedere.db import Tx
from belvedere.indicators import history
from belvedere.indicators.model import LARGE, IndicatorRow, Plain, State
from belvedere.triggers import store

# Longer texts are read, not told.
MAX_TOLD = 1_024
# Pushing these is what indicators are for; everything else of them is audited.
UNAUDITED = frozenset({"state", "value", "version"})
ENTERED = {State.FAILURE: "indicator.failed", State.NORMAL: "indicator.recovered"}


def pushed(tx: Tx, rows: Sequence[IndicatorRow], kind: str = "indicator.changed") -> None:
    """Their sources spoke: the values are kept for the sparkline."""
    history.remember(tx, rows)
    tell(tx, kind, rows)


def tell(tx: Tx, kind: str, rows: Sequence[IndicatorRow]) -> None:
    events.append_all(tx, kind, [(row.customer_id, row.id, data_of(row)) for row in rows])


def entered(tx: Tx, row: IndicatorRow, was: str) -> None:
    """Its state changed: whoever waits for that is told, and what it starts is started."""
    if row.state == was:
        return
    tell(tx, ENTERED[State(row.state)], [row])
    fire(tx, [row], row.state)


def fire(tx: Tx, rows: Sequence[IndicatorRow], event_name: str) -> None:
    """Start what waits for this; one that is disabled starts nothing."""
    store.fire(
        tx,
        "indicator",
        [
            (row.customer_id, row.id, event_name, {"arguments": arguments(row)})
            for row in rows
            if row.enabled
        ],
    )


def arguments(row: IndicatorRow) -> list[Plain]:
    """What a task that it starts gets."""
    return [row.title, row.state, row.gist]


def data_of(row: IndicatorRow) -> dict[str, Any]:
    told: dict[str, Any] = {
        "title": row.title,
        "type": row.type,
        "state": row.state,
        "severity": row.severity,
        "alerts": bool(row.alerts),
        "enable": bool(row.enabled),
        "version": row.version,
    }
    if row.type not in LARGE and (row.text_value is None or len(row.text_value) <= MAX_TOLD):
        told["value"] = row.value
    return told


def audit_change(tx: Tx, actor: Actor, row: IndicatorRow, before: dict[str, Any]) -> None:
    after = audited(row)
    if any(after[name] != before[name] for name in after.keys() - UNAUDITED):
        audit.record(tx, actor, "indicator.change", "indicator", row.id, before, after)


def audited(row: IndicatorRow) -> dict[str, Any]:
    return {
        **data_of(row),
        "value": row.gist,
        "description": row.description,
        "sticky": bool(row.sticky),
        "read_only": bool(row.read_only),
        "tags": msgspec.json.decode(row.tags),
        "order": row.place,
        "width": row.width,
        "height": row.height,
        "ttl": row.ttl,
    }
