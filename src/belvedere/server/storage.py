"""Storage of each organization, compared with its quota.

It is measured periodically from the rows themselves, so that it cannot drift; in between, this
server adds what its own agents send. The quota can therefore be exceeded by a minute of data.
"""

import logging
import time
from collections import Counter
from collections.abc import Callable, Mapping
from typing import TypeVar

from belvedere.db import Database, Tx
from belvedere.files import quota

# How far a measurement has come in a table.
Key = TypeVar("Key")

log = logging.getLogger("belvedere.server")
# Estimated bytes of a sample with its numbers and message: samples are only counted.
SAMPLE_BYTES = 256
# Rows that one statement of a measurement reads.
STEP_ROWS = 50_000
# Measurements may use this share of the time: a long one is made less often.
MAX_TIME_SHARE = 0.02


class Storage:
    def __init__(self, limit: int) -> None:
        # Bytes; 0: no limit.
        self.limit = limit
        # Quotas of single organizations.
        self._own: dict[str, int] = {}
        self._used: dict[str, int] = {}
        self._full: set[str] = set()
        # Whether the last measurement failed. Until one succeeds, only the organizations that were
        # full at the last one that did are limited: the counters only grow.
        self._is_outdated = False
        # Time by the monotonic clock.
        self._next_at = 0.0

    def take(self, customer_id: str, size: int) -> bool:
        """Count the bytes if the organization has storage left; False if not."""
        limit = self.limit_of(customer_id)
        if not limit:
            return True
        used = self._used.get(customer_id, 0)
        is_full = customer_id in self._full if self._is_outdated else used >= limit
        if is_full:
            return False
        self._used[customer_id] = used + size
        return True

    def limit_of(self, customer_id: str) -> int:
        return self._own.get(customer_id, self.limit)

    def update(self, used: Mapping[str, int], own: Mapping[str, int] | None = None) -> None:
        self._used, self._own = dict(used), dict(own or {})
        full = {name for name, size in used.items() if 0 < self.limit_of(name) <= size}
        for customer_id in sorted(full - self._full):
            log.warning(
                "organization reached its storage quota; further output and samples are dropped"
                " customer=%s bytes=%d quota=%d",
                customer_id,
                used[customer_id],
                self.limit_of(customer_id),
            )
        self._full = full
        self._is_outdated = False

    async def measure(self, db: Database, logs: Database) -> None:
        began = time.monotonic()
        if began < self._next_at:
            return
        try:
            used = await _measure_all(db, logs)
            own = await db.read(quota.limits)
            self.update(used, own)
            await db.write(quota.save, used, self.limit, own)
        except Exception:
            self._is_outdated = True
            raise
        finally:
            ended = time.monotonic()
            self._next_at = ended + (ended - began) / MAX_TIME_SHARE


async def _measure_all(db: Database, logs: Database) -> Counter[str]:
    used = await _add_steps(db, _count_samples, ("", -1))
    used.update(await db.read(quota.file_bytes))
    used.update(await db.read(quota.argument_bytes))
    for table, column in (("logs", "bytes_kept"), ("job_file_bytes", "bytes")):
        used.update(await _add_steps(logs, _add_bytes, -1, table, column))
    return used


async def _add_steps(
    db: Database, step: Callable[..., tuple[Mapping[str, int], Key | None]], start: Key, *args: str
) -> Counter[str]:
    """The bytes by organization that all steps return, each from the key that ended the last. A
    single statement would exceed the time limit of reads once a table is large."""
    used: Counter[str] = Counter()
    after: Key | None = start
    while after is not None:
        part, after = await db.read(step, after, *args)
        used.update(part)
    return used


def _count_samples(tx: Tx, after: tuple[str, int]) -> tuple[dict[str, int], tuple[str, int] | None]:
    rows = tx.rows(
        "select s.monitor_id, max(s.at), count(*), m.customer_id from"
        " (select monitor_id, at from monitor_samples where (monitor_id, at) > (?, ?)"
        " order by monitor_id, at limit ?) s left join monitors m on m.id = s.monitor_id"
        " group by s.monitor_id, m.customer_id order by s.monitor_id",
        *(*after, STEP_ROWS),
    )
    used: Counter[str] = Counter()
    for _, _, count, customer_id in rows:
        # The samples of a deleted monitor are about to be deleted.
        if customer_id is not None:
            used[customer_id] += count * SAMPLE_BYTES
    is_last = sum(count for _, _, count, _ in rows) < STEP_ROWS
    return used, None if is_last else (rows[-1][0], rows[-1][1])


def _add_bytes(tx: Tx, after: int, table: str, column: str) -> tuple[dict[str, int], int | None]:
    rows = tx.rows(
        "select customer_id, sum(size), count(*), max(fence) from"
        f" (select customer_id, {column} as size, fence from {table} where fence > ?"
        " order by fence limit ?) s group by customer_id",
        *(after, STEP_ROWS),
    )
    used = {customer_id: int(size) for customer_id, size, _, _ in rows if customer_id}
    is_last = sum(count for _, _, count, _ in rows) < STEP_ROWS
    return used, None if is_last else max(fence for _, _, _, fence in rows)
