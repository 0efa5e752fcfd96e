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
from belvedere.db.interface import Tx
from belvedere.db.transfer import marks
from belvedere.db.transfer.change_copy import ChangeCopy
from belvedere.db.transfer.changes import ChangeLog
from belvedere.db.transfer.comparison import Comparison, Report
from belvedere.db.transfer.marks import COMPARED, COPYING, CopyPosition, Later, Mark
from belvedere.db.transfer.side import Expressions, Side, TransferSource, TransferTarget, Violation
from belvedere.db.transfer.tables import Key, Table


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
        self._comparison = Comparison(source_side, target, self._tables, plan.report)
        self._change_copy = ChangeCopy(source_side, target, self._comparison)
        # Before the stop, the whole tables were equal, and the constraints were created.
        self._is_verified = self._is_constrained = False

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
        with self._source.record_changes(self._tables, mark.id) as changes:
            if source_mark is None and self._source.is_used():
                return self._move_recorded(mark, changes)
            record = self._move(mark, None, is_compared=is_compared)
            # Those of a process that was killed.
            changes.drop()
            return record

    def _record(self, rows: int) -> TransferRecord:
        addresses = self._from.address, self._to.address
        return TransferRecord(*addresses, len(self._tables), rows, self._comparison.changed)

    # While servers use the source

    def _prepare(self, mark: Mark) -> None:
        """Drop indexes and constraints, unless an earlier run has done so."""
        later = marks.read_later(self._to.tx)
        if mark.state == COPYING and later.constraints and not later.is_constrained:
            return
        with self._to.transaction():
            dropped = self._to.postpone(with_indexes=not later.is_constrained)
            constraints = [*dropped.constraints, *later.constraints]
            marks.write_later(self._to.tx, Later([*dropped.indexes, *later.indexes], constraints))
            marks.write(self._to.tx, msgspec.structs.replace(mark, state=COPYING))

    def _copy(self) -> None:
        position = marks.read_position(self._to.tx)
        if position.is_complete:
            if self._plan.is_copy_only:
                # The copy is from an earlier run.
                self._comparison.compare_all("update", with_deletions=False)
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

    def _move_recorded(self, mark: Mark, changes: ChangeLog) -> TransferRecord:
        """Compare everything while servers run, so that the stop compares only what changes then.
        A killed process leaves the triggers."""
        try:
            changes.start()
            failpoints.reach("migrate recording")
            self._comparison.compare_all("update", with_deletions=False)
            self._comparison.delete_surplus()
            self._comparison.copy_changes(changes, is_last=False)
            self._constrain(changes)
            record = self._move(mark, changes, is_compared=False)
        except (Exception, KeyboardInterrupt, SystemExit):
            changes.drop()
            raise
        changes.drop()
        return record

    def _constrain(self, changes: ChangeLog) -> None:
        """Compare the whole tables and create constraints, both of which take longer in a large
        database. If that fails, it is done during the stop."""
        self._is_verified = False
        try:
            self._to.watch(self._tables)
            if not self._change_copy.compare(changes):
                return
            self._is_verified = True
            self._create_constraints()
        except Violation:
            return
        self._to.finish()
        self._is_constrained = True
        failpoints.reach("migrate constrained")

    def _create_constraints(self) -> None:
        with self._to.transaction():
            later = marks.read_later(self._to.tx)
            constraints, triggers = later.split()
            triggers += self._to.drop_triggers()
            for number in self._to.create_deferred(constraints):
                self._plan.report("create constraints", number, len(constraints))
            marks.write_later(self._to.tx, Later([], triggers, is_constrained=True))

    def _copy_changes(self, mark: Mark, changes: ChangeLog) -> None:
        """While the servers still run, a few may remain."""
        if not self._is_constrained:
            self._comparison.copy_changes(changes, is_last=False)
        elif not self._copy_constrained(mark, changes):
            self._constrain(changes)

    def _copy_constrained(self, mark: Mark, changes: ChangeLog) -> bool:
        try:
            self._change_copy.copy(changes)
        except Violation:
            # Rows that others refer to have exchanged a unique value.
            self._drop_constraints(mark)
        return self._is_constrained

    def _drop_constraints(self, mark: Mark) -> None:
        if self._is_constrained:
            self._is_constrained = False
            self._prepare(mark)

    # While the servers are stopped

    def _move(self, mark: Mark, changes: ChangeLog | None, *, is_compared: bool) -> TransferRecord:
        closed = Mark(mark.id, marks.CLOSED, self._to.address, wall(), mark.key_check)
        while not self._source.try_stop(closed):
            if changes is not None:
                self._copy_changes(mark, changes)
            self._plan.wait()
        began, self._comparison.changed = time.monotonic(), 0
        failpoints.reach("migrate stopped")
        if not is_compared:
            self._compare_or_reopen(mark, changes)
        moved = msgspec.structs.replace(closed, state=marks.MOVED)
        self._source.change(lambda tx: marks.mark_source(tx, moved))
        failpoints.reach("migrate moved")
        self._to.finish()
        with self._to.transaction():
            marks.clear(self._to.tx)
        is_counted = self._is_constrained and not is_compared
        record = self._record(self._change_copy.rows if is_counted else self._count(self._to))
        record.stopped_s, record.is_complete = round(time.monotonic() - began, 1), True
        return record

    def _compare_or_reopen(self, mark: Mark, changes: ChangeLog | None) -> None:
        """After an error the source can be used again; a killed process leaves it closed."""
        try:
            if changes is None or not self._copy_last_changes(mark, changes):
                self._drop_constraints(mark)
                self._compare_all()
            self._complete(mark)
        except (Exception, KeyboardInterrupt, SystemExit):
            self._source.change(marks.clear)
            raise

    def _copy_last_changes(self, mark: Mark, changes: ChangeLog) -> bool:
        """Whether that makes the tables equal: they were before, every change was recorded, and
        nobody else has written to the target."""
        if not (self._is_verified and changes.is_complete()):
            return False
        if not (self._is_constrained and self._copy_constrained(mark, changes)):
            self._comparison.copy_changes(changes, is_last=True)
        return not self._to.was_written()

    def _compare_all(self) -> None:
        checksums = self._comparison.compare_all("compare", with_deletions=True)
        failpoints.reach("migrate compared")
        total, done = sum(checksum.rows for checksum in checksums.values()), 0
        for table in self._tables:
            self._plan.report(f"verify {table.name}", done, total)
            self._comparison.verify(table, checksums[table.name])
            done += checksums[table.name].rows
        failpoints.reach("migrate verified")

    def _complete(self, mark: Mark) -> None:
        later = marks.read_later(self._to.tx)
        with self._to.transaction():
            for number in self._to.create(later.constraints):
                self._plan.report("create constraints", number, len(later.constraints))
            self._to.enforce()
            self._to.unwatch()
            fence = installation.newest_fence(self._from.tx)
            self._to.tx.value(self._to.tx.dialect.set_fence, fence)
            self._plan.continue_numbers(self._from.tx, self._to.tx)
            marks.write_later(self._to.tx, Later())
            marks.write(self._to.tx, msgspec.structs.replace(mark, state=COMPARED))
        failpoints.reach("migrate completed")
