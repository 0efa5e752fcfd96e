"""Waiting for a condition, with a deadline and a reason for the error if it is not met."""

import time
from collections.abc import Callable
from typing import TypeVar

Found = TypeVar("Found")
PAUSE_S = 0.02


def until(
    look: Callable[[], Found],
    within_s: float = 20.0,
    why: Callable[[], object] = lambda: "",
    pause_s: float = PAUSE_S,
) -> Found:
    """The first truthy result."""
    give_up_at = time.monotonic() + within_s
    while True:
        value = look()
        if value:
            return value
        if time.monotonic() > give_up_at:
            raise AssertionError(f"not within {within_s:g} s: {why()}")
        time.sleep(pause_s)
