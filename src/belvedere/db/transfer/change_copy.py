"""Copies the recorded changes of the source as they were at one moment.

Then the target has the rows of that moment, and no others: constraints can be created, and hold for
the rows of every later moment. At that moment, the checksums of whole tables are compared.
"""

from collections.abc import Iterator, Sequence

from belvedere.db.interface import Row
from belvedere.db.transfer.changes import ChangeLog
from belvedere.db.transfer.comparison import Comparison
from belvedere.db.transfer.side import Side, is_own_value
from belvedere.db.transfer.tables import Checksum, Key, Table

Batch = tuple[Table, Sequence[Key]]


class ChangeCopy:
    def __init__(self, source: Side, target: Side, comparison: Comparison) -> None:
        self._from, self._to, self._comparison = source, target, comparison
        self._cascades: set[str] = set()
        # The rows of all tables: those of `compare`, continued by `copy`.
        self.rows = 0

    def compare(self, changes: ChangeLog) -> bool:
        """Copy what was recorded and read all tables; whether they are equal in both databases."""
        with self._from.snapshot():
            recorded = changes.list_keys(self._from.tx)
            self._copy(list(self._split(recorded.tables)))
            totals = list(self._comparison.compare_totals())
        changes.delete(recorded)
        self.rows = sum(checksum.rows for checksum, _ in totals)
        return all(checksum == copy for checksum, copy in totals)

    def copy(self, changes: ChangeLog) -> None:
        """In one transaction of the target, because of its constraints."""
        with self._from.snapshot():
            recorded = changes.list_keys(self._from.tx)
            self.rows += self._copy(list(self._split(recorded.tables)))
        changes.delete(recorded)
        if count := sum(map(len, recorded.numbers)):
            self._comparison.report("compare changes", count, count)

    def _split(self, recorded: dict[str, dict[Key, None]]) -> Iterator[Batch]:
        for name, table_keys in recorded.items():
            table = self._comparison.tables[name]
            keys = [key for key in table_keys if not is_own_value(table, key)]
            for start in range(0, len(keys), table.batch):
                yield table, keys[start : start + table.batch]

    def _copy(self, batches: Sequence[Batch]) -> int:
        """Returns how many rows were added."""
        if not batches:
            return 0
        self._cascades = self._to.list_cascades()
        with self._to.transaction():
            before = sum(self._to.checksum(*batch).rows for batch in batches)
            # Everything first, so that no new row has a unique value of an old one.
            for batch in batches:
                self._delete(*batch)
            checksums = [self._insert(*batch) for batch in batches]
            for batch, checksum in zip(batches, checksums, strict=True):
                self._verify(*batch, checksum)
        return sum(checksum.rows for checksum in checksums) - before

    def _delete(self, table: Table, keys: Sequence[Key]) -> None:
        if table.name in self._cascades:
            existing = {table.key_of(row) for row in self._from.fetch(table, keys)}
            keys = [key for key in keys if key not in existing]
        self._to.delete(table, keys)

    def _insert(self, table: Table, keys: Sequence[Key]) -> Checksum:
        rows: list[Row] = self._from.fetch(table, keys)
        write = self._to.upsert if table.name in self._cascades else self._to.insert
        write(table, rows)
        self._comparison.changed += len(keys)
        return table.checksum(rows)

    def _verify(self, table: Table, keys: Sequence[Key], checksum: Checksum) -> None:
        copy = self._to.checksum(table, keys)
        if copy != checksum:
            raise self._comparison.difference(table, checksum, copy)
