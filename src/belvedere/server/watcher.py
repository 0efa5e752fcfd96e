"""The part of an agent's link that is about monitors: configuration goes out, samples come in."""

from typing import TYPE_CHECKING

from belvedere.monitors import samples, watching
from belvedere.protocol import Noted, Samples
from belvedere.server.bounds import MAX_BATCHES
from belvedere.server.goodbye import Goodbye

if TYPE_CHECKING:
    from belvedere.server.link import Link


class Watcher:
    """Keeps one agent's configuration in step, and its samples in order."""

    def __init__(self, link: "Link") -> None:
        self._link = link
        # Of the configuration that the agent has; 0: none yet, nor needed while there is none.
        self.number = 0
        self._waiting: list[Samples] = []
        self._is_busy = False

    def rung(self, _: str) -> None:
        self._link.spawn(self.tell())

    async def tell(self) -> None:
        """Send the whole configuration, if it is not the one that the agent has."""
        house = self._link.house
        watch = await house.db.read(watching.of_host, self._link.host_id, house.keys)
        if watch.number > self.number:
            self.number = watch.number
            self._link.push(watch)

    def take(self, batch: Samples) -> None:
        """One write at a time: batches must be counted in the order in which they were sent."""
        if len(self._waiting) >= MAX_BATCHES:
            raise Goodbye(4400, f"More than {MAX_BATCHES} batches of samples at once.")
        self._waiting.append(batch)
        if not self._is_busy:
            self._is_busy = True
            self._link.spawn(self._note())

    async def _note(self) -> None:
        try:
            while self._waiting:
                batches, self._waiting = self._waiting, []
                await self._link.house.db.write(samples.note, self._link.host_id, batches)
                last = batches[-1]
                self._link.push(Noted(last.stream, last.number))
        finally:
            # A failed write ends the link; unacknowledged batches come again with the next.
            self._is_busy = False
