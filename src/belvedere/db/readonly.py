"""Read a database while a server uses it: no lock, no write, no migration."""

import asyncio
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from belvedere.base.clock import wall
from belvedere.base.errors import NotFound, Unavailable
from belvedere.db.interface import Dialect, Tx, is_postgres

P = ParamSpec("P")
R = TypeVar("R")


class ReadOnlyDatabase(Protocol):
    """Each operation reads one snapshot. Long reads use many, to not delay the server."""

    dialect: Dialect

    def read(self, operation: Callable[Concatenate[Tx, P], R], *a: P.args, **k: P.kwargs) -> R: ...


class _ReadOnlySqlite:
    def __init__(self, path: str) -> None:
        from belvedere.db.sqlite.connection import connect
        from belvedere.db.sqlite.transaction import DIALECT

        if not os.path.exists(path):
            raise NotFound(f"No database at {path}; set its folder with --data.")
        self.dialect = DIALECT
        self.connection = connect(path, readonly=True)

    def read(self, operation: Callable[Concatenate[Tx, P], R], *a: P.args, **k: P.kwargs) -> R:
        from belvedere.db.sqlite.database import BROKEN
        from belvedere.db.sqlite.transaction import SqliteTx

        try:
            self.connection.execute("begin")
            return operation(SqliteTx(self.connection, wall()), *a, **k)
        except BROKEN as fault:
            raise Unavailable(f"SQLite reports: {fault}.") from fault
        finally:
            if not self.connection.get_autocommit():
                self.connection.execute("rollback")

    def close(self) -> None:
        self.connection.close()


class _ReadOnlyPostgres:
    def __init__(self, url: str) -> None:
        from psycopg.conninfo import make_conninfo

        from belvedere.db.postgres.connection import CHECK_NAME, parse_address
        from belvedere.db.postgres.database import Postgres

        # A standby is sufficient for reading.
        chosen = parse_address(url).get("target_session_attrs")
        self.db = Postgres(make_conninfo(url, target_session_attrs=chosen or "any"))
        self.db.application_name = CHECK_NAME
        self.dialect = self.db.dialect

    def read(self, operation: Callable[Concatenate[Tx, P], R], *a: P.args, **k: P.kwargs) -> R:
        def read_only(tx: Tx) -> R:
            tx.execute("set transaction isolation level repeatable read, read only")
            return operation(tx, *a, **k)

        from belvedere.db.postgres.database import BROKEN
        from belvedere.db.postgres.faults import describe

        try:
            return self.db.write_blocking(read_only)
        except BROKEN as fault:
            raise Unavailable(describe(fault)) from fault

    def close(self) -> None:
        asyncio.run(self.db.close())


@contextmanager
def peek(url: str) -> Iterator[ReadOnlyDatabase]:
    """`postgresql://…`, or the path of an existing SQLite file."""
    if is_postgres(url):
        database: _ReadOnlyPostgres | _ReadOnlySqlite = _ReadOnlyPostgres(url)
    else:
        database = _ReadOnlySqlite(url.removeprefix("sqlite://"))
    try:
        yield database
    finally:
        database.close()
