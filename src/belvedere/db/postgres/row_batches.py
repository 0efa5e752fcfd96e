"""Combine statements for one row into statements for many, on PostgreSQL.

Starting and ending a statement costs as much as its row: every index is opened, and the condition
of each partial index is prepared again.
"""

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

import msgspec

from belvedere.db.interface import Query

# Inserts of up to MAX_LISTED_COLUMNS values are sent as a list of values, in powers of two, so that
# few statements are prepared. Wider ones are sent as JSON, for more than MAX_SINGLE_ROWS rows.
MAX_LISTED_COLUMNS, MAX_LISTED_ROWS = 12, 32
MAX_SINGLE_ROWS = 4
_INSERT = re.compile(r"(insert into .*) values \((.*)\)", re.DOTALL)
# The first condition selects the row.
_UPDATE = re.compile(r"(update .*) where ((\w+) = v\.(p\d+)\b.*)", re.DOTALL)
_encode = msgspec.json.Encoder().encode


@cache
def is_insert(sql: str) -> bool:
    return _INSERT.fullmatch(sql) is not None


def value_lists(sql: str, rows: Sequence[Sequence[Any]]) -> list[Query]:
    """The insert of one row as a few inserts of several rows."""
    queries: list[Query] = []
    start = 0
    while start < len(rows):
        size = min(MAX_LISTED_ROWS, 1 << ((len(rows) - start).bit_length() - 1))
        values = [value for row in rows[start : start + size] for value in row]
        queries.append((_repeat_values(sql, size), values))
        start += size
    return queries


@cache
def _repeat_values(sql: str, rows: int) -> str:
    head, values = sql.split(" values ", 1)
    return f"{head} values {', '.join([values] * rows)}"


def json_statement(sql: str, rows: Sequence[Sequence[Any]]) -> Query | None:
    """The insert or update of one row as one for all rows, with JSON. None for few rows, or values
    that are neither text nor integers."""
    if len(rows) <= MAX_SINGLE_ROWS:
        return None
    kinds = tuple([_sql_type(column) for column in zip(*rows, strict=True)])
    if None in kinds:
        return None
    text, names, key = _statement(sql, kinds)
    records = [{name: row[number] for number, name in names} for row in rows]
    params = [_encode(records).decode()]
    if key is not None:
        params.append(_encode([row[key] for row in rows]).decode())
    return text, params


def _sql_type(column: Sequence[Any]) -> str | None:
    """The SQL type of the values; empty if all are null, None if it is not supported."""
    types = {type(value) for value in column if value is not None}
    if all(issubclass(type_, str) for type_ in types):
        return "text" if types else ""
    return "bigint" if types == {int} else None


@cache
def _statement(
    sql: str, kinds: tuple[str, ...]
) -> tuple[str, Sequence[tuple[int, str]], int | None]:
    """Its text, the numbers and names of its values, and which of them is the key."""
    names = [(number, f"p{number}") for number, kind in enumerate(kinds) if kind]
    first, *rest = sql.split("?")
    values = [f"v.p{number}" if kind else "null" for number, kind in enumerate(kinds)]
    text = first + "".join(value + part for value, part in zip(values, rest, strict=True))
    shape = ", ".join(f"{name} {kinds[number]}" for number, name in names)
    source = f" from json_to_recordset(?::json) as v({shape})"
    if insert := _INSERT.fullmatch(text):
        return f"{insert[1]} select {insert[2]}{source}", names, None
    update = _UPDATE.fullmatch(text)
    assert update is not None, f"not a statement for one row: {sql}"
    key = int(update[4][1:])
    # A second condition: a plan that was made on an empty table, and is kept, would scan it.
    key_filter = f"{update[3]} = any(array(select json_array_elements_text(?::json)::{kinds[key]}))"
    return f"{update[1]}{source} where {update[2]} and {key_filter}", names, key
