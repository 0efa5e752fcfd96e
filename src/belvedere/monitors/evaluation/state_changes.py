"""Writing down that a monitor is in another state, and telling whom it concerns."""

from collections.abc import Sequence
from typing import Any

import msgspec

from belvedere import events
from belvedere.base.clock import Millis
from belvedere.base.text import json_text
from belvedere.db import Tx
from belvedere.monitors import store
from belvedere.monitors.config.secrecy import shown_config
from belvedere.monitors.evaluation.transitions import RECOVERED, STARTED, Seen
from belvedere.monitors.model import MonitorRow, State
from belvedere.triggers import store as triggers


class Moved(msgspec.Struct):
    """One step of a monitor: what it was, what it is, what is told of it."""

    row: MonitorRow
    before: str
    names: tuple[str, ...] = ()
    # As it was at this step; the row may have gone on.
    after: str = ""
    last_event: str = "{}"


def seen_of(row: MonitorRow) -> Seen:
    return Seen(
        State(row.state),
        row.fails_count,
        bool(row.is_failing),
        msgspec.json.decode(row.flips, type=tuple[Millis, ...]),
        bool(row.is_flapping),
    )


def move(row: MonitorRow, seen: Seen, names: tuple[str, ...], at: Millis) -> Moved:
    """Put what is known now into the row; it is saved by whoever called."""
    before = row.state
    row.state = seen.state.value
    if row.state != before:
        row.state_at = at
    row.fails_count = seen.fails
    row.is_failing = int(seen.is_failing)
    row.flips = msgspec.json.encode(seen.flips).decode()
    row.is_flapping = int(seen.is_flapping)
    row.recovery_count += sum(name in (RECOVERED, STARTED) for name in names)
    return Moved(row, before, names, row.state, row.last_event)


def tell(tx: Tx, moved: Sequence[Moved]) -> None:
    """One `monitor.state` per change of state, one event per name, and what these start."""
    told = [one for one in moved if one.before != one.after or one.names]
    if not told:
        return
    events.append_all(
        tx,
        "monitor.state",
        [
            (one.row.customer_id, one.row.id, {**_about(one), "from": one.before})
            for one in told
            if one.before != one.after
        ],
    )
    named = [(one, name) for one in told for name in one.names]
    for name in dict.fromkeys(name for _, name in named):
        events.append_all(
            tx,
            f"monitor.{name}",
            [(one.row.customer_id, one.row.id, _about(one)) for one, word in named if word == name],
        )
    _start(tx, named)


def _about(one: Moved) -> dict[str, Any]:
    row = one.row
    last = msgspec.json.decode(one.last_event)
    return {
        "name": row.name,
        "type": row.type,
        "host_id": row.host_id,
        "state": one.after,
        "failure_severity": row.severity,
        # False: people want to hear nothing of it.
        "alerts": bool(row.alerts),
        "message": last.get("message", ""),
    }


def _start(tx: Tx, named: list[tuple[Moved, str]]) -> None:
    """Whatever hangs on these events gets one argument: what happened, as JSON."""
    if not named:
        return
    hosts = store.hostnames(tx, {one.row.host_id for one, _ in named if one.row.host_id})
    triggers.fire(
        tx,
        "monitor",
        [
            (
                one.row.customer_id,
                one.row.id,
                name,
                {"arguments": [json_text.compact(_argument(one, name, hosts))]},
            )
            for one, name in named
        ],
    )


def _argument(one: Moved, name: str, hosts: dict[str, str]) -> dict[str, Any]:
    row = one.row
    last = msgspec.json.decode(one.last_event)
    return {
        "type": row.type,
        "monitor_id": row.id,
        "name": row.name,
        "hostname": hosts.get(row.host_id or "", ""),
        "state": one.after,
        "event_name": name,
        "output": {"message": last.get("message", ""), "data": last.get("data", {})},
        "config": shown_config(row.settings),
    }
