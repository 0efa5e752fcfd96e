"""Statements for one row as statements for many, on PostgreSQL.

What begins and ends a statement there costs as much as its row does: every index is opened, and
the condition of each that has one is prepared anew.
"""

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

import msgspec

from belvedere.db.interface import Query

# Inserts of up to so many values go as one list of values, in powers of two, so that a handful of
# texts is prepared once. Everything wider goes as JSON, from so many rows on.
NARROW, MOST_ROWS = 12, 32
FEW = 4
_INSERT = re.compile(r"(insert into .*) values \((.*)\)", re.DOTALL)
# The first condition finds the row.
_UPDATE = re.compile(r"(update .*) where ((\w+) = v\.(p\d+)\b.*)", re.DOTALL)
_encode = msgspec.json.Encoder().encode


@cache
def is_insert(sql: str) -> bool:
    return _INSERT.fullmatch(sql) is not None


def listed(sql: str, rows: Sequence[Sequence[Any]]) -> list[Query]:
    """The insert of one row as few inserts of several."""
    asked: list[Query] = []
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


def whole(sql: str, rows: Sequence[Sequence[Any]]) -> Query | None:
    """The insert or update of one row as that of all. Nothing when they are few, or have values
    that are neither texts nor whole numbers."""
    if len(rows) <= FEW:
        return None
    kinds = tuple([_kind(column) for column in zip(*rows, strict=True)])
    if None in kinds:
        return None
    text, names, key = _statement(sql, kinds)
    given = [{name: row[number] for number, name in names} for row in rows]
    params = [_encode(given).decode()]
    if key is not None:
        params.append(_encode([row[key] for row in rows]).decode())
    return text, params


def _kind(column: Sequence[Any]) -> str | None:
    """Of which kind the values are; an empty word where there are none."""
    found = {type(value) for value in column if value is not None}
    if all(issubclass(one, str) for one in found):
        return "text" if found else ""
    return "bigint" if found == {int} else None


@cache
def _statement(
    sql: str, kinds: tuple[str, ...]
) -> tuple[str, Sequence[tuple[int, str]], int | None]:
    """Its text, the numbers and names of the values that it takes, and which of them is the key."""
    names = [(number, f"p{number}") for number, kind in enumerate(kinds) if kind]
    first, *rest = sql.split("?")
    values = [f"v.p{number}" if kind else "null" for number, kind in enumerate(kinds)]
    text = first + "".join(value + part for value, part in zip(values, rest, strict=True))
    shape = ", ".join(f"{name} {kinds[number]}" for number, name in names)
    source = f" from json_to_recordset(?::json) as v({shape})"
    if insert := _INSERT.fullmatch(text):
        return f"{insert[1]} select {insert[2]}{source}", names, None
    update = _UPDATE.fullmatch(text)
    assert update is not None, f"not of one row: {sql}"
    key = int(update[4][1:])
    # Said twice: a plan that was made on an empty table, and is kept, would read all of it.
    known = f"{update[3]} = any(array(select json_array_elements_text(?::json)::{kinds[key]}))"
    return f"{update[1]}{source} where {update[2]} and {known}", names, key
