"""The text index on SQLite: a table of FTS5 without content, whose rows are in the order of ids."""

import hashlib
from collections.abc import Sequence

from belvedere.db.text_index import ScopeGroups, TextIndex

# A row number: the milliseconds of the id, then the last bits of its rest, which one process counts
# up within a millisecond. The range of milliseconds ends in the year 2109.
_LOW_BITS = 21
_MAX_MILLIS = (1 << 42) - 1
# A scope is a token of three characters for private use, which are removed from every text.
_FIRST_PRIVATE, _PRIVATE_COUNT = 0xF0000, 0x1FFFE


def _row_number(row_id: str) -> int:
    digits = row_id.ljust(24, "0")
    if not set(digits) <= set("0123456789abcdef"):
        # An upper limit after all ids.
        digits = "f" * 24
    millis = min(int(digits[:12], 16), _MAX_MILLIS)
    return millis << _LOW_BITS | int(digits[12:], 16) & (1 << _LOW_BITS) - 1


def _range(low: str, high: str) -> tuple[object, ...]:
    """Whole milliseconds: within one, the order of row numbers is not that of the ids."""
    return _row_number(low[:12]), _row_number(high[:12]) | (1 << _LOW_BITS) - 1


def _scope_token(scope: str) -> str:
    number = int.from_bytes(hashlib.blake2b(scope.encode(), digest_size=8).digest())
    characters = []
    for _ in range(3):
        number, rest = divmod(number, _PRIVATE_COUNT)
        characters.append(chr(_FIRST_PRIVATE + rest))
    return "".join(characters)


def _without_scopes(text: str) -> str:
    return "".join(" " if ord(letter) >= _FIRST_PRIVATE else letter for letter in text)


def _entry(row_id: str, scopes: Sequence[str], text: str) -> tuple[object, ...]:
    clean = text if text.isascii() else _without_scopes(text)
    return _row_number(row_id), " ".join(map(_scope_token, scopes)), clean, row_id


def _query(groups: ScopeGroups, grams: Sequence[str]) -> str:
    """Every token is quoted, so that no text is a part of the syntax."""
    scopes = [
        f"({' OR '.join(_quoted(_scope_token(scope)) for scope in group)})" for group in groups
    ]
    return " AND ".join([*scopes, *(_quoted(_without_scopes(gram)) for gram in grams)])


def _quoted(gram: str) -> str:
    return '"' + gram.replace('"', '""') + '"'


INDEX = TextIndex(
    write="insert or replace into {table} (rowid, scopes, text, id)"
    " select value ->> 0, value ->> 1, value ->> 2, value ->> 3 from json_each(?)",
    entry=_entry,
    delete="delete from {table} where rowid in (select value from json_each(?))",
    key=_row_number,
    find="select id from {table} where {table} match ? and rowid >= ? and rowid <= ?"
    " order by rowid {order} limit ?",
    query=_query,
    range=_range,
    merge="insert into {table} ({table}, rank) values ('merge', ?)",
    changes="select total_changes()",
)
