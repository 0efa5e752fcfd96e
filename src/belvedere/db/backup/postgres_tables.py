"""Backups of PostgreSQL: the rows of every table, as one transaction sees them.

They are stored as text in the format of COPY. The schema is not stored: a restore applies the same
migrations. It is one transaction, so that nothing of it stays if it does not reach its end.
"""

import select
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from belvedere.base import failpoints
from belvedere.base.clock import wall
from belvedere.base.errors import Conflict, Invalid, Unavailable
from belvedere.db.backup.archive import BackupReader, BackupWriter, Report
from belvedere.db.interface import Row, Tx
from belvedere.db.migrate import apply, migrations
from belvedere.db.postgres.connection import LIVENESS, PostgresConnection
from belvedere.db.postgres.deadlines import Deadline
from belvedere.db.postgres.transaction import PostgresTx

FOLDER = "tables/"
# The advisory lock of "belvedere restore".
LOCK = 0x62767273
OPTIONS = (
    "-c timezone=UTC -c statement_timeout=0 -c idle_in_transaction_session_timeout=0 -c jit=off"
    # For indexes, which are most of the time of a restore.
    " -c maintenance_work_mem=256MB"
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
# Indexes that do not belong to a constraint, and keys: they are created after the rows, which is
# several times as fast.
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
def _transaction(url: str, mode: str, **settings: str) -> Iterator[psycopg.Connection[Row]]:
    """A connection without time limits: copying a large table may take long."""
    try:
        chosen = conninfo_to_dict(url)
    except psycopg.ProgrammingError as fault:
        raise Invalid(f"This is not the address of a PostgreSQL database: {fault}.") from None
    defaults = {**LIVENESS, **settings}
    missing = {name: value for name, value in defaults.items() if name not in chosen}
    try:
        with psycopg.connect(
            make_conninfo(url, **missing),
            autocommit=True,
            application_name="belvedere backup",
            options=OPTIONS,
        ) as connection:
            connection.execute(f"begin isolation level {mode}".encode())
            yield connection
    except psycopg.Error as fault:
        raise Unavailable(f"PostgreSQL reports: {str(fault).strip()}.") from fault


@contextmanager
def open_snapshot(url: str) -> Iterator[PostgresTx]:
    """A consistent snapshot in one transaction; servers continue to write."""
    # A standby is sufficient for reading.
    mode = "repeatable read, read only"
    with _transaction(url, mode, target_session_attrs="any") as connection:
        yield _tx(connection)


def _tx(connection: psycopg.Connection[Row]) -> PostgresTx:
    # The deadline is not started: it ends no wait.
    return PostgresTx(PostgresConnection(connection, Deadline(0.0, lambda: None)), wall(), {})


def write_parts(
    snapshot: PostgresTx, writer: BackupWriter, report: Report
) -> tuple[dict[str, list[str]], dict[str, int]]:
    """The columns and the number of rows of every table."""
    connection = snapshot.connection.connection
    relations = connection.execute(RELATIONS.encode()).fetchall()
    columns: dict[str, list[str]] = {}
    counts: dict[str, int] = {}
    for table, size in relations:
        if table in REBUILT:
            continue
        names = [name for (name,) in connection.execute(COLUMNS.encode(), (table,))]
        columns[table] = names
        counts[table] = _copy_out(connection, writer, _Table(table, names), size, report)
    return columns, counts


class _Table:
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
    table: _Table,
    size: int,
    report: Report,
) -> int:
    done = 0
    with (
        connection.cursor() as cursor,
        writer.part(table.part) as append,
    ):
        with cursor.copy(table.copy("to stdout")) as copy:
            for block in copy:
                append(bytes(block))
                done += len(block)
                report(table.part, min(done, size), size)
        return max(cursor.rowcount, 0)


def list_sequences(snapshot: PostgresTx) -> dict[str, int]:
    """After the rows: a sequence does not belong to the transaction, and must not be behind it."""
    return {name: int(value) for name, value in snapshot.rows(SEQUENCES)}


def check_empty(url: str) -> None:
    with open_snapshot(url) as snapshot:
        _check_empty(snapshot.connection.connection)


def _check_empty(connection: psycopg.Connection[Row]) -> None:
    names = [name for name, _ in connection.execute(RELATIONS.encode())]
    if names:
        raise Conflict(
            f"The database is not empty: it has {len(names)} tables ({', '.join(names[:3])}, …)."
            " Create an empty database, and name it with --database.",
        )


def restore_tables(
    url: str, reader: BackupReader, finish: Callable[[Tx], int], report: Report
) -> int:
    with _transaction(url, "read committed") as connection:
        connection.execute("select pg_advisory_xact_lock(%s)", (LOCK,))
        _check_empty(connection)
        tx = _tx(connection)
        _create_schema(tx, reader.manifest.migrations)
        later = _postpone(connection)
        _load(connection, reader, report)
        for number, statement in enumerate(later, 1):
            report("indexes", number, len(later))
            connection.execute(statement.encode())
        for name, value in reader.manifest.sequences.items():
            tx.value("select setval(?::regclass, ?::bigint)", name, value)
        # Before the commit: an error after it would be reported for a complete database.
        report("analyze", 1, 1)
        connection.execute("analyze")
        result = finish(tx)
        failpoints.reach("restore finished")
        connection.execute("commit")
        return result


def _create_schema(tx: Tx, names: Sequence[str]) -> None:
    for folder in ("migrations", "logs"):
        for name, text in migrations("postgres", folder):
            if f"{folder}/{name}" in names:
                apply(tx, f"{folder}/{name}", text)


def _postpone(connection: psycopg.Connection[Row]) -> list[str]:
    """Drop indexes and keys; returns the statements that create them again."""
    later = []
    for name, definition in connection.execute(INDEXES.encode()).fetchall():
        connection.execute(sql.SQL("drop index {}").format(sql.Identifier(name)))
        later.append(definition)
    keys = []
    for table, name, definition in connection.execute(KEYS.encode()).fetchall():
        key = sql.Identifier(name)
        change = sql.SQL("alter table {} drop constraint {}").format(sql.SQL(table), key)
        connection.execute(change)
        keys.append(f"alter table {table} add constraint {key.as_string()} {definition}")
    return [*reversed(keys), *later]


def _load(connection: psycopg.Connection[Row], reader: BackupReader, report: Report) -> None:
    tables = [name for name, _ in connection.execute(RELATIONS.encode())]
    # Migrations insert rows too; they are in the backup as they were there.
    names = sql.SQL(", ").join(map(sql.Identifier, tables))
    connection.execute(sql.SQL("truncate {}").format(names))
    parts = {part.name: part for part in reader.manifest.parts}
    for table in (name for name in tables if name not in REBUILT):
        source = _Table(table, reader.manifest.columns.get(table, []))
        if source.part not in parts:
            raise Invalid(f"The backup does not contain the table {table}.")
        with connection.cursor() as cursor:
            # Frozen: truncated in the same transaction, so that nobody sees these rows earlier. The
            # first reader of other rows writes every page again, and the indexes are readers.
            with cursor.copy(source.copy("from stdin (freeze)")) as copy:
                for block in reader.blocks(parts[source.part], report):
                    send(copy, block)
            if cursor.rowcount != reader.manifest.tables.get(table):
                raise Invalid(f"The table {table} has {cursor.rowcount} rows after the restore.")
        failpoints.reach("restore part")


def send(copy: psycopg.Copy, block: bytes) -> None:
    """Return when the block is sent. The driver alone would collect what PostgreSQL has not read
    yet in a buffer, which grows, and which is moved in memory with every packet."""
    copy.write(block)
    connection = copy.connection.pgconn
    poll = select.poll()
    poll.register(connection.socket, select.POLLIN | select.POLLOUT)
    while connection.flush():
        for _, events in poll.poll():
            if events & ~select.POLLOUT:
                # A message, or the end of the connection, which this raises.
                connection.consume_input()
