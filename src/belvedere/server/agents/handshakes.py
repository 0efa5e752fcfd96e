"""Limits on agent connections without a session, and on new sessions of each host."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from weakref import WeakValueDictionary

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
# handshake, so that no agent has timed out by the time its hello is read: it waits 15 s for the
# answer to that, three times as long as so many sessions take on a slow machine.
MAX_ACCEPTED = 512
# Of these, connections of one organization that have not sent their hello. An agent sends it at
# once; a client that does not must not take the places of other organizations.
MAX_SILENT = 128
# Sessions that are opened at the same time. More would only make each of them slower.
MAX_OPENING = 32
# On SQLite, sessions that follow each other faster are opened together, in one transaction: one for
# each would take twice as long.
GROUP_S = 0.02
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
        # By organization, while it has connections without a hello.
        self._silent: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()
        # Entered while a session is opened; in the order of the hellos.
        self.opening = asyncio.Semaphore(MAX_OPENING)
        # The end of the current group, and what wakes the hellos that wait for it.
        self._group_ends_at = 0.0
        self._next_group: asyncio.Future[None] | None = None

    @contextmanager
    def unauthenticated(self, address: str) -> Iterator[None]:
        """Count a connection whose credential is being checked."""
        key = client_network(address)
        if (
            self._addresses.total() >= MAX_UNAUTHENTICATED
            or self._addresses[key] >= MAX_UNAUTHENTICATED_PER_ADDRESS
        ):
            raise TooMany("Too many connections at once; try again in a moment.", retry_after_s=1)
        with _counted(self._addresses, key):
            yield

    @asynccontextmanager
    async def admission(self, customer_id: str) -> AsyncIterator[Callable[[], None]]:
        """Wait for a place among the connections that open a session. After a restart all agents
        connect at once: they wait here in their order, instead of being refused. The function that
        it yields is to be called when the hello has arrived."""
        silent = self._silent.setdefault(customer_id, asyncio.Semaphore(MAX_SILENT))
        try:
            async with asyncio.timeout(ADMISSION_S):
                await silent.acquire()
                try:
                    await self._accepted.acquire()
                except BaseException:
                    silent.release()
                    raise
        except TimeoutError:
            raise Unavailable("Many agents connect at the moment; try again later.") from None
        note_hello = _once(silent.release)
        try:
            yield note_hello
        finally:
            note_hello()
            self._accepted.release()

    async def group(self) -> None:
        """Wait for the next group of sessions; not at all if none was opened just now."""
        loop = asyncio.get_running_loop()
        if self._next_group is None and loop.time() >= self._group_ends_at:
            self._group_ends_at = loop.time() + GROUP_S
            return
        if self._next_group is None:
            self._next_group = loop.create_future()
            loop.call_at(self._group_ends_at, self._start_group)
        # One that disconnects meanwhile must not cancel it for the others.
        await asyncio.shield(self._next_group)

    def _start_group(self) -> None:
        assert self._next_group is not None
        self._next_group.set_result(None)
        self._next_group = None
        self._group_ends_at = asyncio.get_running_loop().time() + GROUP_S

    @contextmanager
    def before_hello(self, host_id: str) -> Iterator[None]:
        """Count a connection of a host until its session is open."""
        if self._hosts[host_id] >= MAX_BEFORE_HELLO:
            raise TooMany(
                f"This host has {MAX_BEFORE_HELLO} connections that have not sent a hello.",
                retry_after_s=1,
            )
        with _counted(self._hosts, host_id):
            yield

    @contextmanager
    def waiting(self, host_id: str) -> Iterator[None]:
        """Count a poll of an agent over plain HTTP."""
        if self._waiting[host_id] >= MAX_WAITING:
            raise TooMany(f"This host has {MAX_WAITING} open polls.", retry_after_s=1)
        with _counted(self._waiting, host_id):
            yield

    def check_rate(self, host_id: str) -> None:
        if self._hellos.wait(host_id):
            raise TooMany(
                f"This host opened {MAX_HELLOS_PER_MINUTE} sessions within a minute; wait.",
                retry_after_s=1,
            )
        self._hellos.add(host_id)


@contextmanager
def _counted(counts: Counter[str], key: str) -> Iterator[None]:
    counts[key] += 1
    try:
        yield
    finally:
        counts[key] -= 1
        if not counts[key]:
            del counts[key]


def _once(call: Callable[[], None]) -> Callable[[], None]:
    """A function that calls this one at its first call only."""
    calls = [call]

    def run() -> None:
        if calls:
            calls.pop()()

    return run
