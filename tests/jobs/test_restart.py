"""Running an ended job again."""

import msgspec
import pytest

from belvedere.base.errors import Conflict, Forbidden, Invalid, NotFound
from belvedere.jobs.idempotency import IdempotencyKey
from belvedere.jobs.lifecycle import actions
from belvedere.tasks import service as task_service
from belvedere.tasks.bodies import TaskBody
from jobs.job_steps import MISSING, JobSteps

NAME = {"type": "input", "label": "name"}


def end_job(steps: JobSteps, task_id: str, given: list[str] | None = None) -> str:
    job = steps.assign(task_id, given=given)
    steps.end(job.fence, code=1)
    return job.id


def test_a_restart_creates_a_new_job(steps: JobSteps) -> None:
    job_id = end_job(steps, steps.task(task_arguments=[NAME]), ["Ada"])
    expected = steps.db.write_blocking(actions.restart, steps.actors.ada, job_id, None, None)
    again = steps.create_job(expected).job
    assert again.id != job_id
    assert (again.restarted_from, again.lifecycle, again.fence) == (job_id, "ready", 0)
    assert steps.heavy(again.id).arguments == '["Ada"]'
    assert steps.status(job_id) == "finished/failure"


def test_other_values_may_be_sent(steps: JobSteps) -> None:
    job_id = end_job(steps, steps.task(task_arguments=[NAME]), ["Ada"])
    expected = steps.db.write_blocking(actions.restart, steps.actors.ada, job_id, ["Eva"], None)
    assert steps.heavy(steps.create_job(expected).job.id).arguments == '["Eva"]'


def test_a_restart_validates_the_values_against_the_changed_task(steps: JobSteps) -> None:
    task_id = steps.task(task_arguments=[NAME])
    job_id = end_job(steps, task_id, ["Ada"])
    change = msgspec.convert({"task_arguments": [NAME, {**NAME, "required": False}]}, TaskBody)
    steps.db.write_blocking(
        task_service.change, steps.actors.ada, task_id, change, is_replacement=False
    )
    expected = steps.db.write_blocking(actions.restart, steps.actors.ada, job_id, None, None)
    assert steps.heavy(steps.create_job(expected).job.id).arguments == '["Ada",""]'


def test_a_lost_job_can_be_restarted(steps: JobSteps) -> None:
    job = steps.lose()
    expected = steps.db.write_blocking(actions.restart, steps.actors.ada, job.id, None, None)
    assert steps.create_job(expected).job.lifecycle == "ready"
    assert steps.status(job.id) == "terminated/lost"


def test_the_same_key_restarts_once(steps: JobSteps) -> None:
    job_id = end_job(steps, steps.task())
    once = IdempotencyKey("PUT /job/{id}/restart", "k", "digest")
    created_jobs = [
        steps.create_job(
            steps.db.write_blocking(actions.restart, steps.actors.ada, job_id, None, once)
        )
        for _ in range(2)
    ]
    assert created_jobs[0].job.id == created_jobs[1].job.id
    assert [item.replayed for item in created_jobs] == [False, True]


def test_a_job_that_has_not_ended_is_not_restarted(steps: JobSteps) -> None:
    for job in (steps.create(), steps.create(lifecycle="onhold")):
        with pytest.raises(Conflict):
            steps.db.write_blocking(actions.restart, steps.actors.ada, job.id, None, None)


def test_a_restart_with_invalid_values_is_refused(steps: JobSteps) -> None:
    job_id = end_job(steps, steps.task(task_arguments=[NAME]), ["Ada"])
    expected = steps.db.write_blocking(actions.restart, steps.actors.ada, job_id, [], None)
    with pytest.raises(Invalid):
        steps.create_job(expected)


def test_a_job_is_not_found_without_permission_to_see_it(steps: JobSteps) -> None:
    """The response must not reveal either whether it has ended."""
    over, waiting = end_job(steps, steps.task()), steps.create().id
    for actor in (steps.actors.eve, steps.actors.uma, steps.actors.vic):
        for job_id in (over, waiting, MISSING):
            with pytest.raises(NotFound) as refusal:
                steps.db.write_blocking(actions.restart, actor, job_id, None, None)
            assert refusal.value.code == "job_not_found"


def test_seeing_is_not_running(steps: JobSteps) -> None:
    task_id = steps.task(acl=["vic@acme.test"])
    job_id = end_job(steps, task_id)
    expected = steps.db.write_blocking(actions.restart, steps.actors.vic, job_id, None, None)
    with pytest.raises(Forbidden):
        steps.create_job(expected)
