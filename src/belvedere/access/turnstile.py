"""The one place where passwords are checked: on threads, two at a time, wrong ones counted."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager

from belvedere.access import passwords
from belvedere.access.limits import Limits
from belvedere.base.errors import TooMany

# A check takes tens of milliseconds of a core; more at once would starve everything else.
AT_ONCE = 2
MAX_WAITING = 200


class Turnstile:
    """Lets password checks through in turn, and slows down or refuses those who guess."""

    def __init__(
        self, limits: Limits, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    ) -> None:
        self.limits = limits
        self._sleep = sleep
        self._gate = asyncio.Semaphore(AT_ONCE)
        self._waiting = 0

    async def verify(self, address: str, account: str, kept: str | None, password: str) -> bool:
        """Whether the password is right; `kept` is None for an unknown user, and as slow."""
        found = await self.which(address, account, [kept] if kept else [], password)
        return found is not None

    async def which(
        self, address: str, account: str, hashes: Sequence[str], password: str
    ) -> str | None:
        """The hash that the password is right for: an address may have several accounts. Without
        any it takes as long as with one."""
        self.limits.check(address)
        delay_s = self.limits.slow_s(address, account)
        if delay_s:
            await self._sleep(delay_s)
        async with self._turn():
            # Again, now that it is our turn: a hundred guesses at once all passed the first look.
            self.limits.check(address)
            found = await asyncio.to_thread(_matching, hashes, password)
            if found is not None:
                self.limits.right(address, account)
            else:
                self.limits.wrong(address, account)
        return found

    async def digest(self, password: str) -> str:
        """The form in which a new password is kept; Invalid when it is a bad one."""
        passwords.check(password)
        async with self._turn():
            return await asyncio.to_thread(passwords.digest, password)

    async def renewed(self, kept: str | None, password: str) -> str | None:
        """A right password hashed anew when its hash is of an older make."""
        if kept is None or not passwords.is_dated(kept):
            return None
        async with self._turn():
            return await asyncio.to_thread(passwords.digest, password)

    @asynccontextmanager
    async def _turn(self) -> AsyncIterator[None]:
        if self._waiting >= MAX_WAITING:
            raise TooMany("Too many people sign in at this moment; try again.", retry_after_s=2)
        self._waiting += 1
        try:
            async with self._gate:
                yield
        finally:
            self._waiting -= 1


def _matching(hashes: Sequence[str], password: str) -> str | None:
    if not hashes:
        passwords.matches(None, password)
    return next((kept for kept in hashes if passwords.matches(kept, password)), None)
