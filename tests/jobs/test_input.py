"""Values for a job on hold, and the word that everything a job needs is there."""

import pytest

from belvedere.base.errors import Conflict, Forbidden, Invalid, NotFound
from belvedere.db.signals import Signal, host_ready
from belvedere.jobs.lifecycle import actions
from jobs.job_steps import MISSING, Workshop

NAME = {"type": "input", "label": "name"}


def test_it_works(shop: Workshop) -> None:
    task_id = shop.task(task_arguments=[NAME])
    job = shop.create(task_id, lifecycle="onhold")
    signals: list[set[Signal]] = []
    shop.db.on_signals = lambda emitted: signals.append(set(emitted))
    found = shop.db.write_blocking(actions.give_input, shop.actors.ada, job.id, ["Ada"])
    assert found == shop.job(job.id)
    assert (found.lifecycle, found.state) == ("ready", "in_progress")
    assert shop.heavy(job.id).arguments == '["Ada"]'
    assert shop.kinds(job.id) == ["created", "ready"]
    assert host_ready(shop.host_id) in signals[-1]
    shop.connect()
    assert shop.claim()[0].arguments == '["Ada"]'


def test_a_dummy_is_over_with_its_input(shop: Workshop) -> None:
    task_id = shop.task(type="dummy", task_arguments=[NAME])
    job = shop.create(task_id, origin="workflow")
    found = shop.db.write_blocking(actions.give_input, shop.actors.ada, job.id, ["x"])
    assert (found.lifecycle, found.state, found.trigger_name) == ("finished", "success", "success")
    assert (shop.heavy(job.id).output, found.ended_at) == ('["x"]', shop.clock.now)
    assert shop.kinds(job.id) == ["created", "finished"]


def test_input_is_checked_like_creation(shop: Workshop) -> None:
    job = shop.create(shop.task(task_arguments=[NAME]), lifecycle="onhold")
    for item in ([], ["a", "b"], ["nul\0"]):
        with pytest.raises(Invalid):
            shop.db.write_blocking(actions.give_input, shop.actors.ada, job.id, item)
    assert (shop.stands(job.id), shop.heavy(job.id).arguments) == ("onhold/in_progress", "[]")


def test_an_approval_takes_no_input(shop: Workshop) -> None:
    job = shop.create(shop.task(type="approval", approvers=["uma@acme.test"]))
    with pytest.raises(Invalid) as refusal:
        shop.db.write_blocking(actions.give_input, shop.actors.ada, job.id, [])
    assert refusal.value.code == "takes_no_input"


def test_input_comes_once(shop: Workshop) -> None:
    job = shop.create(lifecycle="onhold")
    shop.db.write_blocking(actions.give_input, shop.actors.ada, job.id, [])
    with pytest.raises(Conflict):
        shop.db.write_blocking(actions.give_input, shop.actors.ada, job.id, [])


@pytest.mark.parametrize("lifecycle", ["ready", "syncing"])
def test_what_is_not_on_hold_takes_none(shop: Workshop, lifecycle: str) -> None:
    job = shop.create(lifecycle=lifecycle)
    with pytest.raises(Conflict):
        shop.db.write_blocking(actions.give_input, shop.actors.ada, job.id, [])


def test_input_by_others_is_refused(shop: Workshop) -> None:
    job = shop.create(lifecycle="onhold")
    for job_id in (job.id, MISSING):
        with pytest.raises(NotFound):
            shop.db.write_blocking(actions.give_input, shop.actors.eve, job_id, [])
    with pytest.raises(NotFound):
        shop.db.write_blocking(actions.give_input, shop.actors.uma, job.id, [])
    with pytest.raises(Forbidden):
        shop.db.write_blocking(actions.give_input, shop.actors.max, job.id, [])


# Synced.


def test_a_synced_job_may_run(shop: Workshop) -> None:
    job = shop.create(lifecycle="syncing")
    found = shop.db.write_blocking(actions.sync, shop.actors.ada, job.id)
    assert (found.lifecycle, shop.kinds(job.id)) == ("ready", ["created", "ready"])
    shop.connect()
    assert len(shop.claim()) == 1


@pytest.mark.parametrize("lifecycle", ["ready", "onhold"])
def test_only_what_is_syncing_can_be_synced(shop: Workshop, lifecycle: str) -> None:
    job = shop.create(lifecycle=lifecycle)
    with pytest.raises(Conflict):
        shop.db.write_blocking(actions.sync, shop.actors.ada, job.id)


def test_a_cancelled_job_cannot_be_synced(shop: Workshop) -> None:
    job = shop.create(lifecycle="syncing")
    shop.db.write_blocking(actions.cancel, shop.actors.ada, job.id)
    with pytest.raises(Conflict):
        shop.db.write_blocking(actions.sync, shop.actors.ada, job.id)


def test_another_organization_syncs_nothing(shop: Workshop) -> None:
    job = shop.create(lifecycle="syncing")
    for job_id in (job.id, MISSING):
        with pytest.raises(NotFound):
            shop.db.write_blocking(actions.sync, shop.actors.eve, job_id)
