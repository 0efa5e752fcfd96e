"""How much work a call is, counted and not timed: the same number on every machine."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

# A line may compare, copy or search a long text: the work of the interpreter itself is measured by
# the lengths of the input, which each test names.
MAX_COUNTED = 3_000_000


class TooManySteps(BaseException):
    """The call was ended: the exact cost beyond the limit does not matter."""


def steps(call: Callable[[], Any]) -> int:
    """Lines of Python that a call executes on this thread."""
    count = 0

    def line(frame: FrameType, event: str, arg: Any) -> Any:
        nonlocal count
        count += 1
        if count > MAX_COUNTED:
            raise TooManySteps(f"more than {MAX_COUNTED} lines")
        return line

    before = sys.gettrace()
    sys.settrace(line)
    try:
        call()
    finally:
        sys.settrace(before)
    return count
