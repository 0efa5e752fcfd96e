"""Judging by a clock that cannot jump: what a wrong wall clock says must stay true for a while."""

import time
from collections.abc import Callable, Hashable, Iterable
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
# Seconds from any beginning.
Steady = Callable[[], float]


class Observed(Generic[Key]):
    """For how long each thing has been seen at every look.

    A wall clock that is set forward makes everybody look late at once. Who is alive corrects that
    within seconds, and only those who do not are judged.
    """

    def __init__(self, steady: Steady = time.monotonic) -> None:
        self._steady = steady
        self._since: dict[Key, float] = {}

    def look(self, seen_now: Iterable[Key]) -> dict[Key, float]:
        """Seconds for each of them; whatever is missing now begins anew when it returns."""
        now = self._steady()
        self._since = {key: self._since.get(key, now) for key in seen_now}
        return {key: now - since for key, since in self._since.items()}
