"""Samples over time: each as it was seen, and counted by the minute, ten minutes, hour and day."""

import math
from collections.abc import Iterable

import msgspec

from belvedere.base.clock import DAY, HOUR, MINUTE, Millis
from belvedere.db import Tx

STEPS: tuple[Millis, ...] = (MINUTE, 10 * MINUTE, HOUR, DAY)
# How long each is kept; 0 stands for single samples.
LIVES: dict[Millis, Millis] = {
    0: 6 * HOUR,
    MINUTE: 2 * DAY,
    10 * MINUTE: 14 * DAY,
    HOUR: 92 * DAY,
    DAY: 3 * 366 * DAY,
}
# Good checks, among the metrics: its average is the uptime.
UP = "up"
MAX_METRICS = 32
MAX_NAME = 64
MAX_MESSAGE = 1_000
BATCH = 1_000
# Larger numbers than any percentage, size or time.
WIDEST = 1e300


class Seen(msgspec.Struct, frozen=True):
    """One sample as it is kept."""

    monitor_id: str
    at: Millis
    state: str
    message: str
    measured: dict[str, float]


def metrics(given: dict[str, float]) -> dict[str, float]:
    """What of an agent's numbers can be kept."""
    return {
        name[:MAX_NAME]: float(number)
        for name, number in list(given.items())[:MAX_METRICS]
        if math.isfinite(number) and abs(number) < WIDEST and name.isprintable() and name != UP
    }


def add(tx: Tx, seen: Iterable[Seen]) -> None:
    """Keep these, each once in every step."""
    samples = list(seen)
    tx.execute_many(
        "insert into monitor_samples (monitor_id, at, state, message, measured)"
        " values (?, ?, ?, ?, ?) on conflict (monitor_id, at) do nothing",
        [
            (one.monitor_id, one.at, one.state, one.message[:MAX_MESSAGE], _text(one.measured))
            for one in samples
        ],
    )
    sums: dict[tuple[str, str, Millis, Millis], list[float]] = {}
    for one in samples:
        numbers = {UP: 0.0 if one.state == "failure" else 1.0, **one.measured}
        for metric, number in numbers.items():
            for step in STEPS:
                _count(sums, (one.monitor_id, metric, step, one.at // step * step), number)
    tx.execute_many(
        "insert into monitor_rollups (monitor_id, metric, step, at, count, total, low, high)"
        " values (?, ?, ?, ?, ?, ?, ?, ?) on conflict (monitor_id, metric, step, at) do update"
        " set count = monitor_rollups.count + excluded.count,"
        " total = monitor_rollups.total + excluded.total,"
        " low = case when excluded.low < monitor_rollups.low then excluded.low"
        " else monitor_rollups.low end,"
        " high = case when excluded.high > monitor_rollups.high then excluded.high"
        " else monitor_rollups.high end",
        [(*key, int(sums[key][0]), *sums[key][1:]) for key in sorted(sums)],
    )


def _count(
    sums: dict[tuple[str, str, Millis, Millis], list[float]],
    key: tuple[str, str, Millis, Millis],
    number: float,
) -> None:
    held = sums.setdefault(key, [0, 0.0, number, number])
    held[0] += 1
    held[1] += number
    held[2] = min(held[2], number)
    held[3] = max(held[3], number)


def _text(measured: dict[str, float]) -> str:
    return msgspec.json.encode(measured).decode()


def forget_old(tx: Tx) -> bool:
    """Drop the next stretch of what is too old; whether there is more."""
    gone = tx.execute(
        "delete from monitor_samples where (monitor_id, at) in"
        " (select monitor_id, at from monitor_samples where at < ? order by at limit ?)",
        tx.now - LIVES[0],
        BATCH,
    )
    more = [gone == BATCH]
    for step in STEPS:
        gone = tx.execute(
            "delete from monitor_rollups where (monitor_id, metric, step, at) in"
            " (select monitor_id, metric, step, at from monitor_rollups"
            " where step = ? and at < ? order by at limit ?)",
            step,
            tx.now - LIVES[step],
            BATCH,
        )
        more.append(gone == BATCH)
    return any(more)


def forget_monitor(tx: Tx, monitor_id: str) -> None:
    tx.execute("delete from monitor_samples where monitor_id = ?", monitor_id)
    tx.execute("delete from monitor_rollups where monitor_id = ?", monitor_id)
    tx.execute("delete from monitors where id = ?", monitor_id)
