"""The end of an attempt."""

import json

import pytest

from belvedere.base.clock import DAY
from belvedere.db.signals import Signal, host_ready
from belvedere.jobs.lifecycle.finish import MAX_RETRY_DELAY, ReceivedReport, finish
from belvedere.protocol import Report
from jobs.job_steps import JobSteps


def test_a_report_finishes_its_job(steps: JobSteps) -> None:
    job = steps.assign()
    steps.clock.move(2)
    outcome = steps.end(job.fence, lastline='{"state": "ok", "output": ["a", 1]}', log="hello\n")
    stored_job = steps.job(job.id)
    assert (outcome.status, stored_job.lifecycle, stored_job.state) == (
        "counted",
        "finished",
        "success",
    )
    assert (stored_job.ran, stored_job.trigger_name, stored_job.ended_at) == (
        "yes",
        "success",
        steps.clock.now,
    )
    heavy = steps.heavy(job.id)
    assert (heavy.output, heavy.log) == ('["a","1"]', "hello\n")
    assert heavy.result is not None and json.loads(heavy.result)["code"] == 0
    assert [attempt.state for attempt in steps.attempts(job.id)] == ["ended"]
    assert steps.kinds(job.id) == ["created", "assigned", "finished"]


@pytest.mark.parametrize(
    ("ending", "code", "stands", "ran"),
    [
        ("exit", 0, "finished/normal", "yes"),
        ("exit", 3, "finished/failure", "yes"),
        ("timeout", 137, "terminated/timeout", "yes"),
        ("canceled", 143, "terminated/canceled", "yes"),
        ("error", 0, "finished/error", "no"),
        ("unknown", 0, "terminated/lost", "maybe"),
    ],
)
def test_every_ending_has_its_verdict(
    steps: JobSteps, ending: str, code: int, stands: str, ran: str
) -> None:
    job = steps.assign()
    steps.end(job.fence, ending, code=code)
    assert steps.status(job.id) == stands
    assert steps.job(job.id).ran == ran
    assert steps.job(job.id).ended_at is not None


def test_the_verdict_uses_the_rules_of_the_task(steps: JobSteps) -> None:
    task_id = steps.task(ignore_exit_code=True, default_state_evaluation="success")
    job = steps.assign(task_id)
    steps.end(job.fence, code=9)
    assert steps.status(job.id) == "finished/success"


def test_a_start_that_was_not_reported_is_computed_from_the_end(steps: JobSteps) -> None:
    job = steps.assign()
    steps.clock.move(10)
    steps.end(job.fence, elapsed_ns=4_000_000_000)
    assert steps.job(job.id).started_at == steps.clock.now - 4_000


def test_no_last_line_prevents_the_end_of_a_job(steps: JobSteps) -> None:
    task_id = steps.task()
    for line in ("[NaN]", "[" * 900 + "]" * 900, '{"output": [Infinity]}', '["\\ud800"]', "\ufffd"):
        job = steps.assign(task_id)
        assert steps.end(job.fence, lastline=line, log=f"{line}\0\n").status == "counted"
        assert steps.status(job.id) == "finished/normal"


# Once, and by the right agent.


def test_finishing_a_job_twice_is_refused(steps: JobSteps) -> None:
    job = steps.assign()
    steps.end(job.fence, code=0)
    before = steps.job(job.id)
    assert steps.end(job.fence, code=1).status == "late"
    assert steps.job(job.id) == before


def test_the_same_report_twice_in_one_batch_counts_once(steps: JobSteps) -> None:
    job = steps.assign()
    twice = [ReceivedReport(steps.host_id, job.fence, Report("exit", code=code)) for code in (0, 1)]
    outcomes = steps.db.write_blocking(finish, twice)
    assert [outcome.status for outcome in outcomes] == ["counted", "late"]  # type: ignore[union-attr]
    assert steps.status(job.id) == "finished/normal"
    assert steps.job(job.id).version == 3


def test_a_set_settles_each_by_its_own_report(steps: JobSteps) -> None:
    task_id = steps.task()
    jobs = [steps.assign(task_id) for _ in range(3)]
    reports = [
        ReceivedReport(steps.host_id, job.fence, Report("exit", code=n))
        for n, job in enumerate(jobs)
    ]
    steps.db.write_blocking(finish, reports)
    assert [steps.job(job.id).state for job in jobs] == ["normal", "failure", "failure"]


def test_an_unknown_fence_is_foreign(steps: JobSteps) -> None:
    outcome = steps.end(12_345)
    assert (outcome.status, outcome.job) == ("foreign", None)


def test_the_agent_of_another_host_changes_nothing(steps: JobSteps) -> None:
    job = steps.assign()
    other = steps.host("web-2")
    [outcome] = steps.db.write_blocking(finish, [ReceivedReport(other, job.fence, Report("exit"))])
    assert outcome.status == "foreign"  # type: ignore[union-attr]
    assert steps.status(job.id) == "assigned/in_progress"


def test_the_end_of_a_job_frees_a_slot_for_a_ready_job(steps: JobSteps) -> None:
    job = steps.assign()
    steps.create()
    signals: list[set[Signal]] = []
    steps.db.on_signals = lambda emitted: signals.append(set(emitted))
    steps.end(job.fence)
    assert host_ready(steps.host_id) in signals[-1]


# Retries.


def test_a_bad_end_with_retries_left_is_tried_again(steps: JobSteps) -> None:
    task_id = steps.task(retry={"times": 2, "delay": 1_000, "backoff": 3.0})
    job = steps.assign(task_id)
    waits = []
    for _ in range(2):
        steps.end(steps.job(job.id).fence, code=1)
        stored_job = steps.job(job.id)
        assert (stored_job.lifecycle, stored_job.state, stored_job.ended_at) == (
            "ready",
            "in_progress",
            None,
        )
        waits.append(stored_job.not_before_at - steps.clock.now)
        steps.clock.move(60)
        steps.claim()
    assert waits == [1_000, 3_000]
    steps.end(steps.job(job.id).fence, code=1)
    assert steps.status(job.id) == "finished/failure"
    assert [attempt.number for attempt in steps.attempts(job.id)] == [1, 2, 3]
    assert steps.kinds(job.id) == [
        "created",
        *("assigned", "retried", "assigned", "retried", "assigned"),
        "finished",
    ]


@pytest.mark.parametrize("ending", ["timeout", "error"])
def test_a_timeout_and_a_failed_start_are_tried_again_too(steps: JobSteps, ending: str) -> None:
    job = steps.assign(steps.task(retry={"times": 1}))
    steps.end(job.fence, ending)
    assert steps.status(job.id) == "ready/in_progress"


def test_a_successful_job_is_not_retried(steps: JobSteps) -> None:
    job = steps.assign(steps.task(retry={"times": 1}))
    steps.end(job.fence)
    assert steps.status(job.id) == "finished/normal"


def test_a_retry_reaches_its_verdict_even_if_it_waited_longer_than_the_queue_allows(
    steps: JobSteps,
) -> None:
    task_id = steps.task(retry={"times": 1, "delay": 60_000}, expires=2_000)
    job = steps.assign(task_id)
    steps.end(job.fence, code=1)
    stored_job = steps.job(job.id)
    assert stored_job.expires_at >= stored_job.not_before_at + 2_000


def test_a_retry_is_delayed_by_at_most_a_day(steps: JobSteps) -> None:
    task_id = steps.task(retry={"times": 100, "delay": 1_000, "backoff": 10.0})
    job = steps.assign(task_id)
    steps.db.write_blocking(
        lambda tx: tx.execute("update jobs set attempts = 90 where id = ?", job.id)
    )
    steps.end(job.fence, code=1)
    assert (
        steps.job(job.id).not_before_at
        == steps.clock.now + MAX_RETRY_DELAY
        == steps.clock.now + DAY
    )


def test_an_earlier_attempts_report_never_counts_for_a_later_one(steps: JobSteps) -> None:
    job = steps.assign(steps.task(retry={"times": 1}))
    steps.end(job.fence, code=1)
    assert steps.end(job.fence, code=0).status == "late"
    [again] = steps.claim()
    assert steps.end(job.fence, code=0).status == "late"
    assert steps.status(job.id) == "assigned/in_progress"
    steps.end(again.job.fence, code=0)
    assert steps.status(job.id) == "finished/normal"


def test_a_cancelled_job_is_not_tried_again(steps: JobSteps) -> None:
    from belvedere.jobs.lifecycle import actions

    job = steps.assign(steps.task(retry={"times": 1, "on_lost": True}))
    steps.db.write_blocking(actions.cancel, steps.actors.ada, job.id)
    steps.end(job.fence, code=1)
    assert steps.status(job.id) == "finished/failure"


def test_nothing_is_tried_again_while_a_process_of_it_would_not_die(steps: JobSteps) -> None:
    """Two of them would run at the same time."""
    task_id = steps.task(retry={"times": 1, "on_lost": True})
    job = steps.assign(task_id)
    steps.end(job.fence, "timeout", survivors=[42])
    assert steps.status(job.id) == "terminated/timeout"
    lost = steps.assign(task_id)
    steps.end(lost.fence, "unknown", survivors=[43])
    assert steps.status(lost.id) == "terminated/lost"


# What is known about whether it ran.


def test_an_attempt_that_could_not_start_does_not_hide_one_that_ran(steps: JobSteps) -> None:
    job = steps.assign(steps.task(retry={"times": 1}))
    steps.end(job.fence, code=1)
    assert steps.job(job.id).ran == "yes"
    [again] = steps.claim()
    steps.end(again.job.fence, "error")
    assert (steps.status(job.id), steps.job(job.id).ran) == ("finished/error", "yes")


def test_two_attempts_that_could_not_start_never_ran(steps: JobSteps) -> None:
    job = steps.assign(steps.task(retry={"times": 1}))
    steps.end(job.fence, "error")
    assert steps.job(job.id).ran == "no"
    [again] = steps.claim()
    assert again.job.may_have_run == "maybe"
    steps.end(again.job.fence, "error")
    assert steps.job(job.id).ran == "no"


def test_a_job_that_started_is_not_returned(steps: JobSteps) -> None:
    """An agent that returns an order has not started it. If it reported a start, one of both is
    wrong, and the script must not run again."""
    job = steps.assign()
    steps.report_started(job.fence)
    steps.end(job.fence, "error", reason="disk_full")
    assert (steps.status(job.id), steps.job(job.id).ran) == ("finished/error", "yes")
    assert steps.claim() == []


def test_a_retry_does_not_hide_a_reported_start(steps: JobSteps) -> None:
    job = steps.assign(steps.task(retry={"times": 1}))
    steps.report_started(job.fence)
    steps.end(job.fence, "error")
    assert (steps.status(job.id), steps.job(job.id).ran) == ("ready/in_progress", "yes")


def test_a_lost_attempt_may_have_run(steps: JobSteps) -> None:
    job = steps.assign(steps.task(retry={"times": 1, "on_lost": True}))
    steps.end(job.fence, "unknown")
    assert (steps.status(job.id), steps.job(job.id).ran) == ("ready/in_progress", "maybe")
    [again] = steps.claim()
    steps.end(again.job.fence, "error")
    assert steps.job(job.id).ran == "maybe"


def test_a_script_that_was_cancelled_before_it_began_never_ran(steps: JobSteps) -> None:
    job = steps.assign()
    steps.end(job.fence, "canceled", reason="not_started")
    stored_job = steps.job(job.id)
    assert (stored_job.lifecycle, stored_job.state, stored_job.ran) == (
        "terminated",
        "canceled",
        "no",
    )
    assert (stored_job.started_at, steps.heavy(job.id).result) == (None, None)


# Lost, and reported later.


def test_a_lost_job_gets_its_reported_outcome(steps: JobSteps) -> None:
    job = steps.lose()
    assert (job.reason, job.trigger_name, job.ran) == ("keeper_lost", "lost", "maybe")
    steps.clock.move(60)
    assert steps.end(job.fence, code=4).status == "counted"
    stored_job = steps.job(job.id)
    assert (stored_job.lifecycle, stored_job.state, stored_job.reconciled, stored_job.ran) == (
        "finished",
        "failure",
        1,
        "yes",
    )
    assert stored_job.ended_at == steps.clock.now
    assert steps.kinds(job.id) == ["created", "assigned", "lost", "reconciled"]


@pytest.mark.parametrize(
    ("ending", "stands"),
    [
        ("timeout", "finished/timeout"),
        ("canceled", "finished/canceled"),
        ("error", "finished/error"),
        ("exit", "finished/normal"),
    ],
)
def test_a_lost_job_is_reconciled_as_reported(steps: JobSteps, ending: str, stands: str) -> None:
    job = steps.lose()
    steps.end(job.fence, ending)
    assert steps.status(job.id) == stands


def test_a_lost_job_is_reconciled_once(steps: JobSteps) -> None:
    job = steps.lose()
    steps.end(job.fence, code=0)
    assert steps.end(job.fence, code=1).status == "late"
    assert steps.status(job.id) == "finished/normal"


def test_a_lost_job_that_is_lost_again_stays_lost(steps: JobSteps) -> None:
    job = steps.lose()
    assert steps.end(job.fence, "unknown").status == "counted"
    assert steps.job(job.id).version == job.version
    assert steps.kinds(job.id) == ["created", "assigned", "lost"]


def test_a_lost_job_is_not_retried_by_its_late_result(steps: JobSteps) -> None:
    job = steps.lose(steps.task(retry={"times": 3}))
    steps.end(job.fence, code=1)
    assert steps.status(job.id) == "finished/failure"


def test_with_on_lost_another_attempt_follows_and_the_old_result_is_too_late(
    steps: JobSteps,
) -> None:
    job = steps.assign(steps.task(retry={"times": 1, "on_lost": True}))
    steps.end(job.fence, "unknown")
    assert steps.status(job.id) == "ready/in_progress"
    assert steps.end(job.fence, code=0).status == "late"
    assert steps.status(job.id) == "ready/in_progress"
    [again] = steps.claim()
    assert again.job.fence > job.fence
    steps.end(again.job.fence, "unknown")
    assert steps.status(job.id) == "terminated/lost"
