"""Stored samples, and their aggregates per minute, ten minutes, hour and day."""

import math
from collections.abc import Sequence

import msgspec

from belvedere.base.clock import DAY, HOUR, MINUTE, Millis
from belvedere.db import Tx

STEPS: tuple[Millis, ...] = (MINUTE, 10 * MINUTE, HOUR, DAY)
# How long each step is stored; 0 means single samples.
RETENTION: dict[Millis, Millis] = {
    0: 6 * HOUR,
    MINUTE: 2 * DAY,
    10 * MINUTE: 14 * DAY,
    HOUR: 92 * DAY,
    DAY: 3 * 366 * DAY,
}
# The metric of successful checks: its average is the uptime.
UP = "up"
MAX_METRICS = 32
MAX_NAME = 64
MAX_MESSAGE = 1_000
BATCH_SIZE = 1_000
# Larger than any percentage, size or time.
MAX_NUMBER = 1e300

# Monitor, metric, step, and the start of the interval.
StepKey = tuple[str, str, Millis, Millis]
# Count, total, lowest and highest number.
Aggregate = tuple[int, float, float, float]


class StoredSample(msgspec.Struct, frozen=True):
    """One row of `monitor_samples`."""

    monitor_id: str
    at: Millis
    state: str
    message: str
    measured: dict[str, float]


def valid_metrics(numbers: dict[str, float]) -> dict[str, float]:
    """The numbers of an agent that can be stored."""
    return {
        name[:MAX_NAME]: float(number)
        for name, number in list(numbers.items())[:MAX_METRICS]
        if math.isfinite(number) and abs(number) < MAX_NUMBER and name.isprintable() and name != UP
    }


def add(tx: Tx, samples: Sequence[StoredSample]) -> None:
    """Store the samples, and count each one once in every step."""
    tx.execute_many(
        "insert into monitor_samples (monitor_id, at, state, message, measured)"
        " values (?, ?, ?, ?, ?) on conflict (monitor_id, at) do nothing",
        [
            (
                sample.monitor_id,
                sample.at,
                sample.state,
                sample.message[:MAX_MESSAGE],
                _text(sample.measured),
            )
            for sample in samples
        ],
    )
    tx.execute_many(
        "insert into monitor_rollups (monitor_id, metric, step, at, count, total, low, high)"
        " values (?, ?, ?, ?, ?, ?, ?, ?) on conflict (monitor_id, metric, step, at) do update"
        " set count = monitor_rollups.count + excluded.count,"
        " total = monitor_rollups.total + excluded.total,"
        " low = case when excluded.low < monitor_rollups.low then excluded.low"
        " else monitor_rollups.low end,"
        " high = case when excluded.high > monitor_rollups.high then excluded.high"
        " else monitor_rollups.high end",
        [(*key, *aggregate) for key, aggregate in _aggregate(samples).items()],
    )


def _aggregate(samples: Sequence[StoredSample]) -> dict[StepKey, Aggregate]:
    """By minute first, because a minute belongs to exactly one interval of each longer step. The
    rows of a monitor are neighbours, as in the index."""
    aggregates: dict[StepKey, Aggregate] = {}
    minutes = _minutes(samples)
    for monitor_id, metric, minute in sorted(minutes):
        aggregate = minutes[monitor_id, metric, minute]
        for step in STEPS:
            key = (monitor_id, metric, step, minute // step * step)
            before = aggregates.get(key)
            aggregates[key] = aggregate if before is None else _sum(before, aggregate)
    return aggregates


def _minutes(samples: Sequence[StoredSample]) -> dict[tuple[str, str, Millis], Aggregate]:
    minutes: dict[tuple[str, str, Millis], Aggregate] = {}
    for sample in samples:
        minute = sample.at // MINUTE * MINUTE
        numbers = {UP: 0.0 if sample.state == "failure" else 1.0, **sample.measured}
        for metric, number in numbers.items():
            key = (sample.monitor_id, metric, minute)
            before = minutes.get(key)
            aggregate = (1, number, number, number)
            minutes[key] = aggregate if before is None else _sum(before, aggregate)
    return minutes


def _sum(before: Aggregate, added: Aggregate) -> Aggregate:
    count, total, low, high = added
    return (before[0] + count, before[1] + total, min(before[2], low), max(before[3], high))


def _text(measured: dict[str, float]) -> str:
    return msgspec.json.encode(measured).decode()


def purge_old(tx: Tx) -> bool:
    """Delete one batch of old samples and aggregates; True if there may be more."""
    deleted = tx.execute(
        "delete from monitor_samples where (monitor_id, at) in"
        " (select monitor_id, at from monitor_samples where at < ? order by at limit ?)",
        tx.now - RETENTION[0],
        BATCH_SIZE,
    )
    has_more = [deleted == BATCH_SIZE]
    for step in STEPS:
        deleted = tx.execute(
            "delete from monitor_rollups where (monitor_id, metric, step, at) in"
            " (select monitor_id, metric, step, at from monitor_rollups"
            " where step = ? and at < ? order by at limit ?)",
            step,
            tx.now - RETENTION[step],
            BATCH_SIZE,
        )
        has_more.append(deleted == BATCH_SIZE)
    return any(has_more)


def delete_monitor(tx: Tx, monitor_id: str) -> None:
    tx.execute("delete from monitor_samples where monitor_id = ?", monitor_id)
    tx.execute("delete from monitor_rollups where monitor_id = ?", monitor_id)
    tx.execute("delete from monitors where id = ?", monitor_id)
