"""Restores the tables of PostgreSQL, with two connections.

Each table and each index is a transaction that also records it as done, so that a restore which is
repeated after it was interrupted continues. Only the last transaction removes these records; until
then, no server starts with the database.
"""

import select
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor, as_completed
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from threading import Lock
from time import sleep

import psycopg

from belvedere.base import failpoints
from belvedere.base.errors import Conflict, Invalid, Unavailable
from belvedere.db.backup import restore_marker
from belvedere.db.backup.archive import BackupPart, BackupReader, Report
from belvedere.db.backup.postgres_tables import (
    LOCK,
    OPTIONS,
    REBUILT,
    RELATIONS,
    SERVERS,
    TableCopy,
    as_tx,
    check_empty,
    connect,
    create_schema,
    format_names,
    open_snapshot,
    postpone,
)
from belvedere.db.backup.restore_marker import RestoreSource, identify
from belvedere.db.interface import Row, Tx
from belvedere.db.postgres.transaction import PostgresTx

Connection = psycopg.Connection[Row]

# Loading a table keeps one process of PostgreSQL busy.
CONNECTIONS = 2
# The last commit is durable, and with it all before.
DURABLE, LOADING = (f"{OPTIONS} -c synchronous_commit={mode}" for mode in ("on", "off"))
# A process whose client was killed ends within a second, also while it creates an index. Not every
# system can do that.
END_WITH_CLIENT = """do $$ begin
  perform set_config('client_connection_check_interval', '1000', false);
exception when others then null; end $$"""
LOCK_TRIES, LOCK_PAUSE_S = 20, 0.25
# Tables with a smaller share of all bytes are done together.
SMALL_SHARE = 1 / 50
CANCEL_S = 5.0


def check_target(url: str, reader: BackupReader) -> RestoreSource | None:
    """Refuse a database with tables, except those of an interrupted restore of this backup."""
    with open_snapshot(url) as snapshot:
        return _read_source(snapshot, reader)


def _read_source(tx: Tx, reader: BackupReader) -> RestoreSource | None:
    source = restore_marker.read_source(tx)
    if source is None:
        check_empty(tx)
    elif not source.fits(reader):
        raise Conflict(
            "The database contains the incomplete restore of another backup. Restore that backup"
            " again, or create an empty database and name it with --database."
        )
    return source


def restore_tables(
    url: str, reader: BackupReader, finish: Callable[[Tx], int], report: Report
) -> int:
    with connect(url, options=DURABLE) as connection:
        tx = as_tx(connection)
        _lock(tx)
        restore = _Restore(tx, reader, _begin(tx, reader), report)
        with _open_workers(url) as workers, _explained_errors():
            restore.run(workers)
        with _explained_errors():
            return restore.complete(finish)


@contextmanager
def _explained_errors() -> Iterator[None]:
    again = "run `belvedere restore` again: it continues"
    try:
        yield
    except psycopg.errors.DiskFull as fault:
        raise Unavailable(f"The disk of PostgreSQL is full. Free space and {again}.") from fault
    except psycopg.Error as fault:
        text = " ".join(str(fault).split())
        raise Unavailable(f"PostgreSQL reports: {text}. Solve this and {again}.") from fault


def _lock(tx: Tx) -> None:
    """The session of a restore that was killed may exist for a moment."""
    for _ in range(LOCK_TRIES):
        if tx.value("select pg_try_advisory_lock(?::bigint)", LOCK):
            return
        sleep(LOCK_PAUSE_S)
    raise Conflict("Another `belvedere restore` or `belvedere migrate` writes to this database.")


def _begin(tx: PostgresTx, reader: BackupReader) -> RestoreSource:
    connection = tx.connection.connection
    with connection.transaction():
        source = _read_source(tx, reader)
        if source is None:
            create_schema(tx, reader.manifest.migrations)
            indexes, keys = postpone(connection)
            restore_marker.create_table(tx)
            source = RestoreSource(None, reader.seal.sha256, indexes, keys)
        source.backup = identify(reader.path)
        restore_marker.write_source(tx, source)
    # A server connects before it looks for the marker: either it sees it, or is seen here.
    if tx.value(SERVERS):
        raise Conflict("A server is running with this database. Stop it, and restore again.")
    return source


@contextmanager
def _open_workers(url: str) -> Iterator[list[Connection]]:
    with ExitStack() as stack:
        workers = [stack.enter_context(connect(url, options=LOADING)) for _ in range(CONNECTIONS)]
        for worker in workers:
            worker.execute(END_WITH_CLIENT)
        yield workers


class _Progress:
    """How far all connections together have come with one step."""

    def __init__(self, report: Report, step: str, done: int, total: int) -> None:
        self._report, self._step = report, step
        self._done, self._total = done, total
        self._lock = Lock()
        self._is_stopped = False

    def add(self, amount: int) -> None:
        with self._lock:
            self.check()
            self._done += amount
            self._report(self._step, self._done, self._total)

    def stop(self) -> None:
        self._is_stopped = True

    def check(self) -> None:
        if self._is_stopped:
            raise CancelledError


@dataclass(frozen=True, slots=True)
class RestoreItem:
    """A table whose rows are loaded, or a statement."""

    # Under which it is recorded as done.
    name: str
    # The part with the rows of the table.
    part: BackupPart
    run: Callable[[Connection, _Progress], None]
    # How much of the step it is.
    amount: int = 1


class _Restore:
    def __init__(
        self, tx: PostgresTx, reader: BackupReader, source: RestoreSource, report: Report
    ) -> None:
        self._tx, self._reader, self._source = tx, reader, source
        self._report = report
        self._done = restore_marker.list_done(tx)
        self._parts = self._list_parts()
        self._small = SMALL_SHARE * sum(part.size for part in self._parts.values())

    def _list_parts(self) -> dict[str, BackupPart]:
        """By table."""
        parts = {part.name: part for part in self._reader.manifest.parts}
        names = {name for name, _ in self._tx.rows(RELATIONS)}
        names -= {*REBUILT, restore_marker.TABLE}
        missing = sorted(name for name in names if TableCopy(name, ()).part not in parts)
        if missing:
            raise Invalid(f"The backup does not contain the table {missing[0]}.")
        return {name: parts[TableCopy(name, ()).part] for name in sorted(names)}

    def run(self, workers: Sequence[Connection]) -> None:
        parts = self._parts.items()
        rows = [
            RestoreItem(f"rows {table}", part, partial(self._load, table), part.size)
            for table, part in parts
        ]
        self._run_step(workers, "tables", rows)
        # The tables that are not in a backup are empty.
        nothing = BackupPart("", 0, "")
        indexes = [
            RestoreItem(text, self._parts.get(table, nothing), partial(_execute, text))
            for table, text in self._source.indexes
        ]
        self._run_step(workers, "indexes", indexes)
        statements = [
            (format_names("analyze {}", table).as_string(), part) for table, part in parts
        ]
        analyses = [RestoreItem(text, part, partial(_execute, text)) for text, part in statements]
        self._run_step(workers, "analyze", analyses)

    def _run_step(
        self, workers: Sequence[Connection], step: str, items: Sequence[RestoreItem]
    ) -> None:
        missing = [item for item in items if item.name not in self._done]
        total = sum(item.amount for item in items)
        done = total - sum(item.amount for item in missing)
        progress = _Progress(self._report, step, done, total)
        groups = iter(self._group(missing))
        with ThreadPoolExecutor(len(workers)) as pool:
            futures = [pool.submit(_work, worker, groups, progress) for worker in workers]
            try:
                for future in as_completed(futures):
                    future.result()
            except BaseException:
                progress.stop()
                _cancel(workers)
                raise

    def _group(self, items: Sequence[RestoreItem]) -> list[list[RestoreItem]]:
        """What is done in one transaction: large tables first, and the small ones together."""
        by_size = sorted(items, key=lambda item: -item.part.size)
        large = [[item] for item in by_size if item.part.size > self._small]
        small = by_size[len(large) :]
        return [*large, small] if small else large

    def _load(self, table: str, connection: Connection, progress: _Progress) -> None:
        source = TableCopy(table, self._reader.manifest.columns.get(table, []))
        # Migrations insert rows too; they are in the backup as they were there.
        connection.execute(format_names("truncate {}", table))
        with connection.cursor() as cursor:
            # Frozen: truncated in the same transaction, so that nobody sees these rows earlier. The
            # first reader of other rows writes every page again, and the indexes are readers.
            with cursor.copy(source.copy("from stdin (freeze)")) as copy:
                for block in self._reader.blocks(self._parts[table]):
                    progress.add(len(block))
                    send(copy, block)
            if cursor.rowcount != self._reader.manifest.tables.get(table):
                raise Invalid(f"The table {table} has {cursor.rowcount} rows after the restore.")
        failpoints.reach("restore part")

    def complete(self, finish: Callable[[Tx], int]) -> int:
        """The last transaction. Foreign keys need the keys that they refer to."""
        with self._tx.connection.connection.transaction():
            for number, statement in enumerate(self._source.keys, 1):
                self._tx.execute(statement)
                self._report("keys", number, len(self._source.keys))
            for name, value in self._reader.manifest.sequences.items():
                self._tx.value("select setval(?::regclass, ?::bigint)", name, value)
            result = finish(self._tx)
            self._tx.execute(f"drop table {restore_marker.TABLE}")
            failpoints.reach("restore finished")
        return result


def _execute(statement: str, connection: Connection, progress: _Progress) -> None:
    connection.execute(statement.encode())
    progress.add(1)


def _work(connection: Connection, groups: Iterator[list[RestoreItem]], progress: _Progress) -> None:
    """All connections take from the same groups."""
    for group in groups:
        progress.check()
        with connection.transaction():
            for item in group:
                item.run(connection, progress)
            names = [item.name for item in group]
            connection.execute(restore_marker.RECORD.encode(), (names,))
        failpoints.reach("restore step")


def _cancel(connections: Sequence[Connection]) -> None:
    """End the statements that are running: an index may take long."""
    for connection in connections:
        with suppress(psycopg.Error):
            connection.cancel_safe(timeout=CANCEL_S)


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
