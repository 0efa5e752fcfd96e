"""Counts, durations and log lines of the jobs that this process has changed.

They are counted and logged after the commit, so that a transaction that is rolled back or repeated
counts once. They belong to the process, like every counter that Prometheus reads.
"""

import logging
from collections import Counter
from collections.abc import Callable, Sequence

from belvedere.base.counters import LONG, Histogram
from belvedere.base.log_format import of_trace
from belvedere.base.text import trace_context
from belvedere.jobs.model import JobRow, JobState

log = logging.getLogger("belvedere.jobs")
_STARTS = {"assigned": "job assigned", "started": "job started"}


class JobTallies:
    def __init__(self) -> None:
        # By origin; ends by state and origin.
        self.created: Counter[str] = Counter()
        self.ended: Counter[tuple[str, str]] = Counter()
        # From the time at which the job could run: until its order was sent to the agent, and until
        # its script started.
        self.until_assigned = Histogram(LONG)
        self.until_started = Histogram(LONG)
        # From the creation until the end.
        self.until_ended = Histogram(LONG)
        # Called for each ended job with a trace context, if traces are exported.
        self.on_traced_end: Callable[[JobRow], None] | None = None

    def count(self, event: str, jobs: Sequence[JobRow]) -> None:
        for job in jobs:
            if event == "created":
                self.created[job.origin] += 1
            elif event == "assigned" and job.assigned_at is not None:
                self.until_assigned.observe((job.assigned_at - _runnable_at(job)) / 1_000)
            if job.ended_at is not None:
                self._count_end(job, job.ended_at)
        if event == "lost" or log.isEnabledFor(logging.DEBUG):
            _log(event, jobs)

    def _count_end(self, job: JobRow, ended_at: int) -> None:
        self.ended[job.state, job.origin] += 1
        if job.traceparent is not None and self.on_traced_end is not None:
            self.on_traced_end(job)
        if not job.fence:
            # It never was for an agent: a workflow job, an approval, a canceled job.
            return
        self.until_ended.observe((ended_at - job.created_at) / 1_000)
        if job.started_at is not None:
            self.until_started.observe((job.started_at - _runnable_at(job)) / 1_000)


def _log(event: str, jobs: Sequence[JobRow]) -> None:
    """Starts and ends are logged at level DEBUG: they are as frequent as requests."""
    for job in jobs:
        if job.ended_at is None:
            level, text = logging.DEBUG, _STARTS.get(event, "")
        else:
            is_lost = job.state == JobState.LOST
            level = logging.WARNING if is_lost else logging.DEBUG
            text = "job outcome is unknown" if is_lost else "job ended"
        if text:
            context = trace_context.parse(job.traceparent or "")
            log.log(
                level,
                "%s job=%s host=%s state=%s customer=%s",
                *(text, job.id, job.host_id or "", job.state, job.customer_id),
                extra=of_trace(context.trace_id if context else ""),
            )


def _runnable_at(job: JobRow) -> int:
    return max(job.created_at, job.not_before_at)


TALLIES = JobTallies()
