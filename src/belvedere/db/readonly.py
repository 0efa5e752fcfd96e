"""Looking into a database beside the server that owns it: no lock, no write, no migration."""

import asyncio
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from belvedere.base.clock import wall
from belvedere.base.errors import NotFound, Unavailable
from belvedere.db.interface import Tx

P = ParamSpec("P")
R = TypeVar("R")


class ReadOnlyDatabase(Protocol):
    """A verb sees one moment; a long look is made of many, so that it never holds the owner up."""

    engine: str

    def look(self, verb: Callable[Concatenate[Tx, P], R], *a: P.args, **k: P.kwargs) -> R: ...


class _SqlitePeek:
    engine = "sqlite"

    def __init__(self, path: str) -> None:
        from belvedere.db.sqlite.database import connect

        if not os.path.exists(path):
            raise NotFound(f"There is no database at {path}; name its folder with --data.")
        self.connection = connect(path, readonly=True)

    def look(self, verb: Callable[Concatenate[Tx, P], R], *a: P.args, **k: P.kwargs) -> R:
        from belvedere.db.sqlite.database import BROKEN
        from belvedere.db.sqlite.transaction import SqliteTx

        try:
            self.connection.execute("begin")
            return verb(SqliteTx(self.connection, wall()), *a, **k)
        except BROKEN as fault:
            raise Unavailable(f"SQLite says: {fault}.") from fault
        finally:
            if not self.connection.get_autocommit():
                self.connection.execute("rollback")

    def close(self) -> None:
        self.connection.close()


class _PostgresPeek:
    engine = "postgres"

    def __init__(self, url: str) -> None:
        from psycopg.conninfo import conninfo_to_dict, make_conninfo

        from belvedere.db.postgres.database import Postgres

        # A standby is good enough to look at.
        chosen = conninfo_to_dict(url).get("target_session_attrs")
        self.db = Postgres(make_conninfo(url, target_session_attrs=chosen or "any"))

    def look(self, verb: Callable[Concatenate[Tx, P], R], *a: P.args, **k: P.kwargs) -> R:
        def only_look(tx: Tx) -> R:
            tx.execute("set transaction isolation level repeatable read, read only")
            return verb(tx, *a, **k)

        from belvedere.db.postgres.database import BROKEN

        try:
            return self.db.write_blocking(only_look)
        except BROKEN as fault:
            raise Unavailable(f"PostgreSQL says: {fault}.") from fault

    def close(self) -> None:
        asyncio.run(self.db.close())


@contextmanager
def peek(url: str) -> Iterator[ReadOnlyDatabase]:
    """`postgresql://…`, or the path of a SQLite file that is there."""
    if url.startswith(("postgresql://", "postgres://")):
        found: _PostgresPeek | _SqlitePeek = _PostgresPeek(url)
    else:
        found = _SqlitePeek(url.removeprefix("sqlite://"))
    try:
        yield found
    finally:
        found.close()
