"""Lists whose rows show more than a record: up to 200 at once, in any order."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from belvedere.db import Tx
from belvedere.db.interface import Dialect, Row
from belvedere.overview.rows.rights import json_list
from belvedere.rest.listing import Field, Listable

MOST = 200


def listable(of: Listable, more: Mapping[str, Field]) -> Listable:
    """The same list with more to ask for; it may be skipped in, since it has no history."""
    return Listable(fields={**of.fields, **more}, most=MOST, may_skip=True)


def tag_filter(dialect: Dialect, tags: str) -> Field:
    """`where[tags]=`, on a column with a JSON list."""
    return Field(f"exists (select 1 from {dialect.json_values(tags, 'g')} where g.value {{test}})")


def rank(expression: str, words: Mapping[str, int]) -> str:
    """A number for each word, for sorting; any other comes last."""
    cases = " ".join(f"when '{word}' then {number}" for word, number in words.items())
    return f"(case {expression} {cases} else {len(words)} end)"


def rounded(value: Any) -> float | None:
    return None if value is None else round(float(value), 4)


@dataclass(frozen=True, slots=True)
class Series:
    """Where rows that follow each other lie: an index on (key, order) finds the newest."""

    table: str
    key: str
    order: str
    # Of `x`.
    columns: str
    # Of `y`, beginning with `and`.
    where: str = ""


def newest(tx: Tx, of: Series, ids: Collection[str], most: int) -> dict[str, list[Row]]:
    """By key, the newest first; the order must be the first column."""
    found: dict[str, list[Row]] = {id_: [] for id_ in ids}
    sql = tx.dialect.newest_per_key.format(
        columns=of.columns,
        table=of.table,
        key=of.key,
        order=of.order,
        where=of.where,
        limit=most,
    )
    for key, *row in tx.rows(sql, json_list(ids)) if found else ():
        found[key].append(tuple(row))
    for rows in found.values():
        rows.sort(key=lambda row: row[0], reverse=True)
    return found
