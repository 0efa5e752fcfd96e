"""Limits on failed attempts. Each kind of credential has its own window, in memory."""

from collections import OrderedDict
from collections.abc import Hashable, Sequence
from enum import StrEnum

from belvedere.access.limits.failed_attempts import FailedAttempts
from belvedere.base.clock import DAY, MINUTE, SECOND, Clock, Millis
from belvedere.base.errors import TooMany
from belvedere.base.networks import client_network

# Failed attempts of one kind from one network, or for one target where attempts have a target.
WRONG_PER_MINUTE = 20
# Wrong secrets from one network over all targets.
WRONG_SECRETS_PER_MINUTE = 100
# Wrong passwords for one name before checks from unknown browsers are delayed.
FREE_TRIES = 5
DELAY_WINDOW = 15 * MINUTE
MAX_DELAY_S = 8.0
# A secret that was right within this time is not refused because of other people's wrong ones.
PROVEN_WINDOW: Millis = DAY
MAX_KEYS = 10_000


class AttemptKind(StrEnum):
    """What kind of credential was wrong. Attempts of one kind never count against another."""

    PASSWORD = "password"
    CODE = "second_factor"
    LINK = "link"
    SECRET = "secret"
    AGENT = "agent"
    PROVIDER = "provider"
    SETUP = "setup"
    RECOVERY = "recovery"
    ENROLMENT = "enrolment"


# Attempts at one of many objects: counted for each object, and over all with a higher limit.
_WITH_TARGET = (AttemptKind.SECRET, AttemptKind.AGENT, AttemptKind.ENROLMENT)


class RateWindow:
    """Counts events per key within a time span, up to `limit`. The keys that were idle longest are
    evicted first."""

    def __init__(self, limit: int, span: Millis, clock: Clock, max_keys: int = MAX_KEYS) -> None:
        self.limit, self.span, self.clock, self.max_keys = limit, span, clock, max_keys
        self._times: OrderedDict[Hashable, list[Millis]] = OrderedDict()

    def add(self, key: Hashable) -> None:
        # A list: an empty deque takes 600 bytes, and most keys have one time.
        times = self._times.setdefault(key, [])
        self._times.move_to_end(key)
        times.append(self.clock())
        del times[: -self.limit]
        # The first key is the one whose last time is the oldest.
        oldest = next(iter(self._times))
        if len(self._times) > self.max_keys or self._times[oldest][-1] <= self.clock() - self.span:
            del self._times[oldest]

    def count(self, key: Hashable) -> int:
        times = self._times.get(key)
        if times is None:
            return 0
        now = self.clock()
        # A time in the future was counted before the clock was set back: it would block for as
        # long.
        while times and not now - self.span < times[0] <= now:
            del times[0]
        if not times:
            del self._times[key]
        return len(times)

    def wait(self, key: Hashable) -> Millis:
        """How long until another event is allowed; 0: now."""
        if self.count(key) < self.limit:
            return 0
        return self._times[key][0] + self.span - self.clock()

    def drop(self, key: Hashable) -> None:
        self._times.pop(key, None)

    def __len__(self) -> int:
        return len(self._times)


class LoginLimits:
    """Failed attempts by kind and network, and by target where the kind has targets."""

    def __init__(
        self, clock: Clock, per_minute: int = WRONG_PER_MINUTE, max_keys: int = MAX_KEYS
    ) -> None:
        self.failures = FailedAttempts(clock)
        self._windows = {
            kind: RateWindow(per_minute, MINUTE, clock, max_keys) for kind in AttemptKind
        }
        wide = per_minute * WRONG_SECRETS_PER_MINUTE // WRONG_PER_MINUTE
        self._over_all = {kind: RateWindow(wide, MINUTE, clock, max_keys) for kind in _WITH_TARGET}
        self._names = RateWindow(FREE_TRIES + 6, DELAY_WINDOW, clock, max_keys)
        self._reports = RateWindow(1, DELAY_WINDOW, clock, max_keys)
        self._proven = RateWindow(1, PROVEN_WINDOW, clock, max_keys)

    def check(
        self,
        address: str,
        kind: AttemptKind = AttemptKind.PASSWORD,
        target: str = "",
        *,
        proof: str = "",
        browser: str = "",
    ) -> None:
        """Refuse a network with too many failed attempts within a minute.

        `proof` is the digest of the secret that was sent: one that was right lately always passes,
        so that nobody can block a caller by sending wrong secrets from the same network.
        `browser` is one that the account's owner used before: it has a count of its own for the
        same reason."""
        if proof and self._proven.count(proof):
            return
        place = client_network(address)
        wait = self._windows[kind].wait(_key(place, target, browser))
        if kind in self._over_all:
            wait = max(wait, self._over_all[kind].wait(place))
        if wait > 0:
            self.failures.add(kind, place, refused=True)
            raise TooMany(
                "Too many wrong passwords or secrets from this address. Try again later.",
                retry_after_s=-(-wait // SECOND),
            )

    def record_failure(
        self,
        address: str,
        name: str = "",
        kind: AttemptKind = AttemptKind.PASSWORD,
        target: str = "",
        *,
        proof: str = "",
        browser: str = "",
        user_ids: Sequence[str] = (),
        customer: str = "",
    ) -> None:
        """Count a failed attempt. `name` is what was typed: a name counts the same whether or not
        an account has it. `user_ids` and `customer` are only for the audit."""
        place = client_network(address)
        self._windows[kind].add(_key(place, target, browser))
        if kind in self._over_all:
            self._over_all[kind].add(place)
        if name:
            self._names.add(name)
        self._proven.drop(proof)
        if kind is not AttemptKind.RECOVERY:
            for user_id in user_ids or ("",):
                self.failures.add(kind, place, user_id, customer)

    def record_success(self, proof: str) -> None:
        """The secret was right: for a while it passes whatever others try."""
        self._proven.add(proof)

    def delay_s(self, name: str) -> float:
        """How long an unknown browser waits before the check. A delay, never a refusal: nobody can
        lock somebody else out. It depends only on what was typed, so it does not reveal who has an
        account."""
        over = self._names.count(name) - FREE_TRIES
        return 0.0 if over < 0 else min(MAX_DELAY_S, 0.25 * 2.0**over)

    def may_report(self, account: str) -> bool:
        """Whether a forgotten password of the account may be reported again."""
        if self._reports.wait(account):
            return False
        self._reports.add(account)
        return True


def count_secret_use(uses: RateWindow, key: Hashable) -> None:
    """Count one use of a right key; a flood with one key must not slow down the others."""
    if uses.wait(key):
        raise TooMany("Too many requests with this secret key. Try again later.", retry_after_s=1)
    uses.add(key)


def _key(place: str, target: str, browser: str) -> tuple[str, str]:
    return ("browser", browser) if browser else (place, target)
