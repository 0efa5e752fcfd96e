"""Fills the search index of jobs, at a pace that leaves the database to others."""

import asyncio
import time

from belvedere.db import Database
from belvedere.jobs.search import index, progress
from belvedere.server.runtime import ServerRuntime

# A batch is followed by a pause of so many times its duration. Each of several servers makes longer
# pauses, so that all of them together leave as much of the database to others.
BUSY_FACTOR, IDLE_FACTOR = 30.0, 1.0
# Transactions of others per second from which the database counts as busy.
BUSY_RATE = 20.0
MAX_PAUSE_S = 2.0


class Pace:
    """`async with pace: …` around each batch, which is one transaction and `more_transactions`."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._count = self._transactions()
        self._at = self._began_at = time.monotonic()
        self.more_transactions = 0

    def _transactions(self) -> int:
        return sum(self._db.transaction_times.counts)

    async def __aenter__(self) -> None:
        self._began_at = time.monotonic()

    async def __aexit__(self, *_: object) -> None:
        now = time.monotonic()
        await asyncio.sleep(self.pause_s(now - self._began_at, now))

    def pause_s(self, batch_s: float, now: float) -> float:
        """After a batch of this duration, given the transactions since the pause before."""
        count = self._transactions()
        others = count - self._count - 1 - self.more_transactions
        rate = others / max(now - self._at, 1e-6)
        self._count, self._at, self.more_transactions = count, now, 0
        factor = BUSY_FACTOR if rate > BUSY_RATE else IDLE_FACTOR
        return min(batch_s * factor, MAX_PAUSE_S) * self._db.servers


async def merge_parts(runtime: ServerRuntime, pace: Pace) -> None:
    """Until nothing is left to merge. After a step other writers have as much time as it took."""
    if not runtime.db.dialect.text_index.merge:
        return
    started_at = time.monotonic()
    while await runtime.db.write(index.merge_step):
        pace.more_transactions += 1
        await asyncio.sleep(time.monotonic() - started_at)
        started_at = time.monotonic()
    pace.more_transactions += 1


async def add_older_jobs(runtime: ServerRuntime) -> None:
    """In small batches, from the newest job; new jobs are added by a consumer of events."""
    if await runtime.db.read(progress.is_complete):
        return
    pace, has_more = Pace(runtime.db), True
    while has_more:
        async with pace:
            has_more = await runtime.db.write(progress.add_older)
            await merge_parts(runtime, pace)
