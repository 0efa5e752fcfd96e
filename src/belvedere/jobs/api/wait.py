"""Waits for the end of a job without using a database thread."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from belvedere.access.actor import Actor
from belvedere.access.request import AnyRequest
from belvedere.access.services import Services
from belvedere.base.errors import Invalid
from belvedere.db.signals import Signal, Topic, Unsubscribe, job_finished
from belvedere.jobs.lifecycle import job_arguments
from belvedere.jobs.lifecycle.create import CreatedJob
from belvedere.jobs.model import FINAL
from belvedere.jobs.queries import details, records
from belvedere.jobs.queries.ended_jobs import EndedJob, EndedJobs
from belvedere.jobs.queries.records import JobRecord
from belvedere.jobs.store import JobDetails

DEFAULT_S, MAX_WAIT_S = 60.0, 300.0
# A signal may be missed, so the row is read this often.
POLL_S = 2.0
# Most jobs end within this time; only then is it worth watching for a disconnect of the caller,
# and for a signal of another server that came before the subscription.
FIRST_WAIT_S = 0.2

# The version of a job that was created, assigned and ended. One that was returned to the queue has
# an attempt that does not count, and a higher version.
MAX_VERSION = 3

Receive = Callable[[], Awaitable[Any]]


def parse_seconds(text: str | None) -> float:
    try:
        seconds = DEFAULT_S if text is None else float(text)
    except ValueError:
        raise Invalid("wait_timeout must be a number of seconds.", code="invalid_query") from None
    if not 0 <= seconds <= MAX_WAIT_S:
        raise Invalid(f"wait_timeout must be 0 to {MAX_WAIT_S:.0f} seconds.", code="invalid_query")
    return seconds


class _Signal:
    """An event for one waiter; set while nobody waits, it ends the next wait at once."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._is_set = False
        self._waiter: asyncio.Future[None] | None = None

    def set(self, _: Signal | None = None) -> None:
        self._is_set = True
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    async def wait(self, within_s: float) -> None:
        """Until it is set or the time is up. A timer that sets it is cheaper than a timeout."""
        if not self._is_set:
            timer = self._loop.call_later(within_s, self.set)
            self._waiter = self._loop.create_future()
            try:
                await self._waiter
            finally:
                timer.cancel()
        self._is_set = False


class _Caller:
    """Watches for a disconnect of the caller and for the stop of the server."""

    def __init__(self, services: Services, receive: Receive, signal: _Signal) -> None:
        self.signal = signal
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
        self.signal.set()

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


async def until_over(
    request: AnyRequest,
    actor: Actor,
    job_id: str,
    within_s: float,
    created: CreatedJob | None = None,
) -> JobRecord:
    """The job once it has ended, or its current state if the time is up or the caller has gone. A
    job that was just created (`created`) is first read after a signal, and not at all if it ended
    quickly."""
    services = request.services
    caller: _Caller | None = None
    finished = _Signal()
    loop = asyncio.get_running_loop()
    until = loop.time() + within_s
    unsubscribe = services.signals.subscribe(job_finished(job_id), finished.set)
    withdraw = _request_ends(services, created)
    try:
        if created is not None:
            ended = await _first_wait(services, finished, created, min(FIRST_WAIT_S, within_s))
            if ended is not None and _is_complete(ended, actor):
                return _ended_record(created, ended, actor)
        while True:
            record: JobRecord = await services.db.read_inline(details.show, actor, job_id)
            remaining_s = until - loop.time()
            if (
                record.lifecycle in FINAL
                or remaining_s <= 0
                or (caller is not None and caller.is_gone)
            ):
                return record
            caller = caller or _Caller(services, request.starlette.receive, finished)
            await finished.wait(min(remaining_s, POLL_S))
    finally:
        unsubscribe()
        withdraw()
        if caller is not None:
            await caller.close()


def _request_ends(services: Services, created: CreatedJob | None) -> Unsubscribe:
    """Other servers signal ends of jobs on request. That of a new job is reported to this server if
    its agent is connected here; should another server end it, the row is read within POLL_S."""
    if created is not None and services.of(EndedJobs).is_here(created.job.host_id or ""):
        return lambda: None
    return services.signals.request(Topic.JOB)


async def _first_wait(
    services: Services, finished: _Signal, created: CreatedJob, within_s: float
) -> EndedJob | None:
    """The end of a new job, if its agent is connected to this server and reports it in time."""
    ends: list[EndedJob] = []
    ended_jobs = services.of(EndedJobs)
    ended_jobs.subscribe(created.job.id, ends.append)
    try:
        await finished.wait(within_s)
    finally:
        ended_jobs.unsubscribe(created.job.id)
    return ends[-1] if ends else None


def _is_complete(ended: EndedJob, actor: Actor) -> bool:
    """Whether `_ended_record` has everything: no earlier attempt, and no ACL to check."""
    job = ended.job
    return job.attempts == 1 and job.version <= MAX_VERSION and actor.sees_all


def _ended_record(created: CreatedJob, ended: EndedJob, actor: Actor) -> JobRecord:
    """The same record as `details.show`, from what this server already holds."""
    job, columns = ended.job, ended.columns
    record = records.summary(job, actor.customer_name, job.updated_at)
    records.add_task(record, created.task.id, created.task.spec, created.arguments)
    values = JobDetails(
        arguments=created.arguments,
        result=columns.result,
        output=columns.output,
        log=columns.log,
        hostname=None if created.host is None else created.host.row.hostname,
        warning=job_arguments.ignored_text(created.ignored) if created.ignored else None,
    )
    details.add_details(record, job, values, [ended.attempt])
    records.add_starter_name(record, job, actor)
    return record
