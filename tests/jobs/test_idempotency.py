"""The same key, the same job, for a day."""

import msgspec
import pytest

from belvedere.base.errors import Conflict, Invalid, KeyReused
from belvedere.jobs.idempotency import IdempotencyKey
from belvedere.jobs.lifecycle import timeouts
from belvedere.jobs.lifecycle.create import CreatedJob, JobRequest, create
from jobs.job_steps import JobSteps


def keyed_request(steps: JobSteps, task_id: str, key: str = "k", **more: object) -> JobRequest:
    fields = {"route": "POST /job", "body": "digest", "actor": steps.actors.ada, **more}
    once = IdempotencyKey(str(fields["route"]), key, str(fields["body"]))
    return JobRequest(fields["actor"], task_id, None, idempotency_key=once)  # type: ignore[arg-type]


def test_a_repeated_key_returns_the_first_job(steps: JobSteps) -> None:
    task_id = steps.task()
    first = steps.create_job(keyed_request(steps, task_id))
    steps.connect()
    steps.claim()
    again = steps.create_job(keyed_request(steps, task_id))
    assert (first.replayed, again.replayed) == (False, True)
    assert again.job == steps.job(first.job.id)
    assert again.job.lifecycle == "assigned"
    assert again.arguments == first.arguments


def test_the_same_key_twice_in_one_batch_is_one_job(steps: JobSteps) -> None:
    task_id = steps.task()
    answers = steps.db.write_blocking(create, [keyed_request(steps, task_id) for _ in range(3)])
    created_jobs = [answer for answer in answers if isinstance(answer, CreatedJob)]
    assert len({item.job.id for item in created_jobs}) == 1
    assert [item.replayed for item in created_jobs] == [False, True, True]


def test_another_body_is_refused(steps: JobSteps) -> None:
    task_id = steps.task()
    steps.create_job(keyed_request(steps, task_id))
    with pytest.raises(KeyReused):
        steps.create_job(keyed_request(steps, task_id, body="other"))
    [_, refusal] = steps.db.write_blocking(
        create,
        [keyed_request(steps, task_id, "k2"), keyed_request(steps, task_id, "k2", body="other")],
    )
    assert isinstance(refusal, KeyReused)


def test_keys_of_different_people_routes_and_organizations_are_separate(steps: JobSteps) -> None:
    task_id = steps.task()
    ids = {
        steps.create_job(keyed_request(steps, task_id)).job.id,
        steps.create_job(keyed_request(steps, task_id, actor=steps.actors.olga)).job.id,
        steps.create_job(keyed_request(steps, task_id, route="POST /other")).job.id,
        steps.create_job(keyed_request(steps, task_id, "other")).job.id,
    }
    assert len(ids) == 4


def test_a_refused_request_leaves_its_key_free(steps: JobSteps) -> None:
    task_id = steps.task(task_arguments=[{"type": "input"}])
    expected = keyed_request(steps, task_id)
    for _ in range(2):
        with pytest.raises(Invalid):
            steps.create_job(expected)
    expected = msgspec.structs.replace(expected, values=["x"])
    assert not steps.create_job(expected).replayed


def test_a_replay_needs_no_task_any_more(steps: JobSteps) -> None:
    from belvedere.tasks import service as task_service

    task_id = steps.task()
    first = steps.create_job(keyed_request(steps, task_id))
    steps.db.write_blocking(task_service.delete, steps.actors.ada, task_id)
    assert steps.create_job(keyed_request(steps, task_id)).job.id == first.job.id


def test_an_idempotency_key_is_valid_for_a_day(steps: JobSteps) -> None:
    task_id = steps.task()
    first = steps.create_job(keyed_request(steps, task_id))
    steps.clock.move(24 * 3600)
    assert steps.db.write_blocking(timeouts.purge_old_keys) == 0
    assert steps.create_job(keyed_request(steps, task_id)).job.id == first.job.id
    steps.clock.move(0.001)
    assert steps.db.write_blocking(timeouts.purge_old_keys) == 1
    assert steps.create_job(keyed_request(steps, task_id)).job.id != first.job.id


def test_a_disabled_task_is_refused_only_to_new_requests(steps: JobSteps) -> None:
    from belvedere.tasks import service as task_service
    from belvedere.tasks.bodies import TaskBody

    task_id = steps.task()
    first = steps.create_job(keyed_request(steps, task_id))
    off = msgspec.convert({"enable": False}, TaskBody)
    steps.db.write_blocking(
        task_service.change, steps.actors.ada, task_id, off, is_replacement=False
    )
    assert steps.create_job(keyed_request(steps, task_id)).job.id == first.job.id
    with pytest.raises(Conflict):
        steps.create_job(keyed_request(steps, task_id, "another"))
