"""Running an ended job once more."""

import msgspec
import pytest

from belvedere.base.errors import Conflict, Forbidden, Invalid, NotFound
from belvedere.jobs.idempotency import IdempotencyKey
from belvedere.jobs.lifecycle import actions
from belvedere.tasks import service as task_service
from belvedere.tasks.bodies import TaskBody
from jobs.job_steps import MISSING, Workshop

NAME = {"type": "input", "label": "name"}


def ended(shop: Workshop, task_id: str, given: list[str] | None = None) -> str:
    job = shop.assigned(task_id, given=given)
    shop.end(job.fence, code=1)
    return job.id


def test_it_works(shop: Workshop) -> None:
    job_id = ended(shop, shop.task(task_arguments=[NAME]), ["Ada"])
    expected = shop.db.write_blocking(actions.restart, shop.actors.ada, job_id, None, None)
    again = shop.made(expected).job
    assert again.id != job_id
    assert (again.restarted_from, again.lifecycle, again.fence) == (job_id, "ready", 0)
    assert shop.heavy(again.id).arguments == '["Ada"]'
    assert shop.stands(job_id) == "finished/failure"


def test_other_values_may_be_sent(shop: Workshop) -> None:
    job_id = ended(shop, shop.task(task_arguments=[NAME]), ["Ada"])
    expected = shop.db.write_blocking(actions.restart, shop.actors.ada, job_id, ["Eva"], None)
    assert shop.heavy(shop.made(expected).job.id).arguments == '["Eva"]'


def test_a_restart_validates_the_values_against_the_changed_task(shop: Workshop) -> None:
    task_id = shop.task(task_arguments=[NAME])
    job_id = ended(shop, task_id, ["Ada"])
    change = msgspec.convert({"task_arguments": [NAME, {**NAME, "required": False}]}, TaskBody)
    shop.db.write_blocking(
        task_service.change, shop.actors.ada, task_id, change, is_replacement=False
    )
    expected = shop.db.write_blocking(actions.restart, shop.actors.ada, job_id, None, None)
    assert shop.heavy(shop.made(expected).job.id).arguments == '["Ada",""]'


def test_a_lost_job_can_be_restarted(shop: Workshop) -> None:
    job = shop.lost()
    expected = shop.db.write_blocking(actions.restart, shop.actors.ada, job.id, None, None)
    assert shop.made(expected).job.lifecycle == "ready"
    assert shop.stands(job.id) == "terminated/lost"


def test_the_same_key_restarts_once(shop: Workshop) -> None:
    job_id = ended(shop, shop.task())
    once = IdempotencyKey("PUT /job/{id}/restart", "k", "digest")
    made = [
        shop.made(shop.db.write_blocking(actions.restart, shop.actors.ada, job_id, None, once))
        for _ in range(2)
    ]
    assert made[0].job.id == made[1].job.id
    assert [item.replayed for item in made] == [False, True]


def test_it_refuses_a_job_that_is_not_over(shop: Workshop) -> None:
    for job in (shop.create(), shop.create(lifecycle="onhold")):
        with pytest.raises(Conflict):
            shop.db.write_blocking(actions.restart, shop.actors.ada, job.id, None, None)


def test_it_refuses_values_that_do_not_fit(shop: Workshop) -> None:
    job_id = ended(shop, shop.task(task_arguments=[NAME]), ["Ada"])
    expected = shop.db.write_blocking(actions.restart, shop.actors.ada, job_id, [], None)
    with pytest.raises(Invalid):
        shop.made(expected)


def test_a_job_is_not_found_without_permission_to_see_it(shop: Workshop) -> None:
    """Whether it is over or not must not show either."""
    over, waiting = ended(shop, shop.task()), shop.create().id
    for actor in (shop.actors.eve, shop.actors.uma, shop.actors.vic):
        for job_id in (over, waiting, MISSING):
            with pytest.raises(NotFound) as refusal:
                shop.db.write_blocking(actions.restart, actor, job_id, None, None)
            assert refusal.value.code == "job_not_found"


def test_seeing_is_not_running(shop: Workshop) -> None:
    task_id = shop.task(acl=["vic@acme.test"])
    job_id = ended(shop, task_id)
    expected = shop.db.write_blocking(actions.restart, shop.actors.vic, job_id, None, None)
    with pytest.raises(Forbidden):
        shop.made(expected)
