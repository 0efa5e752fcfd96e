"""Cancelling: a waiting job ends at once, a running one is stopped by its agent."""

import pytest

from belvedere.access import replace_acl
from belvedere.base.errors import Conflict, Forbidden, NotFound
from belvedere.db.signals import Signal, jobs_canceled
from belvedere.jobs.lifecycle import actions
from jobs.job_steps import MISSING, JobSteps


def test_a_ready_job_is_canceled(steps: JobSteps) -> None:
    job = steps.create()
    steps.clock.move(1)
    stored_job = steps.db.write_blocking(actions.cancel, steps.actors.ada, job.id)
    assert stored_job == steps.job(job.id)
    assert (stored_job.lifecycle, stored_job.state, stored_job.ran) == (
        "canceled",
        "canceled",
        "no",
    )
    assert (stored_job.canceled_by, stored_job.trigger_name) == ("ada@acme.test", "canceled")
    assert stored_job.ended_at == steps.clock.now
    assert steps.kinds(job.id) == ["created", "canceled"]


@pytest.mark.parametrize("lifecycle", ["onhold", "syncing"])
def test_a_waiting_job_is_canceled_immediately(steps: JobSteps, lifecycle: str) -> None:
    job = steps.create(lifecycle=lifecycle)
    steps.db.write_blocking(actions.cancel, steps.actors.ada, job.id)
    assert steps.status(job.id) == "canceled/canceled"
    steps.connect()
    assert steps.claim() == []


def test_a_running_job_stays_until_its_agent_confirms(steps: JobSteps) -> None:
    job = steps.assign()
    signals: list[set[Signal]] = []
    steps.db.on_signals = lambda emitted: signals.append(set(emitted))
    stored_job = steps.db.write_blocking(actions.cancel, steps.actors.ada, job.id)
    assert (stored_job.lifecycle, stored_job.state) == ("assigned", "in_progress")
    assert stored_job.cancel_requested_at == steps.clock.now
    assert jobs_canceled(steps.host_id) in signals[-1]
    steps.end(job.fence, "canceled", code=143, signal="SIGTERM")
    assert steps.status(job.id) == "terminated/canceled"
    assert steps.kinds(job.id) == ["created", "assigned", "cancel_requested", "finished"]


def test_asking_again_changes_nothing(steps: JobSteps) -> None:
    job = steps.assign()
    first = steps.db.write_blocking(actions.cancel, steps.actors.ada, job.id)
    steps.clock.move(1)
    assert steps.db.write_blocking(actions.cancel, steps.actors.olga, job.id) == first


def test_a_script_that_ended_by_itself_meanwhile_has_ended_by_itself(steps: JobSteps) -> None:
    job = steps.assign()
    steps.db.write_blocking(actions.cancel, steps.actors.ada, job.id)
    steps.end(job.fence, code=0)
    assert steps.status(job.id) == "finished/normal"


def test_an_agent_that_never_answers_leaves_it_lost_not_cancelled(steps: JobSteps) -> None:
    job = steps.assign()
    steps.db.write_blocking(actions.cancel, steps.actors.ada, job.id)
    steps.end(job.fence, "unknown")
    assert steps.status(job.id) == "terminated/lost"


def test_a_cancelled_wait_for_a_retry_says_that_it_ran(steps: JobSteps) -> None:
    job = steps.assign(steps.task(retry={"times": 1, "delay": 60_000}))
    steps.end(job.fence, code=1)
    stored_job = steps.db.write_blocking(actions.cancel, steps.actors.ada, job.id)
    assert (stored_job.lifecycle, stored_job.ran) == ("canceled", "yes")


# Refused: wrong state, wrong person.


@pytest.mark.parametrize("ending", ["exit", "timeout", "unknown", "error"])
def test_an_ended_job_cannot_be_cancelled(steps: JobSteps, ending: str) -> None:
    job = steps.assign()
    steps.end(job.fence, ending)
    before = steps.job(job.id)
    with pytest.raises(Conflict):
        steps.db.write_blocking(actions.cancel, steps.actors.ada, job.id)
    assert steps.job(job.id) == before


def test_another_organization_finds_no_job(steps: JobSteps) -> None:
    job = steps.create()
    for job_id in (job.id, MISSING):
        with pytest.raises(NotFound) as refusal:
            steps.db.write_blocking(actions.cancel, steps.actors.eve, job_id)
        assert refusal.value.code == "job_not_found"
    assert steps.status(job.id) == "ready/in_progress"


def test_canceling_needs_permission_to_run_the_task(steps: JobSteps) -> None:
    task_id = steps.task()
    job = steps.create(task_id)
    with pytest.raises(NotFound):
        steps.db.write_blocking(actions.cancel, steps.actors.uma, job.id)
    with pytest.raises(Forbidden):
        steps.db.write_blocking(actions.cancel, steps.actors.max, job.id)
    steps.db.write_blocking(
        replace_acl, steps.actors.ada, "task", task_id, ["uma@acme.test", "vic@acme.test"]
    )
    with pytest.raises(Forbidden):
        steps.db.write_blocking(actions.cancel, steps.actors.vic, job.id)
    assert steps.db.write_blocking(actions.cancel, steps.actors.uma, job.id).lifecycle == "canceled"


def test_a_task_may_forbid_it_to_all_but_admins(steps: JobSteps) -> None:
    task_id = steps.task(cancellable=False, acl=["uma@acme.test"])
    job = steps.create(task_id)
    with pytest.raises(Forbidden) as refusal:
        steps.db.write_blocking(actions.cancel, steps.actors.uma, job.id)
    assert refusal.value.code == "not_cancellable"
    assert steps.db.write_blocking(actions.cancel, steps.actors.ada, job.id).lifecycle == "canceled"
