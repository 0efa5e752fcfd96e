"""What time does to jobs: nothing waits for ever, and nothing is guessed."""

import pytest

import run_timeouts
from belvedere.hosts import presence
from belvedere.hosts import service as host_service
from belvedere.jobs.lifecycle import actions, timeouts
from belvedere.jobs.model import LOST_AFTER
from jobs.job_steps import Workshop


def silent(shop: Workshop, seconds: float) -> None:
    """The agent says nothing for so long, and the server's loops look."""
    shop.clock.move(seconds)
    run_timeouts.mark_silent(shop.db)
    shop.db.write_blocking(timeouts.mark_unreachable)
    run_timeouts.lose_overdue(shop.db)


# Expiry.


def test_it_works(shop: Workshop) -> None:
    job = shop.create(shop.task(expires=60_000))
    shop.clock.move(59.999)
    assert shop.db.write_blocking(timeouts.expire) == 0
    assert not shop.db.write_blocking(timeouts.any_expired)
    shop.clock.move(0.001)
    assert shop.db.write_blocking(timeouts.any_expired)
    assert shop.db.write_blocking(timeouts.expire) == 1
    found = shop.job(job.id)
    assert (found.lifecycle, found.state, found.ran) == ("expired", "canceled", "no")
    assert (found.reason, found.ended_at) == ("expired_in_queue", shop.clock.now)
    assert shop.kinds(job.id) == ["created", "expired"]
    assert shop.db.write_blocking(timeouts.expire) == 0


@pytest.mark.parametrize("lifecycle", ["onhold", "syncing"])
def test_every_waiting_job_expires(shop: Workshop, lifecycle: str) -> None:
    job = shop.create(shop.task(expires=1_000), lifecycle=lifecycle)
    shop.clock.move(2)
    shop.db.write_blocking(timeouts.expire)
    assert shop.stands(job.id) == "expired/canceled"


def test_what_runs_does_not_expire(shop: Workshop) -> None:
    job = shop.assigned(shop.task(expires=1_000))
    shop.clock.move(10)
    assert shop.db.write_blocking(timeouts.expire) == 0
    assert shop.stands(job.id) == "assigned/in_progress"


@pytest.mark.parametrize(
    ("answer", "stands"), [("approve", "finished/success"), ("reject", "finished/failure")]
)
def test_an_approval_that_nobody_answers_gets_its_tasks_answer(
    shop: Workshop, answer: str, stands: str
) -> None:
    task_id = shop.task(
        type="approval", approvers=["uma@acme.test"], default_answer=answer, expires=1_000
    )
    job = shop.create(task_id)
    shop.clock.move(2)
    shop.db.write_blocking(timeouts.expire)
    assert shop.stands(job.id) == stands
    assert shop.job(job.id).reason == "default_answer"


def test_it_takes_small_batches(shop: Workshop) -> None:
    task_id = shop.task(expires=1_000)
    for _ in range(3):
        shop.create(task_id)
    shop.clock.move(2)
    sweep_batch, timeouts.BATCH_SIZE = timeouts.BATCH_SIZE, 2
    try:
        assert [shop.db.write_blocking(timeouts.expire) for _ in range(3)] == [2, 1, 0]
    finally:
        timeouts.BATCH_SIZE = sweep_batch


@pytest.mark.parametrize("column", ["host_id", "task_id"])
def test_jobs_that_wait_for_a_deleted_object_end_immediately(shop: Workshop, column: str) -> None:
    task_id = shop.task()
    running = shop.assigned(task_id)
    waiting = shop.create(task_id)
    other = shop.create(shop.task(type="dummy", name="other"), origin="scheduler")
    object_id = shop.host_id if column == "host_id" else task_id
    assert shop.db.write_blocking(timeouts.expire_for, column, object_id) == 1
    assert shop.stands(waiting.id) == "expired/canceled"
    assert shop.job(waiting.id).reason == f"{column[:-3]}_deleted"
    assert shop.stands(running.id) == "assigned/in_progress"
    assert shop.stands(other.id) == "onhold/in_progress"


# Unreachable: a mark, not a verdict.


def test_jobs_of_a_silent_agent_are_marked(shop: Workshop) -> None:
    job = shop.assigned()
    silent(shop, 29)
    assert shop.job(job.id).unreachable_at is None
    silent(shop, 2)
    assert shop.job(job.id).unreachable_at == shop.clock.now
    assert shop.stands(job.id) == "assigned/in_progress"
    assert shop.kinds(job.id)[-1] == "unreachable"
    silent(shop, 20)
    assert shop.kinds(job.id).count("unreachable") == 1


def test_what_only_waits_for_a_silent_agent_is_not_marked(shop: Workshop) -> None:
    job = shop.create()
    shop.connect()
    silent(shop, 60)
    assert shop.job(job.id).unreachable_at is None


def test_a_cut_of_ten_minutes_harms_nothing(shop: Workshop) -> None:
    job = shop.assigned()
    for _ in range(60):
        silent(shop, 10)
    shop.connect({job.fence: "live"})
    shop.end(job.fence, code=0)
    assert shop.stands(job.id) == "finished/normal"
    assert shop.job(job.id).reconciled == 0


def test_an_agent_that_resumes_on_its_old_connection_is_reachable(shop: Workshop) -> None:
    """A server that stood still for a while finds its agents silent; they only waited for it."""
    job = shop.assigned()
    silent(shop, 40)
    assert not shop.db.write_blocking(timeouts.any_reachable)
    shop.db.write_blocking(
        presence.record_heartbeats, [(shop.host_id, shop.session, shop.clock.now)]
    )
    assert shop.db.write_blocking(timeouts.any_reachable)
    assert shop.db.write_blocking(timeouts.mark_reachable) == 1
    assert shop.job(job.id).unreachable_at is None
    assert shop.kinds(job.id)[-1] == "reachable"
    assert shop.db.write_blocking(timeouts.mark_reachable) == 0


# Lost.


def test_a_silent_job_is_lost_a_minute_after_its_deadline(shop: Workshop) -> None:
    job = shop.assigned(shop.task(timeout=20_000))
    silent(shop, 20 + 5 + 60)
    assert shop.stands(job.id) == "assigned/in_progress"
    silent(shop, 0.001)
    found = shop.job(job.id)
    assert (found.lifecycle, found.state, found.ran) == ("terminated", "lost", "maybe")
    assert (found.reason, found.trigger_name) == ("agent_unreachable", "lost")
    assert LOST_AFTER == 60_000


def test_a_job_is_not_lost_while_its_agent_sends_heartbeats(shop: Workshop) -> None:
    job = shop.assigned(shop.task(timeout=20_000))
    for _ in range(30):
        shop.db.write_blocking(
            presence.record_heartbeats, [(shop.host_id, shop.session, shop.clock.now)]
        )
        silent(shop, 10)
    assert shop.stands(job.id) == "assigned/in_progress"


def test_a_job_without_a_report_is_lost_although_its_agent_is_connected(shop: Workshop) -> None:
    job = shop.assigned(shop.task(timeout=20_000))
    for _ in range(78):
        shop.db.write_blocking(
            presence.record_heartbeats, [(shop.host_id, shop.session, shop.clock.now)]
        )
        silent(shop, 10)
    assert shop.stands(job.id) == "terminated/lost"


def test_a_lost_job_with_on_lost_is_tried_again(shop: Workshop) -> None:
    task_id = shop.task(timeout=1_000, retry={"times": 1, "on_lost": True})
    job = shop.assigned(task_id)
    silent(shop, 70)
    assert (shop.stands(job.id), shop.job(job.id).ran) == ("ready/in_progress", "maybe")


def test_a_cancelled_job_is_lost_all_the_same(shop: Workshop) -> None:
    job = shop.assigned(shop.task(timeout=1_000, retry={"times": 1, "on_lost": True}))
    shop.db.write_blocking(actions.cancel, shop.actors.ada, job.id)
    silent(shop, 70)
    assert shop.stands(job.id) == "terminated/lost"


def test_what_runs_on_a_deleted_host_ends_as_lost(shop: Workshop) -> None:
    job = shop.assigned(shop.task(timeout=1_000))
    shop.db.write_blocking(host_service.delete, shop.actors.ada, shop.host_id)
    silent(shop, 70)
    silent(shop, 700)
    assert shop.stands(job.id) == "terminated/lost"
