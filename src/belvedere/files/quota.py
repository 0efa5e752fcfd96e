"""The storage quota of an organization: logs, artifacts, uploaded files, file arguments and samples
together. Usage is measured at intervals (server/storage.py), not per request.
"""

from collections.abc import Mapping

from belvedere.base.clock import DAY
from belvedere.base.errors import TooLarge
from belvedere.db import Tx

GIB = 1 << 30
# How long a file argument counts after its last use.
ARGUMENT_LIFE = 30 * DAY


def has_room(tx: Tx, customer_id: str) -> bool:
    return _excess(tx, customer_id) is None


def _excess(tx: Tx, customer_id: str) -> tuple[int, int] | None:
    """(bytes, quota) of an organization that has reached its quota."""
    row = tx.row("select bytes, quota from storage where customer_id = ?", customer_id)
    return (row[0], row[1]) if row is not None and 0 < row[1] <= row[0] else None


def check_room(tx: Tx, customer_id: str) -> None:
    """Refuse an upload if the organization has reached its quota."""
    row = _excess(tx, customer_id)
    if row is not None:
        raise TooLarge(
            f"The organization stores {row[0] / GIB:.1f} GiB of logs, files and samples; its quota"
            f" is {row[1] / GIB:g} GiB. Delete jobs or files, or ask the operator for more"
            " (`belvedere organization quota`).",
            code="storage_quota",
        )


def file_bytes(tx: Tx) -> dict[str, int]:
    """Bytes of uploaded files by organization, with all versions."""
    rows = tx.rows(
        "select f.customer_id, sum(v.size) from file_versions v join files f on f.id = v.file_id"
        " group by f.customer_id"
    )
    return {customer_id: int(size) for customer_id, size in rows}


def note_argument(tx: Tx, customer_id: str, sha256: str, size: int) -> None:
    """Record that a file was passed to a job. It counts once, however many jobs get it. Written at
    most once a day, so that concurrent jobs with the same file do not wait for each other's
    rows."""
    used_at = tx.value(
        "select used_at from argument_files where customer_id = ? and sha256 = ?",
        *(customer_id, sha256),
    )
    if used_at is not None and tx.now - used_at < DAY:
        return
    tx.execute(
        "insert into argument_files (customer_id, sha256, size, used_at) values (?, ?, ?, ?)"
        " on conflict (customer_id, sha256) do update set used_at = excluded.used_at",
        *(customer_id, sha256, size, tx.now),
    )


def argument_bytes(tx: Tx) -> dict[str, int]:
    """Bytes of file arguments by organization."""
    rows = tx.rows(
        "select customer_id, sum(size) from argument_files where used_at > ? group by customer_id",
        tx.now - ARGUMENT_LIFE,
    )
    return {customer_id: int(size) for customer_id, size in rows}


def limits(tx: Tx) -> dict[str, int]:
    """Quotas that were set for individual organizations, in bytes."""
    return {name: int(size) for name, size in tx.rows("select * from storage_quotas")}


def set_limit(tx: Tx, customer_id: str, size: int | None) -> None:
    """Set the quota of one organization, from the next measurement on; None: the default quota."""
    tx.execute("delete from storage_quotas where customer_id = ?", customer_id)
    if size is not None:
        tx.execute(
            "insert into storage_quotas (customer_id, bytes) values (?, ?)", customer_id, size
        )


def save(tx: Tx, used: Mapping[str, int], quota: int, own: Mapping[str, int] | None = None) -> None:
    own = own or {}
    tx.execute("delete from argument_files where used_at <= ?", tx.now - ARGUMENT_LIFE)
    tx.execute("delete from storage")
    tx.execute_many(
        "insert into storage (customer_id, bytes, quota, measured_at) values (?, ?, ?, ?)"
        " on conflict (customer_id) do update set bytes = excluded.bytes,"
        " quota = excluded.quota, measured_at = excluded.measured_at",
        [
            (customer_id, size, own.get(customer_id, quota), tx.now)
            for customer_id, size in sorted(used.items())
        ],
    )
