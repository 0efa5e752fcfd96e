"""The only place where passwords are checked: on threads, two at a time, with failures counted.

Addresses take turns: an address that sends many checks at once waits for the checks of all others.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from belvedere.access.crypto import password_hash
from belvedere.access.limits.rate_limits import LoginLimits
from belvedere.base.errors import TooMany
from belvedere.base.fair_queue import Lane, LaneFull

log = logging.getLogger("belvedere.sign_in")
# A check takes tens of milliseconds of a core; more at once would starve everything else.
MAX_PARALLEL = 2
# Checks of one address, or of one known browser, that run or wait for their turn.
MAX_WAITING = 200
# Tasks that run after the response of their request.
MAX_LATER = 100


@dataclass(frozen=True, slots=True)
class CheckLimits:
    """Checks are short, so one address may have every place while nobody else waits."""

    places: int = MAX_PARALLEL
    share: int = MAX_PARALLEL
    queue: int = MAX_WAITING - MAX_PARALLEL
    reserved: int = 0


class PasswordChecker:
    """Runs password checks in turn, and delays or refuses clients that guess."""

    def __init__(
        self, limits: LoginLimits, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    ) -> None:
        self.limits = limits
        self._sleep = sleep
        self._lane = Lane(CheckLimits())
        self._later: set[asyncio.Task[object]] = set()

    async def verify(
        self, address: str, name: str, password_digest: str | None, password: str, user_id: str = ""
    ) -> bool:
        """Whether the password is right. Takes the same time without a digest (an unknown user)."""
        hashes, user_ids = (
            [password_digest] if password_digest else [],
            [user_id] if user_id else [],
        )
        match = await self.find_match(address, name, hashes, password, user_ids=user_ids)
        return match is not None

    async def find_match(
        self,
        address: str,
        name: str,
        hashes: Sequence[str],
        password: str,
        *,
        checks: int = 1,
        browser: str = "",
        user_ids: Sequence[str] = (),
        customer: str = "",
    ) -> str | None:
        """The hash that the password matches: an e-mail address may have several accounts. At least
        `checks` hashes are compared, whether there are accounts or not.

        `browser` is one that the owner of the account used before: it is not delayed and does not
        share the limit of its address."""
        self.limits.check(address, browser=browser)
        delay_s = 0.0 if browser else self.limits.delay_s(name)
        if delay_s:
            await self._sleep(delay_s)
        async with self._turn(browser or address):
            # Checked again after waiting: a hundred concurrent guesses all passed the first check.
            self.limits.check(address, browser=browser)
            match = await asyncio.to_thread(_first_match, hashes, password, checks)
            if match is None:
                self.limits.record_failure(
                    address, name, browser=browser, user_ids=user_ids, customer=customer
                )
        return match

    async def digest(self, address: str, password: str, names: Iterable[str] = ()) -> str:
        """The hash of a new password; Invalid when it is not acceptable. `names` are those of the
        person and of the organization, which are not accepted."""
        async with self._turn(address):
            return await asyncio.to_thread(password_hash.new_digest, password, tuple(names))

    async def rehash(self, address: str, stored_hash: str | None, password: str) -> str | None:
        """A new hash of a correct password when the stored one has outdated parameters."""
        if stored_hash is None or not password_hash.needs_rehash(stored_hash):
            return None
        async with self._turn(address):
            return await asyncio.to_thread(password_hash.digest, password)

    def run_later(self, work: Coroutine[Any, Any, object]) -> None:
        """Run a task after the response, so that its duration reveals nothing to the caller."""
        if len(self._later) >= MAX_LATER:
            work.close()
            raise _busy()
        task = asyncio.create_task(work)
        self._later.add(task)
        task.add_done_callback(self._report_failure)

    def _report_failure(self, task: "asyncio.Task[object]") -> None:
        self._later.discard(task)
        if not task.cancelled() and task.exception() is not None:
            log.error("task after a response failed", exc_info=task.exception())

    async def wait_idle(self) -> None:
        """Wait until all tasks of `run_later` have ended."""
        while self._later:
            await asyncio.wait(self._later)

    @asynccontextmanager
    async def _turn(self, source: str) -> AsyncIterator[None]:
        try:
            async with self._lane.place(source):
                yield
        except LaneFull:
            raise _busy() from None


def _busy() -> TooMany:
    message = "Too many sign-ins from this address at the moment. Try again."
    return TooMany(message, retry_after_s=2)


def _first_match(hashes: Sequence[str], password: str, checks: int) -> str | None:
    """All are compared, also after a match: the time must reveal nothing about the accounts."""
    padding = [None] * max(checks - len(hashes), 0 if hashes else 1)
    matches = [
        stored_hash
        for stored_hash in (*hashes, *padding)
        if password_hash.matches(stored_hash, password)
    ]
    return matches[0] if matches else None
