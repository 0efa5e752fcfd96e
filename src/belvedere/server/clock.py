"""The server's clock was set to another time: deadlines move with it, then the server follows.

Until then the server goes on by its monotonic clock (`base/clock.py`). Servers that share a
database see the same step; the first moves the deadlines, the others only take over the new time.
"""

import logging
from functools import partial

from belvedere.base.clock import STEP_LIMIT, ClockStep, SharedClock
from belvedere.db import Tx, clock_steps
from belvedere.hosts import clock_step as hosts
from belvedere.indicators import clock_step as indicators
from belvedere.jobs import clock_step as jobs
from belvedere.monitors import clock_step as monitors
from belvedere.notifications.delivery import messages
from belvedere.schedules import clock_step as schedules
from belvedere.server.runtime import ServerRuntime

log = logging.getLogger("belvedere.clock")

# All of them in one transaction, in the order in which others hold these rows.
MOVES = (
    schedules.move,
    jobs.move,
    hosts.move,
    monitors.move,
    indicators.move,
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
    # The source is asked once more: what another server recorded happened before this question.
    clock.check_source()
    step = await runtime.db.write(settle, clock, steps.offset)
    if step is not None:
        log.warning("the clock was set; deadlines were moved delta_ms=%d", step.delta)


def begin(tx: Tx, clock: SharedClock) -> None:
    """A server starts: nobody knows whether the clock was set while none ran, but nothing can have
    happened in the future."""
    clock_steps.prepare(tx)
    offset = clock_steps.recorded(tx, lock=True).offset
    schedules.move(tx, ClockStep(0, tx.now))
    hosts.move(tx, ClockStep(0, tx.now))
    tx.after_commit(partial(clock.adopt, 0, offset))


def settle(tx: Tx, clock: SharedClock, expected: int) -> ClockStep | None:
    """Move the deadlines by the part of the step that no other server has moved them by."""
    known = clock_steps.recorded(tx, lock=True)
    if known.offset != expected or clock.offset is None:
        # Another server has recorded a step since this one asked for the time.
        return None
    # Captured once: another thread may compare with the source at the same time.
    own = clock.step
    rest = own - (known.offset - clock.offset)
    if own == 0 or abs(rest) <= STEP_LIMIT:
        tx.after_commit(partial(clock.adopt, own, known.offset))
        return None
    step = ClockStep(rest, tx.now + own)
    for move in MOVES:
        move(tx, step)
    offset = clock_steps.record(tx, known, step).offset
    tx.after_commit(partial(clock.adopt, own, offset))
    return step
