"""How much an organization may store: logs, files of jobs, uploaded files, file arguments and
samples together.

The sums are measured once in a while (server/storage.py); nothing is added up per request.
"""

from collections.abc import Mapping

from belvedere.base.clock import DAY
from belvedere.base.errors import TooLarge
from belvedere.db import Tx

GIB = 1 << 30
# A file that was passed to a job counts for so long after its last use.
ARGUMENT_LIFE = 30 * DAY


def has_room(tx: Tx, customer_id: str) -> bool:
    return _excess(tx, customer_id) is None


def _excess(tx: Tx, customer_id: str) -> tuple[int, int] | None:
    """(bytes, quota) of an organization that has no room left."""
    row = tx.row("select bytes, quota from storage where customer_id = ?", customer_id)
    return (row[0], row[1]) if row is not None and 0 < row[1] <= row[0] else None


def check_room(tx: Tx, customer_id: str) -> None:
    """Refuse an upload where the organization stored its quota already."""
    row = _excess(tx, customer_id)
    if row is not None:
        raise TooLarge(
            f"The organization stores {row[0] / GIB:.1f} GiB of logs, files and samples; its quota"
            f" is {row[1] / GIB:g} GiB. Delete jobs or files, or ask the operator for more"
            " (`belvedere organization quota`).",
            code="storage_quota",
        )


def uploaded(tx: Tx) -> dict[str, int]:
    """Bytes of uploaded files by organization, with all versions."""
    rows = tx.rows(
        "select f.customer_id, sum(v.size) from file_versions v join files f on f.id = v.file_id"
        " group by f.customer_id"
    )
    return {customer_id: int(size) for customer_id, size in rows}


def note_argument(tx: Tx, customer_id: str, sha256: str, size: int) -> None:
    """A file that was passed to a job: it counts once, however many jobs get it. Once a day is
    enough, and jobs that get the same files at once then do not wait for each other's rows."""
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


def passed(tx: Tx) -> dict[str, int]:
    """Bytes of file arguments by organization."""
    rows = tx.rows(
        "select customer_id, sum(size) from argument_files where used_at > ? group by customer_id",
        tx.now - ARGUMENT_LIFE,
    )
    return {customer_id: int(size) for customer_id, size in rows}


def limits(tx: Tx) -> dict[str, int]:
    """Quotas of single organizations, in bytes."""
    return {name: int(size) for name, size in tx.rows("select * from storage_quotas")}


def set_limit(tx: Tx, customer_id: str, size: int | None) -> None:
    """A quota of its own, from the next measurement on; None: that of the setting again."""
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
