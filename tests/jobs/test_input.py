"""Input for a job on hold, and the report that the files of a job are complete."""

import pytest

from belvedere.base.errors import Conflict, Forbidden, Invalid, NotFound
from belvedere.db.signals import Signal, host_ready
from belvedere.jobs.lifecycle import actions
from jobs.job_steps import MISSING, JobSteps

NAME = {"type": "input", "label": "name"}


def test_input_makes_a_held_job_ready(steps: JobSteps) -> None:
    task_id = steps.task(task_arguments=[NAME])
    job = steps.create(task_id, lifecycle="onhold")
    signals: list[set[Signal]] = []
    steps.db.on_signals = lambda emitted: signals.append(set(emitted))
    stored_job = steps.db.write_blocking(actions.give_input, steps.actors.ada, job.id, ["Ada"])
    assert stored_job == steps.job(job.id)
    assert (stored_job.lifecycle, stored_job.state) == ("ready", "in_progress")
    assert steps.heavy(job.id).arguments == '["Ada"]'
    assert steps.kinds(job.id) == ["created", "ready"]
    assert host_ready(steps.host_id) in signals[-1]
    steps.connect()
    assert steps.claim()[0].arguments == '["Ada"]'


def test_a_dummy_is_over_with_its_input(steps: JobSteps) -> None:
    task_id = steps.task(type="dummy", task_arguments=[NAME])
    job = steps.create(task_id, origin="workflow")
    stored_job = steps.db.write_blocking(actions.give_input, steps.actors.ada, job.id, ["x"])
    assert (stored_job.lifecycle, stored_job.state, stored_job.trigger_name) == (
        "finished",
        "success",
        "success",
    )
    assert (steps.heavy(job.id).output, stored_job.ended_at) == ('["x"]', steps.clock.now)
    assert steps.kinds(job.id) == ["created", "finished"]


def test_input_is_checked_like_creation(steps: JobSteps) -> None:
    job = steps.create(steps.task(task_arguments=[NAME]), lifecycle="onhold")
    for item in ([], ["a", "b"], ["nul\0"]):
        with pytest.raises(Invalid):
            steps.db.write_blocking(actions.give_input, steps.actors.ada, job.id, item)
    assert (steps.status(job.id), steps.heavy(job.id).arguments) == ("onhold/in_progress", "[]")


def test_an_approval_takes_no_input(steps: JobSteps) -> None:
    job = steps.create(steps.task(type="approval", approvers=["uma@acme.test"]))
    with pytest.raises(Invalid) as refusal:
        steps.db.write_blocking(actions.give_input, steps.actors.ada, job.id, [])
    assert refusal.value.code == "takes_no_input"


def test_input_comes_once(steps: JobSteps) -> None:
    job = steps.create(lifecycle="onhold")
    steps.db.write_blocking(actions.give_input, steps.actors.ada, job.id, [])
    with pytest.raises(Conflict):
        steps.db.write_blocking(actions.give_input, steps.actors.ada, job.id, [])


@pytest.mark.parametrize("lifecycle", ["ready", "syncing"])
def test_only_jobs_on_hold_take_input(steps: JobSteps, lifecycle: str) -> None:
    job = steps.create(lifecycle=lifecycle)
    with pytest.raises(Conflict):
        steps.db.write_blocking(actions.give_input, steps.actors.ada, job.id, [])


def test_input_by_others_is_refused(steps: JobSteps) -> None:
    job = steps.create(lifecycle="onhold")
    for job_id in (job.id, MISSING):
        with pytest.raises(NotFound):
            steps.db.write_blocking(actions.give_input, steps.actors.eve, job_id, [])
    with pytest.raises(NotFound):
        steps.db.write_blocking(actions.give_input, steps.actors.uma, job.id, [])
    with pytest.raises(Forbidden):
        steps.db.write_blocking(actions.give_input, steps.actors.max, job.id, [])


# Synced.


def test_a_synced_job_may_run(steps: JobSteps) -> None:
    job = steps.create(lifecycle="syncing")
    stored_job = steps.db.write_blocking(actions.sync, steps.actors.ada, job.id)
    assert (stored_job.lifecycle, steps.kinds(job.id)) == ("ready", ["created", "ready"])
    steps.connect()
    assert len(steps.claim()) == 1


@pytest.mark.parametrize("lifecycle", ["ready", "onhold"])
def test_only_syncing_jobs_can_be_synced(steps: JobSteps, lifecycle: str) -> None:
    job = steps.create(lifecycle=lifecycle)
    with pytest.raises(Conflict):
        steps.db.write_blocking(actions.sync, steps.actors.ada, job.id)


def test_a_cancelled_job_cannot_be_synced(steps: JobSteps) -> None:
    job = steps.create(lifecycle="syncing")
    steps.db.write_blocking(actions.cancel, steps.actors.ada, job.id)
    with pytest.raises(Conflict):
        steps.db.write_blocking(actions.sync, steps.actors.ada, job.id)


def test_another_organization_syncs_nothing(steps: JobSteps) -> None:
    job = steps.create(lifecycle="syncing")
    for job_id in (job.id, MISSING):
        with pytest.raises(NotFound):
            steps.db.write_blocking(actions.sync, steps.actors.eve, job_id)
