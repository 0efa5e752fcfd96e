"""Sealed values that no key of this installation opens: where they are, and whose they are.

They stay in the database unchanged. They keep an old key from being dropped until the operator
decides, because a backup of `secret.key` or of the database may still open them.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from belvedere.access.crypto.keyring import Keyring
from belvedere.base.errors import Conflict, Unavailable
from belvedere.db import Tx

# Rows that one reply and one page of a search hold.
MAX_LISTED, PAGE = 1_000, 500
# The organization of tables that do not name it.
_CUSTOMER_ID = {
    "task_versions": "(select t.customer_id from tasks t where t.id = task_versions.task_id)",
    "workflow_versions": "(select w.customer_id from workflows w"
    " where w.id = workflow_versions.workflow_id)",
    "workflow_jobs": "(select j.customer_id from jobs j where j.id = workflow_jobs.job_id)",
    "workflow_steps": "(select j.customer_id from jobs j"
    " where j.id = workflow_steps.workflow_job_id)",
    # A second factor belongs to a person, in all organizations.
    "second_factors": "''",
}
Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class UnreadableValue:
    table: str
    column: str
    # What identifies the row: the values of these columns.
    row: dict[str, Any]
    # The organization's name; empty where the row belongs to none or the organization is gone.
    organization: str


def pages(
    tx: Tx,
    table: str,
    names: tuple[str, ...],
    columns: tuple[str, ...],
    where: str,
    *params: object,
) -> Iterator[Row]:
    """The rows in the order of `names`, which come first in each; a page at a time, so that rows
    may be changed meanwhile and rows that cannot be changed do not hide those behind them."""
    order, after, start = ", ".join(names), "", ()
    while True:
        rows: list[Row] = tx.rows(
            f"select {', '.join((*names, *columns))} from {table} where {where}{after}"
            f" order by {order} limit {PAGE}",
            *params,
            *start,
        )
        yield from rows
        if len(rows) < PAGE:
            return
        start = rows[-1][: len(names)]
        after = f" and ({order}) > ({', '.join('?' for _ in names)})"


def customer_name(table: str) -> str:
    """The SQL expression for the name of the organization that a row belongs to."""
    customer_id = _CUSTOMER_ID.get(table, f"{table}.customer_id")
    return f"coalesce((select c.name from customers c where c.id = {customer_id}), '')"


def is_readable(keys: Keyring, box: str, about: str) -> bool:
    try:
        keys.unseal(box, about)
    except Unavailable:
        return False
    return True


def check_unreadable(readable: bool) -> None:
    """Nothing that a key still opens may be counted as unreadable."""
    if readable:
        raise Conflict(
            "Some values are still encrypted with an older key. Run: belvedere key rotate",
            code="key_in_use",
        )
