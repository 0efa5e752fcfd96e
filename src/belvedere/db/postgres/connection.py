"""A PostgreSQL connection without the cursors of the driver, which cost more than the statements.

Every statement is prepared once. Writes whose result is not read are queued and sent in a pipeline
with the next statement that needs a result: this saves half of all round trips.
"""

import asyncio
import select
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import psycopg
from psycopg import pq
from psycopg.adapt import PyFormat, Transformer
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from belvedere.base.errors import Invalid
from belvedere.db.interface import Query, Row
from belvedere.db.postgres.deadlines import Deadline
from belvedere.db.postgres.loop_waits import SocketWait, on_loop

GOOD = (pq.ExecStatus.COMMAND_OK, pq.ExecStatus.TUPLES_OK)
# A plan costs memory on the server; at this number all are dropped and prepared again.
MAX_PREPARED = 1_000

Result = pq.abc.PGresult
BoundStatement = tuple[bytes, Sequence[Any] | None, Sequence[pq.Format] | None]


# The members of a list that comes as one parameter.
TEXTS = "(select json_array_elements_text(?::json))"
NUMBERS = "(select json_array_elements_text(?::json)::bigint)"


@cache
def numbered_parameters(sql: str) -> bytes:
    """The statement with `$1`, `$2`, … in place of `?`."""
    for members in (TEXTS, NUMBERS):
        # An array is looked up in an index; rows would be joined.
        sql = sql.replace(f" in {members}", f" = any(array{members})")
    first, *rest = sql.split("?")
    return (first + "".join(f"${n}{part}" for n, part in enumerate(rest, 1))).encode()


# PostgreSQL cancels a statement that takes longer. A database that does not even report that is
# given up a little later. With the pause, callers get a 503 within ten seconds.
STATEMENT_S = 6
# It waits less for a lock, so that only a statement which is slow itself exceeds the limit above.
LOCK_S = 5
ANSWER_S = 8.0
# Settings that detect a lost server; those in the URL have precedence.
LIVENESS: dict[str, str | int] = {
    "connect_timeout": 3,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": int(ANSWER_S * 1_000),
    # A standby accepts connections, but no writes.
    "target_session_attrs": "read-write",
}


# Names of connections, by which `belvedere migrate` notices servers. Commands that only look, and a
# server that does not know yet whether it may use the database, have the second one.
SERVER_NAME, CHECK_NAME = "belvedere", "belvedere check"


def parse_address(url: str) -> dict[str, Any]:
    try:
        return conninfo_to_dict(url)
    except psycopg.ProgrammingError as fault:
        text = str(fault).strip()
        raise Invalid(f"This is not the address of a PostgreSQL database: {text}.") from None


def open_connection(
    url: str, *, autocommit: bool, name: str = SERVER_NAME
) -> psycopg.Connection[Row]:
    """A connection with our settings; those in the URL have precedence over `LIVENESS`."""
    chosen = parse_address(url)
    missing = {name: value for name, value in LIVENESS.items() if name not in chosen}
    return psycopg.connect(
        make_conninfo(url, **missing),
        autocommit=autocommit,
        application_name=name,
        options=f"-c timezone=UTC -c statement_timeout={STATEMENT_S}s"
        f" -c lock_timeout={LOCK_S}s -c synchronous_commit=on"
        " -c idle_in_transaction_session_timeout=30s"
        # Statements have the same plan for every value; planning again costs more.
        " -c plan_cache_mode=force_generic_plan -c jit=off"
        # A plan is made when a statement is first used, perhaps on an empty table, and kept
        # while the table grows: it must not be a sequential scan.
        " -c enable_seqscan=off",
    )


class PostgresConnection:
    """One connection, used by one operation at a time: always on the loop, or never."""

    def __init__(
        self, connection: psycopg.Connection[Row], deadline: Deadline, failures: int = 0
    ) -> None:
        self.connection = connection
        # How many connections had failed when this one was opened.
        self.failures = failures
        # For `HangCheck`, once it is known.
        self.process = ""
        # None on threads.
        self._loop_wait: SocketWait | None = None
        self._pg = connection.pgconn
        self._deadline = deadline
        self._transformer = Transformer(connection)
        self._prepared: dict[tuple[str, tuple[int, ...]], bytes] = {}
        self._queued: list[BoundStatement] = []
        self._readable = select.poll()
        self._readable.register(self._pg.socket, select.POLLIN)
        self._sendable = select.poll()
        self._sendable.register(self._pg.socket, select.POLLIN | select.POLLOUT)

    def close(self) -> None:
        self._leave_loop()
        self.connection.close()

    def _leave_loop(self) -> None:
        if self._loop_wait is not None:
            self._loop_wait.close()
            self._loop_wait = None

    @property
    def is_broken(self) -> bool:
        return self._pg.status != pq.ConnStatus.OK

    def begin(self) -> None:
        self.enqueue("begin")

    def commit(self, queries: Sequence[Query] = ()) -> list[list[Row]]:
        """Commit, and return the rows of these statements, which run after the commit in the same
        round trip. One that fails has no rows: the commit is done."""
        statements = [self._bind(sql, params) for sql, params in (("commit", ()), *queries)]
        results = self._execute_all(statements, checked=len(self._queued) + 1)
        # The commit of a failed transaction rolls it back without raising an error.
        committed, *answers = results[-len(statements) :]
        if committed.command_status != b"COMMIT":
            raise psycopg.InternalError("an error was ignored; the transaction was rolled back")
        return [self._load_rows(answer) if answer.status in GOOD else [] for answer in answers]

    def enqueue(self, sql: str, params: Sequence[Any] = ()) -> None:
        """Queue a statement; it is sent with the next one that is executed and raises there."""
        self._queued.append(self._bind(sql, params))

    def execute(self, sql: str, params: Sequence[Any] = ()) -> Result:
        statement = self._bind(sql, params)
        if not self._queued:
            return self._call(self._pg.send_query_prepared, *statement)
        return self._execute_all([statement])[-1]

    def rows(self, sql: str, params: Sequence[Any] = ()) -> list[Row]:
        return self._load_rows(self.execute(sql, params))

    def pipeline(self, queries: Sequence[Query]) -> list[list[Row]]:
        """The rows of several statements, in one round trip."""
        results = self._execute_all([self._bind(sql, params) for sql, params in queries])
        return [self._load_rows(result) for result in results[-len(queries) :]]

    def _load_rows(self, result: Result) -> list[Row]:
        self._transformer.set_pgresult(result)
        return self._transformer.load_rows(0, result.ntuples, tuple)

    def rollback(self) -> None:
        """Roll back the current transaction. The loss of the connection does so too, and must not
        replace the error or the result of the operation."""
        self._queued = []
        try:
            if not self.is_broken and self._pg.transaction_status != pq.TransactionStatus.IDLE:
                self._call(self._pg.send_query, b"rollback")
        except psycopg.OperationalError:
            if not self.is_broken:
                raise

    def _bind(self, sql: str, params: Sequence[Any]) -> BoundStatement:
        transformer = self._transformer
        values = (
            transformer.dump_sequence(params, [PyFormat.AUTO] * len(params)) if params else None
        )
        types = transformer.types or () if params else ()
        name = self._prepared.get((sql, types)) or self._prepare(sql, types)
        return name, values, transformer.formats if params else None

    def _prepare(self, sql: str, types: tuple[int, ...]) -> bytes:
        if len(self._prepared) >= MAX_PREPARED and not self._queued:
            self._call(self._pg.send_query, b"deallocate all")
            self._prepared.clear()
        name = b"s%d" % len(self._prepared)
        self._call(self._pg.send_prepare, name, numbered_parameters(sql), types)
        self._prepared[sql, types] = name
        return name

    def _execute_all(
        self, statements: list[BoundStatement], checked: int | None = None
    ) -> list[Result]:
        """Execute the queued statements, then these; an error in the first `checked` results, or in
        any, is raised."""
        queued, self._queued = self._queued, []
        self._deadline.begin(self._pg, self.process)
        try:
            results = self._exchange([*queued, *statements])
        except BaseException:
            # Unread results would be taken for those of the next statements.
            self._pg.finish()
            raise
        finally:
            self._deadline.end(self._pg)
        for result in results[:checked]:
            self._check(result)
        return results

    def _call(self, send: Callable[..., None], *args: object) -> Result:
        """The result of one statement."""
        self._deadline.begin(self._pg, self.process)
        try:
            send(*args)
            self._flush()
            result = self._next_result()
            self._await_result()
            self._pg.get_result()
        except BaseException:
            self._pg.finish()
            raise
        finally:
            self._deadline.end(self._pg)
        return self._check(result)

    def _exchange(self, statements: list[BoundStatement]) -> list[Result]:
        self._pg.enter_pipeline_mode()
        for statement in statements:
            self._pg.send_query_prepared(*statement)
        self._pg.pipeline_sync()
        self._flush()
        results = []
        for _ in statements:
            results.append(self._next_result())
            # The results of each statement end with None, and all of them with that of the sync.
            self._pg.get_result()
        self._next_result()
        self._pg.exit_pipeline_mode()
        return results

    def _flush(self) -> None:
        """Send everything, and read results meanwhile; otherwise both sides could block."""
        while self._pg.flush():
            if on_loop():
                self._on_loop().until_sendable()
            else:
                self._sendable.poll()
            self._pg.consume_input()
            # A part was sent: the time limit is for PostgreSQL, not for a large statement.
            self._deadline.begin(self._pg, self.process)

    def _next_result(self) -> Result:
        self._await_result()
        result = self._pg.get_result()
        if result is None:
            raise psycopg.OperationalError("the connection was lost")
        return result

    def _await_result(self) -> None:
        # The library itself would wait while it holds the interpreter lock, and the thread that has
        # locked the row could never release it.
        while self._pg.is_busy():
            if on_loop():
                self._on_loop().until_readable()
            else:
                self._readable.poll()
            self._pg.consume_input()

    def _on_loop(self) -> SocketWait:
        if self._loop_wait is None or self._loop_wait.loop is not asyncio.get_running_loop():
            self._leave_loop()
            self._loop_wait = SocketWait(self._pg.socket)
        return self._loop_wait

    def _check(self, result: Result) -> Result:
        if result.status in GOOD:
            return result
        if self.is_broken:
            raise psycopg.OperationalError("the connection was lost")
        raise psycopg.errors.error_from_result(result)
