"""Collects all metrics; several readers within a few seconds get the same text."""

import asyncio
import time

from belvedere.base.errors import Refused
from belvedere.server.background import consumers
from belvedere.server.metrics import activity, database, process
from belvedere.server.metrics.text_format import Family, gauge, render
from belvedere.server.runtime import ServerRuntime

KEEP_S = 5.0


class Metrics:
    """The text of `/-/metrics`, collected at most every `KEEP_S`."""

    def __init__(self, runtime: ServerRuntime) -> None:
        self._runtime = runtime
        self._text = ""
        self._collected_at: float | None = None
        self._lock = asyncio.Lock()

    async def text(self) -> str:
        async with self._lock:
            now = time.monotonic()
            if self._collected_at is None or now - self._collected_at >= KEEP_S:
                self._text = render(await self._collect())
                self._collected_at = time.monotonic()
            return self._text

    def expire(self) -> None:
        """The next reader gets current metrics."""
        self._collected_at = None

    async def _collect(self) -> list[Family]:
        runtime = self._runtime
        began = time.monotonic()
        families, is_up = await self._read_database()
        took = time.monotonic() - began
        return [
            *process.families(runtime),
            *activity.families(runtime),
            gauge("belvedere_database_up", "1: the database responds.", int(is_up)),
            gauge(
                "belvedere_database_scrape_complete",
                "0: the metrics of the database are missing, because it does not respond or"
                " reading them took too long.",
                int(bool(families)),
            ),
            gauge(
                "belvedere_database_scrape_seconds",
                "How long reading the database metrics took, including the wait for a thread.",
                took,
            ),
            *families,
        ]

    async def _read_database(self) -> tuple[list[Family], bool]:
        """The metrics, and whether the database responds. Without it, or if reading takes too long,
        there are none: then the other metrics are needed most."""
        table = consumers.active(has_redis=self._runtime.redis is not None)
        kinds = {consumer.name: consumer.kinds for consumer in table}
        try:
            return await self._runtime.db.search(database.read, kinds), True
        except Refused as refusal:
            return [], refusal.code == "search_timeout" and await self._responds()

    async def _responds(self) -> bool:
        try:
            return bool(await self._runtime.db.read(lambda tx: tx.value("select 1")))
        except Refused:
            return False
