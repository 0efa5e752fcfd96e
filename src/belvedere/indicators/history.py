"""Values over time, for sparklines: at most one per second, fewer for older times."""

from collections.abc import Sequence

import msgspec

from belvedere.base.clock import DAY, HOUR, MINUTE, SECOND, Millis
from belvedere.db import Tx, installation
from belvedere.indicators.model import IndicatorRow, PlainValue

# (age, span): of values older than the age, one per span is stored.
THINNING: tuple[tuple[Millis, Millis], ...] = ((HOUR, MINUTE), (DAY, 10 * MINUTE))
RETENTION: Millis = 30 * DAY
MAX_TEXT = 256
MAX_POINTS = 1_000
BATCH_SIZE = 500
_encode = msgspec.json.Encoder().encode


class ValuePoint(msgspec.Struct, frozen=True):
    """A value with its time in milliseconds."""

    at: Millis
    state: str
    value: PlainValue


def record_values(tx: Tx, rows: Sequence[IndicatorRow]) -> None:
    """Store the values; the last one of a second replaces the others."""
    tx.execute_many(
        "insert into indicator_values (indicator_id, at, state, value) values (?, ?, ?, ?)"
        " on conflict (indicator_id, at) do update set state = excluded.state,"
        " value = excluded.value",
        [
            (row.id, row.pushed_at // SECOND * SECOND, row.state, _encode_value(row.summary))
            for row in {row.id: row for row in rows}.values()
        ],
    )


def _encode_value(value: PlainValue) -> str:
    return _encode(value[:MAX_TEXT] if isinstance(value, str) else value).decode()


def list_points(
    tx: Tx, indicator_id: str, since: Millis, until: Millis, max_points: int
) -> list[ValuePoint]:
    """Values, oldest first; of more than `max_points`, the last of each of that many spans."""
    rows = tx.rows(
        "select at, state, value from indicator_values"
        " where indicator_id = ? and at >= ? and at < ? order by at",
        indicator_id,
        since,
        until,
    )
    if len(rows) > max_points:
        first, span = rows[0][0], rows[-1][0] - rows[0][0] + 1
        rows = list(
            {(at - first) * max_points // span: (at, *columns) for at, *columns in rows}.values()
        )
    return [ValuePoint(at, state, msgspec.json.decode(value)) for at, state, value in rows]


def downsample(tx: Tx) -> bool:
    """Thin one batch of old values; True if there may be more."""
    has_more = [_downsample(tx, tx.now - age, span) for age, span in THINNING]
    return any([*has_more, _purge(tx, tx.now - RETENTION)])


def _downsample(tx: Tx, before: Millis, span: Millis) -> bool:
    """Keep the last value of each span. `meta` has the end of what was already thinned."""
    name = f"indicators thinned to {span}"
    done = int(installation.read(tx, name) or 0)
    first = tx.value(
        "select min(at) from indicator_values where at >= ? and at < ?", done, before // span * span
    )
    if first is None:
        return False
    begin = first // span * span
    end = begin + span
    tx.execute(
        "delete from indicator_values where at >= ? and at < ? and exists"
        " (select 1 from indicator_values w where w.indicator_id = indicator_values.indicator_id"
        " and w.at > indicator_values.at and w.at < ?)",
        begin,
        end,
        end,
    )
    installation.write(tx, name, str(end))
    return True


def _purge(tx: Tx, before: Millis) -> bool:
    deleted = tx.execute(
        "delete from indicator_values where (indicator_id, at) in"
        " (select indicator_id, at from indicator_values where at < ? order by at limit ?)",
        before,
        BATCH_SIZE,
    )
    return deleted == BATCH_SIZE
