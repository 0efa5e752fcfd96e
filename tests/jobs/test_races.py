"""Concurrent operations on PostgreSQL, with real threads; SQLite has one writer and no such
races."""

import itertools
import random
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest

import run_timeouts
from belvedere.base.errors import Conflict, Refused
from belvedere.jobs.approvals import votes
from belvedere.jobs.history import consistency
from belvedere.jobs.idempotency import IdempotencyKey
from belvedere.jobs.lifecycle import actions
from belvedere.jobs.lifecycle import claim as queue
from belvedere.jobs.lifecycle.create import CreatedJob, JobRequest, create
from belvedere.jobs.lifecycle.finish import ReceivedReport, ReportOutcome, finish
from belvedere.protocol import Report
from jobs.job_steps import JobSteps

pytestmark = pytest.mark.parametrize("engine", ["postgres"], indirect=True)
THREADS = 8


def _end(steps: JobSteps, end: ReceivedReport) -> Any:
    return steps.db.write_blocking(finish, [end])[0]


def at_once(calls: list[Callable[[], Any]]) -> list[Any]:
    """Run all of them, started at the same moment; the results, or the exceptions."""
    gate = threading.Barrier(len(calls))

    def run(call: Callable[[], Any]) -> Any:
        gate.wait(10)
        try:
            return call()
        except Exception as fault:
            return fault

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(run, calls))


def check_consistent(steps: JobSteps) -> None:
    assert steps.db.write_blocking(consistency.check, "", 10_000) == []


def test_errors_of_concurrent_calls_are_returned(steps: JobSteps) -> None:
    assert at_once([lambda: 1, lambda: 1 // 0])[0] == 1
    assert steps.create().lifecycle == "ready"


def test_eight_claimers_never_pass_the_limit_and_take_nothing_twice(steps: JobSteps) -> None:
    narrow, wide = steps.task(concurrency=3), steps.task(name="wide")
    for _ in range(30):
        steps.create(narrow)
        steps.create(wide)
    steps.connect(slots=20)
    claimed: list[str] = []
    most = 0

    def claim() -> list[queue.Claimed]:
        return steps.db.write_blocking(queue.claim, steps.host_id, steps.session)

    for _ in range(40):
        for item in at_once([claim] * THREADS):
            assert isinstance(item, list), item
            claimed += [first_item.job.id for first_item in item]
        running = steps.db.write_blocking(
            lambda tx: tx.rows("select task_id, fence from jobs where lifecycle = 'assigned'")
        )
        assert len(running) <= 20
        here = sum(task_id == narrow for task_id, _ in running)
        most = max(most, here)
        assert here <= 3
        if not running:
            break
        some = random.Random(1).sample(running, max(1, len(running) // 2))
        steps.db.write_blocking(
            finish, [ReceivedReport(steps.host_id, fence, Report("exit")) for _, fence in some]
        )
    assert most == 3
    assert len(claimed) == len(set(claimed)) == 60
    check_consistent(steps)


def test_claimers_of_different_hosts_get_different_fences(steps: JobSteps) -> None:
    hosts = [steps.host(f"h{n}") for n in range(THREADS)]
    for host_id in hosts:
        task_id = steps.task(name=host_id, host_id=host_id)
        for _ in range(10):
            steps.create(task_id)
    sessions = {}
    for host_id in hosts:
        steps.connect(host_id=host_id, slots=3)
        sessions[host_id] = 1
    fences: list[int] = []
    for _ in range(4):
        calls = [
            (lambda host_id=host_id: steps.db.write_blocking(queue.claim, host_id, 1))
            for host_id in hosts
        ]
        results = at_once(calls)  # type: ignore[arg-type]
        assert all(isinstance(item, list) for item in results), results
        items = [(item.job.host_id, item.job.fence) for some in results for item in some]
        fences += [fence for _, fence in items]
        ends = [ReceivedReport(host, fence, Report("exit")) for host, fence in items]
        steps.db.write_blocking(finish, ends)
    assert len(fences) == len(set(fences)) == THREADS * 10
    check_consistent(steps)


def test_one_of_two_concurrent_reports_counts(steps: JobSteps) -> None:
    task_id = steps.task()
    for _ in range(20):
        job = steps.assign(task_id)
        reports = [
            ReceivedReport(steps.host_id, job.fence, Report("exit", code=n)) for n in range(4)
        ]
        results = at_once(
            [partial(steps.db.write_blocking, finish, [report]) for report in reports]
        )
        words = sorted(outcome.status for [outcome] in results)
        assert words == ["counted", "late", "late", "late"]
    check_consistent(steps)


def test_cancel_and_end_have_one_winner(steps: JobSteps) -> None:
    """Whichever is first: the end is stored, and the cancel was requested in time or refused."""
    task_id = steps.task(retry={"times": 1, "delay": 0})
    for _ in range(40):
        job = steps.assign(task_id)
        end = ReceivedReport(steps.host_id, job.fence, Report("exit", code=1))
        outcome, canceled = at_once(
            [
                partial(_end, steps, end),
                partial(steps.db.write_blocking, actions.cancel, steps.actors.ada, job.id),
            ]
        )
        assert isinstance(outcome, ReportOutcome) and outcome.status == "counted"
        assert not isinstance(canceled, Exception), canceled
        # Canceled in time: no retry. Too late: the retry that waits is canceled instead.
        assert steps.status(job.id) in ("finished/failure", "canceled/canceled")
        assert steps.job(job.id).ran == "yes"
    check_consistent(steps)


def test_cancel_and_claim_have_one_winner(steps: JobSteps) -> None:
    task_id = steps.task()
    steps.connect()
    for _ in range(30):
        job = steps.create(task_id)
        claimed, canceled = at_once(
            [
                steps.claim,
                partial(steps.db.write_blocking, actions.cancel, steps.actors.ada, job.id),
            ]
        )
        stored_job = steps.job(job.id)
        assert not isinstance(canceled, Exception)
        if stored_job.lifecycle == "assigned":
            assert stored_job.cancel_requested_at is not None
            assert [item.job.id for item in claimed] == [job.id]
            steps.end(stored_job.fence, "canceled")
        else:
            assert (stored_job.lifecycle, claimed) == ("canceled", [])
    check_consistent(steps)


def test_resolve_and_a_late_result_have_one_winner(steps: JobSteps) -> None:
    task_id = steps.task()
    for _ in range(30):
        job = steps.lose(task_id)
        end = ReceivedReport(steps.host_id, job.fence, Report("exit", code=1))
        outcome, resolved = at_once(
            [
                partial(_end, steps, end),
                partial(
                    steps.db.write_blocking,
                    actions.resolve,
                    steps.actors.ada,
                    job.id,
                    "success",
                    "",
                ),
            ]
        )
        stored_job = steps.job(job.id)
        if isinstance(resolved, Conflict):
            assert (outcome.status, stored_job.state, stored_job.reconciled) == (
                "counted",
                "failure",
                1,
            )
        else:
            assert (outcome.status, stored_job.state, stored_job.reconciled) == (
                "late",
                "success",
                0,
            )
    check_consistent(steps)


def test_the_end_and_the_sweeper_have_one_winner(steps: JobSteps) -> None:
    task_id = steps.task(timeout=1_000)
    for _ in range(20):
        steps.connect({})
        job = steps.assign(task_id)
        steps.clock.move(100)
        run_timeouts.mark_silent(steps.db)
        end = ReceivedReport(steps.host_id, job.fence, Report("exit"))
        outcome, _ = at_once(
            [
                partial(_end, steps, end),
                lambda: run_timeouts.lose_overdue(steps.db),
            ]
        )
        assert outcome.status == "counted"
        assert steps.status(job.id) == "finished/normal"
    check_consistent(steps)


def test_approve_and_reject_have_one_winner(steps: JobSteps) -> None:
    task_id = steps.task(type="approval", approvers=["uma@acme.test", "max@acme.test"])
    for _ in range(30):
        job = steps.create(task_id)
        results = at_once(
            [
                partial(steps.db.write_blocking, votes.approve, steps.actors.uma, job.id),
                partial(steps.db.write_blocking, votes.reject, steps.actors.max, job.id),
            ]
        )
        [won] = [item for item in results if not isinstance(item, Exception)]
        [refused] = [item for item in results if isinstance(item, Exception)]
        assert isinstance(refused, Conflict)
        assert steps.job(job.id) == won
    check_consistent(steps)


def test_a_hundred_requests_with_one_key_create_one_job(steps: JobSteps) -> None:
    task_id = steps.task()
    numbers = itertools.count()

    def create_job() -> Any:
        next(numbers)
        expected = JobRequest(
            steps.actors.ada, task_id, None, idempotency_key=IdempotencyKey("POST /job", "k", "d")
        )
        return steps.db.write_blocking(create, [expected])[0]

    items = [item for _ in range(13) for item in at_once([create_job] * THREADS)]
    created_jobs = [item for item in items if isinstance(item, CreatedJob)]
    assert len(created_jobs) == len(items) == 104
    assert len({item.job.id for item in created_jobs}) == 1
    assert [item.replayed for item in created_jobs].count(False) == 1
    assert steps.db.write_blocking(lambda tx: tx.value("select count(*) from jobs")) == 1


def test_a_returning_agent_and_an_end_agree_on_one_result(steps: JobSteps) -> None:
    task_id = steps.task()
    for _ in range(25):
        job = steps.assign(task_id)
        end = ReceivedReport(steps.host_id, job.fence, Report("exit"))
        results = at_once(
            [
                partial(_end, steps, end),
                partial(steps.connect, {job.fence: "ended"}),
            ]
        )
        assert not any(isinstance(item, Refused) for item in results), results
        assert steps.status(job.id) == "finished/normal"
    check_consistent(steps)
