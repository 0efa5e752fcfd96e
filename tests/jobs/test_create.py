"""Creating jobs."""

from typing import Any

import msgspec
import pytest

from belvedere.access import replace_acl
from belvedere.base.clock import DAY, MINUTE
from belvedere.base.errors import Conflict, Forbidden, Invalid, NotFound, Refused
from belvedere.db.signals import Signal, host_ready
from belvedere.jobs.lifecycle.create import CreatedJob, JobRequest, create
from belvedere.tasks import service as task_service
from belvedere.tasks.bodies import TaskBody
from jobs.job_steps import MISSING, JobSteps

NAME = {"type": "input", "label": "name"}


def test_a_job_is_created_from_its_task(steps: JobSteps) -> None:
    task_id = steps.task(task_arguments=[NAME])
    created_job = steps.create_job(JobRequest(steps.actors.ada, task_id, ["Ada"]))
    job = steps.job(created_job.job.id)
    assert job == created_job.job
    assert (job.lifecycle, job.state, job.version, job.fence) == ("ready", "in_progress", 1, 0)
    assert (job.task_id, job.task_version, job.host_id) == (task_id, 1, steps.host_id)
    assert (job.ran, job.attempts, job.ended_at) == ("no", 0, None)
    assert (job.user_id, job.email) == (steps.actors.ada.user_id, "ada@acme.test")
    assert steps.heavy(job.id).arguments == created_job.arguments == '["Ada"]'
    assert steps.kinds(job.id) == ["created"]


def test_a_job_copies_the_definition_of_its_task(steps: JobSteps) -> None:
    job = steps.create(steps.task(timeout=5_000, concurrency=2, expires=60_000, notify=False))
    assert (job.timeout, job.concurrency, job.notify) == (5_000, 2, 0)
    assert job.expires_at == job.created_at + 60_000


def test_a_task_without_a_timeout_gives_ten_minutes_and_seven_days(steps: JobSteps) -> None:
    job = steps.create()
    assert (job.timeout, job.expires_at - job.created_at) == (10 * MINUTE, 7 * DAY)


def test_only_the_host_of_a_ready_job_is_signalled(steps: JobSteps) -> None:
    signals: list[set[Signal]] = []
    steps.db.on_signals = lambda emitted: signals.append(set(emitted))
    task_id = steps.task()
    signals.clear()
    steps.create(task_id)
    assert host_ready(steps.host_id) in signals[-1]
    steps.create(task_id, lifecycle="onhold")
    assert host_ready(steps.host_id) not in signals[-1]


# First lifecycles.


@pytest.mark.parametrize("text", ["onhold", "syncing", "ready"])
def test_a_script_job_starts_with_the_requested_lifecycle(steps: JobSteps, text: str) -> None:
    job = steps.create(lifecycle=text)
    assert (job.lifecycle, job.state) == (text, "in_progress")


@pytest.mark.parametrize("text", ["assigned", "finished", "started", "nonsense", "READY"])
def test_any_other_first_lifecycle_is_refused(steps: JobSteps, text: str) -> None:
    with pytest.raises(Invalid) as refusal:
        steps.create(lifecycle=text)
    assert refusal.value.code == "invalid_lifecycle"


def test_an_approval_waits_for_its_approvers(steps: JobSteps) -> None:
    task_id = steps.task(type="approval", approvers=["uma@acme.test"])
    assert steps.create(task_id).lifecycle == "onhold"


def test_a_dummy_started_by_a_person_is_over_with_its_arguments(steps: JobSteps) -> None:
    job = steps.create(steps.task(type="dummy", task_arguments=[NAME]), ["x"])
    assert (job.lifecycle, job.state, job.trigger_name) == ("finished", "success", "success")
    assert job.ended_at == job.created_at
    assert steps.heavy(job.id).output == '["x"]'


def test_a_dummy_started_by_something_else_asks_a_person(steps: JobSteps) -> None:
    job = steps.create(steps.task(type="dummy", task_arguments=[NAME]), origin="scheduler")
    assert (job.lifecycle, steps.heavy(job.id).arguments) == ("onhold", "[]")


def test_a_script_that_needs_input_waits_unless_a_person_starts_it(steps: JobSteps) -> None:
    task_id = steps.task(user_inputs=True, task_arguments=[NAME])
    assert steps.create(task_id, ["x"]).lifecycle == "ready"
    assert steps.create(task_id, origin="trigger_by").lifecycle == "onhold"


# Refusals.


def test_invalid_arguments_create_no_job(steps: JobSteps) -> None:
    task_id = steps.task(task_arguments=[NAME])
    for item in ([], ["a", "b"], None, ["nul\0"]):
        with pytest.raises(Invalid):
            steps.create(task_id, item)
    assert steps.db.write_blocking(lambda tx: tx.value("select count(*) from jobs")) == 0


def test_a_disabled_task_creates_no_job(steps: JobSteps) -> None:
    with pytest.raises(Conflict) as refusal:
        steps.create(steps.task(enable=False))
    assert refusal.value.code == "task_disabled"


@pytest.mark.parametrize("task_id", [MISSING, "no id at all", "", "x" * 24])
def test_a_missing_task_is_not_found(steps: JobSteps, task_id: str) -> None:
    with pytest.raises(NotFound) as refusal:
        steps.create_job(JobRequest(steps.actors.ada, task_id, None))
    assert refusal.value.code == "task_not_found"


def test_a_deleted_task_is_not_found(steps: JobSteps) -> None:
    task_id = steps.task()
    steps.db.write_blocking(task_service.delete, steps.actors.ada, task_id)
    with pytest.raises(NotFound):
        steps.create(task_id)


def test_another_organization_does_not_find_the_task(steps: JobSteps) -> None:
    with pytest.raises(NotFound) as refusal:
        steps.create(steps.task(), actor=steps.actors.eve)
    assert refusal.value.code == "task_not_found"


def test_the_acl_decides_who_may_run(steps: JobSteps) -> None:
    task_id = steps.task()
    with pytest.raises(NotFound):
        steps.create(task_id, actor=steps.actors.uma)
    with pytest.raises(Forbidden):
        steps.create(task_id, actor=steps.actors.max)
    named = ["uma@acme.test", "vic@acme.test", "max@acme.test"]
    steps.db.write_blocking(replace_acl, steps.actors.ada, "task", task_id, named)
    assert steps.create(task_id, actor=steps.actors.uma).user_id == steps.actors.uma.user_id
    assert steps.create(task_id, actor=steps.actors.max).lifecycle == "ready"
    with pytest.raises(Forbidden):
        steps.create(task_id, actor=steps.actors.vic)


# The secret key.


def secret_of(steps: JobSteps, task_id: str) -> str:
    return steps.db.write_blocking(task_service.reveal, steps.keys, steps.actors.ada, task_id)


def by_secret(steps: JobSteps, task_id: str, secret: str) -> JobRequest:
    anyone: Any = msgspec.structs.replace(
        steps.actors.vic, kind="secret", level="anonymous", user_id="", username="", email=""
    )
    return JobRequest(anyone, task_id, None, origin="secret", secret=secret, keys=steps.keys)


def test_the_secret_key_replaces_a_level(steps: JobSteps) -> None:
    task_id = steps.task()
    job = steps.create_job(by_secret(steps, task_id, secret_of(steps, task_id))).job
    assert (job.origin, job.user_id, job.email) == ("secret", "", "")


def test_a_wrong_secret_and_a_missing_task_look_the_same(steps: JobSteps) -> None:
    task_id, other = steps.task(), steps.task(name="other")
    secret = secret_of(steps, task_id)
    result = set()
    for expected, key in ((task_id, "0" * 64), (other, secret), (MISSING, secret), ("x", secret)):
        with pytest.raises(Forbidden) as refusal:
            steps.create_job(by_secret(steps, expected, key))
        result.add((refusal.value.code, refusal.value.message))
    assert len(result) == 1


# Batches.


def test_a_refused_job_does_not_affect_others(steps: JobSteps) -> None:
    task_id = steps.task()
    expected = [
        JobRequest(steps.actors.ada, task_id, None),
        JobRequest(steps.actors.ada, MISSING, None),
        JobRequest(steps.actors.uma, task_id, None),
        JobRequest(steps.actors.ada, task_id, None),
    ]
    answers = steps.db.write_blocking(create, expected)
    kinds = [isinstance(answer, CreatedJob) for answer in answers]
    assert kinds == [True, False, False, True]
    assert all(isinstance(answer, Refused) for answer in answers[1:3])
    assert steps.db.write_blocking(lambda tx: tx.value("select count(*) from jobs")) == 2


def test_jobs_of_one_batch_are_reported_in_order(steps: JobSteps) -> None:
    task_id = steps.task()
    created_jobs = steps.db.write_blocking(
        create, [JobRequest(steps.actors.ada, task_id, None) for _ in range(5)]
    )
    ids = [answer.job.id for answer in created_jobs if isinstance(answer, CreatedJob)]
    assert ids == sorted(set(ids))
    assert all(steps.kinds(job_id) == ["created"] for job_id in ids)


def test_a_job_runs_the_version_of_its_creation(steps: JobSteps) -> None:
    task_id = steps.task()
    job = steps.create(task_id)
    change = msgspec.convert({"concurrency": 3}, TaskBody)
    steps.db.write_blocking(
        task_service.change, steps.actors.ada, task_id, change, is_replacement=False
    )
    assert (steps.job(job.id).task_version, steps.job(job.id).concurrency) == (1, None)
    assert (steps.create(task_id).task_version, steps.create(task_id).concurrency) == (2, 3)
