"""Lists of history: read along an index on (columns, id), a limited number of rows at a time.

`searches.read_list` runs the steps of a request. Jobs have more indexes and their own choice among
them: `jobs/queries/index_choice.py`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Any, Generic, TypeVar

import msgspec

from belvedere.access import id_ranges
from belvedere.access.id_ranges import IdRange, Params, TimeField
from belvedere.db import Tx, columns
from belvedere.rest.listing import Condition, Listing
from belvedere.rest.listing_sql import clauses
from belvedere.rest.pagination import ListPage
from belvedere.rest.response_budget import RECORD_BYTES, Budget, check_order

S = TypeVar("S", bound=msgspec.Struct)


@dataclass(frozen=True, slots=True)
class HistoryTable(Generic[S]):
    """A table whose rows have an `id` that grows with time."""

    row: type[S]
    name: str
    # Columns of its index before the id.
    scope: tuple[str, ...]
    time: TimeField
    # The bytes of a row's large texts, as SQL; empty: rows are small.
    size: str = ""
    # None: the limit of a page.
    max_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class _Source:
    """`from … where …` of one step, the conditions that remain, and its order."""

    text: str
    params: Params
    rest: Listing
    order: str


@dataclass(frozen=True, slots=True)
class HistoryScope:
    """Values of the columns of the index, and of other columns that limit what the caller sees."""

    values: tuple[str, ...]
    others: dict[str, str] = field(default_factory=dict)


def read_page(
    tx: Tx,
    table: HistoryTable[S],
    scope: HistoryScope,
    listing: Listing,
    count_limit: int | None,
    row_limit: int | None,
    size: int = 0,
) -> ListPage[S]:
    """One step: examines at most `row_limit` rows, None: all. `size`: bytes of earlier steps."""
    id_range = id_ranges.of_listing(listing, table.time)
    walk = id_ranges.in_id_order(listing)
    until = None
    if row_limit is not None and not any(map(_names_ids, listing.conditions)):
        until = _last_id(tx, table, scope, walk, id_range, row_limit)
    if until is not None:
        end = {"low": (until, ">=")} if walk.is_newest_first else {"high": (until, "<=")}
        id_range = replace(id_range, **end)
    source = _source(tx, table, scope, listing, id_range)
    page = _read_rows(tx, table, source, listing, size)
    page.total = _count(tx, source, count_limit) if listing.count else None
    page.until = page.until if page.is_cut else until
    return page


def _names_ids(condition: Condition) -> bool:
    """Such rows are found by their ids: no history is read."""
    return condition.field == "id" and condition.operator in ("$eq", "$in")


def _source(
    tx: Tx, table: HistoryTable[S], scope: HistoryScope, listing: Listing, id_range: IdRange
) -> _Source:
    keys = (*table.scope, "id")
    as_rows = tx.dialect.compares_pairs
    text, params = id_ranges.between(keys, scope.values, id_range, as_rows=as_rows)
    # `|| ''` keeps the database from choosing an index of this column.
    others = "".join(f" and {name} || '' = ?" for name in scope.others)
    remaining = tuple(c for c in listing.conditions if not id_ranges.is_range(c))
    rest = replace(listing, conditions=remaining, after=None)
    order = ""
    if listing.is_by_id:
        order = id_ranges.order(keys, down=listing.is_newest_first, as_rows=as_rows)
    params = (*params, *scope.others.values())
    return _Source(f"from {table.name} where {text}{others}", params, rest, order)


def _last_id(
    tx: Tx,
    table: HistoryTable[S],
    scope: HistoryScope,
    listing: Listing,
    id_range: IdRange,
    row_limit: int,
) -> str | None:
    """The last row of this step; None if no row follows it."""
    source = _source(tx, table, scope, replace(listing, conditions=()), id_range)
    rows = tx.rows(
        f"select id {source.text} order by {source.order}id"
        f"{' desc' if listing.is_newest_first else ''} limit 2 offset ?",
        *(*source.params, row_limit - 1),
    )
    return rows[0][0] if len(rows) == 2 else None


def _read_rows(
    tx: Tx, table: HistoryTable[S], source: _Source, listing: Listing, size: int
) -> ListPage[S]:
    budget = Budget() if table.max_bytes is None else Budget(table.max_bytes)
    budget.spent = size
    rows: list[S] = []
    sizes = _sizes(tx, table, source) if table.size else None
    count = None if sizes is None else len(list(takewhile(budget.takes, sizes)))
    if count != 0:
        limited = source.rest if count is None else replace(source.rest, limit=count)
        sql, params = _select(columns(table.row), replace(source, rest=limited))
        rows = tx.all(table.row, sql, *params)
    last = _id(rows[-1]) if rows else None
    page = ListPage(rows, None, None, last, size=budget.spent)
    if sizes is not None and len(rows) < len(sizes):
        check_order(listing)
        page.cut(len(rows), last or listing.after)
    return page


def _sizes(tx: Tx, table: HistoryTable[S], source: _Source) -> list[int]:
    sql, params = _select(f"{table.size} + {RECORD_BYTES}", source)
    return [int(row_size) for (row_size,) in tx.rows(sql, *params)]


def _select(expressions: str, source: _Source) -> tuple[str, Sequence[Any]]:
    filters = clauses(source.rest, is_unindexed=True)
    page = filters.page.replace(" order by ", f" order by {source.order}", 1)
    sql = f"select {expressions} {source.text}{filters.where}{page}"
    return sql, (*source.params, *filters.params, *filters.page_params)


def _count(tx: Tx, source: _Source, count_limit: int | None) -> int:
    filters = clauses(source.rest, is_unindexed=True)
    most = -1 if count_limit is None else count_limit + 1
    text = f"select 1 as one {source.text}{filters.where}"
    limit = "" if most < 0 else f" limit {most}"
    return int(tx.value(f"select count(*) from ({text}{limit}) c", *source.params, *filters.params))


def _id(row: msgspec.Struct) -> str:
    row_id: str = row.id  # type: ignore[attr-defined]
    return row_id
