"""Identifiers: 24 hex digits, the first 12 are Unix milliseconds, growing within a process."""

import os
import re
import threading
from collections.abc import Callable

from belvedere.base.clock import Millis, wall

Ids = Callable[[], str]

SHAPE = re.compile(r"[0-9a-f]{24}")
# The last digits, which are random: the first ones are equal for everything of the same hour.
SHORT_LENGTH = 6
SHORT_SHAPE = re.compile(rf"#?([0-9a-f]{{{SHORT_LENGTH}}})")


def is_id(text: str) -> bool:
    return SHAPE.fullmatch(text) is not None


def short_id(text: str) -> str:
    """The short form of an id, as the console and the command line show it."""
    return text[-SHORT_LENGTH:]


def as_short_id(text: str) -> str | None:
    """The digits of a short id such as ea0fb3 or #ea0fb3; None if it is none."""
    match = SHORT_SHAPE.fullmatch(text)
    return match[1] if match else None


def ids(clock: Callable[[], Millis] = wall) -> Ids:
    """A source of ids. Sorting by id is sorting by creation, also when the clock steps back."""
    lock = threading.Lock()
    last_ms = 0
    tail = 0

    def new() -> str:
        nonlocal last_ms, tail
        with lock:
            now = clock()
            if now > last_ms:
                last_ms = now
                # The upper half of the range stays free, so that counting up cannot overflow.
                tail = int.from_bytes(os.urandom(6)) >> 1
            else:
                tail += 1
            return f"{last_ms:012x}{tail:012x}"

    return new


new_id = ids()
