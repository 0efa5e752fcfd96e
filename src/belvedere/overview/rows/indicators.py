"""Indicators as tiles: the record, and its last values for a sparkline."""

from typing import Any, cast

import msgspec

from belvedere.access import Actor, Level, require
from belvedere.base.clock import Millis, iso
from belvedere.db import Tx
from belvedere.db.interface import Dialect
from belvedere.indicators import store
from belvedere.indicators.model import IndicatorRow, IndicatorType
from belvedere.overview.rows import queries
from belvedere.overview.rows.queries import Series, latest_rows, runnable_ids
from belvedere.rest.listing import Field, FieldKind, Listable, Listing

MAX_VALUES = 24
RANKS = {"failure CRITICAL": 0, "failure HIGH": 1, "failure LOW": 2}
_VALUES = Series("indicator_values", "indicator_id", "at", "x.at, x.value")


class IndicatorLine(msgspec.Struct):
    """An indicator as a tile; `spark`: its last numbers, at most 24, oldest first."""

    id: str
    title: str
    type: str
    state: str
    # An object is a chart: ours has series, others are in Plotly's format.
    value: str | int | float | dict[str, Any]
    # The value as one line.
    gist: str | int | float
    severity: str
    description: str
    enable: bool
    sticky: bool
    read_only: bool
    stale: bool
    tags: list[str]
    order: int
    width: int
    height: int
    last_push: str
    spark: list[float]
    may_dismiss: bool
    version: int


def listable(dialect: Dialect) -> Listable:
    rank = queries.rank("indicators.state || ' ' || indicators.severity", RANKS)
    fields = {
        "rank": Field(rank, FieldKind.INT),
        "tags": queries.tag_field(dialect, "indicators.tags"),
    }
    return queries.listable(store.INDICATORS, fields)


def list_page(tx: Tx, actor: Actor, listing: Listing) -> tuple[list[IndicatorLine], int | None]:
    require(actor, Level.VIEWER)
    total = store.count(tx, actor, listing) if listing.count else None
    rows = store.select_page(tx, actor, listing)
    ids = [row.id for row in rows]
    runnable = runnable_ids(tx, actor, "indicator", ids)
    numbers = latest_rows(
        tx, _VALUES, [row.id for row in rows if row.text_value is None], MAX_VALUES
    )
    return [
        _line(row, numbers.get(row.id, []), tx.now, may_dismiss=row.id in runnable) for row in rows
    ], total


def _line(
    row: IndicatorRow, values: list[tuple[Millis, str]], now: Millis, *, may_dismiss: bool
) -> IndicatorLine:
    return IndicatorLine(
        id=row.id,
        title=row.title,
        type=row.type,
        state=row.state,
        # The content of a file has its own route.
        value=cast(Any, row.summary if row.type == IndicatorType.FILE else row.value),
        gist=row.summary,
        severity=row.severity,
        description=row.description,
        enable=bool(row.enabled),
        sticky=bool(row.sticky),
        read_only=bool(row.read_only),
        stale=row.is_stale(now),
        tags=msgspec.json.decode(row.tags, type=list[str]),
        order=row.place,
        width=row.width,
        height=row.height,
        last_push=iso(row.pushed_at),
        spark=[number for _, text in reversed(values) for number in _number(text)],
        may_dismiss=may_dismiss and not row.read_only,
        version=row.version,
    )


def _number(text: str) -> list[float]:
    """Empty for a text: the indicator may have had another type when the value was pushed."""
    value = msgspec.json.decode(text)
    return [float(value)] if isinstance(value, int | float) else []
