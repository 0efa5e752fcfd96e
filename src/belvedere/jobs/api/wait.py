"""Waiting for a job's end without holding a database thread."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from belvedere.access.actor import Actor
from belvedere.access.request import AnyRequest
from belvedere.access.services import Services
from belvedere.base.errors import Invalid
from belvedere.db.signals import Signal, job_finished
from belvedere.jobs.model import FINAL
from belvedere.jobs.queries import details
from belvedere.jobs.queries.records import JobRecord

DEFAULT_S, LONGEST_S = 60.0, 300.0
# The doorbell may be missed; then this often a look at the row.
LOOK_S = 2.0
# Most jobs are over by then; only after that it is worth noticing a caller who hangs up, and the
# ring of another server that came before we listened.
BRIEF_S = 0.2

Receive = Callable[[], Awaitable[Any]]


def seconds(asked: str | None) -> float:
    try:
        wanted = DEFAULT_S if asked is None else float(asked)
    except ValueError:
        raise Invalid("wait_timeout is a number of seconds.", code="invalid_query") from None
    if not 0 <= wanted <= LONGEST_S:
        raise Invalid(f"wait_timeout is at most {LONGEST_S:.0f} seconds.", code="invalid_query")
    return wanted


class _Bell:
    """Rung while nobody waits, it is heard at once by whoever waits next."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._has_rung = False
        self._waiter: asyncio.Future[None] | None = None

    def ring(self, _: Signal | None = None) -> None:
        self._has_rung = True
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    async def heard(self, within_s: float) -> None:
        """Until it rang or the time is up. A timer that rings itself is cheaper than a timeout."""
        if not self._has_rung:
            timer = self._loop.call_later(within_s, self.ring)
            self._waiter = self._loop.create_future()
            try:
                await self._waiter
            finally:
                timer.cancel()
        self._has_rung = False


class _Caller:
    """Whoever waits may hang up, and the server may stop."""

    def __init__(self, services: Services, receive: Receive, bell: _Bell) -> None:
        self.bell = bell
        self.is_gone = False
        self._tasks = [
            asyncio.create_task(self._until_gone(receive)),
            asyncio.create_task(self._until_stopped(services)),
        ]

    async def _until_gone(self, receive: Receive) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        self._leave()

    async def _until_stopped(self, services: Services) -> None:
        await services.stopping.wait()
        self._leave()

    def _leave(self) -> None:
        self.is_gone = True
        self.bell.ring()

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


async def until_over(
    request: AnyRequest, actor: Actor, job_id: str, within_s: float, *, is_new: bool = False
) -> JobRecord:
    """The job once it is over, or as it stands when the time is up or nobody listens. One that was
    made a moment ago and was not over then is only looked at once something rang."""
    services = request.services
    caller: _Caller | None = None
    bell = _Bell()
    loop = asyncio.get_running_loop()
    until = loop.time() + within_s
    undo = services.signals.subscribe(job_finished(job_id), bell.ring)
    try:
        if is_new:
            await bell.heard(min(BRIEF_S, within_s))
        while True:
            record: JobRecord = await services.db.read_inline(details.show, actor, job_id)
            left = until - loop.time()
            if record.lifecycle in FINAL or left <= 0 or (caller is not None and caller.is_gone):
                return record
            caller = caller or _Caller(services, request.starlette.receive, bell)
            await bell.heard(min(left, LOOK_S))
    finally:
        undo()
        if caller is not None:
            await caller.close()
