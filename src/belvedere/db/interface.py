"""The database as other packages see it: a transaction, and the ways to run an operation.

An operation is a plain function over a `Tx`. `write` runs it in a durable transaction and returns
after the commit; `write_batched` lets calls of one batch operation share a transaction; `read`
runs it on a snapshot. No other package knows whether SQLite or PostgreSQL is used.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

import msgspec

from belvedere.base.clock import Clock, Millis
from belvedere.base.counters import Histogram
from belvedere.base.errors import Unavailable
from belvedere.db.signals import Signal
from belvedere.db.text_index import TextIndex

P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S", bound=msgspec.Struct)
Item = TypeVar("Item")

Row = tuple[Any, ...]
# A statement with its parameters.
Query = tuple[str, Sequence[Any]]
AfterCommit = Callable[[], None]


# One per engine, compared by identity: dialects are keys of cached statements.
@dataclass(frozen=True, slots=True, eq=False)
class Dialect:
    """Pieces of SQL in which the engines differ."""

    name: str
    # Whether several servers may use the same database.
    is_shared: bool
    # Appended to a select: lock the rows until the end of the transaction.
    lock_rows: str
    # Appended to a select: lock the rows that are not locked, and skip the others.
    skip_locked: str
    # The members of a JSON array given as one parameter, for `x in …`.
    in_texts: str
    in_numbers: str
    # `x {in_subquery}`, with a select of few rows in the braces: it runs first, then x by index.
    in_subquery: str
    # N new fence numbers: a row for each, or the highest if they follow the newest attempt.
    next_fences: str
    # The next one, as a column; null if numbers are reserved once their count is known.
    next_fence: str
    # The highest fence that was assigned, and a statement that sets it.
    newest_fence: str
    set_fence: str
    # The writer's transaction number, stored with each event.
    current_xid: str
    # Events before an event at or above this number may still appear; cursors stay below it.
    xid_horizon: str
    # Events after a cursor, whose two numbers are the parameters, events up to a cursor, and the
    # order of cursors, in a form that uses an index: the log may contain years.
    beyond_cursor: str
    up_to_cursor: str
    in_order: str
    # The member of a JSON column at this path of keys and positions, which are literal text.
    json_text: Callable[[str, Sequence[str]], str]
    # A table expression: the elements of an array, in its column `value`, under this alias. If the
    # array is a member of an object, the last argument is its key, an SQL expression; else empty.
    json_values: Callable[[str, str, str], str]
    # For each key of a JSON list its newest rows, by an index on (key, order).
    newest_per_key: str
    # Conditions on (column, id) as pairs: PostgreSQL plans for any value, and underestimates a
    # column with few values. Only the index of both columns fits a pair.
    compares_pairs: bool
    # Searches of any part of a text.
    text_index: TextIndex

    @property
    def orders_by_xid(self) -> bool:
        """Whether events are ordered by the transactions that wrote them."""
        return self.in_order != "id"

    @property
    def newest_first(self) -> str:
        return ", ".join(f"{column} desc" for column in self.in_order.split(", "))


class Sealer(Protocol):
    """The installation's keys, as far as rows need them: `context` names the record."""

    def seal(self, text: str, context: str) -> str: ...

    def unseal(self, box: str, context: str) -> str: ...

    def digest(self, text: str) -> str: ...


class Tx(Protocol):
    """One transaction. Rows come as tuples, or as structs whose fields are the columns."""

    now: Millis
    dialect: Dialect
    # Sent once the commit is durable.
    signals: set[Signal]
    # Cache of immutable versions, kept beyond the transaction.
    version_cache: dict[Any, Any]
    # Encrypts column values; None in tools that have no keys.
    sealer: Sealer | None
    # The highest fence that was reserved here: its attempt may not be written yet.
    fence: int

    def rows(self, sql: str, *params: object) -> list[Row]: ...

    def row(self, sql: str, *params: object) -> Row | None: ...

    def execute(self, sql: str, *params: object) -> int:
        """Run a statement; returns the number of changed rows."""
        ...

    def execute_many(self, sql: str, params: Sequence[Sequence[Any]]) -> None:
        """One statement for each set of parameters."""
        ...

    def update_many(self, sql: str, params: Sequence[Sequence[Any]]) -> None:
        """The same for updates of different rows, selected by the first condition: `update … where
        id = ?`. They may run as one statement."""
        ...

    def all(self, shape: type[S], sql: str, *params: object) -> list[S]: ...

    def one(self, shape: type[S], sql: str, *params: object) -> S | None: ...

    # A column of any type: the caller knows its statement.
    def value(self, sql: str, *params: object) -> Any:
        """The first column of the first row, or None."""
        ...

    def pipeline(self, *queries: Query) -> Iterator[list[Row]]:
        """The rows of each statement in turn. On PostgreSQL all of them are sent in one round trip,
        so a later statement runs even if the caller stops reading after an earlier one."""
        ...

    def prefetch(self, queries: Callable[[], Sequence[Query]]) -> None:
        """Send statements that this transaction is likely to need, in one round trip. SQLite has no
        round trips and does not call `queries`. Each result is used once, by the same statement
        with the same parameters, so nothing that is written before may change it."""
        ...

    def signal_if(self, signal: Signal, query: Query) -> None:
        """Send the signal if the statement returns a row right after the commit, whose round trip
        it shares. Without round trips the signal is sent anyway."""
        ...

    def after_commit(self, call: AfterCommit) -> None:
        """Called on the server's loop once the commit is durable, and only then."""
        ...


BatchOperation = Callable[[Tx, list[Item]], Sequence[R | Exception]]


class Database(Protocol):
    """An open database. `before_commit` runs inside every transaction that writes, at its end."""

    dialect: Dialect
    clock: Clock
    before_commit: Callable[[Tx], None] | None
    on_signals: Callable[[set[Signal]], None] | None
    sealer: Sealer | None
    # How many servers use it, this one included.
    servers: int
    # How long commits took, and whole transactions that write.
    commit_times: Histogram
    transaction_times: Histogram

    async def write(
        self, operation: Callable[Concatenate[Tx, P], R], *a: P.args, **k: P.kwargs
    ) -> R: ...

    async def read(
        self, operation: Callable[Concatenate[Tx, P], R], *a: P.args, **k: P.kwargs
    ) -> R: ...

    async def search(
        self, operation: Callable[Concatenate[Tx, P], R], *a: P.args, **k: P.kwargs
    ) -> R:
        """A read whose cost the caller chooses: on threads that no other read uses. Requests use
        it through a `SearchLane`, which limits how many wait."""
        ...

    async def read_inline(
        self, operation: Callable[Concatenate[Tx, P], R], *a: P.args, **k: P.kwargs
    ) -> R:
        """A read of a row or a few, so short that it may run on the loop itself."""
        ...

    def write_batched(self, operation: BatchOperation[Item, R], item: Item) -> "asyncio.Future[R]":
        """Run a batch operation on this item together with other waiting items of the same one."""
        ...

    def write_blocking(
        self, operation: Callable[Concatenate[Tx, P], R], *a: P.args, **k: P.kwargs
    ) -> R:
        """The same without an event loop: set-up, the command line, tests."""
        ...

    async def close(self) -> None: ...


@cache
def columns(shape: type[msgspec.Struct], prefix: str = "") -> str:
    """The select list that fills `shape`, in the order of its fields."""
    return ", ".join(f"{prefix}{name}" for name in shape.__struct_fields__)


def is_database_fault(fault: BaseException) -> bool:
    """Whether the database did not work, so that the operation can succeed later. A value that
    cannot be decrypted, say, has another code."""
    return isinstance(fault, Unavailable) and fault.code in ("unavailable", "outcome_unknown")


def is_postgres(url: str) -> bool:
    """Whether this is the address of PostgreSQL, and not the path of a SQLite file."""
    return url.startswith(("postgresql://", "postgres://"))
