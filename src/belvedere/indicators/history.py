"""Values over time, for sparklines: one per second at most, thinned as they grow old."""

from collections.abc import Sequence

import msgspec

from belvedere.base.clock import DAY, HOUR, MINUTE, SECOND, Millis
from belvedere.db import Tx
from belvedere.indicators.model import IndicatorRow, Plain

# (age, span): what is older keeps one value in each span.
THINNED: tuple[tuple[Millis, Millis], ...] = ((HOUR, MINUTE), (DAY, 10 * MINUTE))
LIFE: Millis = 30 * DAY
TEXT_KEPT = 256
MOST_POINTS = 1_000
BATCH = 500
_encode = msgspec.json.Encoder().encode


class Point(msgspec.Struct, frozen=True):
    """A value, with its moment in milliseconds."""

    at: Millis
    state: str
    value: Plain


def remember(tx: Tx, rows: Sequence[IndicatorRow]) -> None:
    """The last of a second stands for that second."""
    tx.execute_many(
        "insert into indicator_values (indicator_id, at, state, value) values (?, ?, ?, ?)"
        " on conflict (indicator_id, at) do update set state = excluded.state,"
        " value = excluded.value",
        [
            (row.id, row.pushed_at // SECOND * SECOND, row.state, _kept(row.gist))
            for row in {row.id: row for row in rows}.values()
        ],
    )


def _kept(value: Plain) -> str:
    return _encode(value[:TEXT_KEPT] if isinstance(value, str) else value).decode()


def points(tx: Tx, indicator_id: str, since: Millis, until: Millis, most: int) -> list[Point]:
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


def thin(tx: Tx) -> bool:
    """Thin the next stretch of what has grown old; whether there is more."""
    more = [_thin(tx, tx.now - older, per) for older, per in THINNED]
    return any([*more, _forget(tx, tx.now - LIFE)])


def _thin(tx: Tx, before: Millis, per: Millis) -> bool:
    """Of each span the last value stays. What was thinned once is not looked at again."""
    name = f"indicators thinned to {per}"
    done = int(tx.value("select value from meta where name = ?", name) or 0)
    first = tx.value(
        "select min(at) from indicator_values where at >= ? and at < ?", done, before // per * per
    )
    if first is None:
        return False
    begin = first // per * per
    end = begin + per
    tx.execute(
        "delete from indicator_values where at >= ? and at < ? and exists"
        " (select 1 from indicator_values w where w.indicator_id = indicator_values.indicator_id"
        " and w.at > indicator_values.at and w.at < ?)",
        begin,
        end,
        end,
    )
    tx.execute(
        "insert into meta (name, value) values (?, ?)"
        " on conflict (name) do update set value = excluded.value",
        name,
        str(end),
    )
    return True


def _forget(tx: Tx, before: Millis) -> bool:
    gone = tx.execute(
        "delete from indicator_values where (indicator_id, at) in"
        " (select indicator_id, at from indicator_values where at < ? order by at limit ?)",
        before,
        BATCH,
    )
    return gone == BATCH
