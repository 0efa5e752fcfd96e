"""The statements of an operation: which they are, how the engine executes them, and what they
cost."""

import itertools
import re
from typing import Any

from belvedere.db import Tx
from belvedere.db.sqlite.transaction import SqliteTx

Statement = tuple[str, tuple[Any, ...]]
# Where a method of a transaction has its SQL.
_SQL_AT = {"row": 0, "rows": 0, "value": 0, "all": 1, "one": 1}


class RecordingTx:
    """A transaction that records the statements that read."""

    def __init__(self, tx: Tx) -> None:
        self._tx = tx
        self.statements: list[Statement] = []

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._tx, name)
        if name == "pipeline":
            return self._pipeline
        if name not in _SQL_AT:
            return method

        def record(*args: Any) -> Any:
            position = _SQL_AT[name]
            self.statements.append((str(args[position]), args[position + 1 :]))
            return method(*args)

        return record

    def _pipeline(self, *queries: Any) -> Any:
        self.statements += [(sql, tuple(params)) for sql, params in queries]
        return self._tx.pipeline(*queries)


def plan(tx: Tx, statement: Statement) -> list[str]:
    """The lines of the engine's plan."""
    sql, params = statement
    if tx.dialect.name == "sqlite":
        return [str(row[-1]) for row in tx.rows(f"explain query plan {sql}", *params)]
    return [str(line) for (line,) in _explain_generic(tx, "explain", statement)]


def cost(tx: Tx, statement: Statement) -> int:
    """Rows that PostgreSQL reads for it; instructions of SQLite's virtual machine."""
    if isinstance(tx, SqliteTx):
        return _instructions(tx, *statement)
    explain = "explain (analyze, timing off, format json)"
    [[[analysis]]] = _explain_generic(tx, explain, statement)
    return _rows_read(analysis["Plan"])


def _explain_generic(tx: Tx, explain: str, statement: Statement) -> list[Any]:
    """With the plan for any value, which the server uses; plain `explain` shows that for these."""
    sql, params = statement
    numbers = itertools.count(1)
    tx.execute("prepare explained as " + re.sub(r"\?", lambda _: f"${next(numbers)}", sql))
    values = ", ".join("'" + str(value).replace("'", "''") + "'" for value in params)
    rows = tx.rows(f"{explain} execute explained({values})")
    tx.execute("deallocate explained")
    return rows


def _instructions(tx: SqliteTx, sql: str, params: tuple[Any, ...]) -> int:
    count = 0

    def step() -> bool:
        nonlocal count
        count += 1
        return False

    tx.connection.set_progress_handler(step, 1)
    try:
        tx.rows(sql, *params)
    finally:
        tx.connection.set_progress_handler(None)
    return count


def _rows_read(node: dict[str, Any]) -> int:
    rows = node["Actual Rows"] + node.get("Rows Removed by Filter", 0)
    return int(rows * node["Actual Loops"]) + sum(map(_rows_read, node.get("Plans", ())))
