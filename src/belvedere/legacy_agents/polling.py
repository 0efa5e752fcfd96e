"""The long poll: TheEye's agents poll every ten seconds and time out after fifteen.

A response that waits a little longer than ten seconds leaves one request open at any time, so that
work starts at once.
"""

import asyncio
from collections.abc import Callable
from typing import Concatenate, ParamSpec

from belvedere.access.crypto.keyring import Keyring
from belvedere.access.services import Services
from belvedere.db import Tx
from belvedere.db.signals import checks_changed, host_ready
from belvedere.jobs.lifecycle.legacy_orders import LegacyJob
from belvedere.legacy_agents import claims
from belvedere.legacy_agents.registration import LegacyServices
from belvedere.rest.request import Receive

MAX_WAIT_S = 12.0
# Signals can be missed, so the rows are also checked at this interval.
RECHECK_S = 1.5

Claim = Callable[[Tx, str, str, Keyring], list[LegacyJob]]
P = ParamSpec("P")


def if_admitted(
    services: Services, claim: Callable[Concatenate[Tx, P], list[LegacyJob]]
) -> Callable[Concatenate[Tx, P], list[LegacyJob]]:
    """Checked in the transaction: a failover may be noticed while it waits for its turn."""

    def claim_if_admitted(tx: Tx, /, *a: P.args, **k: P.kwargs) -> list[LegacyJob]:
        return claim(tx, *a, **k) if services.of(LegacyServices).admits_agents() else []

    return claim_if_admitted


class LongPoll:
    """One request, until there is work, the agent disconnects, or the time is up."""

    def __init__(self, services: Services, host_id: str, receive: Receive) -> None:
        self._services = services
        self._host_id = host_id
        self._receive = receive
        self._signalled = asyncio.Event()
        self._is_disconnected = False

    async def jobs(self, claim: Claim) -> list[LegacyJob]:
        topics = (host_ready(self._host_id), checks_changed(self._host_id))
        unsubscribe = [
            self._services.signals.subscribe(topic, lambda _: self._signalled.set())
            for topic in topics
        ]
        watchers = [
            asyncio.create_task(self._until_disconnected()),
            asyncio.create_task(self._until_stopped()),
        ]
        try:
            return await self._wait(claim)
        finally:
            for listener in unsubscribe:
                listener()
            for task in watchers:
                task.cancel()
            await asyncio.gather(*watchers, return_exceptions=True)

    async def _until_disconnected(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self._is_disconnected = True
        self._signalled.set()

    async def _until_stopped(self) -> None:
        await self._services.stopping.wait()
        self._signalled.set()

    async def _wait(self, claim: Claim) -> list[LegacyJob]:
        loop = asyncio.get_running_loop()
        until = loop.time() + MAX_WAIT_S
        while not self._is_disconnected:
            self._signalled.clear()
            jobs = await self._claim(claim)
            remaining_s = until - loop.time()
            if jobs or remaining_s <= 0 or self._services.stopping.is_set():
                return jobs
            try:
                async with asyncio.timeout(min(remaining_s, RECHECK_S)):
                    await self._signalled.wait()
            except TimeoutError:
                continue
        return []

    async def _claim(self, claim: Claim) -> list[LegacyJob]:
        db, host_id = self._services.db, self._host_id
        if not self._services.of(LegacyServices).admits_agents():
            return []
        if not await db.read(claims.has_work, host_id):
            return []
        jobs = await db.write(
            if_admitted(self._services, claim),
            host_id,
            self._services.of(LegacyServices).base_url(),
            self._services.keyring,
        )
        if self._is_disconnected and jobs:
            await db.write(claims.return_unsent, host_id, [job.id for job in jobs])
            return []
        return jobs
