"""What the server sees by itself: silence, hosts that are down or back, nested ones, ended pauses.

Everything here is read from the rows as they are, so that a turn which was missed, or made by
another server, changes nothing.
"""

from collections.abc import Callable, Sequence

import msgspec

from belvedere import events
from belvedere.base.clock import Millis
from belvedere.db import Tx
from belvedere.monitors import model, store, watch_changes
from belvedere.monitors.config import maintenance
from belvedere.monitors.evaluation import samples, state_changes, transitions
from belvedere.monitors.evaluation.samples import Look
from belvedere.monitors.evaluation.state_changes import Moved
from belvedere.monitors.evaluation.transitions import Outcome
from belvedere.monitors.model import MonitorRow, State

# A host whose agent said goodbye gets this long to come back: a restart is no alert.
ABSENCE: Millis = 30_000

_HOST = "select 1 from hosts h where h.id = monitors.host_id and h.deleted_at is null"
_DOWN = (
    f"exists ({_HOST} and (h.gone_at is not null"
    " or (h.connected_at is null and (h.seen_at is null or h.seen_at < ?))))"
)
_UP = f"exists ({_HOST} and h.connected_at is not null and h.gone_at is null)"
_ENDED_PAUSE = "paused_until <= ? and enabled = 0"
_ENDED_MUTE = "muted_until <= ? and alerts = 0"
_HOST_DOWN = f"type = 'host' and enabled = 1 and (state <> ? or checked_at <= ?) and {_DOWN}"
_HOST_UP = f"type = 'host' and enabled = 1 and (state <> 'normal' or checked_at <= ?) and {_UP}"
_UNSEEN = f"type <> 'host' and state not in ('unknown', 'paused') and {_DOWN}"
_EXPECTED = f"type <> 'host' and state = 'unknown' and due_at is null and {_UP}"
_SILENT = f"due_at <= ? and enabled = 1 and (host_id is null or {_UP})"
_NESTED = "type = 'nested' and enabled = 1"


def waits(tx: Tx) -> bool:
    """Whether `watch` would find anything; a read is cheaper than an empty write."""
    now, gone, minute = tx.now, tx.now - ABSENCE, tx.now - model.LOOPTIME
    return (
        store.is_any(tx, _ENDED_PAUSE, now)
        or store.is_any(tx, _ENDED_MUTE, now)
        or store.is_any(tx, _HOST_DOWN, State.UPDATES_STOPPED.value, minute, gone)
        or store.is_any(tx, _HOST_UP, minute)
        or store.is_any(tx, _UNSEEN, gone)
        or store.is_any(tx, _EXPECTED)
        or store.is_any(tx, _SILENT, now)
        or store.is_any(tx, _NESTED)
    )


def watch(tx: Tx) -> None:
    """One turn."""
    now, gone, minute = tx.now, tx.now - ABSENCE, tx.now - model.LOOPTIME
    _each(tx, store.chosen(tx, _ENDED_PAUSE, now), resume)
    _each(tx, store.chosen(tx, _ENDED_MUTE, now), unmute)
    _host_down(tx, store.chosen(tx, _HOST_DOWN, State.UPDATES_STOPPED.value, minute, gone))
    _host_up(tx, store.chosen(tx, _HOST_UP, minute))
    _unseen(tx, store.chosen(tx, _UNSEEN, gone))
    _expect(tx, store.chosen(tx, _EXPECTED))
    _silent(tx, store.chosen(tx, _SILENT, now))
    _nested(tx, store.chosen(tx, _NESTED))


def _each(tx: Tx, rows: Sequence[MonitorRow], verb: Callable[[Tx, MonitorRow], None]) -> None:
    for row in rows:
        verb(tx, row)


def resume(tx: Tx, row: MonitorRow) -> None:
    """Checked again, by a person or because the time is up."""
    row.enabled, row.paused_until = 1, None
    model.expect(row, tx.now)
    moved = state_changes.move(row, transitions.resumed(state_changes.seen_of(row)), (), tx.now)
    _save(tx, row)
    watch_changes.changed(tx, row.host_id, row.id)
    events.append(tx, row.customer_id, "monitor.resumed", row.id, {"name": row.name})
    state_changes.tell(tx, [moved])


def unmute(tx: Tx, row: MonitorRow) -> None:
    row.alerts, row.muted_until = 1, None
    _save(tx, row)
    events.append(tx, row.customer_id, "monitor.unmuted", row.id, {"name": row.name})


def _save(tx: Tx, row: MonitorRow) -> None:
    row.version += 1
    row.updated_at = tx.now
    store.save(tx, row)


def _host_down(tx: Tx, rows: Sequence[MonitorRow]) -> None:
    """The one alert of a dead host."""
    look = Look(tx.now, "failure", "host:down", "The agent is gone.")
    looks = [(row, msgspec.structs.replace(look)) for row in rows]
    samples.look_at(tx, looks, _agent_gone)


def _agent_gone(row: MonitorRow, look: Look) -> Moved:
    seen, names = transitions.silent(state_changes.seen_of(row))
    is_expected = maintenance.is_open(row.maintenance, look.at)
    return state_changes.move(row, seen, () if is_expected else names, look.at)


def _host_up(tx: Tx, rows: Sequence[MonitorRow]) -> None:
    samples.look_at(tx, [(row, Look(tx.now, "normal", "host:up")) for row in rows])


def _unseen(tx: Tx, rows: Sequence[MonitorRow]) -> None:
    """Under a dead host nobody knows anything, and nobody is told so one by one."""
    moved = []
    for row in rows:
        row.due_at = None
        moved.append(
            state_changes.move(row, transitions.unseen(state_changes.seen_of(row)), (), tx.now)
        )
    store.save_seen(tx, rows)
    state_changes.tell(tx, moved)


def _expect(tx: Tx, rows: Sequence[MonitorRow]) -> None:
    """The agent is back: from now on the check's own silence counts."""
    for row in rows:
        model.expect(row, tx.now)
    store.save_seen(tx, rows)


def _silent(tx: Tx, rows: Sequence[MonitorRow]) -> None:
    moved: list[Moved] = []
    for row in rows:
        if maintenance.is_open(row.maintenance, tx.now):
            model.expect(row, tx.now)
            continue
        row.due_at = None
        moved.append(
            state_changes.move(row, *transitions.silent(state_changes.seen_of(row)), tx.now)
        )
    store.save_seen(tx, rows)
    state_changes.tell(tx, moved)


def _nested(tx: Tx, rows: Sequence[MonitorRow]) -> None:
    """Good when all members are; bad when one is; otherwise nobody knows."""
    looks, lost = [], []
    for row in rows:
        outcome = _together(tx, row)
        is_due = (row.checked_at or 0) + row.looptime <= tx.now
        if outcome is None:
            lost += [row] if row.state != State.UNKNOWN else []
        elif is_due or row.state != outcome:
            looks.append((row, Look(tx.now, outcome, message=_named(tx, row))))
    _unseen(tx, lost)
    samples.look_at(tx, looks)


def _together(tx: Tx, row: MonitorRow) -> Outcome | None:
    found = _members(tx, row)
    seen = {state for state in found.values() if state != State.PAUSED}
    if State.FAILURE in seen:
        return "failure"
    return "normal" if seen == {State.NORMAL} else None


def _members(tx: Tx, row: MonitorRow) -> dict[str, str]:
    found = store.states(tx, row.customer_id, row.settings["monitors"])
    return {monitor_id: state for monitor_id, (state, _) in found.items()}


def _named(tx: Tx, row: MonitorRow) -> str:
    failing = [one for one, state in _members(tx, row).items() if state == State.FAILURE]
    if not failing:
        return ""
    rows = tx.rows(
        f"select name from monitors where id in {tx.dialect.in_texts} order by name",
        msgspec.json.encode(failing).decode(),
    )
    return "Failing: " + ", ".join(name for (name,) in rows[:20]) + "."
