"""Time under a test's control."""

from belvedere.base.clock import SECOND, Millis, wall


class HandClock:
    """A clock that stands still until a test moves it."""

    def __init__(self) -> None:
        self.now: Millis = wall()

    def __call__(self) -> Millis:
        return self.now

    def move(self, seconds: float) -> None:
        self.now += round(seconds * SECOND)
