"""Storage of each organization, compared with its quota.

It is measured periodically from the rows themselves, so that it cannot drift; in between, this
server adds what its own agents send. The quota can therefore be exceeded by a minute of data.
"""

import logging
import time
from collections import Counter
from collections.abc import Mapping

from belvedere.db import Database, Tx
from belvedere.files import quota

log = logging.getLogger("belvedere.server")
# Estimated bytes of a sample with its numbers and message: samples are only counted.
SAMPLE_BYTES = 256
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
        # Time by the monotonic clock.
        self._next_at = 0.0

    def take(self, customer_id: str, size: int) -> bool:
        """Count the bytes if the organization has storage left; False if not."""
        limit = self.limit_of(customer_id)
        if not limit:
            return True
        used = self._used.get(customer_id, 0)
        if used >= limit:
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

    async def measure(self, db: Database, logs: Database) -> None:
        began = time.monotonic()
        if began < self._next_at:
            return
        used = Counter(await db.read(_in_main))
        used.update(await logs.read(_in_logs))
        own = await db.read(quota.limits)
        self.update(used, own)
        await db.write(quota.save, used, self.limit, own)
        ended = time.monotonic()
        self._next_at = ended + (ended - began) / MAX_TIME_SHARE


def _in_main(tx: Tx) -> dict[str, int]:
    rows = tx.rows(
        "select m.customer_id, count(*) from monitor_samples s"
        " join monitors m on m.id = s.monitor_id group by m.customer_id"
    )
    used = Counter({customer_id: int(count) * SAMPLE_BYTES for customer_id, count in rows})
    used.update(quota.file_bytes(tx))
    used.update(quota.argument_bytes(tx))
    return used


def _in_logs(tx: Tx) -> dict[str, int]:
    used: Counter[str] = Counter()
    for table, column in (("logs", "bytes_kept"), ("job_file_bytes", "bytes")):
        rows = tx.rows(
            f"select customer_id, sum({column}) from {table} where customer_id <> ''"
            " group by customer_id"
        )
        used.update({customer_id: int(size) for customer_id, size in rows})
    return used
