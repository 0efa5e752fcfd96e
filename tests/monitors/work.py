"""How much an operation reads, counted by the database itself."""

from collections.abc import Callable
from typing import Any

from belvedere.db import Database, Tx

_READ = (
    "select coalesce(sum(seq_tup_read), 0) + coalesce(sum(idx_tup_fetch), 0)"
    " from pg_stat_xact_user_tables"
)


def rows_read(db: Database, verb: Callable[..., Any], *arguments: Any) -> int:
    """Rows of tables on PostgreSQL; on SQLite hundreds of steps of its virtual machine."""
    count = _on_sqlite if db.dialect.name == "sqlite" else _on_postgres
    return db.write_blocking(count, verb, *arguments)


def _on_postgres(tx: Tx, verb: Callable[..., Any], *arguments: Any) -> int:
    # The template has no statistics; a plan must not depend on that.
    tx.execute("set local enable_seqscan = off")
    before = tx.value(_READ)
    verb(tx, *arguments)
    return int(tx.value(_READ) - before)


def _on_sqlite(tx: Any, verb: Callable[..., Any], *arguments: Any) -> int:
    steps = 0

    def step() -> bool:
        nonlocal steps
        steps += 1
        return False

    tx.connection.set_progress_handler(step, 100)
    try:
        verb(tx, *arguments)
    finally:
        tx.connection.set_progress_handler(None)
    return steps
