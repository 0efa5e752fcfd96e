"""What agents saw: batches taken once each, in order, and what follows from every sample."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from belvedere.base.clock import DAY, Millis, iso
from belvedere.base.text import json_text
from belvedere.db import Tx
from belvedere.monitors import model, store
from belvedere.monitors.config import maintenance
from belvedere.monitors.evaluation import rollups, state_changes, transitions
from belvedere.monitors.evaluation.state_changes import Moved
from belvedere.monitors.evaluation.transitions import Outcome
from belvedere.monitors.model import MonitorRow
from belvedere.protocol import Sample, Samples

OLDEST: Millis = 1 * DAY
MAX_DATA = 32 * 1024
MAX_WORD = 128
MAX_STREAM = 64


class Look(msgspec.Struct):
    """One look at a monitor, with its moment."""

    at: Millis
    state: Outcome
    event: str = ""
    message: str = ""
    data: dict[str, Any] = {}
    measured: dict[str, float] = {}


def note(tx: Tx, host_id: str, batches: Sequence[Samples], *, keeps_history: bool = True) -> int:
    """Take what is new of an agent's batches, in order; how many samples counted."""
    fresh = _unheard(tx, host_id, batches)
    rows = {row.id: row for row in store.of_host(tx, host_id, hold=True)} if fresh else {}
    looks = [
        (rows[sample.monitor_id], look_of(sample, tx.now))
        for batch in fresh
        for sample in batch.samples
        if sample.monitor_id in rows and _is_of(rows[sample.monitor_id], sample)
    ]
    look_at(tx, looks, keeps_history=keeps_history)
    return len(looks)


def _unheard(tx: Tx, host_id: str, batches: Sequence[Samples]) -> list[Samples]:
    """Those that did not arrive before; from now on they did."""
    tx.execute(
        "insert into watches (host_id, number, stream, batch) values (?, 0, '', 0)"
        " on conflict (host_id) do nothing",
        host_id,
    )
    row = tx.row(
        f"select stream, batch from watches where host_id = ?{tx.dialect.lock_rows}", host_id
    )
    assert row is not None
    stream, number = row
    fresh: list[Samples] = []
    for batch in batches:
        name = json_text.clean(batch.stream)[:MAX_STREAM]
        if name != stream:
            stream, number = name, 0
        if batch.number > number:
            fresh.append(batch)
            number = batch.number
    if fresh:
        tx.execute(
            "update watches set stream = ?, batch = ? where host_id = ?", stream, number, host_id
        )
    return fresh


def _is_of(row: MonitorRow, sample: Sample) -> bool:
    """A check of what the monitor is now; one that was paused meanwhile says nothing."""
    return bool(row.enabled) and row.config_version == sample.version


def look_of(sample: Sample, now: Millis) -> Look:
    return Look(
        now - min(max(sample.ago_ms, 0), OLDEST),
        sample.state,
        json_text.clean(sample.event)[:MAX_WORD],
        json_text.clean(sample.message)[: rollups.MAX_MESSAGE],
        _bounded(sample.data),
        rollups.metrics(sample.measured),
    )


def _bounded(data: dict[str, Any]) -> dict[str, Any]:
    written = json_text.clean(msgspec.json.encode(data).decode())
    found: dict[str, Any] = msgspec.json.decode(written) if len(written) <= MAX_DATA else {}
    return found


def judge(row: MonitorRow, look: Look) -> Moved:
    """What a check means for its monitor."""
    before = state_changes.seen_of(row)
    if look.state == "failure" and maintenance.is_open(row.maintenance, look.at):
        # Expected, and told to nobody.
        return state_changes.move(row, transitions.excused(before), (), look.at)
    return state_changes.move(
        row, *transitions.sampled(before, look.state, row.fail_threshold, look.at), look.at
    )


def look_at(
    tx: Tx,
    looks: Sequence[tuple[MonitorRow, Look]],
    verdict: Callable[[MonitorRow, Look], Moved] = judge,
    *,
    keeps_history: bool = True,
) -> None:
    """Count every look, move every monitor, tell what happened: rows are held by the caller.
    Without history, where the organization has no room left, states and alerts go on."""
    moved: list[Moved] = []
    kept: list[rollups.Seen] = []
    for row, look in looks:
        # Two looks in one millisecond, or a clock that was set back, still have an order.
        look.at = row.checked_at = max(look.at, (row.checked_at or 0) + 1)
        row.last_event = _last_event(look)
        model.expect(row, look.at)
        moved.append(verdict(row, look))
        if not maintenance.is_open(row.maintenance, look.at):
            kept.append(rollups.Seen(row.id, look.at, look.state, look.message, look.measured))
    if keeps_history:
        rollups.add(tx, kept)
    store.save_seen(tx, {row.id: row for row, _ in looks}.values())
    state_changes.tell(tx, moved)


def _last_event(look: Look) -> str:
    said = {
        "state": look.state,
        "event": look.event or look.state,
        "event_name": look.event or look.state,
        "message": look.message,
        "data": look.data,
        "date": iso(look.at),
    }
    return msgspec.json.encode(said).decode()
