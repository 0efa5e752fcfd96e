"""Values that exist once per installation: named values, and the counter of fences.

A fence is (epoch << 40) | sequence. The epoch is raised when fences may have been assigned that
the database does not contain.
"""

import msgspec

from belvedere import __version__
from belvedere.db.interface import Tx

EPOCH_BITS = 40
# The name of the version of the program that started last with this database.
PROGRAM_VERSION = "program_version"
# Ranges of fences that this database has skipped, newest last.
_SKIPPED = "skipped_fences"
MAX_SKIPPED_RANGES = 100


def read(tx: Tx, name: str) -> str | None:
    value: str | None = tx.value("select value from meta where name = ?", name)
    return value


def lock(tx: Tx, name: str) -> str | None:
    """The value, locked until the end of this transaction."""
    value: str | None = tx.value(
        f"select value from meta where name = ?{tx.dialect.lock_rows}", name
    )
    return value


def write(tx: Tx, name: str, value: str) -> None:
    tx.execute(
        "insert into meta (name, value) values (?, ?)"
        " on conflict (name) do update set value = excluded.value",
        name,
        value,
    )


def insert(tx: Tx, name: str, value: str) -> bool:
    """Store a value unless the name has one; whether it was stored."""
    inserted = tx.execute(
        "insert into meta (name, value) values (?, ?) on conflict (name) do nothing", name, value
    )
    return inserted == 1


def record_version(tx: Tx) -> None:
    """Once all migrations are applied."""
    if read(tx, PROGRAM_VERSION) != __version__:
        write(tx, PROGRAM_VERSION, __version__)


def delete(tx: Tx, name: str) -> None:
    tx.execute("delete from meta where name = ?", name)


def list_values(tx: Tx, prefix: str) -> dict[str, str]:
    """The values of all names that start with this text, by their names."""
    rows = tx.rows("select name, value from meta where name like ? order by name", f"{prefix}%")
    # `_` and `%` in the prefix match other characters as well.
    return {name: value for name, value in rows if name.startswith(prefix)}


def delete_all(tx: Tx, prefix: str) -> None:
    """Delete all names that start with this text."""
    for name in list_values(tx, prefix):
        delete(tx, name)


def epoch_of(fence: int) -> int:
    return fence >> EPOCH_BITS


def newest_fence(tx: Tx) -> int:
    """The highest fence that was assigned."""
    return int(tx.value(tx.dialect.newest_fence))


def raise_epoch(tx: Tx, above: int = 0) -> int:
    """Start an epoch above the current one and above this fence; returns its first fence."""
    newest = newest_fence(tx)
    fence = (max(epoch_of(newest), epoch_of(above)) + 1) << EPOCH_BITS
    tx.value(tx.dialect.set_fence, fence)
    ranges = [*_skipped_ranges(tx), (newest, fence)][-MAX_SKIPPED_RANGES:]
    write(tx, _SKIPPED, msgspec.json.encode(ranges).decode())
    return fence


def was_assigned(tx: Tx, fence: int) -> bool:
    """Whether this database may have assigned the fence. It has not assigned those above the
    newest one, nor those that it skipped when the epoch was raised."""
    is_skipped = any(last < fence < first for last, first in _skipped_ranges(tx))
    return fence <= newest_fence(tx) and not is_skipped


def _skipped_ranges(tx: Tx) -> list[tuple[int, int]]:
    """(last fence of an epoch, first fence of the next one)."""
    value = read(tx, _SKIPPED)
    return [] if value is None else msgspec.json.decode(value, type=list[tuple[int, int]])
