"""Jobs and time: nothing waits forever, and no outcome is guessed."""

import pytest

import run_timeouts
from belvedere.hosts import presence
from belvedere.hosts import service as host_service
from belvedere.jobs.lifecycle import actions, timeouts
from belvedere.jobs.model import LOST_AFTER
from jobs.job_steps import JobSteps


def silent(steps: JobSteps, seconds: float) -> None:
    """The agent is silent for this long, and the server's loops run."""
    steps.clock.move(seconds)
    run_timeouts.mark_silent(steps.db)
    steps.db.write_blocking(timeouts.mark_unreachable)
    run_timeouts.lose_overdue(steps.db)


# Expiry.


def test_a_waiting_job_expires_at_its_time(steps: JobSteps) -> None:
    job = steps.create(steps.task(expires=60_000))
    steps.clock.move(59.999)
    assert steps.db.write_blocking(timeouts.expire) == 0
    assert not steps.db.write_blocking(timeouts.any_expired)
    steps.clock.move(0.001)
    assert steps.db.write_blocking(timeouts.any_expired)
    assert steps.db.write_blocking(timeouts.expire) == 1
    stored_job = steps.job(job.id)
    assert (stored_job.lifecycle, stored_job.state, stored_job.ran) == ("expired", "canceled", "no")
    assert (stored_job.reason, stored_job.ended_at) == ("expired_in_queue", steps.clock.now)
    assert steps.kinds(job.id) == ["created", "expired"]
    assert steps.db.write_blocking(timeouts.expire) == 0


@pytest.mark.parametrize("lifecycle", ["onhold", "syncing"])
def test_every_waiting_job_expires(steps: JobSteps, lifecycle: str) -> None:
    job = steps.create(steps.task(expires=1_000), lifecycle=lifecycle)
    steps.clock.move(2)
    steps.db.write_blocking(timeouts.expire)
    assert steps.status(job.id) == "expired/canceled"


def test_a_running_job_does_not_expire(steps: JobSteps) -> None:
    job = steps.assign(steps.task(expires=1_000))
    steps.clock.move(10)
    assert steps.db.write_blocking(timeouts.expire) == 0
    assert steps.status(job.id) == "assigned/in_progress"


@pytest.mark.parametrize(
    ("answer", "stands"), [("approve", "finished/success"), ("reject", "finished/failure")]
)
def test_an_unanswered_approval_gets_the_default_of_its_task(
    steps: JobSteps, answer: str, stands: str
) -> None:
    task_id = steps.task(
        type="approval", approvers=["uma@acme.test"], default_answer=answer, expires=1_000
    )
    job = steps.create(task_id)
    steps.clock.move(2)
    steps.db.write_blocking(timeouts.expire)
    assert steps.status(job.id) == stands
    assert steps.job(job.id).reason == "default_answer"


def test_jobs_expire_in_small_batches(steps: JobSteps) -> None:
    task_id = steps.task(expires=1_000)
    for _ in range(3):
        steps.create(task_id)
    steps.clock.move(2)
    sweep_batch, timeouts.BATCH_SIZE = timeouts.BATCH_SIZE, 2
    try:
        assert [steps.db.write_blocking(timeouts.expire) for _ in range(3)] == [2, 1, 0]
    finally:
        timeouts.BATCH_SIZE = sweep_batch


@pytest.mark.parametrize("column", ["host_id", "task_id"])
def test_jobs_that_wait_for_a_deleted_object_end_immediately(steps: JobSteps, column: str) -> None:
    task_id = steps.task()
    running = steps.assign(task_id)
    waiting = steps.create(task_id)
    other = steps.create(steps.task(type="dummy", name="other"), origin="scheduler")
    object_id = steps.host_id if column == "host_id" else task_id
    assert steps.db.write_blocking(timeouts.expire_for, column, object_id) == 1
    assert steps.status(waiting.id) == "expired/canceled"
    assert steps.job(waiting.id).reason == f"{column[:-3]}_deleted"
    assert steps.status(running.id) == "assigned/in_progress"
    assert steps.status(other.id) == "onhold/in_progress"


# Unreachable: a mark, not a result.


def test_jobs_of_a_silent_agent_are_marked(steps: JobSteps) -> None:
    job = steps.assign()
    silent(steps, 29)
    assert steps.job(job.id).unreachable_at is None
    silent(steps, 2)
    assert steps.job(job.id).unreachable_at == steps.clock.now
    assert steps.status(job.id) == "assigned/in_progress"
    assert steps.kinds(job.id)[-1] == "unreachable"
    silent(steps, 20)
    assert steps.kinds(job.id).count("unreachable") == 1


def test_a_job_that_waits_for_a_silent_agent_is_not_marked(steps: JobSteps) -> None:
    job = steps.create()
    steps.connect()
    silent(steps, 60)
    assert steps.job(job.id).unreachable_at is None


def test_a_disconnection_of_ten_minutes_does_no_harm(steps: JobSteps) -> None:
    job = steps.assign()
    for _ in range(60):
        silent(steps, 10)
    steps.connect({job.fence: "live"})
    steps.end(job.fence, code=0)
    assert steps.status(job.id) == "finished/normal"
    assert steps.job(job.id).reconciled == 0


def test_an_agent_that_resumes_on_its_old_connection_is_reachable(steps: JobSteps) -> None:
    """A server that was suspended for a while finds its agents silent, although they only waited
    for it."""
    job = steps.assign()
    silent(steps, 40)
    assert not steps.db.write_blocking(timeouts.any_reachable)
    steps.db.write_blocking(
        presence.record_heartbeats, [(steps.host_id, steps.session, steps.clock.now)]
    )
    assert steps.db.write_blocking(timeouts.any_reachable)
    assert steps.db.write_blocking(timeouts.mark_reachable) == 1
    assert steps.job(job.id).unreachable_at is None
    assert steps.kinds(job.id)[-1] == "reachable"
    assert steps.db.write_blocking(timeouts.mark_reachable) == 0


# Lost.


def test_a_silent_job_is_lost_a_minute_after_its_deadline(steps: JobSteps) -> None:
    job = steps.assign(steps.task(timeout=20_000))
    silent(steps, 20 + 5 + 60)
    assert steps.status(job.id) == "assigned/in_progress"
    silent(steps, 0.001)
    stored_job = steps.job(job.id)
    assert (stored_job.lifecycle, stored_job.state, stored_job.ran) == (
        "terminated",
        "lost",
        "maybe",
    )
    assert (stored_job.reason, stored_job.trigger_name) == ("agent_unreachable", "lost")
    assert LOST_AFTER == 60_000


def test_a_job_is_not_lost_while_its_agent_sends_heartbeats(steps: JobSteps) -> None:
    job = steps.assign(steps.task(timeout=20_000))
    for _ in range(30):
        steps.db.write_blocking(
            presence.record_heartbeats, [(steps.host_id, steps.session, steps.clock.now)]
        )
        silent(steps, 10)
    assert steps.status(job.id) == "assigned/in_progress"


def test_a_job_without_a_report_is_lost_although_its_agent_is_connected(steps: JobSteps) -> None:
    job = steps.assign(steps.task(timeout=20_000))
    for _ in range(78):
        steps.db.write_blocking(
            presence.record_heartbeats, [(steps.host_id, steps.session, steps.clock.now)]
        )
        silent(steps, 10)
    assert steps.status(job.id) == "terminated/lost"


def test_a_lost_job_with_on_lost_is_tried_again(steps: JobSteps) -> None:
    task_id = steps.task(timeout=1_000, retry={"times": 1, "on_lost": True})
    job = steps.assign(task_id)
    silent(steps, 70)
    assert (steps.status(job.id), steps.job(job.id).ran) == ("ready/in_progress", "maybe")


def test_a_cancelled_job_is_lost_all_the_same(steps: JobSteps) -> None:
    job = steps.assign(steps.task(timeout=1_000, retry={"times": 1, "on_lost": True}))
    steps.db.write_blocking(actions.cancel, steps.actors.ada, job.id)
    silent(steps, 70)
    assert steps.status(job.id) == "terminated/lost"


def test_a_job_that_runs_on_a_deleted_host_ends_as_lost(steps: JobSteps) -> None:
    job = steps.assign(steps.task(timeout=1_000))
    steps.db.write_blocking(host_service.delete, steps.actors.ada, steps.host_id)
    silent(steps, 70)
    silent(steps, 700)
    assert steps.status(job.id) == "terminated/lost"
