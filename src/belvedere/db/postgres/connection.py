"""A PostgreSQL connection below the driver's cursors, which cost more than the statements.

Every statement is prepared once. Writes whose outcome nobody reads wait, and travel together with
the next statement that somebody waits for: half of all round trips are saved.
"""

import select
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import psycopg
from psycopg import pq
from psycopg.adapt import PyFormat, Transformer

from belvedere.db.interface import Query, Row
from belvedere.db.postgres.deadlines import Deadline

GOOD = (pq.ExecStatus.COMMAND_OK, pq.ExecStatus.TUPLES_OK)
# A plan costs the server memory; when there are so many, all are forgotten and made anew.
MOST_PREPARED = 1_000

Result = pq.abc.PGresult
Ready = tuple[bytes, Sequence[Any] | None, Sequence[pq.Format] | None]


# The members of a list that comes as one parameter.
TEXTS = "(select json_array_elements_text(?::json))"
NUMBERS = "(select json_array_elements_text(?::json)::bigint)"


@cache
def translated(sql: str) -> bytes:
    """Our `?` as the server's `$1`, `$2`, …"""
    for members in (TEXTS, NUMBERS):
        # An array is looked up in an index; rows would be joined.
        sql = sql.replace(f" in {members}", f" = any(array{members})")
    first, *rest = sql.split("?")
    return (first + "".join(f"${n}{part}" for n, part in enumerate(rest, 1))).encode()


class Wire:
    """One connection, used by one thread."""

    def __init__(self, connection: psycopg.Connection[Row], deadline: Deadline) -> None:
        self.connection = connection
        self._pg = connection.pgconn
        self._deadline = deadline
        self._shapes = Transformer(connection)
        self._prepared: dict[tuple[str, tuple[int, ...]], bytes] = {}
        self._waiting: list[Ready] = []
        self._readable = select.poll()
        self._readable.register(self._pg.socket, select.POLLIN)
        self._sendable = select.poll()
        self._sendable.register(self._pg.socket, select.POLLIN | select.POLLOUT)

    @property
    def is_broken(self) -> bool:
        return self._pg.status != pq.ConnStatus.OK

    def begin(self) -> None:
        self.later("begin")

    def commit(self) -> None:
        # A transaction that has failed is rolled back by its commit, without a fault.
        if self.now("commit").command_status != b"COMMIT":
            raise psycopg.InternalError("a fault was swallowed; nothing of this was kept")

    def later(self, sql: str, params: Sequence[Any] = ()) -> None:
        """Before the next statement that is for now; its fault shows there."""
        self._waiting.append(self._ready(sql, params))

    def now(self, sql: str, params: Sequence[Any] = ()) -> Result:
        ready = self._ready(sql, params)
        if not self._waiting:
            return self._answer(self._pg.exec_prepared, *ready)
        return self._all_of([ready])[-1]

    def rows(self, sql: str, params: Sequence[Any] = ()) -> list[Row]:
        return self._loaded(self.now(sql, params))

    def together(self, asked: Sequence[Query]) -> list[list[Row]]:
        """The rows of several statements, in one round trip."""
        results = self._all_of([self._ready(sql, params) for sql, params in asked])
        return [self._loaded(result) for result in results[-len(asked) :]]

    def _loaded(self, result: Result) -> list[Row]:
        self._shapes.set_pgresult(result)
        return self._shapes.load_rows(0, result.ntuples, tuple)

    def undo(self) -> None:
        """Roll back whatever is under way."""
        self._waiting = []
        if not self.is_broken and self._pg.transaction_status != pq.TransactionStatus.IDLE:
            self._answer(self._pg.exec_, b"rollback")

    def _ready(self, sql: str, params: Sequence[Any]) -> Ready:
        shapes = self._shapes
        values = shapes.dump_sequence(params, [PyFormat.AUTO] * len(params)) if params else None
        types = shapes.types or () if params else ()
        name = self._prepared.get((sql, types)) or self._prepare(sql, types)
        return name, values, shapes.formats if params else None

    def _prepare(self, sql: str, types: tuple[int, ...]) -> bytes:
        if len(self._prepared) >= MOST_PREPARED and not self._waiting:
            self._answer(self._pg.exec_, b"deallocate all")
            self._prepared.clear()
        name = b"s%d" % len(self._prepared)
        self._answer(self._pg.prepare, name, translated(sql), types)
        self._prepared[sql, types] = name
        return name

    def _all_of(self, statements: list[Ready]) -> list[Result]:
        """What waits, then these."""
        waiting, self._waiting = self._waiting, []
        self._deadline.begin(self._pg)
        try:
            results = self._exchange([*waiting, *statements])
        except BaseException:
            # Answers that nobody has read would be taken for those of the next statements.
            self._pg.finish()
            raise
        finally:
            self._deadline.end(self._pg)
        return [self._checked(result) for result in results]

    def _answer(self, call: Callable[..., Result], *args: Any) -> Result:
        """The result of one call of the library that waits for the server."""
        self._deadline.begin(self._pg)
        try:
            return self._checked(call(*args))
        finally:
            self._deadline.end(self._pg)

    def _exchange(self, statements: list[Ready]) -> list[Result]:
        self._pg.enter_pipeline_mode()
        for statement in statements:
            self._pg.send_query_prepared(*statement)
        self._pg.pipeline_sync()
        self._flush()
        results = []
        for _ in statements:
            results.append(self._next_result())
            # Each statement's results end with nothing, and all of them with the sync's own.
            self._pg.get_result()
        self._next_result()
        self._pg.exit_pipeline_mode()
        return results

    def _flush(self) -> None:
        """All of it out, however long it is; answers are taken in meanwhile, or both would wait."""
        while self._pg.flush():
            if any(event & select.POLLIN for _, event in self._sendable.poll()):
                self._pg.consume_input()

    def _next_result(self) -> Result:
        # The library itself would wait with the interpreter locked, and the thread that holds the
        # row we wait for could never let it go.
        while self._pg.is_busy():
            self._readable.poll()
            self._pg.consume_input()
        result = self._pg.get_result()
        if result is None:
            raise psycopg.OperationalError("the connection was lost")
        return result

    def _checked(self, result: Result) -> Result:
        if result.status in GOOD:
            return result
        if self.is_broken:
            raise psycopg.OperationalError("the connection was lost")
        raise psycopg.errors.error_from_result(result)
