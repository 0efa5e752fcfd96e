"""The end of an attempt: the report meets the fence, the verdict is written once."""

from collections.abc import Sequence

import msgspec

from belvedere.base.clock import DAY, Millis
from belvedere.base.text import json_text
from belvedere.db import Tx
from belvedere.db.crash import around_commit
from belvedere.db.signals import host_ready
from belvedere.jobs import events, specs, store
from belvedere.jobs.attempts import Attempt, close_attempts, lock_reported
from belvedere.jobs.lifecycle import late_reports
from belvedere.jobs.lifecycle.verdict import (
    Said,
    Verdict,
    decide,
    has_run,
    is_bad,
    is_returned,
    result_of,
)
from belvedere.jobs.model import JobRow, Lifecycle, State, check_move
from belvedere.protocol import Report
from belvedere.tasks.model import TaskSpec
from belvedere.triggers.store import ActiveTriggers


class Reported(msgspec.Struct):
    """A report as it arrived from the agent of one host."""

    host_id: str
    fence: int
    report: Report
    # What the last line says, where the agent has read it itself.
    said: Said | None = None


class Outcome(msgspec.Struct):
    """What became of a report: settled means that the agent may forget it."""

    fence: int
    job: JobRow | None
    # counted: it made the verdict. late: evidence at most. foreign: not this host's.
    as_: str


# However steeply a retry's delay grows, nothing waits longer than this for its next attempt.
LONGEST_DELAY: Millis = DAY


# A job that needs more space than its host ever has must not be given out for ever.
MAX_RETURNS = 10


class _End(msgspec.Struct):
    """What one counted report writes."""

    job: JobRow
    attempt: Attempt
    report: Report
    event: str
    output: list[str] | None
    attempt_state: str
    keeps_result: bool


def finish(tx: Tx, reported: list[Reported]) -> Sequence[Outcome | Exception]:
    """Settle a set of reports; safe to repeat, since a fence counts once."""
    jobs, attempts, starting = lock_reported(tx, [item.fence for item in reported])
    known = specs.of_jobs(tx, list(jobs.values())) if jobs else {}
    outcomes: list[Outcome | Exception] = []
    ends: list[_End] = []
    seen: set[int] = set()
    late: list[late_reports.Late] = []
    for item in reported:
        attempt = attempts.get(item.fence)
        job = jobs.get(attempt.job_id) if attempt else None
        if attempt is None or job is None or attempt.host_id != item.host_id:
            outcomes.append(Outcome(item.fence, None, "foreign"))
        elif item.fence in seen or not _counts(job, attempt):
            late.append((job, attempt, item.report))
            outcomes.append(Outcome(item.fence, job, "late"))
        else:
            seen.add(item.fence)
            ends.append(
                _return(job, attempt, item.report, tx.now)
                if _may_return(tx, job, item.report)
                else _end(job, attempt, item, known[job.id], tx.now)
            )
            outcomes.append(Outcome(item.fence, job, "counted"))
    _write(tx, ends, starting)
    late_reports.keep(tx, late)
    return outcomes


def _counts(job: JobRow, attempt: Attempt) -> bool:
    """The current attempt of an assigned job, or of one that was given up as lost."""
    if job.fence != attempt.fence:
        return False
    return (job.lifecycle == Lifecycle.ASSIGNED and attempt.state == "live") or (
        job.is_lost and attempt.state == "lost"
    )


def _end(job: JobRow, attempt: Attempt, item: Reported, spec: TaskSpec, now: Millis) -> _End:
    report = item.report
    if report.ending == "unknown":
        return _lose(job, attempt, report, spec, now)
    verdict = decide(
        report,
        ignore_exit_code=spec.ignore_exit_code,
        default_state=spec.default_state_evaluation,
        said=item.said,
    )
    if job.is_lost:
        return _reconcile(job, attempt, report, verdict, now)
    if is_bad(verdict) and _may_repeat(job, report, spec):
        return _retry(job, attempt, report, spec, now, "ended")
    check_move(job, "finish", verdict.lifecycle, verdict.state)
    store.step(job, verdict.lifecycle, verdict.state, now)
    _settle(job, report, verdict, now)
    return _End(job, attempt, report, "finished", verdict.output, "ended", _has_result(report))


def _may_return(tx: Tx, job: JobRow, report: Report) -> bool:
    if not is_returned(report) or job.is_lost:
        return False
    count = tx.value(
        "select count(*) from attempts where job_id = ? and state = 'returned'", job.id
    )
    return int(count) < MAX_RETURNS


def _return(job: JobRow, attempt: Attempt, report: Report, now: Millis) -> _End:
    """Nothing ran: the job waits as before, and no retry is used up."""
    event = return_job(job, now)
    return _End(job, attempt, report, event, None, "returned", False)


def return_job(job: JobRow, now: Millis) -> str:
    """An order that was certainly never started; the event that says so."""
    is_canceled = job.cancel_requested_at is not None
    lifecycle = Lifecycle.CANCELED if is_canceled else Lifecycle.READY
    state = State.CANCELED if is_canceled else State.IN_PROGRESS
    check_move(job, "return", lifecycle, state)
    store.step(job, lifecycle, state, now)
    job.unreachable_at = job.assigned_at = job.deadline_at = None
    # The attempt never happened.
    job.attempts -= 1
    if is_canceled:
        job.ended_at, job.trigger_name = now, "canceled"
    return "canceled" if is_canceled else "returned"


def _settle(job: JobRow, report: Report, verdict: Verdict, now: Millis) -> None:
    job.trigger_name = verdict.trigger_name
    job.reason = report.reason or None
    job.ended_at = now
    job.unreachable_at = None
    if has_run(report):
        job.ran = "yes"
        job.started_at = job.started_at or now - report.elapsed_ns // 1_000_000
    elif job.attempts == 1:
        job.ran = "no"


def _reconcile(
    job: JobRow, attempt: Attempt, report: Report, verdict: Verdict, now: Millis
) -> _End:
    check_move(job, "reconcile", Lifecycle.FINISHED, verdict.state)
    store.step(job, Lifecycle.FINISHED, verdict.state, now)
    _settle(job, report, verdict, now)
    job.reconciled = 1
    return _End(job, attempt, report, "reconciled", verdict.output, "ended", _has_result(report))


def _has_result(report: Report) -> bool:
    """A script that was cancelled before it began has none; why one could not start is one."""
    return has_run(report) or report.ending == "error"


def _may_repeat(job: JobRow, report: Report, spec: TaskSpec) -> bool:
    """Retries are left, nobody wants it stopped, and nothing of the last attempt still lives."""
    left = spec.retry is not None and job.attempts <= spec.retry.times
    return left and job.cancel_requested_at is None and not report.survivors


def _retry(
    job: JobRow, attempt: Attempt, report: Report, spec: TaskSpec, now: Millis, state: str
) -> _End:
    assert spec.retry is not None
    if has_run(report):
        job.ran = "yes" if state == "ended" else job.may_have_run
    check_move(job, "retry", Lifecycle.READY, State.IN_PROGRESS)
    store.step(job, Lifecycle.READY, State.IN_PROGRESS, now)
    delay = spec.retry.delay * spec.retry.backoff ** max(0, job.attempts - 1)
    job.not_before_at = now + min(round(delay), LONGEST_DELAY)
    job.expires_at = max(job.expires_at, job.not_before_at + specs.expires_ms(spec))
    job.unreachable_at = None
    return _End(job, attempt, report, "retried", None, state, False)


def _lose(job: JobRow, attempt: Attempt, report: Report, spec: TaskSpec, now: Millis) -> _End:
    if job.is_lost:
        return _End(job, attempt, report, "", None, "lost", False)
    if spec.retry is not None and spec.retry.on_lost and _may_repeat(job, report, spec):
        return _retry(job, attempt, report, spec, now, "lost")
    lose(job, report.reason or "no_trace", now)
    return _End(job, attempt, report, "lost", None, "lost", False)


def lose(job: JobRow, reason: str, now: Millis) -> None:
    """Give up waiting for the truth: it may or may not have run."""
    job.ran = job.may_have_run
    check_move(job, "lose", Lifecycle.TERMINATED, State.LOST)
    store.step(job, Lifecycle.TERMINATED, State.LOST, now)
    job.reason = reason
    job.trigger_name = "lost"
    job.ended_at = now


def _write(tx: Tx, ends: list[_End], starting: ActiveTriggers) -> None:
    moved = [end for end in ends if end.event]
    bare = [end.job for end in moved if not end.keeps_result]
    if bare:
        store.save(tx, bare)
    store.save_ended(tx, [(end.job, _left_behind(end)) for end in moved if end.keeps_result])
    close_attempts(tx, [_attempt_end(end, tx.now) for end in ends])
    for event in dict.fromkeys([end.event for end in moved]):
        events.tell(tx, event, [end.job for end in moved if end.event == event], starting)
    for end in moved:
        # A place is free again, and a task at its limit may go on.
        tx.signals.add(host_ready(end.job.host_id))
    around_commit(tx, "finish")


def _left_behind(end: _End) -> store.End:
    log = end.report.log
    return store.End(
        result=store.encode(result_of(end.report)).decode(),
        output=None if end.output is None else store.encode(end.output).decode(),
        log=None if log is None else json_text.clean(log),
    )


def _attempt_end(end: _End, now: Millis) -> tuple[int, str, int, int | None, str | None]:
    # The job's own row holds the last attempt's result; earlier ones keep theirs here.
    report = None if end.keeps_result else store.encode(end.report).decode()
    return end.attempt.fence, end.attempt_state, now, end.job.started_at, report
