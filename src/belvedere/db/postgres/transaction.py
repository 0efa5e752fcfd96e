"""A transaction on PostgreSQL, and the pieces of SQL in which it differs."""

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import msgspec

from belvedere.base.clock import Clock, Millis, SharedClock
from belvedere.db.interface import AfterCommit, Dialect, Query, Row, Sealer
from belvedere.db.postgres import row_batches, text_index
from belvedere.db.postgres.connection import NUMBERS, TEXTS, PostgresConnection
from belvedere.db.signals import Signal

S = TypeVar("S", bound=msgspec.Struct)

DIALECT = Dialect(
    name="postgres",
    is_shared=True,
    lock_rows=" for update",
    skip_locked=" for update skip locked",
    in_texts=TEXTS,
    in_numbers=NUMBERS,
    in_subquery="= any(array({}))",
    next_fences="select nextval('fence') from generate_series(1, ?)",
    next_fence="nextval('fence')",
    newest_fence="select last_value from fence",
    set_fence="select setval('fence', ?::bigint)",
    current_xid="pg_current_xact_id()::text::bigint",
    xid_horizon="pg_snapshot_xmin(pg_current_snapshot())::text::bigint",
    beyond_cursor="(xid, id) > (?, ?)",
    up_to_cursor="(xid, id) <= (?, ?)",
    in_order="xid, id",
    json_text=lambda column, path: f"{column}::json #>> '{{{','.join(path)}}}'",
    json_values=lambda column, alias, key: (
        f"json_array_elements_text({column}::json{key and f' -> {key}'}) {alias} (value)"
    ),
    newest_per_key="select k.value, {columns} from json_array_elements_text(?::json) k (value)"
    " cross join lateral (select * from {table} y where y.{key} = k.value{where}"
    " order by y.{order} desc limit {limit}) x",
    compares_pairs=True,
    text_index=text_index.INDEX,
)

# A time that took longer to read is not used.
MAX_TIME_ANSWER_S = 1.0
TIME = "select (extract(epoch from clock_timestamp()) * 1000)::bigint"


class PostgresTx:
    """A transaction on one connection."""

    dialect = DIALECT

    def __init__(
        self,
        connection: PostgresConnection,
        now: Millis,
        version_cache: dict[Any, Any],
        sealer: Sealer | None = None,
    ) -> None:
        self.connection = connection
        self.sealer = sealer
        self.now = now
        self.version_cache = version_cache
        self.signals: set[Signal] = set()
        self.fence = 0
        self.calls: list[AfterCommit] = []
        # Signals with the statements that decide, after the commit, whether they are sent.
        self.conditional_signals: dict[Signal, Query] = {}
        # Rows by statement and parameters.
        self._prefetched: dict[tuple[str, tuple[object, ...]], list[Row]] = {}

    def rows(self, sql: str, *params: object) -> list[Row]:
        if self._prefetched and (sql, params) in self._prefetched:
            return self._prefetched.pop((sql, params))
        return self.connection.rows(sql, params)

    def row(self, sql: str, *params: object) -> Row | None:
        rows = self.rows(sql, *params)
        return rows[0] if rows else None

    def execute(self, sql: str, *params: object) -> int:
        return self.connection.execute(sql, params).command_tuples or 0

    def execute_many(self, sql: str, params: Sequence[Sequence[Any]]) -> None:
        if not row_batches.is_insert(sql):
            self._enqueue([(sql, row) for row in params])
        elif params and len(params[0]) <= row_batches.MAX_LISTED_COLUMNS:
            self._enqueue(row_batches.value_lists(sql, params))
        else:
            self.update_many(sql, params)

    def update_many(self, sql: str, params: Sequence[Sequence[Any]]) -> None:
        query = row_batches.json_statement(sql, params)
        self._enqueue([(sql, row) for row in params] if query is None else [query])

    def _enqueue(self, queries: Sequence[Query]) -> None:
        for sql, params in queries:
            self.connection.enqueue(sql, params)

    def all(self, shape: type[S], sql: str, *params: object) -> list[S]:
        return [shape(*row) for row in self.connection.rows(sql, params)]

    def one(self, shape: type[S], sql: str, *params: object) -> S | None:
        row = self.row(sql, *params)
        return None if row is None else shape(*row)

    # A column of any type: the caller knows its statement.
    def value(self, sql: str, *params: object) -> Any:
        row = self.row(sql, *params)
        return None if row is None else row[0]

    def pipeline(self, *queries: Query) -> Iterator[list[Row]]:
        if self._prefetched:
            keys = [(sql, tuple(params)) for sql, params in queries]
            if all(key in self._prefetched for key in keys):
                return iter([self._prefetched.pop(key) for key in keys])
        return iter(self.connection.pipeline(queries))

    def prefetch(self, queries: Callable[[], Sequence[Query]]) -> None:
        if not (likely := queries()):
            return
        results = self.connection.pipeline(likely)
        for (sql, params), rows in zip(likely, results, strict=True):
            self._prefetched[sql, tuple(params)] = rows

    def signal_if(self, signal: Signal, query: Query) -> None:
        self.conditional_signals[signal] = query

    def after_commit(self, call: AfterCommit) -> None:
        self.calls.append(call)


def synchronize_clock(clock: Clock, connection: PostgresConnection) -> None:
    """Read the time of the database if the last reading is old."""
    if not isinstance(clock, SharedClock) or not clock.is_due():
        return
    started_at = time.monotonic()
    database_time: int = connection.rows(TIME)[0][0]
    # A delayed response contains a past time, which would look like a clock that was set back.
    # The next transaction reads it again.
    if time.monotonic() - started_at <= MAX_TIME_ANSWER_S:
        clock.synchronize(database_time)
