"""The part of an agent's link that is about monitors: configuration goes out, samples come in."""

import asyncio
from typing import TYPE_CHECKING, Any

import msgspec

from belvedere.db.signals import Signal
from belvedere.monitors import agent_config
from belvedere.monitors.agent_config import ListPosition
from belvedere.monitors.evaluation import samples
from belvedere.protocol import Noted, Samples, Watch
from belvedere.server.agents.close_reasons import Goodbye
from belvedere.server.agents.transfers.limits import MAX_BATCHES, MAX_WAITING
from belvedere.server.storage import SAMPLE_BYTES

if TYPE_CHECKING:
    from belvedere.server.agents.connection import Link

# Changes of this time leave in one frame.
GATHER_S = 0.1
# Whole lists that an agent may ask for on one connection.
MAX_LISTS = 20
encode = msgspec.json.Encoder().encode


class Watcher:
    """Keeps one agent's configuration in step, and its samples in order."""

    def __init__(self, link: "Link", send: Any) -> None:
        self._link = link
        # Waits while the agent does not read. Each list, part or difference is a frame of its own.
        self._send = send
        # From the hello; an older agent gets the whole list in one frame.
        self.takes_changes = False
        # How far the agent has been told.
        self._at = ListPosition()
        self._is_rung = self._is_telling = self._needs_list = False
        self._lists = 0
        # What the last beat said that the agent has, if that was not what it was sent.
        self._behind: tuple[int, ListPosition] | None = None
        self._waiting: list[Samples] = []
        self._waiting_bytes = 0
        self._is_busy = False

    @property
    def number(self) -> int:
        """Of the configuration that the agent was sent; 0: none, nor needed while there is none."""
        return max(self._at.number, 0)

    def rung(self, _: Signal | None = None) -> None:
        """The configuration may have changed."""
        self._is_rung = True
        if not self._is_telling:
            self._is_telling = True
            self._link.spawn(self._tell())

    async def _tell(self) -> None:
        """One at a time, so that numbers leave in their order."""
        try:
            while self._is_rung:
                if self._at.number >= 0:
                    await asyncio.sleep(GATHER_S)
                self._is_rung = False
                if self._needs_list:
                    self._at, self._needs_list = ListPosition(), False
                await (self._send_news() if self.takes_changes else self._send_whole())
        finally:
            self._is_telling = False

    async def _send_news(self) -> None:
        runtime, host_id = self._link.runtime, self._link.host_id
        has_more = True
        while has_more:
            news = await runtime.db.read(
                agent_config.next_message, host_id, self._at, runtime.keyring
            )
            if news is None:
                return
            watch, self._at = news
            await self._send_frame(watch)
            # What changed meanwhile has rung again, and waits for others.
            has_more = watch.more

    async def _send_whole(self) -> None:
        runtime = self._link.runtime
        watch = await runtime.db.read(agent_config.full_list, self._link.host_id, runtime.keyring)
        if watch.number > self.number:
            self._at = ListPosition(watch.number)
            await self._send_frame(watch)

    async def _send_frame(self, watch: Watch) -> None:
        await self._send({"type": "websocket.send", "text": encode([watch]).decode()})

    def send_list(self) -> None:
        """The agent misses something: send the whole list."""
        self._lists += 1
        if self._lists > MAX_LISTS:
            raise Goodbye(4400, f"More than {MAX_LISTS} lists of monitors on one connection.")
        self._needs_list, self._behind = True, None
        self.rung()

    def compare(self, number: int | None) -> None:
        """What the agent has, by its beat. What was just sent may still be under way; a difference
        that is the same one beat later is a lost message."""
        if number is None or self._is_telling or number == self._at.number:
            self._behind = None
        elif self._behind == (number, self._at):
            self.send_list()
        else:
            self._behind = (number, self._at)

    def take(self, batch: Samples, size: int) -> None:
        """One write at a time: batches must be counted in the order in which they were sent."""
        if len(self._waiting) >= MAX_BATCHES:
            raise Goodbye(4400, f"More than {MAX_BATCHES} batches of samples at once.")
        self._waiting_bytes += size
        if self._waiting_bytes > MAX_WAITING:
            raise Goodbye(4400, f"More than {MAX_WAITING} bytes of samples at once.")
        self._waiting.append(batch)
        if not self._is_busy:
            self._is_busy = True
            self._link.spawn(self._note())

    async def _note(self) -> None:
        try:
            while self._waiting:
                batches, self._waiting, self._waiting_bytes = self._waiting, [], 0
                count = sum(len(batch.samples) for batch in batches)
                has_room = self._link.runtime.storage.take(
                    self._link.customer_id, count * SAMPLE_BYTES
                )
                await self._link.runtime.db.write(
                    samples.record_batches, self._link.host_id, batches, keeps_history=has_room
                )
                last = batches[-1]
                self._link.push(Noted(last.stream, last.number))
        finally:
            # A failed write ends the link; unacknowledged batches come again with the next.
            self._is_busy = False
