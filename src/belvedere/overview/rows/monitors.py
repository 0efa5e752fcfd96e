"""Monitors as rows of a page: state, last checks, one number over a day, uptime."""

from typing import Any

import msgspec

from belvedere.access import Actor, Level, require
from belvedere.base.clock import DAY, HOUR, Millis, iso, iso_or_none
from belvedere.db import Tx
from belvedere.db.interface import Dialect
from belvedere.monitors import store
from belvedere.monitors.store import MonitorView
from belvedere.overview.rows import beats, lines, monitor_series
from belvedere.overview.rows.monitor_series import Spark
from belvedere.rest.listing import Field, Kind, Listable, Listing

# What wants to be seen first.
RANKS = {
    "failure CRITICAL": 0,
    "failure HIGH": 1,
    "failure LOW": 2,
    **{f"updates_stopped {word}": 3 for word in ("CRITICAL", "HIGH", "LOW")},
    **{f"unknown {word}": 4 for word in ("CRITICAL", "HIGH", "LOW")},
    **{f"normal {word}": 5 for word in ("CRITICAL", "HIGH", "LOW")},
}


class MonitorLine(msgspec.Struct):
    """A monitor as a row shows it.

    `beats`: its last checks, at most 30, oldest first: `n` good, `f` failed, `m` both within one
    span, `-` no word. `spark`: `metric` over the last day from `spark_from` on. Uptime in percent;
    a host and a nested monitor have none, since they are noted only when they change.
    """

    id: str
    name: str
    type: str
    host_id: str | None
    hostname: str
    tags: list[str]
    state: str
    state_since: str
    severity: str
    flapping: bool
    enable: bool
    paused_until: str | None
    alerts: bool
    muted_until: str | None
    looptime: Millis
    last_check: str | None
    message: str
    beats: str
    beats_from: str | None
    beats_to: str | None
    metric: str | None
    unit: str
    value: float | None
    spark: list[float | None]
    spark_from: str | None
    spark_step: Millis
    uptime_day: float | None
    uptime_month: float | None
    version: int


class _LastEvent(msgspec.Struct):
    message: Any = ""


_last_event = msgspec.json.Decoder(_LastEvent).decode
_tags = msgspec.json.Decoder(list[str]).decode


def listable(dialect: Dialect) -> Listable:
    rank = lines.rank("m.state || ' ' || m.severity", RANKS)
    more = {"rank": Field(rank, Kind.INT), "tags": lines.tag_filter(dialect, "m.tags")}
    more["state_since"] = Field("m.state_at", Kind.TIME)
    return lines.listable(store.MONITORS, more)


def listed(tx: Tx, actor: Actor, listing: Listing) -> tuple[list[MonitorLine], int | None]:
    """A page with everything that its rows show: a handful of reads, however many rows."""
    require(actor, Level.VIEWER)
    total = store.count(tx, actor, listing) if listing.count else None
    return of(tx, store.page(tx, actor, listing)), total


def of(tx: Tx, views: list[MonitorView]) -> list[MonitorLine]:
    checks = beats.samples(tx, views)
    strips = {id_: beats.of_samples(rows) for id_, rows in checks.items()} | beats.of_rare(
        tx, views
    )
    metrics = {view.id: monitor_series.metric(view, checks[view.id]) for view in views}
    drawn = monitor_series.sparks(tx, views, {id_: name for id_, (name, _) in metrics.items()})
    ids = [view.id for view in views if beats.is_steady(view)]
    day, month = (
        monitor_series.uptimes(tx, ids, DAY, HOUR),
        monitor_series.uptimes(tx, ids, 30 * DAY, DAY),
    )
    return [
        _line(
            *(view, strips[view.id], metrics[view.id], drawn.get(view.id)),
            *(day.get(view.id), month.get(view.id), tx.now),
        )
        for view in views
    ]


def _line(
    view: MonitorView,
    checks: list[tuple[Millis, str]],
    metric: tuple[str | None, float | None],
    spark: Spark | None,
    day: float | None,
    month: float | None,
    now: Millis,
) -> MonitorLine:
    name, value = metric
    known = [one for one in spark.values if one is not None] if spark is not None else []
    return MonitorLine(
        id=view.id,
        name=view.name,
        type=view.type,
        host_id=view.host_id,
        hostname=view.hostname or "",
        tags=_tags(view.tags),
        state=view.state,
        state_since=iso(view.state_at),
        severity=view.severity,
        flapping=bool(view.is_flapping),
        enable=bool(view.enabled),
        paused_until=iso_or_none(view.paused_until),
        alerts=bool(view.alerts),
        muted_until=iso_or_none(view.muted_until),
        looptime=view.looptime,
        last_check=iso_or_none(view.checked_at),
        message=_message(view),
        beats=beats.strip(view, checks, now),
        beats_from=iso(checks[-1][0]) if checks else None,
        beats_to=iso(checks[0][0]) if checks else None,
        metric=name if known or value is not None else None,
        unit=monitor_series.UNITS.get(name or "", ""),
        value=value if value is not None else (known[-1] if known else None),
        spark=spark.values if spark is not None and known else [],
        spark_from=iso(spark.since) if spark is not None and known else None,
        spark_step=spark.step if spark is not None else HOUR,
        uptime_day=day,
        uptime_month=month,
        version=view.version,
    )


def _message(view: MonitorView) -> str:
    said = _last_event(view.last_event).message
    return said if isinstance(said, str) else ""
