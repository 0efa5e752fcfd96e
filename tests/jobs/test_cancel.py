"""Cancelling: what waits ends at once, what runs is stopped by its agent."""

import pytest

from belvedere.access import replace_acl
from belvedere.base.errors import Conflict, Forbidden, NotFound
from belvedere.db.signals import Signal, jobs_canceled
from belvedere.jobs.lifecycle import actions
from jobs.job_steps import MISSING, Workshop


def test_it_works(shop: Workshop) -> None:
    job = shop.create()
    shop.clock.move(1)
    found = shop.db.write_blocking(actions.cancel, shop.actors.ada, job.id)
    assert found == shop.job(job.id)
    assert (found.lifecycle, found.state, found.ran) == ("canceled", "canceled", "no")
    assert (found.canceled_by, found.trigger_name) == ("ada@acme.test", "canceled")
    assert found.ended_at == shop.clock.now
    assert shop.kinds(job.id) == ["created", "canceled"]


@pytest.mark.parametrize("lifecycle", ["onhold", "syncing"])
def test_what_waits_for_anything_ends_at_once(shop: Workshop, lifecycle: str) -> None:
    job = shop.create(lifecycle=lifecycle)
    shop.db.write_blocking(actions.cancel, shop.actors.ada, job.id)
    assert shop.stands(job.id) == "canceled/canceled"
    shop.connect()
    assert shop.claim() == []


def test_a_running_job_stays_until_its_agent_confirms(shop: Workshop) -> None:
    job = shop.assigned()
    signals: list[set[Signal]] = []
    shop.db.on_signals = lambda emitted: signals.append(set(emitted))
    found = shop.db.write_blocking(actions.cancel, shop.actors.ada, job.id)
    assert (found.lifecycle, found.state) == ("assigned", "in_progress")
    assert found.cancel_requested_at == shop.clock.now
    assert jobs_canceled(shop.host_id) in signals[-1]
    shop.end(job.fence, "canceled", code=143, signal="SIGTERM")
    assert shop.stands(job.id) == "terminated/canceled"
    assert shop.kinds(job.id) == ["created", "assigned", "cancel_requested", "finished"]


def test_asking_again_changes_nothing(shop: Workshop) -> None:
    job = shop.assigned()
    first = shop.db.write_blocking(actions.cancel, shop.actors.ada, job.id)
    shop.clock.move(1)
    assert shop.db.write_blocking(actions.cancel, shop.actors.olga, job.id) == first


def test_a_script_that_ended_by_itself_meanwhile_has_ended_by_itself(shop: Workshop) -> None:
    job = shop.assigned()
    shop.db.write_blocking(actions.cancel, shop.actors.ada, job.id)
    shop.end(job.fence, code=0)
    assert shop.stands(job.id) == "finished/normal"


def test_an_agent_that_never_answers_leaves_it_lost_not_cancelled(shop: Workshop) -> None:
    job = shop.assigned()
    shop.db.write_blocking(actions.cancel, shop.actors.ada, job.id)
    shop.end(job.fence, "unknown")
    assert shop.stands(job.id) == "terminated/lost"


def test_a_cancelled_wait_for_a_retry_says_that_it_ran(shop: Workshop) -> None:
    job = shop.assigned(shop.task(retry={"times": 1, "delay": 60_000}))
    shop.end(job.fence, code=1)
    found = shop.db.write_blocking(actions.cancel, shop.actors.ada, job.id)
    assert (found.lifecycle, found.ran) == ("canceled", "yes")


# The wrong moment, the wrong person.


@pytest.mark.parametrize("ending", ["exit", "timeout", "unknown", "error"])
def test_it_refuses_to_cancel_what_is_over(shop: Workshop, ending: str) -> None:
    job = shop.assigned()
    shop.end(job.fence, ending)
    before = shop.job(job.id)
    with pytest.raises(Conflict):
        shop.db.write_blocking(actions.cancel, shop.actors.ada, job.id)
    assert shop.job(job.id) == before


def test_another_organization_finds_no_job(shop: Workshop) -> None:
    job = shop.create()
    for job_id in (job.id, MISSING):
        with pytest.raises(NotFound) as refusal:
            shop.db.write_blocking(actions.cancel, shop.actors.eve, job_id)
        assert refusal.value.code == "job_not_found"
    assert shop.stands(job.id) == "ready/in_progress"


def test_who_may_not_run_the_task_may_not_cancel_its_jobs(shop: Workshop) -> None:
    task_id = shop.task()
    job = shop.create(task_id)
    with pytest.raises(NotFound):
        shop.db.write_blocking(actions.cancel, shop.actors.uma, job.id)
    with pytest.raises(Forbidden):
        shop.db.write_blocking(actions.cancel, shop.actors.max, job.id)
    shop.db.write_blocking(
        replace_acl, shop.actors.ada, "task", task_id, ["uma@acme.test", "vic@acme.test"]
    )
    with pytest.raises(Forbidden):
        shop.db.write_blocking(actions.cancel, shop.actors.vic, job.id)
    assert shop.db.write_blocking(actions.cancel, shop.actors.uma, job.id).lifecycle == "canceled"


def test_a_task_may_forbid_it_to_all_but_admins(shop: Workshop) -> None:
    task_id = shop.task(cancellable=False, acl=["uma@acme.test"])
    job = shop.create(task_id)
    with pytest.raises(Forbidden) as refusal:
        shop.db.write_blocking(actions.cancel, shop.actors.uma, job.id)
    assert refusal.value.code == "not_cancellable"
    assert shop.db.write_blocking(actions.cancel, shop.actors.ada, job.id).lifecycle == "canceled"
