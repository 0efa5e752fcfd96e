"""The same key, the same job, for a day."""

import msgspec
import pytest

from belvedere.base.errors import Conflict, Invalid, KeyReused
from belvedere.jobs.idempotency import IdempotencyKey
from belvedere.jobs.lifecycle import timeouts
from belvedere.jobs.lifecycle.create import CreatedJob, JobRequest, create
from jobs.job_steps import Workshop


def asked(shop: Workshop, task_id: str, key: str = "k", **more: object) -> JobRequest:
    fields = {"route": "POST /job", "body": "digest", "actor": shop.actors.ada, **more}
    once = IdempotencyKey(str(fields["route"]), key, str(fields["body"]))
    return JobRequest(fields["actor"], task_id, None, idempotency_key=once)  # type: ignore[arg-type]


def test_it_works(shop: Workshop) -> None:
    task_id = shop.task()
    first = shop.made(asked(shop, task_id))
    shop.connect()
    shop.claim()
    again = shop.made(asked(shop, task_id))
    assert (first.replayed, again.replayed) == (False, True)
    assert again.job == shop.job(first.job.id)
    assert again.job.lifecycle == "assigned"
    assert again.arguments == first.arguments


def test_twice_in_one_set_is_still_one_job(shop: Workshop) -> None:
    task_id = shop.task()
    answers = shop.db.write_blocking(create, [asked(shop, task_id) for _ in range(3)])
    made = [answer for answer in answers if isinstance(answer, CreatedJob)]
    assert len({item.job.id for item in made}) == 1
    assert [item.replayed for item in made] == [False, True, True]


def test_another_body_is_refused(shop: Workshop) -> None:
    task_id = shop.task()
    shop.made(asked(shop, task_id))
    with pytest.raises(KeyReused):
        shop.made(asked(shop, task_id, body="other"))
    [_, refusal] = shop.db.write_blocking(
        create, [asked(shop, task_id, "k2"), asked(shop, task_id, "k2", body="other")]
    )
    assert isinstance(refusal, KeyReused)


def test_keys_of_different_people_routes_and_organizations_do_not_meet(shop: Workshop) -> None:
    task_id = shop.task()
    ids = {
        shop.made(asked(shop, task_id)).job.id,
        shop.made(asked(shop, task_id, actor=shop.actors.olga)).job.id,
        shop.made(asked(shop, task_id, route="POST /other")).job.id,
        shop.made(asked(shop, task_id, "other")).job.id,
    }
    assert len(ids) == 4


def test_a_refused_request_leaves_its_key_free(shop: Workshop) -> None:
    task_id = shop.task(task_arguments=[{"type": "input"}])
    expected = asked(shop, task_id)
    for _ in range(2):
        with pytest.raises(Invalid):
            shop.made(expected)
    expected = msgspec.structs.replace(expected, values=["x"])
    assert not shop.made(expected).replayed


def test_a_replay_needs_no_task_any_more(shop: Workshop) -> None:
    from belvedere.tasks import service as task_service

    task_id = shop.task()
    first = shop.made(asked(shop, task_id))
    shop.db.write_blocking(task_service.delete, shop.actors.ada, task_id)
    assert shop.made(asked(shop, task_id)).job.id == first.job.id


def test_a_key_lives_for_a_day(shop: Workshop) -> None:
    task_id = shop.task()
    first = shop.made(asked(shop, task_id))
    shop.clock.move(24 * 3600)
    assert shop.db.write_blocking(timeouts.purge_old_keys) == 0
    assert shop.made(asked(shop, task_id)).job.id == first.job.id
    shop.clock.move(0.001)
    assert shop.db.write_blocking(timeouts.purge_old_keys) == 1
    assert shop.made(asked(shop, task_id)).job.id != first.job.id


def test_a_disabled_task_is_refused_only_to_new_requests(shop: Workshop) -> None:
    from belvedere.tasks import service as task_service
    from belvedere.tasks.bodies import TaskBody

    task_id = shop.task()
    first = shop.made(asked(shop, task_id))
    off = msgspec.convert({"enable": False}, TaskBody)
    shop.db.write_blocking(task_service.change, shop.actors.ada, task_id, off, is_replacement=False)
    assert shop.made(asked(shop, task_id)).job.id == first.job.id
    with pytest.raises(Conflict):
        shop.made(asked(shop, task_id, "another"))
