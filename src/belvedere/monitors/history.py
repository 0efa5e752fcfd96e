"""What a monitor saw over a stretch of time, and how much of that time it was up."""

from itertools import takewhile

import msgspec

from belvedere.access import Actor
from belvedere.base.clock import DAY, Millis, iso
from belvedere.base.errors import Fault, Invalid
from belvedere.db import Tx
from belvedere.monitors import service
from belvedere.monitors.evaluation.rollups import LIVES, STEPS, UP
from belvedere.monitors.model import MonitorRow
from belvedere.rest.response_budget import RECORD_BYTES, Budget

MOST_POINTS = 2_000
# Fine enough for a chart, when nobody says how fine.
WANTED_POINTS = 300


class Metric(msgspec.Struct):
    """A number over one step of time."""

    avg: float
    min: float
    max: float


class Point(msgspec.Struct):
    """One step of time in which there were checks; a step without any has no point."""

    at: str
    checks: int
    # The share of good ones, 0 to 1.
    up: float
    values: dict[str, Metric]
    # Of a single check only.
    message: str = ""


class History(msgspec.Struct):
    """`uptime`: percent of the checks that were good, null without any. `known`: percent of the
    time that has checks at all; the rest is neither up nor down."""

    id: str
    step: Millis
    since: str = msgspec.field(name="from")
    until: str = msgspec.field(name="to")
    uptime: float | None
    known: float
    checks: int
    points: list[Point]


def history(
    tx: Tx,
    actor: Actor,
    monitor_id: str,
    since: Millis | None,
    until: Millis | None,
    step: Millis | None,
) -> History:
    """For whoever may see the monitor; the last day when no time is given."""
    row, _, _ = service.show(tx, actor, monitor_id)
    # The very last millisecond counts too.
    end = tx.now + 1 if until is None else until
    start = end - DAY if since is None else since
    if start >= end:
        raise _bad("from", "Give a time before the end.")
    size = _fitting(end - start, row.looptime) if step is None else step
    if size not in LIVES:
        raise _bad("step", f"Give one of {', '.join(map(str, LIVES))} milliseconds.")
    if size and (end - start) // size > MOST_POINTS:
        raise _bad("step", f"These are more than {MOST_POINTS} points; take a longer step.")
    points = _singles(tx, row, start, end) if size == 0 else _steps(tx, row, start, end, size)
    checks = sum(point.checks for point in points)
    good = sum(point.up * point.checks for point in points)
    return History(
        monitor_id,
        size,
        iso(start),
        iso(end),
        round(100 * good / checks, 4) if checks else None,
        _known(tx, row, start, end),
        checks,
        points,
    )


def _bad(field: str, message: str) -> Invalid:
    return Invalid(f"{field}: {message}", code="bad_query", faults=(Fault(field, message),))


def _fitting(span: Millis, looptime: Millis) -> Millis:
    """The finest step that is not finer than the checks, nor than a chart."""
    least = max(looptime, span // WANTED_POINTS)
    return next((step for step in STEPS if step >= least), STEPS[-1])


def _singles(tx: Tx, row: MonitorRow, start: Millis, end: Millis) -> list[Point]:
    """The newest, as many as an answer may have bytes."""
    of = "from monitor_samples where monitor_id = ? and at >= ? and at < ? order by at desc limit ?"
    which = (row.id, start, end)
    sizes = tx.rows(
        f"select octet_length(message) + octet_length(measured) {of}", *which, MOST_POINTS
    )
    fitting = takewhile(Budget().takes, (size + RECORD_BYTES for (size,) in sizes))
    rows = tx.rows(f"select at, state, message, measured {of}", *which, len(list(fitting)))
    return [
        Point(
            iso(at),
            1,
            0.0 if state == "failure" else 1.0,
            {n: Metric(v, v, v) for n, v in _numbers(measured).items()},
            message,
        )
        for at, state, message, measured in reversed(rows)
    ]


def _numbers(measured: str) -> dict[str, float]:
    return msgspec.json.decode(measured, type=dict[str, float])


def _steps(tx: Tx, row: MonitorRow, start: Millis, end: Millis, step: Millis) -> list[Point]:
    rows = tx.rows(
        "select at, metric, count, total, low, high from monitor_rollups"
        " where monitor_id = ? and step = ? and at > ? and at < ? order by at, metric",
        row.id,
        step,
        start - step,
        end,
    )
    points: dict[Millis, Point] = {}
    for at, metric, count, total, low, high in rows:
        point = points.setdefault(at, Point(iso(at), 0, 0.0, {}))
        if metric == UP:
            point.checks, point.up = count, total / count
        else:
            point.values[metric] = Metric(total / count, low, high)
    return list(points.values())


def _known(tx: Tx, row: MonitorRow, start: Millis, end: Millis) -> float:
    """By steps that must hold a check each, if every check was made."""
    start = max(start, row.created_at)
    step = next((one for one in STEPS if one >= row.looptime and end - start <= LIVES[one]), DAY)
    if end <= start:
        return 0.0
    found = tx.rows(
        "select at from monitor_rollups where monitor_id = ? and metric = ? and step = ?"
        " and at > ? and at < ?",
        row.id,
        UP,
        step,
        start - step,
        end,
    )
    first, last = start // step, (end - 1) // step
    return round(min(100.0, 100 * len(found) / (last - first + 1)), 2)
