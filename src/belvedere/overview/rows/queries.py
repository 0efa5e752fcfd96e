"""Queries that the rows of all list pages share: latest rows, permissions, filters and ranks."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import msgspec

from belvedere.access import Actor, Level
from belvedere.db import Tx
from belvedere.db.interface import Dialect, Row
from belvedere.rest.listing import Field, Listable

# Rows of one page.
MAX_ROWS = 200


@dataclass(frozen=True, slots=True)
class Series:
    """A table with an index on (key, order), by which the latest rows of a key are found."""

    table: str
    key: str
    order: str
    # Columns of the alias `x`.
    columns: str
    # Conditions on the alias `y`, beginning with `and`.
    where: str = ""


def latest_rows(tx: Tx, series: Series, ids: Collection[str], limit: int) -> dict[str, list[Row]]:
    """The latest rows of each key in one statement, newest first, without reading older ones.

    The order must be the first column of the series.
    """
    rows_by_key: dict[str, list[Row]] = {id_: [] for id_ in ids}
    sql = tx.dialect.newest_per_key.format(
        columns=series.columns,
        table=series.table,
        key=series.key,
        order=series.order,
        where=series.where,
        limit=limit,
    )
    for key, *row in tx.rows(sql, json_list(ids)) if rows_by_key else ():
        rows_by_key[key].append(tuple(row))
    for rows in rows_by_key.values():
        rows.sort(key=lambda row: row[0], reverse=True)
    return rows_by_key


def runnable_ids(tx: Tx, actor: Actor, object: str, ids: Collection[str]) -> set[str]:
    """The tasks or workflows among `ids` that the actor may run: `may_run` for many at once."""
    if actor.runs_all:
        return set(ids)
    if not actor.level.reaches(Level.USER) or not actor.entries:
        return set()
    rows = tx.rows(
        "select distinct object_id from acl where customer_id = ? and object = ?"
        f" and object_id in {tx.dialect.in_texts} and entry in {tx.dialect.in_texts}",
        actor.customer_id,
        object,
        json_list(ids),
        json_list(actor.entries),
    )
    return {object_id for (object_id,) in rows}


def listable(base: Listable, fields: Mapping[str, Field]) -> Listable:
    """The list with further fields. `skip` is allowed, because these lists have no history."""
    return Listable(fields={**base.fields, **fields}, most=MAX_ROWS, may_skip=True)


def tag_field(dialect: Dialect, tags: str) -> Field:
    """`where[tags]=` on a column with a JSON array."""
    values = dialect.json_values(tags, "g", "")
    return Field(f"exists (select 1 from {values} where g.value {{test}})")


def rank(expression: str, ranks: Mapping[str, int]) -> str:
    """SQL for sorting by the rank of a value; other values come last."""
    cases = " ".join(f"when '{value}' then {number}" for value, number in ranks.items())
    return f"(case {expression} {cases} else {len(ranks)} end)"


def rounded(value: float | None) -> float | None:
    return None if value is None else round(float(value), 4)


def json_list(items: Collection[str]) -> str:
    """The parameter for `in {tx.dialect.in_texts}`."""
    return msgspec.json.encode(list(items)).decode()
