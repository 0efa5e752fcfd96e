"""Open HTTP connections of this process: how many each address may have, and which are closed when
they make no progress or when descriptors run short.

A connection that was upgraded to a WebSocket leaves this registry (`leave`), and counts only for
the total: `server_state.connections` of uvicorn holds both kinds. Code that limits WebSockets by
address can use `key_of` for the address and `Connections.limit_of` for the proxy rule.
"""

import heapq
import logging
import resource
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Protocol

from belvedere.base.networks import client_network

log = logging.getLogger("belvedere.connections")

MAX_NOFILE = 65_536
# Descriptors that are reserved for databases, files, outgoing calls and processes.
RESERVED_SHARE, MIN_RESERVED = 8, 64
# Above this share of the total, idle and incomplete connections are closed sooner.
PRESSURE = 0.75
# Bytes of responses that wait in memory for clients that do not read them.
MAX_UNSENT = 64 << 20
# Above this, connections of clients that read slowly are closed, too.
MAX_SLOWLY_SENT = 128 << 20
STALLED_S = 2.0
# When there is no room, this share of the closable connections is closed at once, so that a flood
# of new connections does not search all of them each time.
SHED_SHARE = 16


class TrackedConnection(Protocol):
    """What the registry needs of a connection; http_protocol.py implements it."""

    address: str

    def rank(self) -> tuple[int, float] | None:
        """How soon it is closed when there is no room (lowest first); None: it is in use."""

    def overdue(self, now: float, *, pressure: bool) -> str | None:
        """Why it is closed now; None: it may stay."""

    def unsent(self, now: float) -> tuple[int, float]:
        """Bytes that the client has not read, and for how long it has read nothing."""

    def abort(self) -> None: ...


def raise_nofile() -> None:
    """Raise the limit of open files to the hard limit, at most MAX_NOFILE."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    target = MAX_NOFILE if hard == resource.RLIM_INFINITY else min(hard, MAX_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < target:
        resource.setrlimit(resource.RLIMIT_NOFILE, (target, hard))


def capacity() -> int:
    """How many connections fit, with descriptors left for everything else."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    nofile = MAX_NOFILE if soft == resource.RLIM_INFINITY else soft
    return max(1, nofile - max(MIN_RESERVED, nofile // RESERVED_SHARE))


def key_of(address: str) -> str:
    """An IPv4 address, or the /64 network of an IPv6 address."""
    return client_network(address)


class Connections:
    """The registry. `total` is the number of connections of both kinds, HTTP and WebSocket."""

    def __init__(
        self,
        per_address: int,
        capacity: int,
        proxies: Iterable[str] = (),
        is_proxy: Callable[[str], bool] = lambda key: False,
    ) -> None:
        self.capacity = capacity
        # One address must not be able to use every descriptor.
        self.per_address = min(per_address, max(1, capacity // 2))
        self._proxies = frozenset(map(key_of, proxies))
        self._is_proxy = lru_cache(maxsize=1_024)(is_proxy)
        self._by_address: dict[str, dict[TrackedConnection, None]] = {}
        self.closed = 0

    def __len__(self) -> int:
        return sum(map(len, self._by_address.values()))

    def limit_of(self, key: str) -> int:
        """A declared proxy serves many clients: only the total limits it."""
        is_proxy = key in self._proxies or self._is_proxy(key)
        return self.capacity if is_proxy else self.per_address

    def enter(self, connection: TrackedConnection, total: int) -> bool:
        """Register it; False when there is no room even after idle connections were closed."""
        key = key_of(connection.address)
        same = self._by_address.setdefault(key, {})
        fits = len(same) < self.limit_of(key) or self._shed(same)
        if fits and total >= self.capacity:
            fits = self._shed([other for group in self._by_address.values() for other in group])
        if fits:
            same[connection] = None
        elif not same:
            del self._by_address[key]
        return fits

    def leave(self, connection: TrackedConnection) -> None:
        key = key_of(connection.address)
        same = self._by_address.get(key)
        if same is not None:
            same.pop(connection, None)
            if not same:
                del self._by_address[key]

    def _shed(self, candidates: Iterable[TrackedConnection]) -> bool:
        """Close the connections that wait longest for something the client has not sent."""
        ranked = [
            (rank, n, connection)
            for n, connection in enumerate(candidates)
            if (rank := connection.rank()) is not None
        ]
        for _, _, connection in heapq.nsmallest(max(1, len(ranked) // SHED_SHARE), ranked):
            self._close(connection)
        return bool(ranked)

    def _close(self, connection: TrackedConnection) -> None:
        self.closed += 1
        same = self._by_address.get(key_of(connection.address))
        if same is not None:
            # The key stays: the caller may be about to add to it.
            same.pop(connection, None)
        connection.abort()

    def sweep(self, now: float, total: int) -> None:
        """Once a second: close connections that are overdue or use too much memory."""
        pressure = total > self.capacity * PRESSURE
        for connection in [
            open_connection for group in self._by_address.values() for open_connection in group
        ]:
            reason = connection.overdue(now, pressure=pressure)
            if reason is not None:
                # A client that reads nothing is logged; slow or idle ones are common.
                level = logging.INFO if reason == "not_reading" else logging.DEBUG
                log.log(level, "connection closed address=%s reason=%s", connection.address, reason)
                self._close(connection)
        self._free_memory(now)
        for key in [key for key, same in self._by_address.items() if not same]:
            del self._by_address[key]

    def _free_memory(self, now: float) -> None:
        unsent = [
            (size, stalled, n, connection)
            for n, connection in enumerate(
                connection for group in self._by_address.values() for connection in group
            )
            for size, stalled in (connection.unsent(now),)
            if size
        ]
        total = sum(size for size, *_ in unsent)
        for size, stalled, _, connection in sorted(unsent, reverse=True):
            if total <= MAX_UNSENT:
                return
            if stalled > STALLED_S or total > MAX_SLOWLY_SENT:
                log.warning("slow reader closed address=%s unsent=%s", connection.address, size)
                self._close(connection)
                total -= size
