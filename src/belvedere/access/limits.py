"""How often one may be wrong: per address a limit, per account a slower door. In memory only."""

import ipaddress
from collections import OrderedDict, deque
from collections.abc import Hashable

from belvedere.base.clock import MINUTE, SECOND, Clock, Millis
from belvedere.base.errors import TooMany

WRONG_PER_MINUTE = 20
# Wrong passwords of one account, from strangers, before the door gets slower for strangers.
FREE_TRIES = 5
SLOW_SPAN = 15 * MINUTE
SLOWEST_S = 8.0
ROOM = 10_000


class Window:
    """Counts per key what happened within a span, up to `limit`; the longest idle keys go first."""

    def __init__(self, limit: int, span: Millis, clock: Clock, room: int = ROOM) -> None:
        self.limit, self.span, self.clock, self.room = limit, span, clock, room
        self._times: OrderedDict[Hashable, deque[Millis]] = OrderedDict()

    def add(self, key: Hashable) -> None:
        times = self._times.setdefault(key, deque(maxlen=self.limit))
        self._times.move_to_end(key)
        times.append(self.clock())
        if len(self._times) > self.room:
            self._times.popitem(last=False)

    def count(self, key: Hashable) -> int:
        times = self._times.get(key)
        if times is None:
            return 0
        while times and times[0] <= self.clock() - self.span:
            times.popleft()
        if not times:
            del self._times[key]
        return len(times)

    def wait(self, key: Hashable) -> Millis:
        """How long until there is room for one more; 0 when there is."""
        if self.count(key) < self.limit:
            return 0
        return self._times[key][0] + self.span - self.clock()

    def __len__(self) -> int:
        return len(self._times)


class Limits:
    """Wrong secrets and passwords, by address and by account."""

    def __init__(self, clock: Clock, per_minute: int = WRONG_PER_MINUTE, room: int = ROOM) -> None:
        self._addresses = Window(per_minute, MINUTE, clock, room)
        self._accounts = Window(FREE_TRIES + 6, SLOW_SPAN, clock, room)
        self._asked = Window(1, SLOW_SPAN, clock, room)
        self._known: OrderedDict[tuple[str, str], None] = OrderedDict()
        self._room = room

    def check(self, address: str) -> None:
        """Refuse an address that has been wrong too often within a minute."""
        wait = self._addresses.wait(network(address))
        if wait > 0:
            raise TooMany(
                "Too many wrong passwords or secrets from this address; wait a moment.",
                retry_after_s=-(-wait // SECOND),
            )

    def wrong(self, address: str, account: str = "") -> None:
        self._addresses.add(network(address))
        if account:
            self._accounts.add(account)

    def right(self, address: str, account: str) -> None:
        """From now on this address is no stranger to this account."""
        key = (account, network(address))
        self._known[key] = None
        self._known.move_to_end(key)
        if len(self._known) > self._room:
            self._known.popitem(last=False)

    def slow_s(self, address: str, account: str) -> float:
        """How long a stranger waits before the check. A delay, never a refusal: nobody can lock
        somebody else out, and where the owner has signed in before there is no delay at all."""
        if (account, network(address)) in self._known:
            return 0.0
        over = self._accounts.count(account) - FREE_TRIES
        return 0.0 if over < 0 else min(SLOWEST_S, 0.25 * 2.0**over)

    def may_ask(self, account: str) -> bool:
        """Whether a forgotten password may be reported again; once in a while is enough."""
        if self._asked.wait(account):
            return False
        self._asked.add(account)
        return True


def use_secret(uses: Window, key: Hashable) -> None:
    """Count one use of a right key; a flood must not drown the others."""
    if uses.wait(key):
        raise TooMany("This secret key is used too often; slow down.", retry_after_s=1)
    uses.add(key)


def network(address: str) -> str:
    """One IPv4 address, or one IPv6 network of 64 bits: what one customer of a provider holds."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv4Address):
        return str(found)
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return str(ipaddress.ip_network((found, 64), strict=False))
