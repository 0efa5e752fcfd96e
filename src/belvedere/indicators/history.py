"""Values over time, for sparklines: one per second at most, thinned as they grow old."""

from collections.abc import Sequence

import msgspec

from belvedere.base.clock import DAY, HOUR, MINUTE, SECOND, Millis
from belvedere.db import Tx
from belvedere.indicators.model import IndicatorRow, Value

# (older than, one per): what is older than the last of them is gone.
THINNED: tuple[tuple[Millis, Millis], ...] = (
    (HOUR, MINUTE),
    (DAY, 10 * MINUTE),
    (30 * DAY, 0),
)
TEXT_KEPT = 256
MOST_POINTS = 1_000
BATCH = 500
_encode = msgspec.json.Encoder().encode


class Point(msgspec.Struct, frozen=True):
    """A value, with its moment in milliseconds."""

    at: Millis
    state: str
    value: Value


def remember(tx: Tx, rows: Sequence[IndicatorRow]) -> None:
    """The last of a second stands for that second."""
    tx.many(
        "insert into indicator_values (indicator_id, at, state, value) values (?, ?, ?, ?)"
        " on conflict (indicator_id, at) do update set state = excluded.state,"
        " value = excluded.value",
        [(row.id, row.pushed_at // SECOND * SECOND, row.state, _kept(row.value)) for row in rows],
    )


def _kept(value: Value) -> str:
    return _encode(value[:TEXT_KEPT] if isinstance(value, str) else value).decode()


def points(
    tx: Tx, indicator_id: str, since: Millis, until: Millis, most: int
) -> list[Point]:
    """Oldest first; where there are more than `most`, the last of each of as many equal spans."""
    rows = tx.rows(
        "select at, state, value from indicator_values"
        " where indicator_id = ? and at >= ? and at < ? order by at",
        indicator_id,
        since,
        until,
    )
    if len(rows) > most:
        first, span = rows[0][0], rows[-1][0] - rows[0][0] + 1
        rows = list({(at - first) * most // span: (at, *rest) for at, *rest in rows}.values())
    return [Point(at, state, msgspec.json.decode(value)) for at, state, value in rows]


def thin(tx: Tx) -> int:
    """Drop one batch of what is too old or too close to its successor; how many."""
    return sum(
        _thin(tx, tx.now - older, per) if per else _forget(tx, tx.now - older)
        for older, per in THINNED
    )


def _forget(tx: Tx, before: Millis) -> int:
    return tx.run(
        "delete from indicator_values where (indicator_id, at) in"
        " (select indicator_id, at from indicator_values where at < ? limit ?)",
        before,
        BATCH,
    )


def _thin(tx: Tx, before: Millis, per: Millis) -> int:
    """Of each span the last value stays."""
    return tx.run(
        "delete from indicator_values where (indicator_id, at) in"
        " (select v.indicator_id, v.at from indicator_values v where v.at < ? and exists"
        " (select 1 from indicator_values w where w.indicator_id = v.indicator_id"
        " and w.at > v.at and w.at < ? and w.at / ? = v.at / ?) limit ?)",
        before,
        before,
        per,
        per,
        BATCH,
    )
