"""A clock that a test sets."""

from belvedere.base.clock import SECOND, Millis, wall


class ManualClock:
    """A clock that stands still until a test moves it."""

    def __init__(self) -> None:
        self.now: Millis = wall()
        self._elapsed: Millis = 0

    def __call__(self) -> Millis:
        return self.now

    def steady(self) -> Millis:
        """The monotonic clock that belongs to it."""
        return self._elapsed

    def move(self, seconds: float) -> None:
        """Time passes."""
        self.now += round(seconds * SECOND)
        self._elapsed += round(seconds * SECOND)

    def set_by(self, seconds: float) -> None:
        """The clock is set; no time passes."""
        self.now += round(seconds * SECOND)
