"""Steps of the clock, as the servers of one database have recorded them.

A server notices by its monotonic clock that the time was set (`base/clock.py`), and one of them
moves the deadlines in the database by the difference. The sum of these steps is recorded: a server
whose own sum differs has another time than the deadlines that it reads.
"""

from collections.abc import Callable
from typing import Concatenate, ParamSpec, TypeVar

import msgspec

from belvedere.base.clock import STEP_LIMIT, Clock, ClockStep, Millis, SharedClock
from belvedere.db.interface import Tx

P = ParamSpec("P")
R = TypeVar("R")

_NAME = "clock_steps"


class ClockStepped(Exception):
    """The clock was set while an operation judged by it; the operation was undone."""


class Steps(msgspec.Struct, frozen=True):
    """All steps of the clock so far, and the times that the last one forward left out."""

    offset: Millis = 0
    since: Millis = 0
    until: Millis = 0

    def skipped(self, at: Millis) -> bool:
        """Whether the clock never showed this time, because it was set forward."""
        return self.since < at <= self.until


def recorded(tx: Tx, *, hold: bool = False) -> Steps:
    text = tx.value(
        f"select value from meta where name = ?{tx.dialect.lock_rows if hold else ''}", _NAME
    )
    return Steps() if text is None else msgspec.json.decode(text, type=Steps)


def prepare(tx: Tx) -> None:
    """A row that servers can hold."""
    tx.execute(
        "insert into meta (name, value) values (?, ?) on conflict (name) do nothing",
        *(_NAME, msgspec.json.encode(Steps()).decode()),
    )


def record(tx: Tx, known: Steps, step: ClockStep) -> Steps:
    """One step more; the row is held."""
    steps = Steps(known.offset + step.delta, known.since, known.until)
    if step.delta > 0:
        steps = Steps(steps.offset, step.before, step.now)
    text = msgspec.json.encode(steps).decode()
    tx.execute("update meta set value = ? where name = ?", text, _NAME)
    return steps


def judged(
    tx: Tx, clock: Clock, verb: Callable[Concatenate[Tx, P], R], /, *a: P.args, **k: P.kwargs
) -> R:
    """Run an operation that compares deadlines with the time; undone where both do not belong
    together.

    The database is asked last: whatever another server had moved when this one read it is visible
    then."""
    offset = clock.offset if isinstance(clock, SharedClock) else None
    if abs(clock() - tx.now) > STEP_LIMIT:
        raise ClockStepped
    result = verb(tx, *a, **k)
    if offset is not None and recorded(tx).offset != offset:
        raise ClockStepped
    return result
