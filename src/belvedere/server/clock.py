"""The server's clock was set: the deadlines are moved, then the server uses the new time.

Until then the server uses its monotonic clock (`base/clock.py`). Servers that share a database see
the same step; the first one moves the deadlines, the others only adopt the new time.
"""

import logging
from functools import partial

from belvedere.base.clock import STEP_LIMIT, ClockStep, SharedClock
from belvedere.db import Tx, clock_steps
from belvedere.hosts import presence
from belvedere.indicators import service as indicators
from belvedere.jobs.lifecycle import timeouts
from belvedere.monitors import housekeeping
from belvedere.notifications.delivery import messages
from belvedere.schedules import clock_step
from belvedere.server.runtime import ServerRuntime

log = logging.getLogger("belvedere.clock")

# All of them in one transaction, in the order in which other code locks these rows.
MOVES = (
    clock_step.move,
    timeouts.move_clock,
    presence.move_clock,
    housekeeping.move_clock,
    indicators.move_clock,
    messages.shift_times,
)


async def follow(runtime: ServerRuntime) -> None:
    clock = runtime.db.clock
    if not isinstance(clock, SharedClock):
        return
    clock.check_source()
    if clock.offset is None:
        await runtime.db.write(begin, clock)
        return
    steps = await runtime.db.read(clock_steps.recorded)
    if clock.step == 0 and steps.offset == clock.offset:
        return
    # Read the clock once more: a step that another server recorded happened before this reading.
    clock.check_source()
    step = await runtime.db.write(apply_step, clock, steps.offset)
    if step is not None:
        log.warning("clock was set; deadlines were moved delta_ms=%d", step.delta)


def begin(tx: Tx, clock: SharedClock) -> None:
    """At the start of a server: the clock may have been set while no server ran, but nothing can
    have happened in the future."""
    clock_steps.prepare(tx)
    offset = clock_steps.recorded(tx, lock=True).offset
    clock_step.move(tx, ClockStep(0, tx.now))
    presence.move_clock(tx, ClockStep(0, tx.now))
    tx.after_commit(partial(clock.adopt, 0, offset))


def apply_step(tx: Tx, clock: SharedClock, expected: int) -> ClockStep | None:
    """Move the deadlines by the part of the step that no other server has moved them by."""
    recorded = clock_steps.recorded(tx, lock=True)
    if recorded.offset != expected or clock.offset is None:
        # Another server has recorded a step since this one read the time.
        return None
    # Read once: another thread may compare with the clock at the same time.
    own_step = clock.step
    remaining = own_step - (recorded.offset - clock.offset)
    if own_step == 0 or abs(remaining) <= STEP_LIMIT:
        tx.after_commit(partial(clock.adopt, own_step, recorded.offset))
        return None
    step = ClockStep(remaining, tx.now + own_step)
    for move in MOVES:
        move(tx, step)
    offset = clock_steps.record(tx, recorded, step).offset
    tx.after_commit(partial(clock.adopt, own_step, offset))
    return step
