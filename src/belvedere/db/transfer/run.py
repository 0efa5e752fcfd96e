"""The steps of a transfer, in their order; the package describes them."""

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from belvedere.base import failpoints
from belvedere.base.clock import wall
from belvedere.base.errors import Conflict
from belvedere.db import installation
from belvedere.db.backup.copy import POSTGRES, Location
from belvedere.db.interface import Row, Tx
from belvedere.db.transfer import marks
from belvedere.db.transfer.marks import COMPARED, COPYING, CopyPosition, Later, Mark
from belvedere.db.transfer.side import Expressions, Side, TransferSource, TransferTarget
from belvedere.db.transfer.tables import Checksum, Key, Table

# The step, and how many rows of how many are done.
Report = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Plan:
    """What the features add to a transfer."""

    # The name under which the database identifies its key.
    key_name: str
    expressions: Expressions
    # Sets the numbers with which the target continues; the last change of it.
    continue_numbers: Callable[[Tx, Tx], None]
    report: Report
    # Called while a server still uses the source.
    wait: Callable[[], None]
    is_copy_only: bool = False


class TransferRecord(msgspec.Struct):
    """What was done, for the command line."""

    source: str
    target: str
    tables: int
    rows: int
    # Rows that differed after the servers were stopped, and how long they had to be stopped.
    changed: int = 0
    stopped_s: float = 0.0
    is_complete: bool = False


def source_of(location: Location) -> TransferSource:
    if location.engine == POSTGRES:
        from belvedere.db.transfer.postgres_ends import PostgresSource

        return PostgresSource(location)
    from belvedere.db.transfer.sqlite_ends import SqliteSource

    return SqliteSource(location)


def target_of(location: Location) -> TransferTarget:
    if location.engine == POSTGRES:
        from belvedere.db.transfer.postgres_ends import PostgresTarget

        return PostgresTarget(location)
    from belvedere.db.transfer.sqlite_ends import SqliteTarget

    return SqliteTarget(location)


def transfer(source_location: Location, target_location: Location, plan: Plan) -> TransferRecord:
    source = source_of(source_location)
    with source.open(plan.expressions) as source_side:
        source_mark = marks.read(source_side.tx)
        if source_mark is not None and source_mark.state in (COPYING, COMPARED):
            marks.check_usable(source_side.tx)
        key_check = installation.read(source_side.tx, plan.key_name) or ""
        mark = Mark(secrets.token_hex(8), COPYING, source_side.address, wall(), key_check)
        with target_of(target_location).open(mark if source_mark is None else None) as target_side:
            failpoints.reach("migrate created")
            return _Transfer(source, source_side, target_side, plan).run(source_mark, key_check)


class _Transfer:
    def __init__(self, source: TransferSource, source_side: Side, target: Side, plan: Plan) -> None:
        self._source, self._from, self._to = source, source_side, target
        self._plan = plan
        # One of the two is SQLite, whose declarations name the types of both.
        self._tables = source_side.list_tables() or target.list_tables()
        self._changed = 0

    def run(self, source_mark: Mark | None, key_check: str) -> TransferRecord:
        mark = marks.read(self._to.tx)
        assert mark is not None
        if mark.key_check != key_check or (source_mark and source_mark.id != mark.id):
            raise Conflict(
                f"{self._to.address} has an incomplete copy of another database ({mark.other})."
                " Delete it, or name another database with --to.",
            )
        is_compared = source_mark is not None and mark.state == COMPARED
        if not is_compared:
            self._prepare(mark)
            if source_mark is None:
                self._copy()
            self._create_indexes()
            if self._plan.is_copy_only:
                return self._record(self._count(self._to))
            if source_mark is None and self._source.is_used():
                # What has changed since the copy need not be copied during the stop.
                self._compare_all("update", with_deletions=False)
        return self._move(mark, is_compared=is_compared)

    def _record(self, rows: int) -> TransferRecord:
        addresses = self._from.address, self._to.address
        return TransferRecord(*addresses, len(self._tables), rows, self._changed)

    # While servers use the source

    def _prepare(self, mark: Mark) -> None:
        """Drop indexes and constraints, unless an earlier run has done so."""
        later = marks.read_later(self._to.tx)
        if mark.state == COPYING and later.constraints:
            return
        with self._to.transaction():
            dropped = self._to.postpone()
            marks.write_later(self._to.tx, dropped)
            marks.write(self._to.tx, msgspec.structs.replace(mark, state=COPYING))

    def _copy(self) -> None:
        position = marks.read_position(self._to.tx)
        if position.is_complete:
            if self._plan.is_copy_only:
                # Of an earlier run.
                self._compare_all("update", with_deletions=False)
            return
        total, done = self._count(self._from), 0
        for table in self._tables:
            if table.name not in position.tables:
                self._copy_table(table, position, done, total)
            done += self._counts[table.name]
        position.is_complete = True
        with self._to.transaction():
            marks.write_position(self._to.tx, position)
        failpoints.reach("migrate copied")

    def _count(self, side: Side) -> int:
        self._counts = {table.name: side.count(table) for table in self._tables}
        return sum(self._counts.values())

    def _copy_table(self, table: Table, position: CopyPosition, done: int, total: int) -> None:
        key: Key | None = None if position.key is None else tuple(position.key)
        while rows := self._from.read(table, key):
            key = table.key_of(rows[-1])
            position.key = list(key)  # type: ignore[arg-type]
            with self._to.transaction():
                self._to.replace(table, rows)
                marks.write_position(self._to.tx, position)
            done += len(rows)
            self._plan.report(f"copy {table.name}", min(done, total), total)
            failpoints.reach("migrate batch")
        # Stored with the next batch.
        position.tables.append(table.name)
        position.key = None

    def _create_indexes(self) -> None:
        """Those that no row can violate: most of the time, and not during the stop."""
        later = marks.read_later(self._to.tx)
        if not later.indexes:
            return
        with self._to.transaction():
            for number in self._to.create(later.indexes):
                self._plan.report("create indexes", number, len(later.indexes))
            marks.write_later(self._to.tx, Later([], later.constraints))

    # While the servers are stopped

    def _move(self, mark: Mark, *, is_compared: bool) -> TransferRecord:
        closed = Mark(mark.id, marks.CLOSED, self._to.address, wall(), mark.key_check)
        while not self._source.try_stop(closed):
            self._plan.wait()
        began, self._changed = time.monotonic(), 0
        failpoints.reach("migrate stopped")
        if not is_compared:
            self._compare_or_reopen(mark)
        moved = msgspec.structs.replace(closed, state=marks.MOVED)
        self._source.change(lambda tx: marks.mark_source(tx, moved))
        failpoints.reach("migrate moved")
        self._to.finish()
        with self._to.transaction():
            marks.clear(self._to.tx)
        record = self._record(self._count(self._to))
        record.stopped_s, record.is_complete = round(time.monotonic() - began, 1), True
        return record

    def _compare_or_reopen(self, mark: Mark) -> None:
        """After an error the source can be used again; a killed process leaves it closed."""
        try:
            self._complete(mark, self._compare_all("compare", with_deletions=True))
        except (Exception, KeyboardInterrupt, SystemExit):
            self._source.change(marks.clear)
            raise

    def _complete(self, mark: Mark, checksums: dict[str, Checksum]) -> None:
        failpoints.reach("migrate compared")
        total, done = sum(checksum.rows for checksum in checksums.values()), 0
        for table in self._tables:
            self._plan.report(f"verify {table.name}", done, total)
            self._verify(table, checksums[table.name])
            done += checksums[table.name].rows
        failpoints.reach("migrate verified")
        later = marks.read_later(self._to.tx)
        with self._to.transaction():
            for number in self._to.create(later.constraints):
                self._plan.report("create constraints", number, len(later.constraints))
            fence = installation.newest_fence(self._from.tx)
            self._to.tx.value(self._to.tx.dialect.set_fence, fence)
            self._plan.continue_numbers(self._from.tx, self._to.tx)
            marks.write_later(self._to.tx, Later())
            marks.write(self._to.tx, msgspec.structs.replace(mark, state=COMPARED))
        failpoints.reach("migrate completed")

    def _verify(self, table: Table, checksum: Checksum) -> None:
        copy = self._to.checksum_all(table)
        if copy != checksum:
            raise Conflict(
                f"The table {table.name} differs after the copy: {checksum.rows} rows in"
                f" {self._from.address}, {copy.rows} in {self._to.address}"
                f"{'' if copy.rows != checksum.rows else ', with another checksum'}."
                " The source can still be used. Run `belvedere migrate` again to copy the"
                " difference.",
            )

    # Comparing

    def _compare_all(self, step: str, *, with_deletions: bool) -> dict[str, Checksum]:
        total, done = self._count(self._from), 0
        checksums = {}
        for table in self._tables:
            self._plan.report(f"{step} {table.name}", min(done, total), total)
            checksum = self._compare(table, step, done, total)
            if with_deletions and self._to.count(table) != checksum.rows:
                self._delete_surplus(table)
            checksums[table.name] = checksum
            done += checksum.rows
        return checksums

    def _compare(self, table: Table, step: str, done: int, total: int) -> Checksum:
        """Copy rows that differ; returns the checksum of the source."""
        result, key = Checksum(), None
        while rows := self._from.read(table, key):
            key = table.key_of(rows[-1])
            keys = [table.key_of(row) for row in rows]
            checksum = table.checksum(rows)
            if self._to.checksum(table, keys) != checksum:
                self._update(table, rows, keys)
            result += checksum
            self._plan.report(f"{step} {table.name}", min(done + result.rows, total), total)
        return result

    def _update(self, table: Table, rows: list[Row], keys: list[Key]) -> None:
        copies = {table.key_of(row): row for row in self._to.fetch(table, keys)}
        different = [row for key, row in zip(keys, rows, strict=True) if copies.get(key) != row]
        with self._to.transaction():
            self._to.replace(table, different)
        self._changed += len(different)

    def _delete_surplus(self, table: Table) -> None:
        """Rows that the source no longer has."""
        last: Key | None = None
        while keys := self._to.list_keys(table, last):
            last = keys[-1]
            existing = {table.key_of(row) for row in self._from.fetch(table, keys)}
            surplus = [key for key in keys if key not in existing]
            if surplus:
                with self._to.transaction():
                    self._to.delete(table, surplus)
            self._changed += len(surplus)
