"""Waiting for a job's end without holding a database thread."""

import asyncio
import contextlib
from typing import Any

from belvedere.access.model import Actor
from belvedere.base.errors import Invalid
from belvedere.events import Event
from belvedere.jobs import reading
from belvedere.jobs.model import FINAL
from belvedere.jobs.record import JobRecord

DEFAULT_S, LONGEST_S = 60.0, 300.0
# The event stream may be late or gone; then this often a look at the row.
LOOK_S = 2.0


def seconds(asked: str | None) -> float:
    try:
        wanted = DEFAULT_S if asked is None else float(asked)
    except ValueError:
        raise Invalid("wait_timeout is a number of seconds.", code="invalid_query") from None
    if not 0 <= wanted <= LONGEST_S:
        raise Invalid(f"wait_timeout is at most {LONGEST_S:.0f} seconds.", code="invalid_query")
    return wanted


async def until_over(house: Any, actor: Actor, job_id: str, within_s: float) -> JobRecord:
    """The job once it is over, or as it stands when the time is up."""
    over = asyncio.Event()

    def notice(events: list[Event]) -> None:
        if any(event.object_id == job_id for event in events):
            over.set()

    loop = asyncio.get_running_loop()
    until = loop.time() + within_s
    undo = await house.feed.listen(notice)
    try:
        while True:
            over.clear()
            record: JobRecord = await house.db.glance(reading.show, actor, job_id)
            left = until - loop.time()
            if record.lifecycle in FINAL or left <= 0:
                return record
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(over.wait(), min(left, LOOK_S))
    finally:
        undo()
