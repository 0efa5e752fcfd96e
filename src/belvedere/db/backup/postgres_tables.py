"""Backups of PostgreSQL: the rows of every table, as one transaction sees them.

They are stored as text in the format of COPY. The schema is not stored: `postgres_restore` applies
the same migrations.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import LiteralString

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from belvedere.base.clock import wall
from belvedere.base.errors import Conflict, Unavailable
from belvedere.db.backup.archive import BackupWriter, Report
from belvedere.db.interface import Row, Tx
from belvedere.db.migrate import apply, migrations
from belvedere.db.postgres.connection import (
    LIVENESS,
    SERVER_NAME,
    PostgresConnection,
    parse_address,
)
from belvedere.db.postgres.deadlines import Deadline
from belvedere.db.postgres.faults import describe
from belvedere.db.postgres.transaction import PostgresTx

FOLDER = "tables/"
# The advisory lock of "belvedere restore".
LOCK = 0x62767273
OPTIONS = (
    "-c timezone=UTC -c statement_timeout=0 -c idle_in_transaction_session_timeout=0 -c jit=off"
    # For indexes, which are most of the time of a restore.
    " -c maintenance_work_mem=256MB"
    # PostgreSQL ends the session of a machine that is gone, which may have a lock.
    " -c tcp_keepalives_idle=5 -c tcp_keepalives_interval=2 -c tcp_keepalives_count=3"
)
RELATIONS = (
    "select c.relname, pg_total_relation_size(c.oid) from pg_class c"
    " where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p')"
    " order by c.relname"
)
COLUMNS = (
    "select a.attname from pg_attribute a join pg_class c on c.oid = a.attrelid"
    " where c.relnamespace = current_schema()::regnamespace and c.relname = %s"
    " and a.attnum > 0 and not a.attisdropped and a.attgenerated = '' order by a.attnum"
)
SEQUENCES = (
    "select sequencename, last_value from pg_sequences where schemaname = current_schema()"
    " and last_value is not null order by 1"
)
# Connections of servers, also while they do nothing.
SERVERS = (
    "select count(*) from pg_stat_activity where datname = current_database()"
    f" and application_name = '{SERVER_NAME}'"
)
# Indexes that do not belong to a constraint.
INDEXES = (
    "select c.relname, pg_get_indexdef(c.oid) from pg_index i join pg_class c on c.oid ="
    " i.indexrelid where c.relnamespace = current_schema()::regnamespace and not exists"
    " (select 1 from pg_constraint k where k.conindid = i.indexrelid) order by 1"
)
# Foreign keys first: they need the others.
KEYS = (
    "select conrelid::regclass::text, conname, pg_get_constraintdef(oid) from pg_constraint"
    " where contype in ('f', 'p', 'u') and connamespace = current_schema()::regnamespace"
    " order by contype = 'f' desc, 1, 2"
)


# Not in a backup: the server fills them again after the restore, and a transfer to another engine
# begins again.
REBUILT = frozenset({"job_search", "job_search_progress", "migration_changes"})


@contextmanager
def connect(
    url: str, *, options: str = OPTIONS, **settings: str
) -> Iterator[psycopg.Connection[Row]]:
    """A connection without time limits: copying a large table may take long."""
    chosen = parse_address(url)
    defaults = {**LIVENESS, **settings}
    missing = {name: value for name, value in defaults.items() if name not in chosen}
    try:
        with psycopg.connect(
            make_conninfo(url, **missing),
            autocommit=True,
            application_name="belvedere backup",
            options=options,
        ) as connection:
            yield connection
    except psycopg.Error as fault:
        raise Unavailable(describe(fault)) from fault


@contextmanager
def open_snapshot(url: str) -> Iterator[PostgresTx]:
    """A consistent snapshot in one transaction; servers continue to write."""
    # A standby is sufficient for reading.
    with connect(url, target_session_attrs="any") as connection:
        connection.execute("begin isolation level repeatable read, read only")
        yield as_tx(connection)


def as_tx(connection: psycopg.Connection[Row]) -> PostgresTx:
    # The deadline is not started: it ends no wait.
    return PostgresTx(PostgresConnection(connection, Deadline(0.0, lambda: None)), wall(), {})


def write_parts(
    snapshot: PostgresTx, writer: BackupWriter, report: Report
) -> tuple[dict[str, list[str]], dict[str, int]]:
    """The columns and the number of rows of every table."""
    connection = snapshot.connection.connection
    sizes: dict[str, int] = dict(connection.execute(RELATIONS.encode()).fetchall())
    progress = TableProgress(report, sum(sizes.values()))
    columns: dict[str, list[str]] = {}
    counts: dict[str, int] = {}
    for table, size in sizes.items():
        progress.begin(size)
        if table in REBUILT:
            continue
        names = [name for (name,) in connection.execute(COLUMNS.encode(), (table,))]
        columns[table] = names
        counts[table] = _copy_out(connection, writer, TableCopy(table, names), progress)
    return columns, counts


class TableProgress:
    """How far a backup has come. Sizes include indexes, and dead rows, which are not copied."""

    def __init__(self, report: Report, total: int) -> None:
        self._report, self._total = report, total
        # The tables before, and up to the end of the current one.
        self._done = self._end = 0

    def begin(self, size: int) -> None:
        self._done = self._end
        self._end += size

    def add(self, amount: int) -> None:
        self._done = min(self._done + amount, self._end)
        self._report("tables", self._done, self._total)


class TableCopy:
    """The rows of one table, as text."""

    def __init__(self, name: str, columns: Sequence[str]) -> None:
        self.name = name
        self.part = f"{FOLDER}{name}.copy"
        self._columns = columns

    def copy(self, direction: str) -> sql.Composed:
        names = sql.SQL(", ").join(map(sql.Identifier, self._columns))
        target = sql.Identifier(self.name)
        return sql.SQL("copy {} ({}) " + direction).format(target, names)


def _copy_out(
    connection: psycopg.Connection[Row],
    writer: BackupWriter,
    table: TableCopy,
    progress: TableProgress,
) -> int:
    with (
        connection.cursor() as cursor,
        writer.part(table.part) as append,
    ):
        with cursor.copy(table.copy("to stdout")) as copy:
            for block in copy:
                append(bytes(block))
                progress.add(len(block))
        return max(cursor.rowcount, 0)


def list_sequences(snapshot: PostgresTx) -> dict[str, int]:
    """After the rows: a sequence does not belong to the transaction, and must not be behind it."""
    return {name: int(value) for name, value in snapshot.rows(SEQUENCES)}


# The schema of a restore

# 'p' and 'u': it belongs to a primary key or a unique constraint.
ALL_INDEXES = (
    "select t.relname, c.relname, pg_get_indexdef(c.oid), k.contype::text from pg_index i"
    " join pg_class c on c.oid = i.indexrelid join pg_class t on t.oid = i.indrelid"
    " left join pg_constraint k on k.conindid = c.oid and k.contype in ('p', 'u')"
    " where c.relnamespace = current_schema()::regnamespace order by 1, 2"
)
FOREIGN_KEYS = (
    "select t.relname, k.conname, pg_get_constraintdef(k.oid) from pg_constraint k"
    " join pg_class t on t.oid = k.conrelid where k.contype = 'f'"
    " and k.connamespace = current_schema()::regnamespace order by 1, 2"
)
KINDS = {"p": "primary key", "u": "unique"}


def check_empty(tx: Tx) -> None:
    names = [name for name, _ in tx.rows(RELATIONS)]
    if names:
        raise Conflict(
            f"The database is not empty: it has {len(names)} tables ({', '.join(names[:3])}, …)."
            " Create an empty database, and name it with --database.",
        )


def create_schema(tx: Tx, names: Sequence[str]) -> None:
    for folder in ("migrations", "logs"):
        for name, text in migrations("postgres", folder):
            if f"{folder}/{name}" in names:
                apply(tx, f"{folder}/{name}", text)


def postpone(connection: psycopg.Connection[Row]) -> tuple[list[tuple[str, str]], list[str]]:
    """Drop what is created after the rows, which is several times as fast. Returns the statements
    for indexes, by table, and for keys."""
    foreign_keys = connection.execute(FOREIGN_KEYS.encode()).fetchall()
    for table, name, _ in foreign_keys:
        connection.execute(format_names("alter table {} drop constraint {}", table, name))
    indexes, keys = [], []
    for table, name, definition, kind in connection.execute(ALL_INDEXES.encode()).fetchall():
        indexes.append((table, definition))
        if kind is None:
            connection.execute(format_names("drop index {}", name))
            continue
        connection.execute(format_names("alter table {} drop constraint {}", table, name))
        added = format_names("alter table {} add constraint {}", table, name).as_string()
        keys.append(f"{added} {KINDS[kind]} using index {sql.Identifier(name).as_string()}")
    for table, name, definition in foreign_keys:
        added = format_names("alter table {} add constraint {}", table, name).as_string()
        keys.append(f"{added} {definition}")
    return indexes, keys


def format_names(text: LiteralString, *names: str) -> sql.Composed:
    return sql.SQL(text).format(*map(sql.Identifier, names))
