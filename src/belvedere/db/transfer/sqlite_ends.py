"""The files of SQLite before and after a transfer: locks, marks and the schema."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from typing import Concatenate, ParamSpec, TypeVar

import apsw

from belvedere.base.clock import wall
from belvedere.base.errors import Conflict, NotFound, Unavailable
from belvedere.db.backup import sqlite_files
from belvedere.db.backup.copy import Location
from belvedere.db.interface import Tx
from belvedere.db.migrate import apply, migrations
from belvedere.db.sqlite.connection import connect, lock_file
from belvedere.db.sqlite.transaction import SqliteTx
from belvedere.db.transfer import marks
from belvedere.db.transfer.changes import TABLE, ChangeLog, SourcePart
from belvedere.db.transfer.marks import Mark
from belvedere.db.transfer.side import (
    Expressions,
    applied,
    check_source_version,
    check_target_version,
    no_copy,
)
from belvedere.db.transfer.sqlite_side import (
    CHANGES_EXIST,
    CREATE_CHANGES,
    NEWEST_CHANGE,
    SCHEMAS,
    SqliteSide,
    create_triggers,
    drop_triggers,
    open_side,
    report_errors,
)
from belvedere.db.transfer.tables import Table

P = ParamSpec("P")
R = TypeVar("R")


class SqliteSource:
    """The files of an installation; its server may be running."""

    def __init__(self, location: Location) -> None:
        self._location = location
        self._files = list(location.files.values())
        self._lock: int | None = None

    @contextmanager
    def open(self, expressions: Expressions) -> Iterator[SqliteSide]:
        self._check_exists()
        with (
            report_errors(self._location),
            open_side(self._files, expressions, readonly=True) as side,
        ):
            names = applied(side.tx) | self._applied_to_logs()
            check_source_version(names, side.name, side.address)
            try:
                yield side
            finally:
                self._unlock()

    def _check_exists(self) -> None:
        for path in self._files:
            if not path.exists():
                raise NotFound(f"No database at {path}; set its folder with --data.")

    def _applied_to_logs(self) -> set[str]:
        with closing(connect(str(self._files[1]), readonly=True)) as connection:
            return applied(SqliteTx(connection, wall()))

    def is_used(self) -> bool:
        try:
            self._lock = lock_file(str(self._files[0]))
        except Unavailable:
            return True
        self._unlock()
        return False

    def try_stop(self, mark: Mark) -> bool:
        """Mark the source, and let no server start meanwhile; False while a server is running."""
        try:
            self._lock = lock_file(str(self._files[0]))
        except Unavailable:
            return False
        self.change(lambda tx: marks.mark_source(tx, mark))
        return True

    def _unlock(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    @contextmanager
    def record_changes(self, tables: Sequence[Table], transfer_id: str) -> Iterator[ChangeLog]:
        with report_errors(self._location), ExitStack() as stack:
            parts = []
            for schema, path in zip(SCHEMAS, self._files, strict=True):
                connection = stack.enter_context(closing(connect(str(path))))
                names = {name for (name,) in connection.execute(sqlite_files.TABLES)}
                own_tables = [table for table in tables if table.name in names]
                parts.append(_part(connection, schema, own_tables))
            yield ChangeLog(parts, transfer_id)

    def change(self, operation: Callable[[Tx], R]) -> R:
        """One transaction; no server may be running."""
        self._check_exists()
        own_lock = lock_file(str(self._files[0])) if self._lock is None else None
        try:
            with (
                report_errors(self._location),
                closing(connect(str(self._files[0]))) as connection,
            ):
                return _run(connection, operation)
        finally:
            if own_lock is not None:
                os.close(own_lock)


def _run(
    connection: apsw.Connection,
    operation: Callable[Concatenate[Tx, P], R],
    *a: P.args,
    **k: P.kwargs,
) -> R:
    connection.execute("begin immediate")
    try:
        result = operation(SqliteTx(connection, wall()), *a, **k)
        connection.execute("commit")
        return result
    finally:
        if not connection.get_autocommit():
            connection.execute("rollback")


def _part(connection: apsw.Connection, schema: str, tables: Sequence[Table]) -> SourcePart:
    return SourcePart(
        partial(_run, connection),
        f"{schema}.{TABLE}",
        CHANGES_EXIST.format(schema),
        tables,
        CREATE_CHANGES,
        create_triggers,
        drop_triggers,
        NEWEST_CHANGE,
    )


class SqliteTarget:
    """Files that do not exist yet, or an incomplete copy."""

    def __init__(self, location: Location) -> None:
        self._location = location
        self._files = list(location.files.values())

    @contextmanager
    def open(self, mark: Mark | None) -> Iterator[SqliteSide]:
        self._location.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        old = os.umask(0o077)
        try:
            with report_errors(self._location), self._locked():
                self._create(mark)
                with open_side(self._files, {}, readonly=False) as side:
                    yield side
        finally:
            os.umask(old)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        fd = lock_file(str(self._files[0]))
        try:
            yield
        finally:
            if fd is not None:
                os.close(fd)

    def _create(self, mark: Mark | None) -> None:
        """The tables of both files and the mark. The mark comes with the first table."""
        main, logs = (str(path) for path in self._files)
        if not self._has_copy():
            if mark is None:
                raise no_copy(main)
            sqlite_files.check_empty(self._location.files)
            with closing(connect(main)) as connection:
                _run(connection, partial(_create_tables, mark=mark))
        with closing(connect(logs)) as connection:
            _run(connection, lambda tx: _apply(tx, "logs"))
            names = applied(SqliteTx(connection, wall()))
        with closing(connect(main)) as connection:
            names |= applied(SqliteTx(connection, wall()))
        check_target_version(names, SqliteSide.name, main)

    def _has_copy(self) -> bool:
        """Whether there is something that an earlier run has begun."""
        path = self._files[0]
        if not path.exists() or not path.stat().st_size:
            return False
        try:
            with closing(connect(str(path), readonly=True)) as connection:
                mark = marks.read(SqliteTx(connection, wall()))
        except apsw.NotADBError:
            return False
        if mark is None:
            return False
        if mark.state not in (marks.COPYING, marks.COMPARED):
            raise Conflict(
                f"{path} is the database that was moved away. Move belvedere.db and logs.db,"
                " with their -wal and -shm files, to another folder first, and delete them later.",
            )
        return True


def _create_tables(tx: Tx, mark: Mark) -> None:
    _apply(tx, "migrations")
    marks.write(tx, mark)


def _apply(tx: Tx, folder: str) -> None:
    for name, text in migrations(SqliteSide.name, folder):
        apply(tx, f"{folder}/{name}", text)
