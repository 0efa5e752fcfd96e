"""Limits on agent connections without a session, and on new sessions of each host."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager

from belvedere.access.limits.rate_limits import RateWindow
from belvedere.base.clock import MINUTE, Clock, Millis
from belvedere.base.errors import TooMany, Unavailable
from belvedere.base.networks import client_network

# Connections whose credential is being looked up.
MAX_UNAUTHENTICATED = 1_024
MAX_UNAUTHENTICATED_PER_ADDRESS = 128
# Connections with the credential of one host that have not said hello yet.
MAX_BEFORE_HELLO = 8
# Connections of all hosts that may wait for their session; the others wait for the answer to their
# handshake, so that no agent has timed out by the time its hello is read.
MAX_ACCEPTED = 2_000
# Sessions that are opened at the same time. More would only make each of them slower.
MAX_OPENING = 32
# An agent waits 45 s for the answer to its handshake; earlier versions give up after 15 s.
ADMISSION_S = 40.0
# Open polls of one host over plain HTTP; an agent has one, or two for a moment.
MAX_WAITING = 8
# Sessions that the agent of one host may open within a minute.
MAX_HELLOS_PER_MINUTE = 120


def _monotonic() -> Millis:
    return int(time.monotonic() * 1_000)


class Handshakes:
    """Counts in memory only, per server."""

    def __init__(self, clock: Clock = _monotonic) -> None:
        self._addresses: Counter[str] = Counter()
        self._hosts: Counter[str] = Counter()
        self._waiting: Counter[str] = Counter()
        self._hellos = RateWindow(MAX_HELLOS_PER_MINUTE, MINUTE, clock)
        self._accepted = asyncio.Semaphore(MAX_ACCEPTED)
        # Entered while a session is opened; in the order of the hellos.
        self.opening = asyncio.Semaphore(MAX_OPENING)

    @contextmanager
    def unauthenticated(self, address: str) -> Iterator[None]:
        """Count a connection whose credential is being checked."""
        key = client_network(address)
        if (
            self._addresses.total() >= MAX_UNAUTHENTICATED
            or self._addresses[key] >= MAX_UNAUTHENTICATED_PER_ADDRESS
        ):
            raise TooMany("Too many connections at once; try again in a moment.", retry_after_s=1)
        release = _count(self._addresses, key)
        try:
            yield
        finally:
            release()

    @asynccontextmanager
    async def admission(self) -> AsyncIterator[Callable[[], None]]:
        """Wait for a place among the connections that open a session, until the function that it
        yields is called. After a restart all agents connect at once: they wait here in their order,
        instead of being refused."""
        try:
            async with asyncio.timeout(ADMISSION_S):
                await self._accepted.acquire()
        except TimeoutError:
            raise Unavailable("Many agents connect at the moment; try again later.") from None
        release = _once(self._accepted.release)
        try:
            yield release
        finally:
            release()

    @contextmanager
    def before_hello(self, host_id: str) -> Iterator[Callable[[], None]]:
        """Count a connection of a host until the function that it yields is called."""
        if self._hosts[host_id] >= MAX_BEFORE_HELLO:
            raise TooMany(
                f"This host has {MAX_BEFORE_HELLO} connections that have not sent a hello.",
                retry_after_s=1,
            )
        release = _count(self._hosts, host_id)
        try:
            yield release
        finally:
            release()

    @contextmanager
    def waiting(self, host_id: str) -> Iterator[None]:
        """Count a poll of an agent over plain HTTP."""
        if self._waiting[host_id] >= MAX_WAITING:
            raise TooMany(f"This host has {MAX_WAITING} open polls.", retry_after_s=1)
        release = _count(self._waiting, host_id)
        try:
            yield
        finally:
            release()

    def check_rate(self, host_id: str) -> None:
        if self._hellos.wait(host_id):
            raise TooMany(
                f"This host opened {MAX_HELLOS_PER_MINUTE} sessions within a minute; wait.",
                retry_after_s=1,
            )
        self._hellos.add(host_id)


def _once(call: Callable[[], None]) -> Callable[[], None]:
    """A function that calls this one at its first call only."""
    is_due = True

    def run() -> None:
        nonlocal is_due
        if is_due:
            is_due = False
            call()

    return run


def _count(counts: Counter[str], key: str) -> Callable[[], None]:
    """Count up; the returned function counts down, once."""
    counts[key] += 1

    def release() -> None:
        counts[key] -= 1
        if not counts[key]:
            del counts[key]

    return _once(release)
