"""Whether this server is stopping, and which load balancers have noticed it.

A load balancer sends requests until its health check of `/-/ready` has failed a few times. The
server therefore continues to accept connections until every balancer has got that many refusals.
"""

import time
from collections.abc import Callable

import msgspec

# HAProxy and most others give a server up after three failed checks at the latest.
FAILURES = 3
# A balancer that missed this many checks is gone, or was never a regular checker.
MISSED, GONE_S = 3, 1.0
# Who checks less often is a monitor of the service, and could not see three refusals in time.
MAX_INTERVAL_S = 10.0
# Addresses whose checks are remembered.
MAX_BALANCERS = 64


class Balancer(msgspec.Struct):
    """An address that checks `/-/ready` again and again."""

    checked_at: float
    # Seconds between its last two checks; None after the first.
    interval_s: float | None = None
    failures: int = 0

    def is_here(self, now: float) -> bool:
        if self.interval_s is None or self.interval_s > MAX_INTERVAL_S:
            return False
        return now - self.checked_at < MISSED * self.interval_s + GONE_S


class DrainState:
    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._balancers: dict[str, Balancer] = {}
        # From the first signal: `/-/ready` is 503, and each response closes its connection.
        self.is_draining = False
        # Later: agents have to connect to another server.
        self.refuses_agents = False

    def record_check(self, address: str) -> None:
        """A request for `/-/ready`, before it is answered."""
        now = self._clock()
        balancer = self._balancers.pop(address, None)
        if balancer is None:
            balancer = Balancer(now)
            if len(self._balancers) >= MAX_BALANCERS:
                del self._balancers[self._least_regular()]
        else:
            balancer.interval_s = now - balancer.checked_at
        balancer.checked_at = now
        balancer.failures += self.is_draining
        # At the end: the first one is the one that has not checked for the longest time.
        self._balancers[address] = balancer

    def _least_regular(self) -> str:
        """One that has checked only once, else the one with the oldest check."""
        once = (a for a, balancer in self._balancers.items() if balancer.interval_s is None)
        return next(once, next(iter(self._balancers)))

    def is_expected(self) -> bool:
        """Whether a balancer may still send requests, because it has not seen enough refusals."""
        now = self._clock()
        return any(
            balancer.failures < FAILURES and balancer.is_here(now)
            for balancer in self._balancers.values()
        )
