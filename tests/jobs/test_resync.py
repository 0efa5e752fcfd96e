"""What the journal of a reconnecting agent proves about the jobs of its host."""

import run_timeouts
from belvedere.base.clock import DAY
from belvedere.jobs.lifecycle import actions, claim, timeouts
from belvedere.jobs.recovery import resync
from belvedere.protocol import JournaledAttempt
from jobs.job_steps import JOURNAL, JobSteps


def test_a_running_job_in_the_journal_continues(steps: JobSteps) -> None:
    task_id = steps.task()
    job, never = steps.assign(task_id), steps.assign(task_id)
    resync_result = steps.connect({job.fence: "live"})
    assert (resync_result.live, resync_result.stop, resync_result.cancel) == ([job.fence], [], [])
    assert steps.status(job.id) == "assigned/in_progress"
    assert steps.status(never.id) == "ready/in_progress"


# Never accepted.


def test_an_order_that_was_never_accepted_is_requeued(steps: JobSteps) -> None:
    job = steps.assign()
    steps.connect({})
    stored_job = steps.job(job.id)
    assert (stored_job.lifecycle, stored_job.ran, stored_job.attempts) == ("ready", "no", 0)
    assert (stored_job.assigned_at, stored_job.deadline_at) == (None, None)
    assert [attempt.state for attempt in steps.attempts(job.id)] == ["returned"]
    assert steps.kinds(job.id) == ["created", "assigned", "returned"]
    [again] = steps.claim()
    assert (again.job.id, again.job.attempts) == (job.id, 1)
    assert again.job.fence > job.fence


# Rolled back: the journal has less than before.


def test_a_started_job_is_never_assigned_again(steps: JobSteps) -> None:
    """Even if the journal lacks it: the agent itself has reported that the script runs."""
    job = steps.assign()
    steps.report_started(job.fence)
    steps.connect({})
    stored_job = steps.job(job.id)
    assert (stored_job.state, stored_job.ran, stored_job.reason) == (
        "lost",
        "maybe",
        "journal_lost",
    )
    assert steps.claim() == []


def test_a_late_report_replaces_the_unknown_outcome(steps: JobSteps) -> None:
    job = steps.assign()
    steps.report_started(job.fence)
    steps.connect({})
    steps.end(job.fence)
    assert steps.status(job.id) == "finished/normal"


def test_a_journal_in_doubt_proves_nothing_about_earlier_claims(steps: JobSteps) -> None:
    task_id = steps.task()
    before = steps.assign(task_id)
    until = steps.clock()
    steps.clock.move(1)
    after = steps.assign(task_id)
    steps.db.write_blocking(resync.resync_host, steps.host_id, JOURNAL, [], until)
    assert [steps.job(job.id).state for job in (before, after)] == ["lost", "in_progress"]
    assert steps.job(after.id).lifecycle == "ready"


def test_a_journal_in_doubt_does_not_prove_that_a_lost_job_never_ran(steps: JobSteps) -> None:
    job = steps.assign()
    _lose_all(steps)
    steps.db.write_blocking(resync.resync_host, steps.host_id, JOURNAL, [], steps.clock())
    assert steps.job(job.id).ran == "maybe"


def test_after_a_failover_a_possibly_reported_outcome_is_unknown(steps: JobSteps) -> None:
    """The agent deletes an attempt once its report was acknowledged; the database has lost the
    report."""
    task_id = steps.task()
    reported, never = steps.assign(task_id), steps.assign(task_id)
    steps.db.write_blocking(resync.resync_host, steps.host_id, JOURNAL, [], 0, reported.fence)
    assert [steps.job(job.id).state for job in (reported, never)] == ["lost", "in_progress"]
    assert steps.job(never.id).lifecycle == "ready"


def _lose_all(steps: JobSteps) -> None:
    steps.clock.move(DAY)
    assert run_timeouts.lose_overdue(steps.db) > 0


def test_a_lost_job_that_was_never_accepted_did_not_run(steps: JobSteps) -> None:
    """The job has ended and stays so; but people can see that it can be run again."""
    task_id = steps.task()
    job, stored_job, started = (steps.assign(task_id) for _ in range(3))
    steps.report_started(started.fence)
    _lose_all(steps)
    assert [steps.job(item.id).ran for item in (job, stored_job, started)] == ["maybe"] * 3
    before = steps.job(job.id).version
    steps.connect({stored_job.fence: "live"})
    job_record = steps.job(job.id)
    assert (job_record.state, job_record.ran, job_record.reason) == (
        "lost",
        "no",
        "agent_unreachable",
    )
    assert job_record.version == before + 1 and steps.kinds(job.id)[-1] == "reachable"
    assert [steps.job(item.id).ran for item in (stored_job, started)] == ["maybe"] * 2
    steps.connect({stored_job.fence: "live"})
    assert steps.job(job.id).version == before + 1


def test_a_journal_whose_entry_was_acknowledged_proves_nothing(steps: JobSteps) -> None:
    """Its keeper crashed; after the report was acknowledged, it was removed from the journal."""
    early, late = steps.assign(), steps.assign()
    steps.end(early.fence, ending="unknown", reason="keeper_lost")
    _lose_all(steps)
    steps.connect({late.fence: "ended"})
    steps.end(late.fence, ending="unknown", reason="keeper_lost")
    steps.connect({})
    assert [steps.job(item.id).ran for item in (early, late)] == ["maybe", "maybe"]


def test_a_new_journal_proves_nothing_about_a_lost_one(steps: JobSteps) -> None:
    job = steps.assign()
    _lose_all(steps)
    steps.connect({}, journal="another")
    assert (steps.job(job.id).ran, steps.job(job.id).reason) == ("maybe", "agent_unreachable")


def test_an_earlier_attempt_may_have_run(steps: JobSteps) -> None:
    job = steps.assign(steps.task(retry={"times": 1}))
    steps.end(job.fence, code=1)
    steps.claim()
    _lose_all(steps)
    steps.connect({})
    assert steps.job(job.id).ran == "yes"


def test_requeueing_uses_no_retry(steps: JobSteps) -> None:
    job = steps.assign(steps.task(retry={"times": 1}))
    for _ in range(5):
        steps.connect({})
        steps.claim()
    steps.end(steps.job(job.id).fence, code=1)
    assert steps.status(job.id) == "ready/in_progress"


def test_a_requeued_job_still_shows_that_an_earlier_attempt_ran(steps: JobSteps) -> None:
    job = steps.assign(steps.task(retry={"times": 1}))
    steps.end(job.fence, code=1)
    steps.claim()
    steps.connect({})
    assert (steps.status(job.id), steps.job(job.id).ran) == ("ready/in_progress", "yes")
    steps.db.write_blocking(actions.cancel, steps.actors.ada, job.id)
    assert steps.job(job.id).ran == "yes"


def test_an_unaccepted_job_to_be_cancelled_is_cancelled(steps: JobSteps) -> None:
    job = steps.assign()
    steps.db.write_blocking(actions.cancel, steps.actors.ada, job.id)
    steps.connect({})
    stored_job = steps.job(job.id)
    assert (stored_job.lifecycle, stored_job.state, stored_job.ran) == (
        "canceled",
        "canceled",
        "no",
    )
    assert stored_job.ended_at == steps.clock.now
    assert steps.kinds(job.id)[-1] == "canceled"


# Still running.


def test_a_live_job_is_reachable_again(steps: JobSteps) -> None:
    job = steps.assign()
    steps.clock.move(31)
    run_timeouts.mark_silent(steps.db)
    steps.db.write_blocking(timeouts.mark_unreachable)
    assert steps.job(job.id).unreachable_at is not None
    steps.connect({job.fence: "live"})
    assert steps.job(job.id).unreachable_at is None
    assert steps.kinds(job.id)[-2:] == ["unreachable", "reachable"]


def test_a_running_job_to_be_cancelled_is_listed(steps: JobSteps) -> None:
    job = steps.assign()
    steps.db.write_blocking(actions.cancel, steps.actors.ada, job.id)
    assert steps.connect({job.fence: "live"}).cancel == [job.fence]
    assert steps.status(job.id) == "assigned/in_progress"


def test_an_ended_attempt_waits_for_its_report(steps: JobSteps) -> None:
    job = steps.assign()
    resync_result = steps.connect({job.fence: "ended"})
    assert (resync_result.live, resync_result.stop) == ([job.fence], [])
    steps.end(job.fence, code=0)
    assert steps.status(job.id) == "finished/normal"


# A different journal proves nothing.


def test_a_lost_journal_leaves_the_job_lost(steps: JobSteps) -> None:
    job = steps.assign()
    steps.connect({}, journal="another")
    stored_job = steps.job(job.id)
    assert (stored_job.lifecycle, stored_job.state, stored_job.reason) == (
        "terminated",
        "lost",
        "journal_lost",
    )
    assert stored_job.ran == "maybe"


def test_a_damaged_journal_still_proves_its_entries(steps: JobSteps) -> None:
    job = steps.assign()
    assert steps.connect({job.fence: "live"}, journal="another").live == [job.fence]
    assert steps.status(job.id) == "assigned/in_progress"


def test_with_on_lost_a_lost_journal_means_another_attempt(steps: JobSteps) -> None:
    job = steps.assign(steps.task(retry={"times": 1, "on_lost": True}))
    steps.connect({}, journal="another")
    assert (steps.status(job.id), steps.job(job.id).ran) == ("ready/in_progress", "maybe")


# Attempts that no job waits for.


def test_a_script_that_the_server_never_ordered_is_stopped(steps: JobSteps) -> None:
    assert steps.connect({777: "live"}).stop == [777]


def test_a_superseded_attempt_is_stopped(steps: JobSteps) -> None:
    job = steps.assign(steps.task(retry={"times": 1, "on_lost": True}))
    steps.end(job.fence, "unknown")
    [again] = steps.claim()
    resync_result = steps.connect({job.fence: "live", again.job.fence: "live"})
    assert (resync_result.stop, resync_result.live) == ([job.fence], [again.job.fence])


def test_a_lost_job_may_still_get_its_result(steps: JobSteps) -> None:
    job = steps.lose()
    resync_result = steps.connect({job.fence: "live"})
    assert (resync_result.stop, resync_result.live) == ([], [])
    steps.end(job.fence)
    assert steps.status(job.id) == "finished/normal"


def test_an_end_on_its_way_is_not_stopped(steps: JobSteps) -> None:
    """Its report is processed like any other, and then deleted."""
    assert steps.connect({777: "ended"}).stop == []


def test_the_attempts_of_other_hosts_are_left_alone(steps: JobSteps) -> None:
    job = steps.assign()
    other = steps.host("web-2")
    resync_result = steps.connect({job.fence: "live"}, host_id=other)
    assert steps.status(job.id) == "assigned/in_progress"
    assert resync_result.live == []


def test_attempts_that_were_completed_meanwhile_are_skipped(steps: JobSteps) -> None:
    """On PostgreSQL an end may be committed between reading the attempts and the lock."""
    job = steps.assign()

    def late(tx):  # type: ignore[no-untyped-def]
        # The attempt still reads as live, its job has already ended.
        tx.execute("update jobs set lifecycle = 'finished', state = 'normal' where id = ?", job.id)
        return resync.resync_host(tx, steps.host_id, "journal-1", [JournaledAttempt(1, "live")])

    result = steps.db.write_blocking(late)
    assert (result.live, result.stop) == ([], [1])
    assert steps.status(job.id) == "finished/normal"


# The process runs.


def test_a_start_moves_the_deadline(steps: JobSteps) -> None:
    job = steps.assign(steps.task(timeout=20_000))
    steps.clock.move(10)
    steps.report_started(job.fence, ago_ms=1_500)
    stored_job = steps.job(job.id)
    assert stored_job.started_at == steps.clock.now - 1_500
    assert stored_job.deadline_at == stored_job.started_at + 20_000 + 5_000
    assert steps.attempts(job.id)[0].started_at == stored_job.started_at
    assert steps.kinds(job.id) == ["created", "assigned", "started"]


def test_a_start_counts_once(steps: JobSteps) -> None:
    job = steps.assign()
    steps.report_started(job.fence)
    before = steps.job(job.id)
    steps.clock.move(5)
    steps.report_started(job.fence)
    assert steps.job(job.id) == before


def test_a_start_of_an_unknown_or_ended_attempt_is_ignored(steps: JobSteps) -> None:
    job = steps.assign()
    steps.report_started(777)
    other = steps.host("web-2")
    steps.db.write_blocking(resync.record_started, [(other, job.fence, 0)])
    assert steps.job(job.id).started_at is None
    steps.end(job.fence)
    before = steps.job(job.id)
    steps.report_started(job.fence)
    assert steps.job(job.id) == before


def test_the_next_attempt_starts_from_the_beginning(steps: JobSteps) -> None:
    job = steps.assign(steps.task(retry={"times": 1}))
    steps.report_started(job.fence)
    steps.end(job.fence, code=1)
    [again] = steps.claim()
    assert again.job.started_at is None
    steps.report_started(job.fence)
    assert steps.job(job.id).started_at is None
    assert steps.db.write_blocking(claim.cancel_requests) == []
