"""The long poll: an agent of the original asks every ten seconds and gives up after fifteen.

An answer that is held for a little more than ten leaves one question open at any time, so that
work starts at once.
"""

import asyncio
from collections.abc import Callable
from typing import Any

from belvedere.access.crypto.keyring import Keys
from belvedere.db import Tx
from belvedere.jobs.lifecycle.orders import OldJob
from belvedere.legacy_agents import claims, registration
from belvedere.server.runtime import House

HOLD_S = 12.0
# The doorbell may be missed; then this often a look at the rows.
LOOK_S = 1.5

Take = Callable[[Tx, str, str, Keys], list[OldJob]]


class Poll:
    """One question, until there is work, nobody listens any more, or the time is up."""

    def __init__(self, house: House, held: registration.Held, receive: Any) -> None:
        self._house = house
        self._host_id = held.host_id
        self._receive = receive
        self._rang = asyncio.Event()
        self._is_gone = False

    async def jobs(self, take: Take) -> list[OldJob]:
        topics = (f"host:{self._host_id}", f"watch:{self._host_id}")
        undo = [self._house.hub.listen(topic, lambda _: self._rang.set()) for topic in topics]
        watchers = [
            asyncio.create_task(self._until_gone()),
            asyncio.create_task(self._until_stopped()),
        ]
        try:
            return await self._wait(take)
        finally:
            for listener in undo:
                listener()
            for task in watchers:
                task.cancel()
            await asyncio.gather(*watchers, return_exceptions=True)

    async def _until_gone(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self._is_gone = True
        self._rang.set()

    async def _until_stopped(self) -> None:
        await self._house.stopping.wait()
        self._rang.set()

    async def _wait(self, take: Take) -> list[OldJob]:
        loop = asyncio.get_running_loop()
        until = loop.time() + HOLD_S
        while not self._is_gone:
            self._rang.clear()
            found = await self._look(take)
            left = until - loop.time()
            if found or left <= 0 or self._house.stopping.is_set():
                return found
            try:
                async with asyncio.timeout(min(left, LOOK_S)):
                    await self._rang.wait()
            except TimeoutError:
                continue
        return []

    async def _look(self, take: Take) -> list[OldJob]:
        db, host_id = self._house.db, self._host_id
        if not await db.read(claims.waits, host_id):
            return []
        found = await db.write(take, host_id, self._house.links.base_url, self._house.keys)
        if self._is_gone and found:
            await db.write(claims.give_back, host_id, [job.id for job in found])
            return []
        return found
