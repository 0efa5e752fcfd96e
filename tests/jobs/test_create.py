"""Making jobs."""

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
from jobs.job_steps import MISSING, Workshop

NAME = {"type": "input", "label": "name"}


def test_it_works(shop: Workshop) -> None:
    task_id = shop.task(task_arguments=[NAME])
    made = shop.made(JobRequest(shop.actors.ada, task_id, ["Ada"]))
    job = shop.job(made.job.id)
    assert job == made.job
    assert (job.lifecycle, job.state, job.version, job.fence) == ("ready", "in_progress", 1, 0)
    assert (job.task_id, job.task_version, job.host_id) == (task_id, 1, shop.host_id)
    assert (job.ran, job.attempts, job.ended_at) == ("no", 0, None)
    assert (job.user_id, job.email) == (shop.actors.ada.user_id, "ada@acme.test")
    assert shop.heavy(job.id).arguments == made.arguments == '["Ada"]'
    assert shop.kinds(job.id) == ["created"]


def test_it_takes_over_what_the_task_says(shop: Workshop) -> None:
    job = shop.create(shop.task(timeout=5_000, concurrency=2, expires=60_000, notify=False))
    assert (job.timeout, job.concurrency, job.notify) == (5_000, 2, 0)
    assert job.expires_at == job.created_at + 60_000


def test_a_task_without_a_timeout_gives_ten_minutes_and_seven_days(shop: Workshop) -> None:
    job = shop.create()
    assert (job.timeout, job.expires_at - job.created_at) == (10 * MINUTE, 7 * DAY)


def test_it_rings_the_host_of_a_ready_job_only(shop: Workshop) -> None:
    signals: list[set[Signal]] = []
    shop.db.on_signals = lambda emitted: signals.append(set(emitted))
    task_id = shop.task()
    signals.clear()
    shop.create(task_id)
    assert host_ready(shop.host_id) in signals[-1]
    shop.create(task_id, lifecycle="onhold")
    assert host_ready(shop.host_id) not in signals[-1]


# First lifecycles.


@pytest.mark.parametrize("asked", ["onhold", "syncing", "ready"])
def test_a_script_job_starts_with_the_requested_lifecycle(shop: Workshop, asked: str) -> None:
    job = shop.create(lifecycle=asked)
    assert (job.lifecycle, job.state) == (asked, "in_progress")


@pytest.mark.parametrize("asked", ["assigned", "finished", "started", "nonsense", "READY"])
def test_it_refuses_any_other_beginning(shop: Workshop, asked: str) -> None:
    with pytest.raises(Invalid) as refusal:
        shop.create(lifecycle=asked)
    assert refusal.value.code == "invalid_lifecycle"


def test_an_approval_waits_for_its_approvers(shop: Workshop) -> None:
    task_id = shop.task(type="approval", approvers=["uma@acme.test"])
    assert shop.create(task_id).lifecycle == "onhold"


def test_a_dummy_started_by_a_person_is_over_with_its_arguments(shop: Workshop) -> None:
    job = shop.create(shop.task(type="dummy", task_arguments=[NAME]), ["x"])
    assert (job.lifecycle, job.state, job.trigger_name) == ("finished", "success", "success")
    assert job.ended_at == job.created_at
    assert shop.heavy(job.id).output == '["x"]'


def test_a_dummy_started_by_something_else_asks_a_person(shop: Workshop) -> None:
    job = shop.create(shop.task(type="dummy", task_arguments=[NAME]), origin="scheduler")
    assert (job.lifecycle, shop.heavy(job.id).arguments) == ("onhold", "[]")


def test_a_script_that_needs_input_waits_unless_a_person_starts_it(shop: Workshop) -> None:
    task_id = shop.task(user_inputs=True, task_arguments=[NAME])
    assert shop.create(task_id, ["x"]).lifecycle == "ready"
    assert shop.create(task_id, origin="trigger_by").lifecycle == "onhold"


# Refusals.


def test_it_refuses_arguments_that_do_not_fit(shop: Workshop) -> None:
    task_id = shop.task(task_arguments=[NAME])
    for item in ([], ["a", "b"], None, ["nul\0"]):
        with pytest.raises(Invalid):
            shop.create(task_id, item)
    assert shop.db.write_blocking(lambda tx: tx.value("select count(*) from jobs")) == 0


def test_it_refuses_a_disabled_task(shop: Workshop) -> None:
    with pytest.raises(Conflict) as refusal:
        shop.create(shop.task(enable=False))
    assert refusal.value.code == "task_disabled"


@pytest.mark.parametrize("task_id", [MISSING, "no id at all", "", "x" * 24])
def test_a_missing_task_is_not_found(shop: Workshop, task_id: str) -> None:
    with pytest.raises(NotFound) as refusal:
        shop.made(JobRequest(shop.actors.ada, task_id, None))
    assert refusal.value.code == "task_not_found"


def test_a_deleted_task_is_not_found(shop: Workshop) -> None:
    task_id = shop.task()
    shop.db.write_blocking(task_service.delete, shop.actors.ada, task_id)
    with pytest.raises(NotFound):
        shop.create(task_id)


def test_another_organization_does_not_find_the_task(shop: Workshop) -> None:
    with pytest.raises(NotFound) as refusal:
        shop.create(shop.task(), actor=shop.actors.eve)
    assert refusal.value.code == "task_not_found"


def test_the_acl_says_who_may_run(shop: Workshop) -> None:
    task_id = shop.task()
    with pytest.raises(NotFound):
        shop.create(task_id, actor=shop.actors.uma)
    with pytest.raises(Forbidden):
        shop.create(task_id, actor=shop.actors.max)
    named = ["uma@acme.test", "vic@acme.test", "max@acme.test"]
    shop.db.write_blocking(replace_acl, shop.actors.ada, "task", task_id, named)
    assert shop.create(task_id, actor=shop.actors.uma).user_id == shop.actors.uma.user_id
    assert shop.create(task_id, actor=shop.actors.max).lifecycle == "ready"
    with pytest.raises(Forbidden):
        shop.create(task_id, actor=shop.actors.vic)


# The secret key.


def secret_of(shop: Workshop, task_id: str) -> str:
    return shop.db.write_blocking(task_service.reveal, shop.keys, shop.actors.ada, task_id)


def by_secret(shop: Workshop, task_id: str, secret: str) -> JobRequest:
    anyone: Any = msgspec.structs.replace(
        shop.actors.vic, kind="secret", level="anonymous", user_id="", username="", email=""
    )
    return JobRequest(anyone, task_id, None, origin="secret", secret=secret, keys=shop.keys)


def test_the_secret_key_replaces_a_level(shop: Workshop) -> None:
    task_id = shop.task()
    job = shop.made(by_secret(shop, task_id, secret_of(shop, task_id))).job
    assert (job.origin, job.user_id, job.email) == ("secret", "", "")


def test_a_wrong_secret_and_a_missing_task_look_the_same(shop: Workshop) -> None:
    task_id, other = shop.task(), shop.task(name="other")
    secret = secret_of(shop, task_id)
    said = set()
    for expected, key in ((task_id, "0" * 64), (other, secret), (MISSING, secret), ("x", secret)):
        with pytest.raises(Forbidden) as refusal:
            shop.made(by_secret(shop, expected, key))
        said.add((refusal.value.code, refusal.value.message))
    assert len(said) == 1


# Sets.


def test_a_refused_one_harms_no_other(shop: Workshop) -> None:
    task_id = shop.task()
    expected = [
        JobRequest(shop.actors.ada, task_id, None),
        JobRequest(shop.actors.ada, MISSING, None),
        JobRequest(shop.actors.uma, task_id, None),
        JobRequest(shop.actors.ada, task_id, None),
    ]
    answers = shop.db.write_blocking(create, expected)
    kinds = [isinstance(answer, CreatedJob) for answer in answers]
    assert kinds == [True, False, False, True]
    assert all(isinstance(answer, Refused) for answer in answers[1:3])
    assert shop.db.write_blocking(lambda tx: tx.value("select count(*) from jobs")) == 2


def test_jobs_of_one_batch_are_reported_in_order(shop: Workshop) -> None:
    task_id = shop.task()
    made = shop.db.write_blocking(
        create, [JobRequest(shop.actors.ada, task_id, None) for _ in range(5)]
    )
    ids = [answer.job.id for answer in made if isinstance(answer, CreatedJob)]
    assert ids == sorted(set(ids))
    assert all(shop.kinds(job_id) == ["created"] for job_id in ids)


def test_a_job_runs_the_version_of_its_creation(shop: Workshop) -> None:
    task_id = shop.task()
    job = shop.create(task_id)
    change = msgspec.convert({"concurrency": 3}, TaskBody)
    shop.db.write_blocking(
        task_service.change, shop.actors.ada, task_id, change, is_replacement=False
    )
    assert (shop.job(job.id).task_version, shop.job(job.id).concurrency) == (1, None)
    assert (shop.create(task_id).task_version, shop.create(task_id).concurrency) == (2, 3)
