"""Ends of jobs whose creators wait on this server, which respond without reading the job again."""

from collections.abc import Callable, Sequence
from functools import partial

import msgspec

from belvedere.db import Tx
from belvedere.jobs.attempts import Attempt
from belvedere.jobs.lifecycle.finish import ReceivedReport, ReportOutcome, finish
from belvedere.jobs.model import JobRow
from belvedere.jobs.store import EndColumns


class EndedJob(msgspec.Struct):
    """A job as the report of its last attempt left it, with that attempt."""

    job: JobRow
    attempt: Attempt
    columns: EndColumns


class EndedJobs:
    """Hands each end to the request that waits for it, after the commit and before the signal."""

    def __init__(self) -> None:
        self._listeners: dict[str, Callable[[EndedJob], None]] = {}

    def subscribe(self, job_id: str, listener: Callable[[EndedJob], None]) -> None:
        self._listeners[job_id] = listener

    def unsubscribe(self, job_id: str) -> None:
        self._listeners.pop(job_id, None)

    def finish(self, tx: Tx, reported: list[ReceivedReport]) -> Sequence[ReportOutcome | Exception]:
        """Process a set of reports from agents that are connected here."""
        return finish(tx, reported, self._announce)

    def _announce(self, tx: Tx, job: JobRow, attempt: Attempt, columns: EndColumns) -> None:
        listener = self._listeners.get(job.id)
        if listener is not None:
            tx.after_commit(partial(listener, EndedJob(job, attempt, columns)))
