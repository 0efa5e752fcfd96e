"""The newest rows of each of many things, in one statement and without reading older ones."""

from collections.abc import Collection
from dataclasses import dataclass

from belvedere.db import Tx
from belvedere.db.interface import Row
from belvedere.overview.rows.rights import json_list

# Each key's newest rows by the index of (key, order); the engines spell that differently.
_EACH = {
    "sqlite": "select k.value, {columns} from json_each(?) k join {table} x on x.rowid in"
    " (select y.rowid from {table} y where y.{key} = k.value{where}"
    " order by y.{order} desc limit {most})",
    "postgres": "select k.value, {columns} from json_array_elements_text(?::json) k (value)"
    " cross join lateral (select * from {table} y where y.{key} = k.value{where}"
    " order by y.{order} desc limit {most}) x",
}


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
    sql = _EACH[tx.dialect.engine].format(
        columns=of.columns,
        table=of.table,
        key=of.key,
        order=of.order,
        where=of.where,
        most=most,
    )
    for key, *row in tx.rows(sql, json_list(ids)) if found else ():
        found[key].append(tuple(row))
    for rows in found.values():
        rows.sort(key=lambda row: row[0], reverse=True)
    return found
