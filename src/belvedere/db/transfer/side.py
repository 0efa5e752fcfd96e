"""What a transfer needs from the source and the target, on either engine."""

import errno
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Protocol, TypeVar

from belvedere.base.errors import Conflict, Refused, Unavailable
from belvedere.db.interface import Row, Tx
from belvedere.db.migrate import list_applied, migrations
from belvedere.db.transfer.changes import ChangeLog
from belvedere.db.transfer.marks import Later, Mark
from belvedere.db.transfer.tables import Checksum, Key, Table

R = TypeVar("R")
# Expressions in place of columns of the source, by table and column.
Expressions = Mapping[str, Mapping[str, str]]
# Tables of the engine itself, which have the content that its migrations give them.
OWN_TABLES = frozenset({"migrations", "counters", "job_moves"}) | {
    # The server fills the search index again; SQLite has several tables for it.
    *("job_search", "job_search_config", "job_search_content", "job_search_data"),
    *("job_search_docsize", "job_search_idx", "job_search_progress"),
}
# Names in the table `meta` that belong to one database only.
OWN_VALUES = "name not in ('timeline', 'database_mark') and name not like 'migration%'"


def is_own_value(table: Table, key: Key) -> bool:
    """The same for the key of a row."""
    name = str(key[0])
    is_own = name in ("timeline", "database_mark") or name.startswith("migration")
    return table.name == "meta" and is_own


class TransferSource(Protocol):
    def open(self, expressions: Expressions) -> AbstractContextManager["Side"]: ...

    def is_used(self) -> bool:
        """Whether a server is running."""
        ...

    def try_stop(self, mark: Mark) -> bool:
        """Mark the source, and let no server start; False while a server is running."""
        ...

    def record_changes(
        self, tables: Sequence[Table], transfer_id: str
    ) -> AbstractContextManager[ChangeLog]:
        """For triggers beside running servers; they are not created yet."""
        ...

    def change(self, operation: Callable[[Tx], R]) -> R:
        """One transaction; no server may be running."""
        ...


class TransferTarget(Protocol):
    def open(self, mark: Mark | None) -> AbstractContextManager["Side"]:
        """Create the tables and the mark in an empty database, or continue an incomplete copy;
        without a mark only the latter."""
        ...


class Side(Protocol):
    """One open database."""

    # The engine.
    name: str
    # Where it is, without a password.
    address: str

    @property
    def tx(self) -> Tx: ...

    def transaction(self) -> AbstractContextManager[None]:
        """Raises `Violation` if the rows violate a constraint."""
        ...

    def snapshot(self) -> AbstractContextManager[None]:
        """A transaction that reads all tables as they were at one moment."""
        ...

    def list_tables(self) -> list[Table]:
        """What is copied; empty on PostgreSQL, which has the same tables as SQLite."""
        ...

    def read(self, table: Table, after: Key | None) -> list[Row]:
        """The next batch of rows in the order of the key, which may differ between engines."""
        ...

    def fetch(self, table: Table, keys: Sequence[Key]) -> list[Row]: ...

    def checksum(self, table: Table, keys: Sequence[Key]) -> Checksum: ...

    def checksum_all(self, table: Table) -> Checksum: ...

    def count(self, table: Table) -> int: ...

    def list_keys(self, table: Table, after: Key | None) -> list[Key]: ...

    def replace(self, table: Table, rows: Sequence[Row]) -> None:
        """Insert rows in place of those with the same keys."""
        ...

    def insert(self, table: Table, rows: Sequence[Row]) -> None: ...

    def upsert(self, table: Table, rows: Sequence[Row]) -> None:
        """Like `replace`, for the tables of `list_cascades`."""
        ...

    def list_cascades(self) -> set[str]:
        """Tables whose rows must not be deleted before they are inserted again: rows of other
        tables would be deleted with them."""
        ...

    def delete(self, table: Table, keys: Sequence[Key]) -> None: ...

    def postpone(self, *, with_indexes: bool) -> Later:
        """Drop indexes, foreign keys and triggers; returns the statements that create them.
        Without indexes, only those that rows can violate."""
        ...

    def create(self, statements: Sequence[str]) -> Iterator[int]:
        """Run statements of `postpone`; yields how many were run."""
        ...

    def create_deferred(self, statements: Sequence[str]) -> Iterator[int]:
        """The same; until `enforce`, foreign keys are checked at the end of a transaction."""
        ...

    def enforce(self) -> None: ...

    def drop_triggers(self) -> list[str]:
        """Those that `postpone` has left; returns the statements that create them."""
        ...

    def watch(self, tables: Sequence[Table]) -> None:
        """From now on, detect writes of other processes."""
        ...

    def was_written(self) -> bool:
        """Whether another process has written since `watch`."""
        ...

    def unwatch(self) -> None: ...

    def finish(self) -> None:
        """After all rows were written. It takes less time if it is repeated."""
        ...


class Violation(Unavailable):
    """The database has refused rows because of a constraint."""


class FullDisk(OSError):
    """The disk of a database is full."""

    def __init__(self, place: str) -> None:
        super().__init__(errno.ENOSPC, f"The disk of {place} is full")


def names_of(engine: str) -> set[str]:
    return {
        f"{folder}/{name}"
        for folder in ("migrations", "logs")
        for name, _ in migrations(engine, folder)
    }


def check_source_version(names: set[str], engine: str, address: str) -> None:
    if not any(name.startswith("migrations/0001_") for name in names):
        raise Unavailable(f"{address} is not a database of Belvedere: no server has used it yet.")
    own_names = names_of(engine)
    if names - own_names:
        raise Refused(
            f"A newer version of Belvedere has upgraded {address} (unknown migrations:"
            f" {', '.join(sorted(names - own_names))}). Run `belvedere migrate` of that version.",
        )
    if own_names - names:
        raise Conflict(
            f"{address} has the tables of an older version of Belvedere. Start the server of this"
            " version once, so that it upgrades them, and run `belvedere migrate` again.",
        )


def check_target_version(names: set[str], engine: str, address: str) -> None:
    if names != names_of(engine):
        raise Conflict(
            f"The incomplete copy in {address} was begun by another version of Belvedere. Delete"
            " that database, create it again, and run `belvedere migrate` again.",
        )


def applied(*databases: Tx) -> set[str]:
    return {name for tx in databases for name in list_applied(tx)}


def no_copy(address: str) -> Conflict:
    return Conflict(
        f"An earlier `belvedere migrate` has closed this database, and {address} has no unfinished"
        " copy of it. If that move is complete, start the server with the new database. Otherwise"
        " name the same target as before with --to, or run `belvedere migrate --reopen` to use this"
        " database again.",
    )
