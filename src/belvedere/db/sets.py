"""Statements for one row as statements for many, on PostgreSQL.

What begins and ends a statement there costs as much as its row does: every index is opened, and
the condition of each that has one is prepared anew.
"""

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

from belvedere.db.database import Asked

# Rows of up to so many values go as one list of values, in powers of two, so that a handful of
# texts is prepared once; that costs two thirds of as many statements. Wider ones go as columns.
NARROW, MOST_ROWS = 12, 32
_INSERT = re.compile(r"(insert into .*) values \((.*)\)", re.DOTALL)
# The first condition finds the row.
_UPDATE = re.compile(r"(update .*) where ((\w+) = v\.(p\d+)\b.*)", re.DOTALL)


def is_insert(sql: str) -> bool:
    return _INSERT.fullmatch(sql) is not None


def narrow(sql: str, rows: Sequence[Sequence[Any]]) -> list[Asked]:
    """The insert of one row as few inserts of several."""
    asked: list[Asked] = []
    start = 0
    while start < len(rows):
        size = min(MOST_ROWS, 1 << ((len(rows) - start).bit_length() - 1))
        values = [value for row in rows[start : start + size] for value in row]
        asked.append((_repeated(sql, size), values))
        start += size
    return asked


@cache
def _repeated(sql: str, rows: int) -> str:
    head, values = sql.split(" values ", 1)
    return f"{head} values {', '.join([values] * rows)}"


def as_columns(sql: str, rows: Sequence[Sequence[Any]]) -> Asked | None:
    """The insert or update of one row as that of all: each `?` is a column of arrays. Nothing for
    values that are neither texts nor whole numbers."""
    columns = list(zip(*rows, strict=True))
    kinds = tuple([_kind(column) for column in columns])
    if None in kinds:
        return None
    whole, key = _whole(sql, kinds)
    given = [_array(column) for column, kind in zip(columns, kinds, strict=True) if kind]
    return whole, given if key is None else [*given, _array(columns[key])]


def _kind(column: Sequence[Any]) -> str | None:
    """Of which kind the values are; an empty word where there are none."""
    found = {type(value) for value in column if value is not None}
    if all(issubclass(one, str) for one in found):
        return "text" if found else ""
    return "bigint" if found == {int} else None


@cache
def _whole(sql: str, kinds: tuple[str, ...]) -> tuple[str, int | None]:
    """The statement, and which column is its key and comes once more."""
    names = [f"p{number}" if kind else "" for number, kind in enumerate(kinds)]
    first, *rest = sql.split("?")
    pairs = zip(names, rest, strict=True)
    text = first + "".join(f"{f'v.{name}' if name else 'null'}{part}" for name, part in pairs)
    arrays = ", ".join(f"?::{kind}[]" for kind in kinds if kind)
    source = f" from unnest({arrays}) as v({', '.join(name for name in names if name)})"
    if insert := _INSERT.fullmatch(text):
        return f"{insert[1]} select {insert[2]}{source}", None
    update = _UPDATE.fullmatch(text)
    assert update is not None, f"not of one row: {sql}"
    key = names.index(update[4])
    # Said twice: a plan that was made on an empty table, and is kept, would read all of it.
    known = f"{update[3]} = any(?::{kinds[key]}[])"
    return f"{update[1]}{source} where {update[2]} and {known}", key


def _array(values: Sequence[Any]) -> str:
    return "{" + ",".join([_member(value) for value in values]) + "}"


def _member(value: Any) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return str(value)
