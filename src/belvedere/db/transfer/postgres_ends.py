"""A PostgreSQL database before and after a transfer: locks, marks and the schema."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from time import sleep
from typing import Concatenate, ParamSpec, TypeVar

import psycopg
from psycopg.conninfo import make_conninfo

from belvedere.base.errors import Conflict, Unavailable
from belvedere.db.backup import postgres_tables, restore_marker
from belvedere.db.backup.copy import Location
from belvedere.db.interface import Row, Tx
from belvedere.db.migrate import apply, migrations
from belvedere.db.postgres.connection import LIVENESS, parse_address
from belvedere.db.transfer import marks
from belvedere.db.transfer.changes import TABLE, ChangeLog, SourcePart
from belvedere.db.transfer.marks import Mark
from belvedere.db.transfer.postgres_side import (
    CHANGES_EXIST,
    CREATE_CHANGES,
    NEWEST_CHANGE,
    SESSION_NAME,
    PostgresSide,
    create_triggers,
    drop_triggers,
)
from belvedere.db.transfer.side import (
    Expressions,
    FullDisk,
    applied,
    check_source_version,
    check_target_version,
    no_copy,
)
from belvedere.db.transfer.tables import Table

P = ParamSpec("P")
R = TypeVar("R")
OPTIONS = (
    f"{postgres_tables.OPTIONS} -c synchronous_commit=on"
    # Rows are read by their keys, also while the planner knows nothing about a new table.
    " -c enable_seqscan=off -c enable_hashjoin=off -c enable_mergejoin=off"
)
# How often `change` looks for servers: one that has just stopped may still be listed.
LOOKS, PAUSE_S = 10, 0.3
# How long a table may be locked while its triggers are created, and how often that is tried.
LOCK_WAIT_S, LOCK_TRIES = 2, 100


def _address(options: dict[str, str | int | None]) -> str:
    """Without the password."""
    host, port = options.get("host") or "localhost", options.get("port")
    return f"postgresql://{host}{f':{port}' if port else ''}/{options.get('dbname') or ''}"


@contextmanager
def _connect(url: str, expressions: Expressions) -> Iterator[tuple[PostgresSide, str]]:
    chosen = parse_address(url)
    missing = {name: value for name, value in LIVENESS.items() if name not in chosen}
    address = _address(chosen)
    try:
        with psycopg.connect(
            make_conninfo(url, **missing),
            autocommit=True,
            application_name=SESSION_NAME,
            options=OPTIONS,
        ) as connection:
            # The driver would drop the prepared statements of ours together with its own.
            connection.prepare_threshold = None
            _check_encoding(connection, address)
            yield PostgresSide(connection, address, expressions), address
    except psycopg.errors.DiskFull as fault:
        raise FullDisk(address) from fault
    except psycopg.Error as fault:
        text = " ".join(str(fault).split())
        raise Unavailable(f"PostgreSQL ({address}) reports: {text}.") from fault


def _check_encoding(connection: psycopg.Connection[Row], address: str) -> None:
    encoding = connection.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        raise Conflict(
            f"{address} has the encoding {encoding}. Create the database with encoding 'UTF8'."
        )


class PostgresSource:
    """A database of an installation; its servers may be running."""

    def __init__(self, location: Location) -> None:
        self._url = location.database

    @contextmanager
    def open(self, expressions: Expressions) -> Iterator[PostgresSide]:
        with _connect(self._url, expressions) as (side, address):
            restore_marker.check_complete(side.tx)
            check_source_version(applied(side.tx), side.name, address)
            yield side

    def is_used(self) -> bool:
        with _connect(self._url, {}) as (side, _):
            return bool(side.tx.value(postgres_tables.SERVERS))

    def try_stop(self, mark: Mark) -> bool:
        """Mark the source; False while a server is running. One that starts meanwhile connects
        before it reads the mark, so either it sees the mark, or its connection is seen here."""
        with _connect(self._url, {}) as (side, _):
            if side.tx.value(postgres_tables.SERVERS):
                return False
            with side.transaction():
                before = marks.mark_source(side.tx, mark)
            if not side.tx.value(postgres_tables.SERVERS):
                return True
            with side.transaction():
                # A database that was closed before must stay closed: it may be compared already.
                marks.clear(side.tx) if before is None else marks.write(side.tx, before)
            return False

    @contextmanager
    def record_changes(self, tables: Sequence[Table], transfer_id: str) -> Iterator[ChangeLog]:
        with _connect(self._url, {}) as (side, _):
            part = SourcePart(
                partial(_run, side),
                TABLE,
                CHANGES_EXIST,
                tables,
                CREATE_CHANGES,
                create_triggers,
                drop_triggers,
                NEWEST_CHANGE,
            )
            yield ChangeLog([part], transfer_id)

    def change(self, operation: Callable[[Tx], R]) -> R:
        """One transaction; no server may be running."""
        with _connect(self._url, {}) as (side, address):
            if not _is_unused(side):
                raise Conflict(f"A server is running with {address}; stop it first.")
            with side.transaction():
                return operation(side.tx)


def _run(
    side: PostgresSide, operation: Callable[Concatenate[Tx, P], R], *a: P.args, **k: P.kwargs
) -> R:
    """A statement that waits for the lock of a table lets others wait: it gives up soon, and tries
    again. One table at a time, so that no server can wait for this one and the other way round."""
    for _ in range(LOCK_TRIES):
        try:
            with side.transaction():
                side.tx.execute(f"set local lock_timeout = '{LOCK_WAIT_S}s'")
                return operation(side.tx, *a, **k)
        except psycopg.errors.LockNotAvailable:
            sleep(PAUSE_S)
    raise Conflict(
        f"The tables of {side.address} are locked by other sessions. Run the command again later."
    )


def _is_unused(side: PostgresSide) -> bool:
    for _ in range(LOOKS):
        if not side.tx.value(postgres_tables.SERVERS):
            return True
        sleep(PAUSE_S)
    return False


class PostgresTarget:
    """An empty database, or an incomplete copy."""

    def __init__(self, location: Location) -> None:
        self._url = location.database

    @contextmanager
    def open(self, mark: Mark | None) -> Iterator[PostgresSide]:
        with _connect(self._url, {}) as (side, address):
            if not side.tx.value("select pg_try_advisory_lock(?::bigint)", postgres_tables.LOCK):
                raise Conflict(f"Another `belvedere migrate` or restore writes to {address}.")
            self._create(side, mark)
            check_target_version(applied(side.tx), side.name, address)
            yield side

    def _create(self, side: PostgresSide, mark: Mark | None) -> None:
        before = marks.read(side.tx)
        if before is not None and before.state not in (marks.COPYING, marks.COMPARED):
            raise Conflict(
                f"{side.address} is the database that was moved away. Create another one, and name"
                " it with --to.",
            )
        if before is not None:
            return
        if mark is None:
            raise no_copy(side.address)
        with side.transaction():
            self._check_empty(side)
            for folder in ("migrations", "logs"):
                for name, text in migrations(side.name, folder):
                    apply(side.tx, f"{folder}/{name}", text)
            marks.write(side.tx, mark)

    def _check_empty(self, side: PostgresSide) -> None:
        names = [row[0] for row in side.tx.rows(postgres_tables.RELATIONS)]
        if names:
            raise Conflict(
                f"{side.address} is not empty: it has {len(names)} tables"
                f" ({', '.join(names[:3])}, …). Create an empty database, and name it with --to.",
            )
