"""Tables as both engines have them, and checksums of rows that do not depend on the engine.

The checksum of a set of rows is the sum of the MD5 of each row, so that the order does not matter,
which differs between the engines. It detects mistakes, not deliberate tampering.
"""

import hashlib
import struct
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter

from belvedere.base.errors import Invalid
from belvedere.db.interface import Row

NUMBER, TEXT, REAL, BYTES = "bigint", "text", "double precision", "bytea"
# Types in SQLite's declarations.
TYPES = {"integer": NUMBER, "bigint": NUMBER, "text": TEXT, "double precision": REAL, "blob": BYTES}
# Rows of one batch; a row with binary content may have megabytes.
ROWS, ROWS_WITH_BYTES = 2_000, 16
NULL = "~"

Key = tuple[object, ...]


@dataclass(frozen=True)
class Checksum:
    """The number of rows, and the sums of the two halves of their MD5."""

    rows: int = 0
    high: int = 0
    low: int = 0

    def __add__(self, other: "Checksum") -> "Checksum":
        return Checksum(self.rows + other.rows, self.high + other.high, self.low + other.low)


@dataclass(frozen=True)
class Table:
    name: str
    # The type of each column.
    columns: dict[str, str]
    # The columns of the primary key.
    key: tuple[str, ...]

    @property
    def column_list(self) -> str:
        return ", ".join(self.columns)

    @property
    def key_list(self) -> str:
        return ", ".join(self.key)

    @property
    def batch(self) -> int:
        return ROWS_WITH_BYTES if BYTES in self.columns.values() else ROWS

    @cached_property
    def _key_of(self) -> Callable[[Row], object]:
        names = list(self.columns)
        return itemgetter(*(names.index(name) for name in self.key))

    def key_of(self, row: Row) -> Key:
        value = self._key_of(row)
        return value if isinstance(value, tuple) else (value,)

    @cached_property
    def _encoders(self) -> list[Callable[[object], str]]:
        return [ENCODERS[kind] for kind in self.columns.values()]

    def checksum(self, rows: Iterable[Row]) -> Checksum:
        count = high = low = 0
        for row in rows:
            digest = self._digest(row)
            count += 1
            high += int.from_bytes(digest[:8], signed=True)
            low += int.from_bytes(digest[8:], signed=True)
        return Checksum(count, high, low)

    def _digest(self, row: Row) -> bytes:
        try:
            text = "|".join(
                [
                    NULL if value is None else encode(value)
                    for encode, value in zip(self._encoders, row, strict=True)
                ]
            )
            return hashlib.md5(text.encode(), usedforsecurity=False).digest()
        except (TypeError, ValueError, struct.error) as fault:
            raise self.invalid_row(row, f"has a value of another type ({fault})") from fault

    def invalid_row(self, row: Row, problem: str) -> Invalid:
        key = ", ".join(
            f"{name} {value}" for name, value in zip(self.key, self.key_of(row), strict=True)
        )
        return Invalid(f"A row of the table {self.name} ({key}) {problem}. Correct or delete it.")


def _number(value: object) -> str:
    if not isinstance(value, int):
        raise TypeError(f"{type(value).__name__} instead of a number")
    return str(int(value))


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{type(value).__name__} instead of a text")
    return f"{len(value)}:{value}"


def _real(value: object) -> str:
    # SQLite stores -0.0 as 0.0.
    return struct.pack(">d", value + 0.0).hex()  # type: ignore[operator]


def _bytes(value: object) -> str:
    return hashlib.md5(value, usedforsecurity=False).hexdigest()  # type: ignore[arg-type]


ENCODERS: dict[str, Callable[[object], str]] = {
    NUMBER: _number,
    TEXT: _text,
    REAL: _real,
    BYTES: _bytes,
}
# The same in PostgreSQL.
SQL_ENCODERS = {
    NUMBER: "{}::text",
    TEXT: "length({0}) || ':' || {0}",
    REAL: "encode(float8send({} + 0.0), 'hex')",
    BYTES: "md5({})",
}


def checksum_expression(columns: dict[str, str], values: Sequence[str]) -> str:
    """The MD5 of a row in PostgreSQL; `values` are the expressions of its columns."""
    parts = [
        f"coalesce({SQL_ENCODERS[kind].format(value)}, '{NULL}')"
        for kind, value in zip(columns.values(), values, strict=True)
    ]
    text = " || '|' || ".join(parts)
    return f"md5({text})"
