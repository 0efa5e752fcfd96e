"""Checks of the server itself: silent monitors, hosts down or up, nested monitors, ended pauses.
The samples of hosts that stay up are in `host_samples`.

Every decision is made from the current rows, so that a run which was skipped, or done by another
server, makes no difference.
"""

from collections.abc import Callable, Sequence

import msgspec

from belvedere import events
from belvedere.base.clock import Millis
from belvedere.db import Tx
from belvedere.monitors import model, store, watch_changes
from belvedere.monitors.config import maintenance
from belvedere.monitors.evaluation import samples, state_changes, transitions
from belvedere.monitors.evaluation.host_samples import IS_STEADY, IS_UP, SEEN_WITHIN
from belvedere.monitors.evaluation.observations import Observation
from belvedere.monitors.evaluation.state_changes import StateChange
from belvedere.monitors.evaluation.transitions import Outcome
from belvedere.monitors.model import MonitorRow, MonitorState

# Monitors that one transaction changes for each reason: after an outage there may be thousands.
BATCH_SIZE = 200
# Time for an agent to reconnect after it disconnected: a restart must not alert.
RECONNECT_GRACE: Millis = 30_000

Check = Callable[[Tx, Sequence[MonitorRow]], None]
# From the hosts to the monitors: an index has the few hosts that may be down.
_DOWN = (
    "host_id in (select h.id from hosts h where h.deleted_at is null"
    " and (h.gone_at is not null or h.connected_at is null)"
    " and (h.gone_at is not null or h.seen_at is null or h.seen_at < ?))"
)
_ENDED_PAUSE = "paused_until <= ? and enabled = 0"
_ENDED_MUTE = "muted_until <= ? and alerts = 0"
_HOST_DOWN = f"type = 'host' and enabled = 1 and (state <> ? or checked_at <= ?) and {_DOWN}"
_HOST_UP = (
    f"type = 'host' and enabled = 1 and not {IS_STEADY} and (state <> 'normal' or checked_at <= ?)"
    f" and {IS_UP}"
)
_UNDER_DEAD_HOST = f"type <> 'host' and state not in ('unknown', 'paused') and {_DOWN}"
_UNDER_RETURNED_HOST = f"type <> 'host' and state = 'unknown' and due_at is null and {IS_UP}"
_SILENT = f"due_at <= ? and enabled = 1 and (host_id is null or {IS_UP})"
_NESTED = "type = 'nested' and enabled = 1"


def has_work(tx: Tx) -> bool:
    """Whether `run` would change anything; a read is cheaper than an empty write."""
    now, gone_since, minute = tx.now, tx.now - RECONNECT_GRACE, tx.now - model.LOOPTIME
    seen_since = tx.now - SEEN_WITHIN
    return (
        store.exists(tx, _ENDED_PAUSE, now)
        or store.exists(tx, _ENDED_MUTE, now)
        or store.exists(tx, _HOST_DOWN, MonitorState.UPDATES_STOPPED.value, minute, gone_since)
        or store.exists(tx, _HOST_UP, minute, seen_since)
        or store.exists(tx, _UNDER_DEAD_HOST, gone_since)
        or store.exists(tx, _UNDER_RETURNED_HOST, seen_since)
        or store.exists(tx, _SILENT, now, seen_since)
        or store.exists(tx, _NESTED)
    )


def run(tx: Tx) -> bool:
    """A step of all checks; whether there is more to do."""
    now, gone_since, minute = tx.now, tx.now - RECONNECT_GRACE, tx.now - model.LOOPTIME
    seen_since, stopped = tx.now - SEEN_WITHIN, MonitorState.UPDATES_STOPPED.value
    # What was changed no longer matches its condition.
    checks: tuple[tuple[Check, str, tuple[object, ...]], ...] = (
        (_resume_all, _ENDED_PAUSE, (now,)),
        (_unmute_all, _ENDED_MUTE, (now,)),
        (_report_host_down, _HOST_DOWN, (stopped, minute, gone_since)),
        (_report_host_up, _HOST_UP, (minute, seen_since)),
        (_set_unknown, _UNDER_DEAD_HOST, (gone_since,)),
        (_restart_deadlines, _UNDER_RETURNED_HOST, (seen_since,)),
        (_report_silence, _SILENT, (now, seen_since)),
    )
    is_full = [_check(tx, *check) for check in checks]
    if any(is_full):
        return True
    _evaluate_nested(tx, store.select_locked(tx, _NESTED))
    return False


def _check(tx: Tx, check: Check, condition: str, params: tuple[object, ...]) -> bool:
    rows = store.select_locked(tx, condition, *params, limit=BATCH_SIZE)
    check(tx, rows)
    return len(rows) == BATCH_SIZE


def _resume_all(tx: Tx, rows: Sequence[MonitorRow]) -> None:
    for row in rows:
        resume(tx, row)


def _unmute_all(tx: Tx, rows: Sequence[MonitorRow]) -> None:
    for row in rows:
        unmute(tx, row)


def resume(tx: Tx, row: MonitorRow) -> None:
    """Resume checks at the end of a pause."""
    row.enabled, row.paused_until = 1, None
    model.set_due(row, tx.now)
    changes = state_changes.apply_status(
        row, transitions.to_resumed(state_changes.status_from_row(row)), (), tx.now
    )
    _save(tx, row)
    watch_changes.record(tx, row.host_id, row.id)
    events.append(tx, row.customer_id, "monitor.resumed", row.id, {"name": row.name})
    state_changes.publish(tx, [changes])


def unmute(tx: Tx, row: MonitorRow) -> None:
    row.alerts, row.muted_until = 1, None
    _save(tx, row)
    events.append(tx, row.customer_id, "monitor.unmuted", row.id, {"name": row.name})


def _save(tx: Tx, row: MonitorRow) -> None:
    row.version += 1
    row.updated_at = tx.now
    store.save(tx, row)


def _report_host_down(tx: Tx, rows: Sequence[MonitorRow]) -> None:
    """A host that is down causes one alert, that of its host monitor."""
    observation = Observation(tx.now, "failure", "host:down", "The agent is disconnected.")
    observations = [(row, msgspec.structs.replace(observation)) for row in rows]
    samples.record_observations(tx, observations, _evaluate_absence)


def _evaluate_absence(row: MonitorRow, observation: Observation) -> StateChange:
    status, names = transitions.after_silence(state_changes.status_from_row(row))
    is_expected = maintenance.is_open(row.maintenance, observation.at)
    return state_changes.apply_status(row, status, () if is_expected else names, observation.at)


def _report_host_up(tx: Tx, rows: Sequence[MonitorRow]) -> None:
    samples.record_observations(
        tx, [(row, Observation(tx.now, "normal", "host:up")) for row in rows]
    )


def _set_unknown(tx: Tx, rows: Sequence[MonitorRow]) -> None:
    """Monitors of a host that is down are unknown, without an alert for each."""
    changes = []
    for row in rows:
        row.due_at = None
        changes.append(
            state_changes.apply_status(
                row, transitions.to_unknown(state_changes.status_from_row(row)), (), tx.now
            )
        )
    store.save_status(tx, rows)
    state_changes.publish(tx, changes)


def _restart_deadlines(tx: Tx, rows: Sequence[MonitorRow]) -> None:
    """The agent is connected again: from now on its checks have to report."""
    for row in rows:
        model.set_due(row, tx.now)
    store.save_status(tx, rows)


def _report_silence(tx: Tx, rows: Sequence[MonitorRow]) -> None:
    changes: list[StateChange] = []
    for row in rows:
        if maintenance.is_open(row.maintenance, tx.now):
            model.set_due(row, tx.now)
            continue
        row.due_at = None
        changes.append(
            state_changes.apply_status(
                row, *transitions.after_silence(state_changes.status_from_row(row)), tx.now
            )
        )
    store.save_status(tx, rows)
    state_changes.publish(tx, changes)


def _evaluate_nested(tx: Tx, rows: Sequence[MonitorRow]) -> None:
    """Normal if all members are normal, failure if one fails, otherwise unknown."""
    observations, unknown = [], []
    for row in rows:
        outcome = _nested_outcome(tx, row)
        is_due = (row.checked_at or 0) + row.looptime <= tx.now
        if outcome is None:
            unknown += [row] if row.state != MonitorState.UNKNOWN else []
        elif is_due or row.state != outcome:
            observations.append(
                (row, Observation(tx.now, outcome, message=_failing_names(tx, row)))
            )
    _set_unknown(tx, unknown)
    samples.record_observations(tx, observations)


def _nested_outcome(tx: Tx, row: MonitorRow) -> Outcome | None:
    member_states = _member_states(tx, row)
    states = {state for state in member_states.values() if state != MonitorState.PAUSED}
    if MonitorState.FAILURE in states:
        return "failure"
    return "normal" if states == {MonitorState.NORMAL} else None


def _member_states(tx: Tx, row: MonitorRow) -> dict[str, str]:
    states = store.states(tx, row.customer_id, row.settings["monitors"])
    return {monitor_id: state for monitor_id, (state, _) in states.items()}


def _failing_names(tx: Tx, row: MonitorRow) -> str:
    failing = [
        monitor_id
        for monitor_id, state in _member_states(tx, row).items()
        if state == MonitorState.FAILURE
    ]
    if not failing:
        return ""
    rows = tx.rows(
        f"select name from monitors where id in {tx.dialect.in_texts} order by name",
        msgspec.json.encode(failing).decode(),
    )
    return "Failing: " + ", ".join(name for (name,) in rows[:20]) + "."
