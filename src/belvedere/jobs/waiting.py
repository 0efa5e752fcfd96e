"""Waiting for a job's end without holding a database thread."""

import asyncio
import contextlib
from typing import Any

from belvedere.access.model import Actor
from belvedere.base.errors import Invalid
from belvedere.jobs import reading
from belvedere.jobs.model import FINAL
from belvedere.jobs.record import JobRecord

DEFAULT_S, LONGEST_S = 60.0, 300.0
# The doorbell may be missed; then this often a look at the row.
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
    loop = asyncio.get_running_loop()
    until = loop.time() + within_s
    undo = house.hub.listen(f"job:{job_id}", lambda _: over.set())
    try:
        while True:
            over.clear()
            record: JobRecord = await house.db.glance(reading.show, actor, job_id)
            left = until - loop.time()
            if record.lifecycle in FINAL or left <= 0:
                return record
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(min(left, LOOK_S)):
                    await over.wait()
    finally:
        undo()
