"""How much an organization may store: logs, files of jobs, uploaded files and samples together.

The sums are measured once in a while (server/storage.py); nothing is added up per request.
"""

from collections.abc import Mapping

from belvedere.base.errors import TooLarge
from belvedere.db import Tx

GIB = 1 << 30


def check_room(tx: Tx, customer_id: str) -> None:
    """Refuse an upload where the organization stored its quota already."""
    row = tx.row("select bytes, quota from storage where customer_id = ?", customer_id)
    if row is not None and 0 < row[1] <= row[0]:
        raise TooLarge(
            f"The organization stores {row[0] / GIB:.1f} GiB of logs, files and samples; its quota"
            f" is {row[1] / GIB:g} GiB. Delete jobs or files, or ask the operator for more"
            " (BELVEDERE_STORAGE_QUOTA).",
            code="storage_quota",
        )


def uploaded(tx: Tx) -> dict[str, int]:
    """Bytes of uploaded files by organization, with all versions."""
    rows = tx.rows(
        "select f.customer_id, sum(v.size) from file_versions v join files f on f.id = v.file_id"
        " group by f.customer_id"
    )
    return {customer_id: int(size) for customer_id, size in rows}


def save(tx: Tx, used: Mapping[str, int], quota: int) -> None:
    tx.run("delete from storage")
    tx.many(
        "insert into storage (customer_id, bytes, quota, measured_at) values (?, ?, ?, ?)"
        " on conflict (customer_id) do update set bytes = excluded.bytes,"
        " quota = excluded.quota, measured_at = excluded.measured_at",
        [(customer_id, size, quota, tx.now) for customer_id, size in sorted(used.items())],
    )
