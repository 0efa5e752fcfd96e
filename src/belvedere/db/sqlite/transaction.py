"""A transaction on SQLite, the pieces of SQL in which it differs, the operations that wait to
share one, and the errors that are faults of the database."""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import apsw
import msgspec

from belvedere.base.clock import Millis
from belvedere.base.errors import Unavailable
from belvedere.db.interface import AfterCommit, Dialect, Query, Row, Sealer
from belvedere.db.signals import Signal
from belvedere.db.sqlite import text_index

S = TypeVar("S", bound=msgspec.Struct)
F = TypeVar("F", bound=BaseException)

_NEWEST_FENCE = "max(value, coalesce((select max(fence) from attempts), 0))"


def _json_path(path: Sequence[str]) -> str:
    return "$" + "".join(f".{key}" if key.isidentifier() else f"[{key}]" for key in path)


DIALECT = Dialect(
    name="sqlite",
    is_shared=False,
    lock_rows="",
    skip_locked="",
    in_texts="(select value from json_each(?))",
    in_numbers="(select value from json_each(?))",
    in_subquery="in ({})",
    # Deleting the newest attempt raises the counter, and so does restoring a backup.
    next_fences=f"select {_NEWEST_FENCE} + ? from counters where name = 'fence'",
    next_fence="null",
    newest_fence=f"select {_NEWEST_FENCE} from counters where name = 'fence'",
    set_fence="update counters set value = ? where name = 'fence' returning value",
    current_xid="0",
    xid_horizon="9223372036854775807",
    # One writer: the transaction's number is not needed.
    beyond_cursor="(? is not null and id > ?)",
    up_to_cursor="(? is not null and id <= ?)",
    in_order="id",
    json_text=lambda column, path: f"{column} ->> '{_json_path(path)}'",
    json_values=lambda column, alias, key: (
        f"json_each({column}, '$.' || {key}) {alias}" if key else f"json_each({column}) {alias}"
    ),
    newest_per_key="select k.value, {columns} from json_each(?) k join {table} x on x.rowid in"
    " (select y.rowid from {table} y where y.{key} = k.value{where}"
    " order by y.{order} desc limit {limit})",
    compares_pairs=False,
    text_index=text_index.INDEX,
)


# Whatever the statement was.
DATABASE_FAULTS = (
    apsw.BusyError,
    apsw.CantOpenError,
    apsw.CorruptError,
    apsw.FullError,
    apsw.IOError,
    apsw.LockedError,
    apsw.NoMemError,
    apsw.NotADBError,
    apsw.PermissionsError,
    apsw.ProtocolError,
    apsw.ReadOnlyError,
)


class SqliteTx:
    """A transaction on one connection."""

    dialect = DIALECT

    def __init__(
        self,
        connection: apsw.Connection,
        now: Millis,
        version_cache: dict[Any, Any] | None = None,
        sealer: Sealer | None = None,
    ) -> None:
        self.connection = connection
        self.sealer = sealer
        self.now = now
        self.version_cache = {} if version_cache is None else version_cache
        self.signals: set[Signal] = set()
        self.fence = 0
        self.calls: list[AfterCommit] = []

    def rows(self, sql: str, *params: object) -> list[Row]:
        return list(self.connection.execute(sql, params))

    def row(self, sql: str, *params: object) -> Row | None:
        return self.connection.execute(sql, params).fetchone()

    def execute(self, sql: str, *params: object) -> int:
        self.connection.execute(sql, params).fetchall()
        return self.connection.changes()

    def execute_many(self, sql: str, params: Sequence[Sequence[Any]]) -> None:
        if params:
            self.connection.executemany(sql, params)

    update_many = execute_many

    def all(self, shape: type[S], sql: str, *params: object) -> list[S]:
        return [shape(*row) for row in self.connection.execute(sql, params)]

    def one(self, shape: type[S], sql: str, *params: object) -> S | None:
        row = self.connection.execute(sql, params).fetchone()
        return None if row is None else shape(*row)

    # A column of any type: the caller knows its statement.
    def value(self, sql: str, *params: object) -> Any:
        row = self.connection.execute(sql, params).fetchone()
        return None if row is None else row[0]

    def pipeline(self, *queries: Query) -> Iterator[list[Row]]:
        return (list(self.connection.execute(sql, tuple(params))) for sql, params in queries)

    def prefetch(self, queries: Callable[[], Sequence[Query]]) -> None:
        pass

    def signal_if(self, signal: Signal, query: Query) -> None:
        self.signals.add(signal)

    def after_commit(self, call: AfterCommit) -> None:
        self.calls.append(call)


class PendingWrite:
    """A queued plain operation, or one item of a batch operation. What the operation returns is
    checked where it is queued: its future has the same type."""

    __slots__ = ("args", "error", "future", "is_batched", "kwargs", "result", "operation")

    def __init__(
        self,
        operation: Callable[..., Any],
        # In a batch operation: the item.
        args: Sequence[object],
        kwargs: Mapping[str, object],
        is_batched: bool,
        future: asyncio.Future[Any],
    ) -> None:
        self.operation = operation
        self.args = args
        self.kwargs = kwargs
        self.is_batched = is_batched
        self.future = future
        self.result: object = None
        self.error: BaseException | None = None

    def set_outcome(self, result: object, error: BaseException | None) -> None:
        """Set the outcome. The operation may run again; the last outcome counts."""
        self.result = result
        self.error = error


def group_writes(batch: list[PendingWrite]) -> list[list[PendingWrite]]:
    """Plain operations one by one, then the items of each batch operation together."""
    plain = [[pending] for pending in batch if not pending.is_batched]
    sets: dict[Callable[..., Any], list[PendingWrite]] = {}
    for pending in batch:
        if pending.is_batched:
            sets.setdefault(pending.operation, []).append(pending)
    return [*plain, *sets.values()]


def as_unavailable(fault: F) -> F | Unavailable:
    """`Unavailable` for a fault of the database; any other error as it is."""
    if not isinstance(fault, DATABASE_FAULTS):
        return fault
    refusal = Unavailable(f"Database error: {fault}")
    refusal.__cause__ = fault
    return refusal
