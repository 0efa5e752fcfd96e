"""Check results of a monitor over a period, and its uptime in that period."""

from itertools import takewhile

import msgspec

from belvedere.access import Actor
from belvedere.base.clock import DAY, Millis, iso
from belvedere.base.errors import Fault, Invalid
from belvedere.db import Tx
from belvedere.monitors import service
from belvedere.monitors.evaluation.rollups import RETENTION, STEPS, UP
from belvedere.monitors.model import MonitorRow
from belvedere.rest.response_budget import RECORD_BYTES, Budget

MAX_POINTS = 2_000
# Enough points for a chart, if the request names no step.
DEFAULT_POINTS = 300


class MetricValue(msgspec.Struct):
    """A number over one step of time."""

    avg: float
    min: float
    max: float


class HistoryPoint(msgspec.Struct):
    """One step of time with checks; a step without checks has no point."""

    at: str
    checks: int
    # The share of successful checks, 0 to 1.
    up: float
    values: dict[str, MetricValue]
    # Only if the point is a single check.
    message: str = ""


class MonitorHistory(msgspec.Struct):
    """`uptime`: percent of the checks that were successful, null without checks. `known`: percent
    of the period that has checks at all; the remaining time is neither up nor down."""

    id: str
    step: Millis
    since: str = msgspec.field(name="from")
    until: str = msgspec.field(name="to")
    uptime: float | None
    coverage: float = msgspec.field(name="known")
    checks: int
    points: list[HistoryPoint]


def history(
    tx: Tx,
    actor: Actor,
    monitor_id: str,
    since: Millis | None,
    until: Millis | None,
    step: Millis | None,
) -> MonitorHistory:
    """The history for everybody who may see the monitor; by default of the last day."""
    row, _, _ = service.show(tx, actor, monitor_id)
    # The end is exclusive, and the current millisecond is included.
    end = tx.now + 1 if until is None else until
    start = end - DAY if since is None else since
    if start >= end:
        raise _invalid_query("from", "Must be a time before `to`.")
    size = _choose_step(end - start, row.looptime) if step is None else step
    if size not in RETENTION:
        raise _invalid_query(
            "step", f"Must be one of {', '.join(map(str, RETENTION))} milliseconds."
        )
    if size and (end - start) // size > MAX_POINTS:
        raise _invalid_query(
            "step", f"The result has more than {MAX_POINTS} points; choose a longer step."
        )
    points = (
        _sample_points(tx, row, start, end)
        if size == 0
        else _rollup_points(tx, row, start, end, size)
    )
    checks = sum(point.checks for point in points)
    good_checks = sum(point.up * point.checks for point in points)
    return MonitorHistory(
        monitor_id,
        size,
        iso(start),
        iso(end),
        round(100 * good_checks / checks, 4) if checks else None,
        _coverage(tx, row, start, end),
        checks,
        points,
    )


def _invalid_query(field: str, message: str) -> Invalid:
    return Invalid(f"{field}: {message}", code="bad_query", faults=(Fault(field, message),))


def _choose_step(span: Millis, looptime: Millis) -> Millis:
    """The shortest step that is not shorter than the looptime, nor than a chart can show."""
    min_step = max(looptime, span // DEFAULT_POINTS)
    return next((step for step in STEPS if step >= min_step), STEPS[-1])


def _sample_points(tx: Tx, row: MonitorRow, start: Millis, end: Millis) -> list[HistoryPoint]:
    """The newest samples that fit into the size limit of a response."""
    source_sql = (
        "from monitor_samples where monitor_id = ? and at >= ? and at < ? order by at desc limit ?"
    )
    params = (row.id, start, end)
    sizes = tx.rows(
        f"select octet_length(message) + octet_length(measured) {source_sql}", *params, MAX_POINTS
    )
    fitting_sizes = takewhile(Budget().takes, (size + RECORD_BYTES for (size,) in sizes))
    rows = tx.rows(
        f"select at, state, message, measured {source_sql}", *params, len(list(fitting_sizes))
    )
    return [
        HistoryPoint(
            iso(at),
            1,
            0.0 if state == "failure" else 1.0,
            {n: MetricValue(v, v, v) for n, v in _numbers(measured).items()},
            message,
        )
        for at, state, message, measured in reversed(rows)
    ]


def _numbers(measured: str) -> dict[str, float]:
    return msgspec.json.decode(measured, type=dict[str, float])


def _rollup_points(
    tx: Tx, row: MonitorRow, start: Millis, end: Millis, step: Millis
) -> list[HistoryPoint]:
    rows = tx.rows(
        "select at, metric, count, total, low, high from monitor_rollups"
        " where monitor_id = ? and step = ? and at > ? and at < ? order by at, metric",
        row.id,
        step,
        start - step,
        end,
    )
    points: dict[Millis, HistoryPoint] = {}
    for at, metric, count, total, low, high in rows:
        point = points.setdefault(at, HistoryPoint(iso(at), 0, 0.0, {}))
        if metric == UP:
            point.checks, point.up = count, total / count
        else:
            point.values[metric] = MetricValue(total / count, low, high)
    return list(points.values())


def _coverage(tx: Tx, row: MonitorRow, start: Millis, end: Millis) -> float:
    """Percent of the steps that contain a check; the step is at least one looptime long."""
    start = max(start, row.created_at)
    step = next(
        (size for size in STEPS if size >= row.looptime and end - start <= RETENTION[size]), DAY
    )
    if end <= start:
        return 0.0
    rows = tx.rows(
        "select at from monitor_rollups where monitor_id = ? and metric = ? and step = ?"
        " and at > ? and at < ?",
        row.id,
        UP,
        step,
        start - step,
        end,
    )
    first, last = start // step, (end - 1) // step
    return round(min(100.0, 100 * len(rows) / (last - first + 1)), 2)
