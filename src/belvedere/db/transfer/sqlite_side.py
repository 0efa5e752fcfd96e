"""SQLite as the source or the target of a transfer: both files on one connection."""

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import apsw

from belvedere.base.clock import wall
from belvedere.base.errors import Unavailable
from belvedere.db.backup import sqlite_files
from belvedere.db.backup.copy import Location
from belvedere.db.interface import Row
from belvedere.db.migrate import apply, migrations
from belvedere.db.sqlite.connection import connect
from belvedere.db.sqlite.transaction import SqliteTx
from belvedere.db.transfer.changes import MAX_CHANGES, TABLE
from belvedere.db.transfer.marks import Later
from belvedere.db.transfer.side import OWN_TABLES, OWN_VALUES, Expressions, FullDisk, Violation
from belvedere.db.transfer.tables import TYPES, Checksum, Key, Table

COLUMNS = "select name, lower(type), pk from pragma_table_info(?) order by cid"
SCHEMAS = ("main", "logs")


class SqliteSide:
    name = "sqlite"

    def __init__(self, connection: apsw.Connection, address: str, expressions: Expressions) -> None:
        self.address = address
        self.tx = SqliteTx(connection, wall())
        self._connection = connection
        self._expressions = expressions
        self._versions: list[int] = []

    @contextmanager
    def transaction(self) -> Iterator[None]:
        self._connection.execute("begin")
        try:
            yield
            self._connection.execute("commit")
        except apsw.ConstraintError as fault:
            raise Violation(f"SQLite reports: {fault}.") from fault
        finally:
            if not self._connection.get_autocommit():
                self._connection.execute("rollback")

    # Each file at one moment of its own: no row of one refers to a row of the other.
    snapshot = transaction

    def list_tables(self) -> list[Table]:
        return [self._describe(name) for name in sorted(_migration_tables() - OWN_TABLES)]

    def _describe(self, name: str) -> Table:
        rows = self.tx.rows(COLUMNS, name)
        key = [column for _, column in sorted((place, name) for name, _, place in rows if place)]
        return Table(name, {column: TYPES[kind] for column, kind, _ in rows}, tuple(key))

    def _select(self, table: Table, condition: str) -> str:
        own = self._expressions.get(table.name, {})
        values = ", ".join(own.get(name, name) for name in table.columns)
        return f"select {values} from {_restrict(table, condition)}"

    def read(self, table: Table, after: Key | None) -> list[Row]:
        condition = "true" if after is None else f"({table.key_list}) > ({_marks(table.key)})"
        statement = self._select(table, condition) + f" order by {table.key_list} limit ?"
        return self.tx.rows(statement, *(after or ()), table.batch)

    def fetch(self, table: Table, keys: Sequence[Key]) -> list[Row]:
        values = ", ".join([f"({_marks(table.key)})"] * len(keys))
        statement = self._select(table, f"({table.key_list}) in (values {values})")
        return self.tx.rows(statement, *(value for key in keys for value in key))

    def checksum(self, table: Table, keys: Sequence[Key]) -> Checksum:
        return table.checksum(self.fetch(table, keys))

    def checksum_all(self, table: Table) -> Checksum:
        return table.checksum(self._connection.execute(self._select(table, "true")))

    def count(self, table: Table) -> int:
        return int(self.tx.value(f"select count(*) from {_restrict(table, 'true')}"))

    def list_keys(self, table: Table, after: Key | None) -> list[Key]:
        condition = "true" if after is None else f"({table.key_list}) > ({_marks(table.key)})"
        statement = f"select {table.key_list} from {_restrict(table, condition)}"
        return self.tx.rows(
            f"{statement} order by {table.key_list} limit ?", *(after or ()), table.batch
        )

    def replace(self, table: Table, rows: Sequence[Row]) -> None:
        """Also in place of rows with the same value of a unique column: they are older."""
        self._insert("insert or replace", table, rows)

    def insert(self, table: Table, rows: Sequence[Row]) -> None:
        self._insert("insert", table, rows)

    def _insert(self, verb: str, table: Table, rows: Sequence[Row]) -> None:
        statement = f"{verb} into {table.name} ({table.column_list})"
        self.tx.execute_many(f"{statement} values ({_marks(list(table.columns))})", rows)

    upsert = replace

    def list_cascades(self) -> set[str]:
        """Foreign keys are off for this connection."""
        return set()

    def delete(self, table: Table, keys: Sequence[Key]) -> None:
        condition = " and ".join(f"{name} = ?" for name in table.key)
        self.tx.execute_many(f"delete from {table.name} where {condition}", keys)

    def postpone(self, *, with_indexes: bool) -> Later:
        """Only the main file: a transaction on both is not atomic if the machine loses power."""
        later = Later()
        rows = self.tx.rows(
            "select type, name, sql from main.sqlite_schema where sql is not null"
            " and type in ('index', 'trigger') order by type, name"
        )
        for kind, name, statement in rows:
            is_plain = kind == "index" and not statement.lower().startswith("create unique")
            if is_plain and not with_indexes:
                continue
            self.tx.execute(f'drop {kind} main."{name}"')
            (later.indexes if is_plain else later.constraints).append(statement)
        return later

    def create(self, statements: Sequence[str]) -> Iterator[int]:
        for number, statement in enumerate(statements, 1):
            self.tx.execute(statement)
            yield number

    create_deferred = create

    def enforce(self) -> None:
        """Foreign keys are part of the tables."""

    def drop_triggers(self) -> list[str]:
        return []

    def watch(self, tables: Sequence[Table]) -> None:
        self._versions = self._read_versions()

    def was_written(self) -> bool:
        return self._read_versions() != self._versions

    def _read_versions(self) -> list[int]:
        """They differ if another connection has written in between."""
        return [int(self.tx.value(f"pragma {schema}.data_version")) for schema in SCHEMAS]

    def unwatch(self) -> None:
        """Nothing was created."""

    def finish(self) -> None:
        for schema in SCHEMAS:
            self._connection.execute(f"pragma {schema}.wal_checkpoint(truncate)").fetchall()


def _migration_tables() -> set[str]:
    """The tables that the migrations create. A file may have others, such as those of Litestream,
    which no other database needs."""
    names: set[str] = set()
    for folder in ("migrations", "logs"):
        with closing(connect(":memory:")) as connection:
            tx = SqliteTx(connection, wall())
            for name, text in migrations(SqliteSide.name, folder):
                apply(tx, f"{folder}/{name}", text)
            names.update(name for (name,) in tx.rows(sqlite_files.TABLES))
    return names


def _marks(columns: Sequence[str]) -> str:
    return ", ".join("?" for _ in columns)


def _restrict(table: Table, condition: str) -> str:
    own = f" and {OWN_VALUES}" if table.name == "meta" else ""
    return f"{table.name} where {condition}{own}"


@contextmanager
def open_side(
    files: Sequence[Path], expressions: Expressions, *, readonly: bool
) -> Iterator[SqliteSide]:
    """Both files on one connection."""
    main, logs = files
    connection = connect(str(main), readonly=readonly)
    try:
        connection.execute("attach ? as logs", (str(logs),))
        connection.execute("pragma foreign_keys=off")
        yield SqliteSide(connection, str(main), expressions)
    finally:
        connection.close()


@contextmanager
def report_errors(location: Location) -> Iterator[None]:
    try:
        yield
    except apsw.FullError as fault:
        folders = dict.fromkeys(str(path.parent) for path in location.files.values())
        raise FullDisk(" or ".join(folders)) from fault
    except apsw.NotADBError as fault:
        raise Unavailable(f"This is not a database of Belvedere: {fault}.") from fault
    except apsw.Error as fault:
        raise Unavailable(f"SQLite reports: {fault}.") from fault


# Changes of the source

CREATE_CHANGES = f"create table {TABLE} (id integer primary key, name text, key text)"
NEWEST_CHANGE = f"select max(id) from {TABLE}"
CHANGES_EXIST = f"select 1 from {{}}.sqlite_schema where type = 'table' and name = '{TABLE}'"


def create_triggers(table: Table) -> list[str]:
    old, new = (_key_json(table, row) for row in ("old", "new"))
    events = {"insert": [new], "update": [old, new], "delete": [old]}
    return [
        f"create trigger {TABLE}_{event}_{table.name} after {event} on {table.name} begin"
        f" {' '.join(_record(table, key) for key in keys)} end"
        for event, keys in events.items()
    ]


def drop_triggers(table: Table) -> list[str]:
    events = ("insert", "update", "delete")
    return [f"drop trigger if exists {TABLE}_{event}_{table.name}" for event in events]


def _key_json(table: Table, row: str) -> str:
    return f"json_array({', '.join(f'{row}.{name}' for name in table.key)})"


def _record(table: Table, key: str) -> str:
    return (
        f"insert into {TABLE} (name, key) select '{table.name}', {key}"
        f" where (select max(id) from {TABLE}) < {MAX_CHANGES};"
    )
