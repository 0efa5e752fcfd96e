"""The main metric of a monitor over the last day, and its uptime."""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from belvedere.base.clock import DAY, HOUR, MINUTE, Millis
from belvedere.db import Tx
from belvedere.db.interface import Row
from belvedere.monitors.evaluation.rollups import UP
from belvedere.monitors.model import MonitorRow
from belvedere.overview.rows.queries import json_list

# The main metric of a monitor is the first of these that it measures.
MAIN_METRICS = ("ms", "cpu", "days", "count", "bytes")
UNITS = {"ms": "ms", "cpu": "%", "mem": "%", "cache": "%", "days": "days", "bytes": "B"}
BY_TYPE = {
    **dict.fromkeys(("scraper", "tcp", "ping", "dns"), "ms"),
    "dstat": "cpu",
    "tls": "days",
    **dict.fromkeys(("process", "psaux"), "count"),
    "file": "bytes",
}
# (age below, step): a new monitor shows its short history in finer steps.
_STEPS = ((HOUR, MINUTE), (6 * HOUR, 10 * MINUTE))
_numbers = msgspec.json.Decoder(dict[str, float]).decode


class Spark(msgspec.Struct):
    """Values in steps of time from `since` on; null where nothing was measured."""

    since: Millis
    step: Millis
    values: list[float | None]


def metric(row: MonitorRow, checks: Sequence[Row]) -> tuple[str | None, float | None]:
    """Name and latest value of the main metric."""
    measured = _numbers(checks[0][2]) if checks else {}
    default = BY_TYPE.get(row.type)
    if not measured:
        return default, None
    names = [name for name in (*([default] if default else []), *MAIN_METRICS) if name in measured]
    name = names[0] if names else min(measured)
    return name, measured[name]


def sparks(
    tx: Tx, rows: Iterable[MonitorRow], metrics: Mapping[str, str | None]
) -> dict[str, Spark]:
    """By monitor id; one query for each step in use."""
    grouped: dict[Millis, list[MonitorRow]] = {}
    for row in rows:
        if metrics[row.id] is not None:
            grouped.setdefault(_step(tx.now - row.created_at), []).append(row)
    result: dict[str, Spark] = {}
    for step, group in grouped.items():
        result |= _sparks_with_step(tx, step, group, metrics)
    return result


def _step(age: Millis) -> Millis:
    return next((step for max_age, step in _STEPS if age < max_age), HOUR)


def _sparks_with_step(
    tx: Tx, step: Millis, group: list[MonitorRow], metrics: Mapping[str, str | None]
) -> dict[str, Spark]:
    last = tx.now // step
    first = {row.id: max(row.created_at, tx.now - DAY) // step for row in group}
    series = {
        row.id: Spark(first[row.id] * step, step, [None] * (last - first[row.id] + 1))
        for row in group
    }
    metric_names = {name for row in group if (name := metrics[row.id]) is not None}
    rows = tx.rows(
        "select monitor_id, metric, at, total / count from monitor_rollups"
        f" where monitor_id in {tx.dialect.in_texts} and metric in {tx.dialect.in_texts}"
        " and step = ? and at >= ?",
        *(json_list(first), json_list(metric_names), step, min(first.values()) * step),
    )
    for monitor_id, name, at, value in rows:
        index = at // step - first[monitor_id]
        if name == metrics[monitor_id] and 0 <= index < len(series[monitor_id].values):
            series[monitor_id].values[index] = round(value, 4)
    return series


def uptimes(tx: Tx, ids: Sequence[str], span: Millis, step: Millis) -> dict[str, float]:
    """Percent of good checks over the last `span`, without monitors that had no check."""
    rows = tx.rows(
        "select monitor_id, sum(count), sum(total) from monitor_rollups"
        f" where monitor_id in {tx.dialect.in_texts} and metric = ? and step = ? and at > ?"
        " group by monitor_id",
        *(json_list(ids), UP, step, tx.now - span - step),
    )
    return {id_: round(100 * float(good) / int(checks), 4) for id_, checks, good in rows}
