"""Compares the rows of the source with those of the target, and copies those that differ."""

from collections.abc import Callable, Iterator, Sequence

from belvedere.base.errors import Conflict
from belvedere.db.interface import Row
from belvedere.db.transfer.changes import BATCH, ChangedRow, ChangeLog
from belvedere.db.transfer.side import Side, is_own_value
from belvedere.db.transfer.tables import Checksum, Key, Table

# The step, and how many rows of how many are done.
Report = Callable[[str, int, int], None]


class Comparison:
    def __init__(self, source: Side, target: Side, tables: Sequence[Table], report: Report) -> None:
        self._from, self._to = source, target
        self.tables = {table.name: table for table in tables}
        self.report = report
        # Rows that differed.
        self.changed = 0

    # All rows

    def compare_all(self, step: str, *, with_deletions: bool) -> dict[str, Checksum]:
        """The checksums of the source."""
        total, done = sum(map(self._from.count, self.tables.values())), 0
        checksums = {}
        for table in self.tables.values():
            self.report(f"{step} {table.name}", min(done, total), total)
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
            checksum = table.checksum(rows)
            self._copy_different(table, [table.key_of(row) for row in rows], rows, checksum)
            result += checksum
            self.report(f"{step} {table.name}", min(done + result.rows, total), total)
        return result

    def _copy_different(
        self, table: Table, keys: Sequence[Key], rows: Sequence[Row], checksum: Checksum
    ) -> None:
        """Make the rows with these keys equal to those of the source, and read them again."""
        if self._to.checksum(table, keys) == checksum:
            return
        copies = {table.key_of(row): row for row in self._to.fetch(table, keys)}
        sources = {table.key_of(row): row for row in rows}
        different = [row for key, row in sources.items() if copies.get(key) != row]
        surplus = [key for key in copies if key not in sources]
        with self._to.transaction():
            self._to.delete(table, surplus)
            self._to.replace(table, different)
        self.changed += len(different) + len(surplus)
        copy = self._to.checksum(table, keys)
        if copy != checksum:
            raise self.difference(table, checksum, copy)

    def delete_surplus(self) -> None:
        """Rows that the source no longer has, of tables with another number of rows."""
        for table in self.tables.values():
            if self._to.count(table) != self._from.count(table):
                self._delete_surplus(table)

    def _delete_surplus(self, table: Table) -> None:
        last: Key | None = None
        while keys := self._to.list_keys(table, last):
            last = keys[-1]
            existing = {table.key_of(row) for row in self._from.fetch(table, keys)}
            surplus = [key for key in keys if key not in existing]
            if surplus:
                with self._to.transaction():
                    self._to.delete(table, surplus)
            self.changed += len(surplus)

    # Rows that have changed since

    def copy_changes(self, changes: ChangeLog, *, is_last: bool) -> None:
        """Compare the recorded rows; unless it is the last time, a few may remain."""
        done, few = 0, 0 if is_last else BATCH
        while (count := changes.take(self._compare_changes)) > few:
            done += count
            self.report("compare changes", done, done)

    def _compare_changes(self, changes: Sequence[ChangedRow]) -> None:
        keys: dict[str, dict[Key, None]] = {}
        for change in changes:
            keys.setdefault(change.table, {})[change.key] = None
        for name, table_keys in keys.items():
            table = self.tables[name]
            others = [key for key in table_keys if not is_own_value(table, key)]
            for start in range(0, len(others), table.batch):
                batch = others[start : start + table.batch]
                rows = self._from.fetch(table, batch)
                self._copy_different(table, batch, rows, table.checksum(rows))

    # The whole tables

    def compare_totals(self) -> Iterator[tuple[Checksum, Checksum]]:
        """The checksum of each table in the source and in the target, after other rows of the
        target are deleted."""
        for number, table in enumerate(self.tables.values(), 1):
            self.report(f"checksum {table.name}", number, len(self.tables))
            checksum, copy = self._from.checksum_all(table), self._to.checksum_all(table)
            if copy.rows != checksum.rows:
                self._delete_surplus(table)
                copy = self._to.checksum_all(table)
            yield checksum, copy

    def verify(self, table: Table, checksum: Checksum) -> None:
        copy = self._to.checksum_all(table)
        if copy != checksum:
            raise self.difference(table, checksum, copy)

    def difference(self, table: Table, checksum: Checksum, copy: Checksum) -> Conflict:
        return Conflict(
            f"The table {table.name} differs after the copy: {checksum.rows} rows in"
            f" {self._from.address}, {copy.rows} in {self._to.address}"
            f"{'' if copy.rows != checksum.rows else ', with another checksum'}."
            " The source can still be used. Run `belvedere migrate` again to copy the"
            " difference.",
        )
