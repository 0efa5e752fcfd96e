"""Monitors as rows of a page: state, last checks, one number over a day, uptime."""

from collections.abc import Sequence
from typing import Any

import msgspec

from belvedere.access import Actor, Level, require
from belvedere.base.clock import DAY, HOUR, Millis, iso, iso_or_none
from belvedere.db import Tx
from belvedere.db.interface import Dialect
from belvedere.monitors import store
from belvedere.monitors.store import MonitorView
from belvedere.overview.rows import check_strip, monitor_series, queries
from belvedere.overview.rows.monitor_series import Spark
from belvedere.rest.listing import Field, FieldKind, Listable, Listing

# Sort order: the most urgent first.
RANKS = {
    "failure CRITICAL": 0,
    "failure HIGH": 1,
    "failure LOW": 2,
    **{f"updates_stopped {word}": 3 for word in ("CRITICAL", "HIGH", "LOW")},
    **{f"unknown {word}": 4 for word in ("CRITICAL", "HIGH", "LOW")},
    **{f"normal {word}": 5 for word in ("CRITICAL", "HIGH", "LOW")},
}


class MonitorLine(msgspec.Struct):
    """A monitor as a row of the list page.

    `beats`: its last checks, at most 30, oldest first: `n` good, `f` failed, `m` both within one
    interval, `-` no result. `spark`: `metric` over the last day from `spark_from` on. Uptime in
    percent; host and nested monitors have none because only changes of their state are recorded.
    """

    id: str
    name: str
    type: str
    host_id: str | None
    hostname: str
    # The agent of its host is not connected.
    is_host_down: bool
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
    creation_date: str
    version: int


class _LastEvent(msgspec.Struct):
    # A text, unless an older version or a TheEye agent stored other JSON.
    message: Any = ""


_last_event = msgspec.json.Decoder(_LastEvent).decode
_tags = msgspec.json.Decoder(list[str]).decode


def listable(dialect: Dialect) -> Listable:
    rank = queries.rank("m.state || ' ' || m.severity", RANKS)
    fields = {"rank": Field(rank, FieldKind.INT), "tags": queries.tag_field(dialect, "m.tags")}
    fields["state_since"] = Field("m.state_at", FieldKind.TIME)
    return queries.listable(store.MONITORS, fields)


def list_page(tx: Tx, actor: Actor, listing: Listing) -> tuple[list[MonitorLine], int | None]:
    """A page of complete rows with a constant number of queries."""
    require(actor, Level.VIEWER)
    total = store.count(tx, actor, listing) if listing.count else None
    return _lines(tx, store.select_page(tx, actor, listing)), total


def _lines(tx: Tx, views: list[MonitorView]) -> list[MonitorLine]:
    samples = check_strip.latest_samples(tx, views)
    checks = {id_: check_strip.checks_from_samples(rows) for id_, rows in samples.items()}
    checks |= check_strip.checks_from_rollups(tx, views)
    metrics = {view.id: monitor_series.metric(view, samples[view.id]) for view in views}
    sparks = monitor_series.sparks(tx, views, {id_: name for id_, (name, _) in metrics.items()})
    ids = [view.id for view in views if check_strip.is_periodic(view)]
    day, month = (
        monitor_series.uptimes(tx, ids, DAY, HOUR),
        monitor_series.uptimes(tx, ids, 30 * DAY, DAY),
    )
    down = down_hosts(tx, views)
    return [
        _line(
            *(view, view.host_id in down, checks[view.id], metrics[view.id], sparks.get(view.id)),
            *(day.get(view.id), month.get(view.id), tx.now),
        )
        for view in views
    ]


def down_hosts(tx: Tx, views: Sequence[MonitorView]) -> set[str]:
    host_ids = sorted({view.host_id for view in views if view.host_id})
    rows = tx.rows(
        f"select id from hosts where id in {tx.dialect.in_texts}"
        " and (connected_at is null or gone_at is not null)",
        msgspec.json.encode(host_ids).decode(),
    )
    return {host_id for (host_id,) in rows}


def _line(
    view: MonitorView,
    is_host_down: bool,
    checks: list[tuple[Millis, str]],
    metric: tuple[str | None, float | None],
    spark: Spark | None,
    day: float | None,
    month: float | None,
    now: Millis,
) -> MonitorLine:
    name, value = metric
    values = [number for number in spark.values if number is not None] if spark is not None else []
    return MonitorLine(
        id=view.id,
        name=view.name,
        type=view.type,
        host_id=view.host_id,
        hostname=view.hostname or "",
        is_host_down=is_host_down,
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
        message=message(view),
        beats=check_strip.strip(view, checks, now),
        beats_from=iso(checks[-1][0]) if checks else None,
        beats_to=iso(checks[0][0]) if checks else None,
        metric=name if values or value is not None else None,
        unit=monitor_series.UNITS.get(name or "", ""),
        value=value if value is not None else (values[-1] if values else None),
        spark=spark.values if spark is not None and values else [],
        spark_from=iso(spark.since) if spark is not None and values else None,
        spark_step=spark.step if spark is not None else HOUR,
        uptime_day=day,
        uptime_month=month,
        creation_date=iso(view.created_at),
        version=view.version,
    )


def message(view: MonitorView) -> str:
    text = _last_event(view.last_event).message
    return text if isinstance(text, str) else ""
