"""Ends of jobs whose creators wait on this server, which respond without reading the job again."""

from collections.abc import Callable
from functools import partial

import msgspec

from belvedere.base.clock import Millis
from belvedere.db import Tx
from belvedere.jobs.attempts import Attempt
from belvedere.jobs.model import JobRow
from belvedere.jobs.store import EndColumns


class EndedJob(msgspec.Struct):
    """A job as the report of its last attempt left it, with that attempt."""

    job: JobRow
    attempt: Attempt
    columns: EndColumns


class EndedJobs:
    """Hands each end to the request that waits for it, after the commit and before the signal.
    `is_here`: whether the agent of a host is connected to this server."""

    def __init__(self, is_here: Callable[[str], bool]) -> None:
        self.is_here = is_here
        self._listeners: dict[str, Callable[[EndedJob], None]] = {}

    def subscribe(self, job_id: str, listener: Callable[[EndedJob], None]) -> None:
        self._listeners[job_id] = listener

    def unsubscribe(self, job_id: str) -> None:
        self._listeners.pop(job_id, None)

    def announce(self, tx: Tx, job: JobRow, attempt: Attempt, columns: EndColumns) -> None:
        """In the transaction that writes the end."""
        listener = self._listeners.get(job.id)
        if listener is not None:
            ended = EndedJob(job, _ended_attempt(job, attempt, tx.now), columns)
            tx.after_commit(partial(listener, ended))


def _ended_attempt(job: JobRow, attempt: Attempt, now: Millis) -> Attempt:
    """The row as `close_attempts` leaves it."""
    attempt.state, attempt.ended_at = "ended", now
    attempt.started_at = job.started_at or attempt.started_at
    return attempt
