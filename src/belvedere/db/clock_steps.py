"""Steps of the clock, as the servers of one database have recorded them.

A server notices by its monotonic clock that the time was set (`base/clock.py`), and one of them
moves the deadlines in the database by the difference. The sum of these steps is recorded: a server
whose own sum differs has another time than the deadlines that it reads.
"""

from collections.abc import Callable
from typing import Concatenate, ParamSpec, TypeVar

import msgspec

from belvedere.base.clock import STEP_LIMIT, Clock, ClockStep, Millis, SharedClock
from belvedere.db import installation
from belvedere.db.interface import Tx

P = ParamSpec("P")
R = TypeVar("R")

_NAME = "clock_steps"


class ClockStepped(Exception):
    """The clock was set during an operation that depends on it; the operation was rolled back."""


class Steps(msgspec.Struct, frozen=True):
    """The sum of all steps, and the period that the last step forward skipped."""

    offset: Millis = 0
    since: Millis = 0
    until: Millis = 0

    def skipped(self, at: Millis) -> bool:
        """Whether the clock never showed this time, because it was set forward."""
        return self.since < at <= self.until


def recorded(tx: Tx, *, lock: bool = False) -> Steps:
    text = installation.lock(tx, _NAME) if lock else installation.read(tx, _NAME)
    return Steps() if text is None else msgspec.json.decode(text, type=Steps)


def prepare(tx: Tx) -> None:
    """Insert the row that servers lock."""
    installation.insert(tx, _NAME, msgspec.json.encode(Steps()).decode())


def record(tx: Tx, recorded_steps: Steps, step: ClockStep) -> Steps:
    """Add a step; the caller has locked the row."""
    steps = Steps(recorded_steps.offset + step.delta, recorded_steps.since, recorded_steps.until)
    if step.delta > 0:
        steps = Steps(steps.offset, step.before, step.now)
    installation.write(tx, _NAME, msgspec.json.encode(steps).decode())
    return steps


def run_with_steady_clock(
    tx: Tx, clock: Clock, operation: Callable[Concatenate[Tx, P], R], /, *a: P.args, **k: P.kwargs
) -> R:
    """Run an operation that compares deadlines with the time; raises ClockStepped if one of them
    was moved meanwhile.

    The recorded steps are read last: they include whatever another server moved before this
    one read the deadlines."""
    offset = clock.offset if isinstance(clock, SharedClock) else None
    if abs(clock() - tx.now) > STEP_LIMIT:
        raise ClockStepped
    result = operation(tx, *a, **k)
    if offset is not None and recorded(tx).offset != offset:
        raise ClockStepped
    return result
