"""The end of an attempt: a report is checked against the fence, and its verdict written once."""

from collections.abc import Callable, Sequence

import msgspec

from belvedere.base.clock import DAY, Millis
from belvedere.base.text import json_text
from belvedere.db import Tx
from belvedere.db.commit_hooks import around_commit
from belvedere.db.signals import host_ready
from belvedere.jobs import events, specs, store
from belvedere.jobs.attempts import Attempt, close_attempts, lock_reported, ready_job_of
from belvedere.jobs.lifecycle import late_reports
from belvedere.jobs.lifecycle.verdict import (
    ParsedLastLine,
    Verdict,
    decide,
    has_run,
    is_failure,
    is_returned,
    result_of,
)
from belvedere.jobs.model import JobRow, JobState, Lifecycle, check_transition
from belvedere.protocol import Report
from belvedere.tasks.model import TaskSpec
from belvedere.triggers.store import ActiveTriggers


class ReceivedReport(msgspec.Struct):
    """A report of the agent of one host."""

    host_id: str
    fence: int
    report: Report
    # The parsed last line, if the agent (of TheEye) has parsed it.
    last_line: ParsedLastLine | None = None


class ReportOutcome(msgspec.Struct):
    """How a report was processed."""

    fence: int
    job: JobRow | None
    # counted: it decided the job. late: the attempt had ended. foreign: an attempt of another host.
    status: str


# The delay before a retry grows with each attempt, up to this limit.
MAX_RETRY_DELAY: Millis = DAY


READY_JOB_OF_HOST = ready_job_of("= ?")
# A job that needs more disk space than its host has must not be assigned again and again.
MAX_RETURNS = 10


class _AttemptEnd(msgspec.Struct):
    """The changes of one counted report."""

    job: JobRow
    attempt: Attempt
    report: Report
    event: str
    output: list[str] | None
    attempt_state: str
    keeps_result: bool


# Called for each job that ended with a result.
Announce = Callable[[Tx, JobRow, Attempt, store.EndColumns], None]


def finish(
    tx: Tx, reported: list[ReceivedReport], announce: Announce | None = None
) -> Sequence[ReportOutcome | Exception]:
    """Process a set of reports; safe to repeat, since a fence counts once."""
    report_fences = [item.fence for item in reported]
    jobs, attempts, triggers, has_ready_jobs = lock_reported(tx, report_fences)
    specs_by_job = specs.for_jobs(tx, list(jobs.values())) if jobs else {}
    outcomes: list[ReportOutcome | Exception] = []
    ends: list[_AttemptEnd] = []
    fences: set[int] = set()
    late: list[late_reports.LateReport] = []
    for item in reported:
        attempt = attempts.get(item.fence)
        job = jobs.get(attempt.job_id) if attempt else None
        if attempt is None or job is None or attempt.host_id != item.host_id:
            outcomes.append(ReportOutcome(item.fence, None, "foreign"))
        elif item.fence in fences or not _is_current(job, attempt):
            late.append((job, attempt, item.report))
            outcomes.append(ReportOutcome(item.fence, job, "late"))
        else:
            fences.add(item.fence)
            ends.append(
                _return(job, attempt, item.report, tx.now)
                if _may_return(tx, job, attempt, item.report)
                else _end(job, attempt, item, specs_by_job[job.id], tx.now)
            )
            outcomes.append(ReportOutcome(item.fence, job, "counted"))
    _write(tx, ends, triggers, announce)
    for end in ends:
        if end.event:
            _signal_host(tx, end.job, has_ready_jobs)
    late_reports.store_new(tx, late)
    return outcomes


def _is_current(job: JobRow, attempt: Attempt) -> bool:
    """Whether it is the current attempt of an assigned or lost job."""
    if job.fence != attempt.fence:
        return False
    return (job.lifecycle == Lifecycle.ASSIGNED and attempt.state == "live") or (
        job.is_lost and attempt.state == "lost"
    )


def _end(
    job: JobRow, attempt: Attempt, item: ReceivedReport, spec: TaskSpec, now: Millis
) -> _AttemptEnd:
    report = item.report
    if report.ending == "unknown":
        return _end_unknown(job, attempt, report, spec, now)
    verdict = decide(
        report,
        ignore_exit_code=spec.ignore_exit_code,
        default_state=spec.default_state_evaluation,
        last_line=item.last_line,
    )
    if job.is_lost:
        return _reconcile(job, attempt, report, verdict, now)
    if is_failure(verdict) and _may_repeat(job, report, spec):
        return _retry(job, attempt, report, spec, now, "ended")
    check_transition(job, "finish", verdict.lifecycle, verdict.state)
    store.apply_transition(job, verdict.lifecycle, verdict.state, now)
    _complete(job, report, verdict, now)
    return _AttemptEnd(
        job, attempt, report, "finished", verdict.output, "ended", _has_result(report)
    )


def _may_return(tx: Tx, job: JobRow, attempt: Attempt, report: Report) -> bool:
    if not is_returned(report) or job.is_lost or attempt.started_at is not None:
        return False
    # An order that did not reach its agent, because the connection was lost, has no report.
    count = tx.value(
        "select count(*) from attempts where job_id = ? and state = 'returned'"
        " and report is not null",
        job.id,
    )
    return int(count) < MAX_RETURNS


def _return(job: JobRow, attempt: Attempt, report: Report, now: Millis) -> _AttemptEnd:
    """Nothing ran: the job is ready again, and no retry is used up."""
    event = return_job(job, now)
    return _AttemptEnd(job, attempt, report, event, None, "returned", False)


def return_job(job: JobRow, now: Millis) -> str:
    """Make ready a job whose order was certainly not started; returns the name of the event."""
    is_canceled = job.cancel_requested_at is not None
    lifecycle = Lifecycle.CANCELED if is_canceled else Lifecycle.READY
    state = JobState.CANCELED if is_canceled else JobState.IN_PROGRESS
    check_transition(job, "return", lifecycle, state)
    store.apply_transition(job, lifecycle, state, now)
    job.unreachable_at = job.assigned_at = job.deadline_at = None
    # The attempt does not count.
    job.attempts -= 1
    if is_canceled:
        job.ended_at, job.trigger_name = now, "canceled"
    return "canceled" if is_canceled else "returned"


def _complete(job: JobRow, report: Report, verdict: Verdict, now: Millis) -> None:
    job.trigger_name = verdict.trigger_name
    job.reason = report.reason or None
    job.ended_at = now
    job.unreachable_at = None
    if _has_run(job, report):
        job.ran = "yes"
        job.started_at = job.started_at or now - report.elapsed_ns // 1_000_000
    elif job.attempts == 1:
        job.ran = "no"


def _reconcile(
    job: JobRow, attempt: Attempt, report: Report, verdict: Verdict, now: Millis
) -> _AttemptEnd:
    check_transition(job, "reconcile", Lifecycle.FINISHED, verdict.state)
    store.apply_transition(job, Lifecycle.FINISHED, verdict.state, now)
    _complete(job, report, verdict, now)
    job.reconciled = 1
    return _AttemptEnd(
        job, attempt, report, "reconciled", verdict.output, "ended", _has_result(report)
    )


def _has_run(job: JobRow, report: Report) -> bool:
    """A start that was reported counts more than an end that excludes it."""
    return has_run(report) or job.started_at is not None


def _has_result(report: Report) -> bool:
    """A script that was canceled before its start has none; the error of a failed start is one."""
    return has_run(report) or report.ending == "error"


def _may_repeat(job: JobRow, report: Report, spec: TaskSpec) -> bool:
    """Retries are left, the job is not to be canceled, and no process of the attempt survives."""
    has_retries = spec.retry is not None and job.attempts <= spec.retry.times
    return has_retries and job.cancel_requested_at is None and not report.survivors


def _retry(
    job: JobRow, attempt: Attempt, report: Report, spec: TaskSpec, now: Millis, state: str
) -> _AttemptEnd:
    assert spec.retry is not None
    if _has_run(job, report):
        job.ran = "yes" if state == "ended" else job.may_have_run
    check_transition(job, "retry", Lifecycle.READY, JobState.IN_PROGRESS)
    store.apply_transition(job, Lifecycle.READY, JobState.IN_PROGRESS, now)
    delay = spec.retry.delay * spec.retry.backoff ** max(0, job.attempts - 1)
    job.not_before_at = now + min(round(delay), MAX_RETRY_DELAY)
    job.expires_at = max(job.expires_at, job.not_before_at + specs.expires_ms(spec))
    job.unreachable_at = None
    return _AttemptEnd(job, attempt, report, "retried", None, state, False)


def _end_unknown(
    job: JobRow, attempt: Attempt, report: Report, spec: TaskSpec, now: Millis
) -> _AttemptEnd:
    if job.is_lost:
        return _AttemptEnd(job, attempt, report, "", None, "lost", False)
    if spec.retry is not None and spec.retry.on_lost and _may_repeat(job, report, spec):
        return _retry(job, attempt, report, spec, now, "lost")
    mark_lost(job, report.reason or "no_trace", now)
    return _AttemptEnd(job, attempt, report, "lost", None, "lost", False)


def mark_lost(job: JobRow, reason: str, now: Millis) -> None:
    """The outcome is unknown: the script may have run."""
    job.ran = job.may_have_run
    check_transition(job, "lose", Lifecycle.TERMINATED, JobState.LOST)
    store.apply_transition(job, Lifecycle.TERMINATED, JobState.LOST, now)
    job.reason = reason
    job.trigger_name = "lost"
    job.ended_at = now


def _write(
    tx: Tx, ends: list[_AttemptEnd], triggers: ActiveTriggers, announce: Announce | None
) -> None:
    changed = [end for end in ends if end.event]
    without_result = [end.job for end in changed if not end.keeps_result]
    if without_result:
        store.save(tx, without_result)
    with_result = [(end, _end_columns(end)) for end in changed if end.keeps_result]
    store.save_ended(tx, [(end.job, columns) for end, columns in with_result])
    close_attempts(tx, [_attempt_end(end, tx.now) for end in ends])
    for event in dict.fromkeys([end.event for end in changed]):
        events.publish(tx, event, [end.job for end in changed if end.event == event], triggers)
    around_commit(tx, "finish")
    if announce is not None:
        for end, columns in with_result:
            announce(tx, end.job, end.attempt, columns)


def _signal_host(tx: Tx, job: JobRow, has_ready_jobs: bool) -> None:
    """A slot is free again, and a task at its limit may run another job. Most ends leave nothing to
    claim: then the host is not locked, and the commit need not wait for a claim."""
    if has_ready_jobs or job.lifecycle == Lifecycle.READY:
        tx.signals.add(host_ready(job.host_id))
    elif tx.dialect.lock_rows:
        # Another transaction may have made a job ready since.
        tx.signal_if(host_ready(job.host_id), (READY_JOB_OF_HOST, (job.host_id,)))


def _end_columns(end: _AttemptEnd) -> store.EndColumns:
    log = end.report.log
    return store.EndColumns(
        result=store.encode(result_of(end.report)).decode(),
        output=None if end.output is None else store.encode(end.output).decode(),
        log=None if log is None else json_text.clean(log),
    )


def _attempt_end(end: _AttemptEnd, now: Millis) -> tuple[int, str, int, int | None, str | None]:
    # The row of the job has the result of the last attempt; earlier attempts have their own.
    report = None if end.keeps_result else store.encode(end.report).decode()
    return end.attempt.fence, end.attempt_state, now, end.job.started_at, report
