"""Sends messages to Redis in the background. They wait in memory, in a limited number and for a
limited time: nothing else waits for Redis, and a message that nobody could receive is dropped."""

import asyncio
import logging
import ssl
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from belvedere.base.clock import MINUTE, Clock, Millis
from belvedere.server.redis.connection import RedisAddress, RedisConnection, RedisError

log = logging.getLogger("belvedere.redis")
MAX_WAITING = 10_000
MAX_AGE: Millis = MINUTE
BATCH_SIZE = 100
RETRY_S = (1.0, 2.0, 5.0, 10.0, 30.0)
_FAULTS = (OSError, TimeoutError, ssl.SSLError, RedisError)


@dataclass(frozen=True, slots=True)
class RedisMessage:
    channel: str
    text: str
    at: Millis


@dataclass(slots=True)
class RedisPublisher:
    address: RedisAddress
    clock: Clock
    dropped: int = 0
    _messages: deque[RedisMessage] = field(default_factory=deque)
    _connection: RedisConnection | None = None
    # Failures in a row.
    _failures: int = 0
    _loop: asyncio.AbstractEventLoop | None = None
    _signal: asyncio.Event = field(default_factory=asyncio.Event)

    def offer(self, messages: Iterable[RedisMessage]) -> None:
        """Returns at once, and may be called by any thread."""
        self._messages.extend(messages)
        while len(self._messages) > MAX_WAITING:
            self._messages.popleft()
            self.dropped += 1
        if self._loop is not None and self._messages:
            self._loop.call_soon_threadsafe(self._signal.set)

    async def run(self) -> None:
        """Until it is cancelled."""
        self._loop = asyncio.get_running_loop()
        try:
            while True:
                await self.send_waiting()
                # Without a failure, new messages have set the signal.
                if self._messages and self._failures:
                    await asyncio.sleep(RETRY_S[min(self._failures, len(RETRY_S)) - 1])
                else:
                    await self._signal.wait()
                    self._signal.clear()
        finally:
            self._loop = None
            self._disconnect()

    async def send_waiting(self) -> None:
        """Send what waits, until there is nothing left or Redis fails."""
        while batch := self._next_batch():
            try:
                if self._connection is None:
                    self._connection = await RedisConnection.open(self.address)
                await self._connection.publish(
                    [(message.channel, message.text) for message in batch]
                )
            except _FAULTS as fault:
                self._fail(batch, fault)
                return
            self._report_recovery()

    def _next_batch(self) -> list[RedisMessage]:
        oldest = self.clock() - MAX_AGE
        batch: list[RedisMessage] = []
        while self._messages and len(batch) < BATCH_SIZE:
            message = self._messages.popleft()
            if message.at < oldest:
                self.dropped += 1
            else:
                batch.append(message)
        return batch

    def _fail(self, batch: list[RedisMessage], fault: Exception) -> None:
        """Some of the batch may have been sent already; a program may get these twice."""
        self._disconnect()
        self._messages.extendleft(reversed(batch))
        self._failures += 1
        if self._failures == 1:
            # Only the class of an operating system's error is certain to contain no credential.
            reason = str(fault) if isinstance(fault, RedisError) else type(fault).__name__
            log.warning(
                "redis is unavailable; old job ends are dropped max_age_s=%s address=%s error=%s",
                *(MAX_AGE // 1_000, self.address, reason),
            )

    def _report_recovery(self) -> None:
        if self._failures:
            log.info("redis is available again address=%s dropped=%s", self.address, self.dropped)
            self._failures = 0

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
