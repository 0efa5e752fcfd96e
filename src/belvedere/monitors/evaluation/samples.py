"""Check results of agents: each batch is processed once, in order."""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import msgspec

from belvedere.base.clock import DAY, Millis, iso
from belvedere.base.counters import LONG, Histogram
from belvedere.base.text import json_text
from belvedere.db import Tx
from belvedere.monitors import model, store, trial_store
from belvedere.monitors.config import maintenance
from belvedere.monitors.evaluation import rollups, state_changes, transitions
from belvedere.monitors.evaluation.observations import Observation, separate_processes
from belvedere.monitors.evaluation.state_changes import StateChange
from belvedere.monitors.model import MonitorRow, MonitorState, MonitorType
from belvedere.protocol import Sample, Samples

MAX_AGE: Millis = 1 * DAY
# Results that this process has stored, by state, and the time from check to result; for metrics.
RESULTS: Counter[str] = Counter()
RESULT_LAGS = Histogram(LONG)
MAX_DATA = 32 * 1024
MAX_EVENT_NAME = 128
MAX_STREAM_NAME = 64


def record_batches(
    tx: Tx, host_id: str, batches: Sequence[Samples], *, keeps_history: bool = True
) -> int:
    """Record the new ones of an agent's batches, in order; returns the number of samples used."""
    new_batches = _new_batches(tx, host_id, batches)
    monitor_ids = {sample.monitor_id for batch in new_batches for sample in batch.samples}
    # Only the monitors of these batches: the host may have thousands.
    rows = {row.id: row for row in store.lock_for_host(tx, host_id, monitor_ids)}
    observations = [
        (rows[sample.monitor_id], observation_from_sample(sample, tx.now))
        for batch in new_batches
        for sample in batch.samples
        if sample.monitor_id in rows and _is_current(rows[sample.monitor_id], sample)
    ]
    separate_processes(tx, host_id, observations)
    results = [(observation.state, tx.now - observation.at) for _, observation in observations]
    tx.after_commit(partial(_count_results, results))
    record_observations(tx, observations, keeps_history=keeps_history)
    others = {
        sample.monitor_id: observation_from_sample(sample, tx.now)
        for batch in new_batches
        for sample in batch.samples
        if sample.monitor_id not in rows
    }
    if others:
        texts = {id_: _result_text(observation) for id_, observation in others.items()}
        trial_store.write_results(tx, host_id, texts)
    return len(observations)


def _count_results(results: Sequence[tuple[str, Millis]]) -> None:
    for state, lag in results:
        RESULTS[state] += 1
        RESULT_LAGS.observe(lag / 1_000)


def _result_text(observation: Observation) -> str:
    """The result of a trial. The data of a check are for events and not shown."""
    without_data = msgspec.structs.replace(observation, data={})
    return msgspec.json.encode(without_data).decode()


def _new_batches(tx: Tx, host_id: str, batches: Sequence[Samples]) -> list[Samples]:
    """The batches that did not arrive before; they are marked as received."""
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
    new_batches: list[Samples] = []
    for batch in batches:
        name = json_text.clean(batch.stream)[:MAX_STREAM_NAME]
        if name != stream:
            stream, number = name, 0
        if batch.number > number:
            new_batches.append(batch)
            number = batch.number
    if new_batches:
        tx.execute(
            "update watches set stream = ?, batch = ? where host_id = ?", stream, number, host_id
        )
    return new_batches


def _is_current(row: MonitorRow, sample: Sample) -> bool:
    """Whether the sample is for the current configuration of a monitor that is not paused."""
    return bool(row.enabled) and row.config_version == sample.version


def observation_from_sample(sample: Sample, now: Millis) -> Observation:
    return Observation(
        now - min(max(sample.ago_ms, 0), MAX_AGE),
        sample.state,
        json_text.clean(sample.event)[:MAX_EVENT_NAME],
        json_text.clean(sample.message)[: rollups.MAX_MESSAGE],
        _limited_data(sample.data),
        rollups.valid_metrics(sample.measured),
    )


def _limited_data(data: dict[str, Any]) -> dict[str, Any]:
    """A copy: lists of processes are removed from it, and the batch may be recorded again."""
    return dict(data) if len(msgspec.json.encode(data)) <= MAX_DATA else {}


def evaluate(row: MonitorRow, observation: Observation) -> StateChange:
    """Apply the result of a check to its monitor."""
    before = state_changes.status_from_row(row)
    if observation.state == "failure" and maintenance.is_open(row.maintenance, observation.at):
        # An expected failure does not alert.
        return state_changes.apply_status(
            row, transitions.after_excused_failure(before), (), observation.at
        )
    status, names = transitions.after_sample(
        before, observation.state, row.fail_threshold, observation.at
    )
    names += _file_events(row, observation)
    return state_changes.apply_status(row, status, names, observation.at)


def _file_events(row: MonitorRow, observation: Observation) -> tuple[str, ...]:
    """The file was changed. If it is maintained, the agent reports this after restoring it."""
    if row.type != MonitorType.FILE or observation.state != "changed":
        return ()
    is_maintained = bool(row.settings.get("file"))
    restored = (transitions.FILE_RESTORED,) if is_maintained else ()
    return (transitions.FILE_CHANGED, *restored)


def record_observations(
    tx: Tx,
    observations: Sequence[tuple[MonitorRow, Observation]],
    evaluation: Callable[[MonitorRow, Observation], StateChange] = evaluate,
    *,
    keeps_history: bool = True,
) -> None:
    """Store the results, update the monitors and publish their changes; the caller has locked the
    rows. Without history (the organization's storage is full), states and alerts still work."""
    changes: list[StateChange] = []
    stored: list[rollups.StoredSample] = []
    latest: dict[str, tuple[MonitorRow, Observation]] = {}
    for row, observation in observations:
        # Results of the same millisecond, or after a clock change, still keep their order.
        observation.at = row.checked_at = max(observation.at, (row.checked_at or 0) + 1)
        latest[row.id] = (row, observation)
        if not _changes_nothing(row, observation):
            row.last_event = last_event(observation)
            changes.append(evaluation(row, observation))
        if not maintenance.is_open(row.maintenance, observation.at):
            stored.append(
                rollups.StoredSample(
                    row.id,
                    observation.at,
                    observation.state,
                    observation.message,
                    observation.measured,
                )
            )
    if keeps_history:
        rollups.add(tx, stored)
    for row, observation in latest.values():
        row.last_event = last_event(observation)
        model.set_due(row, observation.at)
    store.save_status(tx, [row for row, _ in latest.values()])
    state_changes.publish(tx, changes)


def _changes_nothing(row: MonitorRow, observation: Observation) -> bool:
    """Whether it is one more successful check of a monitor that has had no failure for a while.
    Almost all results are; for them the rules of `transitions` need not run."""
    return (
        observation.state == "normal"
        and row.state == MonitorState.NORMAL
        and row.flips == "[]"
        and not (row.fails_count or row.is_failing or row.is_flapping)
    )


def last_event(observation: Observation) -> str:
    """What a monitor shows of its last result."""
    event = {
        "state": observation.state,
        "event": observation.event or observation.state,
        "event_name": observation.event or observation.state,
        "message": observation.message,
        "data": observation.data,
        "date": iso(observation.at),
    }
    return msgspec.json.encode(event).decode()
