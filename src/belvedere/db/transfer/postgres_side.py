"""PostgreSQL as the source or the target of a transfer."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import psycopg
from psycopg import sql

from belvedere.base.clock import wall
from belvedere.db.backup import postgres_tables
from belvedere.db.interface import Row
from belvedere.db.postgres.connection import PostgresConnection
from belvedere.db.postgres.deadlines import Deadline
from belvedere.db.postgres.transaction import PostgresTx
from belvedere.db.transfer.changes import MAX_CHANGES, TABLE
from belvedere.db.transfer.marks import Later
from belvedere.db.transfer.side import OWN_VALUES, Expressions, Violation
from belvedere.db.transfer.tables import Checksum, Key, Table, checksum_expression

# The name of the sessions of a transfer.
SESSION_NAME = "belvedere migrate"
SUMS = (
    "select count(*), coalesce(sum(('x' || substr(digest, 1, 16))::bit(64)::bigint), 0),"
    " coalesce(sum(('x' || substr(digest, 17))::bit(64)::bigint), 0)"
)

# Writes of other sessions to the target: the name of the table, the function and the triggers.
WRITES = "migration_writes"
DEFERRED = " DEFERRABLE INITIALLY DEFERRED"
DEFERRED_KEYS = (
    "select conrelid::regclass::text, conname from pg_constraint where condeferrable"
    " and contype = 'f' and connamespace = current_schema()::regnamespace"
)
CASCADES = (
    "select distinct confrelid::regclass::text from pg_constraint where contype = 'f'"
    " and confdeltype <> 'a' and connamespace = current_schema()::regnamespace"
)
TRIGGERS = (
    "select tgrelid::regclass::text, quote_ident(tgname), pg_get_triggerdef(t.oid)"
    " from pg_trigger t join pg_class c on c.oid = tgrelid"
    " where c.relnamespace = current_schema()::regnamespace"
    f" and not tgisinternal and tgname <> '{WRITES}' order by 1, 2"
)


class PostgresSide:
    name = "postgres"

    def __init__(
        self, connection: psycopg.Connection[Row], address: str, expressions: Expressions
    ) -> None:
        self.address = address
        # The deadline is not started: it ends no wait.
        own_connection = PostgresConnection(connection, Deadline(0.0, lambda: None))
        self.tx = PostgresTx(own_connection, wall(), {})
        self._connection = connection
        self._expressions = expressions
        self._has_statistics = False

    @contextmanager
    def transaction(self) -> Iterator[None]:
        try:
            with self._connection.transaction():
                yield
                # Statements that were queued.
                self.tx.rows("select 1")
        except psycopg.IntegrityError as fault:
            text = " ".join(str(fault).split())
            raise Violation(f"PostgreSQL ({self.address}) reports: {text}.") from fault

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        with self._connection.transaction():
            self._connection.execute("set transaction isolation level repeatable read, read only")
            yield

    def list_tables(self) -> list[Table]:
        return []

    def _values(self, table: Table) -> list[str]:
        own = self._expressions.get(table.name, {})
        return [own.get(name, f"t.{name}") for name in table.columns]

    def read(self, table: Table, after: Key | None) -> list[Row]:
        return self._page(table, ", ".join(self._values(table)), after)

    def list_keys(self, table: Table, after: Key | None) -> list[Key]:
        return self._page(table, table.key_list, after)

    def _page(self, table: Table, values: str, after: Key | None) -> list[Row]:
        condition = "true"
        if after is not None:
            marks = ", ".join(f"%s::{table.columns[name]}" for name in table.key)
            condition = f"({table.key_list}) > ({marks})"
        return self._rows(
            f"select {values} from {_restrict(table, condition)}"
            f" order by {table.key_list} limit {table.batch}",
            *(after or ()),
        )

    def _rows(self, statement: str, *params: object) -> list[Row]:
        # The table `meta` is restricted by patterns; a parameter is always `%s`.
        text = statement.replace("%'", "%%'") if params else statement
        with self._connection.cursor(binary=True) as cursor:
            return cursor.execute(text.encode(), params or None).fetchall()

    def fetch(self, table: Table, keys: Sequence[Key]) -> list[Row]:
        values = ", ".join(self._values(table))
        return self._rows(f"select {values} from {_join_keys(table)}", *_arrays(table, keys))

    def checksum(self, table: Table, keys: Sequence[Key]) -> Checksum:
        digest = checksum_expression(table.columns, self._values(table))
        statement = f"{SUMS} from (select {digest} as digest from {_join_keys(table)}) d"
        return self._sums(statement, *_arrays(table, keys))

    def checksum_all(self, table: Table) -> Checksum:
        digest = checksum_expression(table.columns, self._values(table))
        statement = f"{SUMS} from (select {digest} as digest from {_restrict(table, 'true')}) d"
        # Otherwise it would read the whole table through an index.
        self._connection.execute("set enable_seqscan = on")
        try:
            return self._sums(statement)
        finally:
            self._connection.execute("set enable_seqscan = off")

    def _sums(self, statement: str, *params: object) -> Checksum:
        [(rows, high, low)] = self._rows(statement, *params)
        return Checksum(rows, int(high), int(low))

    def count(self, table: Table) -> int:
        return int(self._rows(f"select count(*) from {_restrict(table, 'true')}")[0][0])

    def replace(self, table: Table, rows: Sequence[Row]) -> None:
        self.delete(table, [table.key_of(row) for row in rows])
        self.insert(table, rows)

    def insert(self, table: Table, rows: Sequence[Row]) -> None:
        _check_texts(table, rows)
        target = sql.SQL("copy {} ({}) from stdin").format(
            sql.Identifier(table.name), sql.SQL(", ").join(map(sql.Identifier, table.columns))
        )
        with self._connection.cursor() as cursor, cursor.copy(target) as copy:
            for row in rows:
                copy.write_row(row)

    def upsert(self, table: Table, rows: Sequence[Row]) -> None:
        _check_texts(table, rows)
        arrays = ", ".join(f"%s::{kind}[]" for kind in table.columns.values())
        values = ", ".join(f"{name} = excluded.{name}" for name in table.columns)
        self._connection.execute(
            f"insert into {table.name} ({table.column_list}) select * from unnest({arrays})"
            f" on conflict ({table.key_list}) do update set {values}".encode(),
            [list(column) for column in zip(*rows, strict=True)] or [[]] * len(table.columns),
        )

    def list_cascades(self) -> set[str]:
        return {name for (name,) in self._rows(CASCADES)}

    def delete(self, table: Table, keys: Sequence[Key]) -> None:
        names = " and ".join(f"t.{name} = k.{name}" for name in table.key)
        self._connection.execute(
            f"delete from {table.name} t using {_key_rows(table)} where {names}".encode(),
            _arrays(table, keys),
        )

    def postpone(self, *, with_indexes: bool) -> Later:
        """Primary keys stay: batches are compared by them."""
        later = Later()
        for name, definition in self._connection.execute(postgres_tables.INDEXES.encode()):
            is_unique = definition.startswith("CREATE UNIQUE")
            if is_unique or with_indexes:
                self._connection.execute(sql.SQL("drop index {}").format(sql.Identifier(name)))
                (later.constraints if is_unique else later.indexes).append(definition)
        keys = self._connection.execute(postgres_tables.KEYS.encode()).fetchall()
        for table, name, definition in keys:
            if definition.startswith("PRIMARY KEY"):
                continue
            key = sql.Identifier(name).as_string()
            self._connection.execute(f"alter table {table} drop constraint {key}".encode())
            statement = f"alter table {table} add constraint {key} {definition}"
            later.constraints.insert(0, statement.removesuffix(DEFERRED))
        return later

    def create(self, statements: Sequence[str]) -> Iterator[int]:
        for number, statement in enumerate(statements, 1):
            self._connection.execute(statement.encode())
            yield number

    def create_deferred(self, statements: Sequence[str]) -> Iterator[int]:
        return self.create([_defer(statement) for statement in statements])

    def enforce(self) -> None:
        for table, name in self._rows(DEFERRED_KEYS):
            key = sql.Identifier(name).as_string()
            statement = f"alter table {table} alter constraint {key} not deferrable"
            self._connection.execute(statement.encode())

    def drop_triggers(self) -> list[str]:
        triggers = self._rows(TRIGGERS)
        for table, name, _ in triggers:
            self._connection.execute(f"drop trigger {name} on {table}".encode())
        return [definition for _, _, definition in triggers]

    def watch(self, tables: Sequence[Table]) -> None:
        with self.transaction():
            self.unwatch()
            for statement in watch_statements(tables):
                self._connection.execute(statement.encode())

    def was_written(self) -> bool:
        return bool(self._rows(f"select 1 from {WRITES} limit 1"))

    def unwatch(self) -> None:
        self._connection.execute(f"drop table if exists {WRITES}".encode())
        # With the triggers of all tables.
        self._connection.execute(f"drop function if exists {WRITES}() cascade".encode())

    def finish(self) -> None:
        if not self._has_statistics:
            self._connection.execute("analyze")
            self._has_statistics = True


def _check_texts(table: Table, rows: Sequence[Row]) -> None:
    for row in rows:
        if any(isinstance(value, str) and "\0" in value for value in row):
            raise table.invalid_row(row, "has a NUL character, which PostgreSQL cannot store")


def _defer(statement: str) -> str:
    return statement + DEFERRED if " FOREIGN KEY " in statement else statement


def watch_statements(tables: Sequence[Table]) -> list[str]:
    """Triggers that record which tables other sessions write to, once per statement."""
    return [
        f"create table {WRITES} (name text)",
        f"create function {WRITES}() returns trigger language plpgsql as $$ begin"
        f" if current_setting('application_name') <> '{SESSION_NAME}' then"
        f" insert into {WRITES} values (tg_table_name); end if; return null; end $$",
        *(
            f"create trigger {WRITES} after insert or update or delete or truncate"
            f" on {table.name} for each statement execute function {WRITES}()"
            for table in tables
        ),
    ]


def _restrict(table: Table, condition: str) -> str:
    own = f" and {OWN_VALUES}" if table.name == "meta" else ""
    return f"{table.name} t where {condition}{own}"


def _key_rows(table: Table) -> str:
    arrays = ", ".join(f"%s::{table.columns[name]}[]" for name in table.key)
    return f"unnest({arrays}) k ({table.key_list})"


def _join_keys(table: Table) -> str:
    names = " and ".join(f"t.{name} = k.{name}" for name in table.key)
    return f"{_key_rows(table)} join {table.name} t on {names}"


def _arrays(table: Table, keys: Sequence[Key]) -> list[list[object]]:
    return [[key[number] for key in keys] for number in range(len(table.key))]


# Changes of the source

CREATE_CHANGES = f"create table {TABLE} (id bigserial primary key, name text, key text)"
NEWEST_CHANGE = f"select last_value from {TABLE}_id_seq"
CHANGES_EXIST = f"select to_regclass('{TABLE}') is not null"


def create_triggers(table: Table) -> list[str]:
    """A key that changes is recorded as it was and as it is."""
    name = f"{TABLE}_{table.name}"
    old, new = (_key_json(table, row) for row in ("old", "new"))
    return [
        f"create or replace function {name}() returns trigger language plpgsql as $$ begin"
        f" if (select last_value from {TABLE}_id_seq) < {MAX_CHANGES} then"
        f" if tg_op <> 'INSERT' then {_record(table, old)} end if;"
        f" if tg_op <> 'DELETE' then {_record(table, new)} end if;"
        " end if; return null; end $$",
        f"create trigger {name} after insert or update or delete on {table.name}"
        f" for each row execute function {name}()",
    ]


def drop_triggers(table: Table) -> list[str]:
    name = f"{TABLE}_{table.name}"
    return [f"drop trigger if exists {name} on {table.name}", f"drop function if exists {name}()"]


def _key_json(table: Table, row: str) -> str:
    return f"json_build_array({', '.join(f'{row}.{name}' for name in table.key)})::text"


def _record(table: Table, key: str) -> str:
    return f"insert into {TABLE} (name, key) values ('{table.name}', {key});"
