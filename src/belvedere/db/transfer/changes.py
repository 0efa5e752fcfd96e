"""Rows of the source that change while they are compared: triggers record their keys.

The triggers exist from the comparison until the end of the transfer. If the process is killed, the
next start of a server drops them, and until then they record a limited number of changes.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Concatenate, NamedTuple, ParamSpec, Protocol, TypeVar

import msgspec

from belvedere.db.interface import Tx
from belvedere.db.migrate import table_exists
from belvedere.db.transfer.tables import Key, Table

P = ParamSpec("P")
R = TypeVar("R")
TABLE = "migration_changes"
# The limit of one transfer. If there are more, every row is compared during the stop.
MAX_CHANGES = 2_000_000
# Changes that are read at once.
BATCH = 2_000
# The row that describes the transfer.
_HEAD = 0


class Recording(msgspec.Struct):
    # The id of the transfer that records.
    id: str
    drop: list[str]


class ChangedRow(NamedTuple):
    id: int
    table: str
    key: Key


class RunInSource(Protocol):
    """Runs one short transaction beside the servers."""

    def __call__(
        self, operation: Callable[Concatenate[Tx, P], R], *a: P.args, **k: P.kwargs
    ) -> R: ...


@dataclass(frozen=True)
class RecordedKeys:
    """What was recorded up to one moment."""

    # By table; each key once, however often its row has changed.
    tables: dict[str, dict[Key, None]]
    # The numbers of the changes in each part of the source.
    numbers: list[list[int]]


@dataclass(frozen=True)
class SourcePart:
    """A file of SQLite, or the database of PostgreSQL."""

    run: RunInSource
    # The table of changes, for the connection that reads all of the source; and whether it exists.
    changes: str
    exists: str
    tables: Sequence[Table]
    # The statement that creates the table of changes.
    create_table: str
    # The statements that create and drop the triggers of a table.
    create_triggers: Callable[[Table], list[str]]
    drop_triggers: Callable[[Table], list[str]]
    # The highest number of a change up to now.
    newest: str


class ChangeLog:
    def __init__(self, parts: Sequence[SourcePart], transfer_id: str) -> None:
        self._parts, self._id = parts, transfer_id
        self._is_full = False

    def start(self) -> None:
        """Changes that commit after this are recorded. Each table is locked for a moment."""
        self.drop()
        for part in self._parts:
            drop = [text for table in part.tables for text in part.drop_triggers(table)]
            head = msgspec.json.encode(Recording(self._id, drop)).decode()
            part.run(_create, part.create_table, head)
            for table in part.tables:
                part.run(_execute, part.create_triggers(table))

    def drop(self) -> None:
        for part in self._parts:
            drop_leftovers(part.run)

    def take(self, apply: Callable[[Sequence[ChangedRow]], None]) -> int:
        """Give some of the changes to `apply` and delete them; returns how many there were."""
        count = 0
        for part in self._parts:
            batch = part.run(_read)
            if batch:
                self._is_full |= batch[-1].id >= MAX_CHANGES
                apply(batch)
                # By number: one with a lower number may be committed later.
                part.run(_delete, [change.id for change in batch])
            count += len(batch)
        return count

    def list_keys(self, snapshot: Tx) -> RecordedKeys:
        """What the source has recorded, as this transaction sees it."""
        recorded = RecordedKeys({}, [])
        for part in self._parts:
            numbers: list[int] = []
            for change in _read_all(snapshot, part):
                recorded.tables.setdefault(change.table, {})[change.key] = None
                numbers.append(change.id)
            self._is_full |= bool(numbers) and numbers[-1] >= MAX_CHANGES
            recorded.numbers.append(numbers)
        return recorded

    def delete(self, recorded: RecordedKeys) -> None:
        # By number: one with a lower number may be committed later.
        for part, numbers in zip(self._parts, recorded.numbers, strict=True):
            for start in range(0, len(numbers), BATCH):
                part.run(_delete, numbers[start : start + BATCH])

    def is_complete(self) -> bool:
        """Whether every change was recorded."""
        return not self._is_full and all(map(self._is_recording, self._parts))

    def _is_recording(self, part: SourcePart) -> bool:
        recording = part.run(_recording)
        if recording is None or recording.id != self._id:
            return False
        return part.run(_value, part.newest) < MAX_CHANGES


def drop_leftovers(run: RunInSource) -> None:
    """Drop the triggers of a transfer, if there are any."""
    recording = run(_recording)
    if recording is None:
        return
    for statement in recording.drop:
        run(_execute, [statement])
    run(_execute, [f"drop table {TABLE}"])


def _value(tx: Tx, statement: str) -> int:
    return int(tx.value(statement) or 0)


def _execute(tx: Tx, statements: Sequence[str]) -> None:
    for statement in statements:
        tx.execute(statement)


def _create(tx: Tx, create_table: str, head: str) -> None:
    tx.execute(create_table)
    tx.execute(f"insert into {TABLE} (id, name, key) values (?, '', ?)", _HEAD, head)


def _recording(tx: Tx) -> Recording | None:
    if not table_exists(tx, TABLE):
        return None
    text = tx.value(f"select key from {TABLE} where id = ?", _HEAD)
    return None if text is None else msgspec.json.decode(text, type=Recording)


def _read(tx: Tx) -> list[ChangedRow]:
    return _read_after(tx, TABLE, _HEAD) if table_exists(tx, TABLE) else []


def _read_all(tx: Tx, part: SourcePart) -> Iterator[ChangedRow]:
    number = _HEAD
    # A server that starts drops the table.
    while tx.value(part.exists) and (batch := _read_after(tx, part.changes, number)):
        yield from batch
        number = batch[-1].id


def _read_after(tx: Tx, table: str, number: int) -> list[ChangedRow]:
    rows = tx.rows(
        f"select id, name, key from {table} where id > ? order by id limit ?", number, BATCH
    )
    return [ChangedRow(number, name, tuple(msgspec.json.decode(key))) for number, name, key in rows]


def _delete(tx: Tx, numbers: Sequence[int]) -> None:
    if table_exists(tx, TABLE):
        text = msgspec.json.encode(numbers).decode()
        tx.execute(f"delete from {TABLE} where id in {tx.dialect.in_numbers}", text)
