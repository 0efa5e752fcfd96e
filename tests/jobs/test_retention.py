"""Forgetting old jobs."""

from collections.abc import Sequence

import pytest

from belvedere.base.errors import Invalid, NotFound
from belvedere.db import Database, Row, Tx
from belvedere.jobs import permissions
from belvedere.jobs.attempts import attempts_for_job
from belvedere.jobs.history import limits, retention
from belvedere.jobs.lifecycle import actions
from belvedere.jobs.output import log_store as joblog
from belvedere.jobs.output.log_store import LogPiece
from belvedere.tasks import service as task_service
from jobs.job_steps import MISSING, Workshop


def ended(shop: Workshop, task_id: str) -> str:
    job = shop.assigned(task_id)
    shop.end(job.fence)
    shop.clock.move(0.001)
    return job.id


def purge(shop: Workshop) -> None:
    while shop.db.write_blocking(retention.purge):
        pass


def there(shop: Workshop) -> list[str]:
    rows = shop.db.write_blocking(lambda tx: tx.rows("select id from jobs order by id"))
    return [job_id for (job_id,) in rows]


def test_it_works(shop: Workshop) -> None:
    task_id = shop.task(history={"count": 2, "days": 90})
    ids = [ended(shop, task_id) for _ in range(5)]
    purge(shop)
    assert there(shop) == ids[-2:]
    assert shop.attempts(ids[0]) == [] == shop.events(ids[0])
    assert len(shop.attempts(ids[-1])) == 1


def test_old_ones_go_by_age(shop: Workshop) -> None:
    task_id = shop.task(history={"count": 100, "days": 1})
    old = ended(shop, task_id)
    shop.clock.move(12 * 3600)
    young = ended(shop, task_id)
    purge(shop)
    shop.clock.move(12 * 3600 + 1)
    shop.db.write_blocking(limits.start_over)
    purge(shop)
    assert there(shop) == [young]
    assert old != young


def test_a_task_that_no_longer_runs_grows_old_too(shop: Workshop) -> None:
    ended(shop, shop.task(history={"count": 100, "days": 1}))
    purge(shop)
    shop.clock.move(10 * 24 * 3600)
    shop.db.write_blocking(limits.start_over)
    purge(shop)
    assert there(shop) == []


def test_each_task_is_looked_at_once_however_much_it_keeps(
    shop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A look counts what a task keeps: one per slice of history would be a walk for each."""
    monkeypatch.setattr(limits, "EVENT_BATCH_SIZE", 2)
    looked: list[str] = []
    beyond = limits._batch_for

    def watched(tx: Tx, column: str, object_id: str) -> list[str]:
        looked.append(object_id)
        return beyond(tx, column, object_id)

    monkeypatch.setattr(limits, "_batch_for", watched)
    tasks = sorted(shop.task(history={"count": 9, "days": 90}) for _ in range(3))
    for task_id in tasks * 4:
        ended(shop, task_id)
    purge(shop)
    assert looked == tasks
    looked.clear()
    for task_id in tasks[:2] * 2:
        ended(shop, task_id)
    purge(shop)
    assert looked == tasks[:2] * 2
    looked.clear()
    shop.db.write_blocking(limits.start_over)
    purge(shop)
    assert looked == tasks


def test_many_tasks_are_looked_at_a_few_at_a_time(
    shop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "MAX_OBJECTS", 2)
    purge(shop)
    tasks = [shop.task(history={"count": 1, "days": 90}) for _ in range(5)]
    ids = [ended(shop, task_id) for task_id in tasks * 2]
    assert shop.db.write_blocking(retention.purge)
    assert there(shop) == ids[2:]
    purge(shop)
    assert there(shop) == ids[5:]


def test_work_that_never_ceases_keeps_nothing_from_growing_old(shop: Workshop) -> None:
    idle = ended(shop, shop.task(history={"count": 100, "days": 1}))
    purge(shop)
    shop.clock.move(10 * 24 * 3600)
    shop.db.write_blocking(limits.start_over)
    busy = shop.task(history={"count": 1, "days": 90})
    for _ in range(8):
        ended(shop, busy)
        ended(shop, busy)
        shop.db.write_blocking(retention.purge)
    assert idle not in there(shop)
    # However many come, a look has an end.
    ended(shop, busy)
    assert not shop.db.write_blocking(retention.purge)
    assert len(there(shop)) == 1


def test_jobs_that_end_long_after_they_were_created_are_trimmed(shop: Workshop) -> None:
    """A flood of calls is created while retention passes by, and ends later."""
    task_id = shop.task(history={"count": 2, "days": 90})
    purge(shop)
    jobs = [shop.assigned(task_id) for _ in range(6)]
    purge(shop)
    assert len(there(shop)) == 6
    for job in jobs:
        shop.end(job.fence)
    purge(shop)
    assert there(shop) == [job.id for job in jobs[-2:]]


def test_a_look_begins_behind_the_events_of_the_last(
    shop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended(shop, shop.task())
    purge(shop)
    read: list[int] = []
    first_to_end = limits._first_ended

    def counted(rows: Sequence[Row]) -> tuple[list[tuple[str, str]], tuple[int, int] | None]:
        read.append(len(rows))
        return first_to_end(rows)

    monkeypatch.setattr(limits, "_first_ended", counted)
    purge(shop)
    assert sum(read) == 0


def test_open_and_lost_jobs_stay_whatever_their_number(shop: Workshop) -> None:
    task_id = shop.task(history={"count": 0, "days": 0})
    waiting, running = shop.create(task_id, lifecycle="onhold").id, shop.assigned(task_id).id
    lost = shop.lost(task_id).id
    gone = ended(shop, task_id)
    shop.clock.move(400 * 24 * 3600)
    shop.db.write_blocking(limits.start_over)
    purge(shop)
    assert set(there(shop)) == {waiting, running, lost}
    assert gone not in there(shop)


def test_open_and_lost_jobs_take_no_place_of_a_finished_one(shop: Workshop) -> None:
    task_id = shop.task(history={"count": 2, "days": 90})
    ids = [ended(shop, task_id) for _ in range(4)]
    lost = shop.lost(task_id).id
    waiting = [shop.create(task_id, lifecycle="onhold").id for _ in range(3)]
    purge(shop)
    assert set(there(shop)) == {*ids[-2:], lost, *waiting}
    ids.append(ended(shop, task_id))
    purge(shop)
    assert set(there(shop)) == {*ids[-2:], lost, *waiting}


def test_history_of_a_deleted_task_is_kept_and_trimmed_too(shop: Workshop) -> None:
    task_id = shop.task(history={"count": 1, "days": 90})
    ids = [ended(shop, task_id) for _ in range(2)]
    shop.db.write_blocking(task_service.delete, shop.actors.ada, task_id)
    purge(shop)
    assert there(shop) == ids[-1:]


def test_it_takes_small_batches(shop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "BATCH_SIZE", 2)
    task_id = shop.task(history={"count": 1, "days": 90})
    purge(shop)
    for _ in range(6):
        ended(shop, task_id)
    assert shop.db.write_blocking(retention.purge)
    assert len(there(shop)) == 4
    purge(shop)
    assert len(there(shop)) == 1


# Deleting what is finished.


def test_deleted_jobs_are_not_found_immediately(shop: Workshop) -> None:
    task_id = shop.task()
    ids = [ended(shop, task_id) for _ in range(3)]
    waiting = shop.create(task_id).id
    assert shop.db.write_blocking(retention.delete_finished, shop.actors.ada, None, None) == 3
    for job_id in ids:
        with pytest.raises(NotFound):
            shop.db.write_blocking(permissions.require_visible, shop.actors.ada, job_id)
        with pytest.raises(NotFound):
            shop.db.write_blocking(actions.cancel, shop.actors.ada, job_id)
    assert shop.stands(waiting) == "ready/in_progress"
    purge(shop)
    assert there(shop) == [waiting]


def test_it_deletes_nothing_twice(shop: Workshop) -> None:
    task_id = shop.task()
    ended(shop, task_id)
    delete = retention.delete_finished
    assert shop.db.write_blocking(delete, shop.actors.ada, None, None) == 1
    assert shop.db.write_blocking(delete, shop.actors.ada, None, None) == 0
    shop.clock.move(1)
    ended(shop, task_id)
    assert shop.db.write_blocking(delete, shop.actors.ada, None, None) == 1


def test_a_lost_job_is_kept_until_it_is_resolved(shop: Workshop) -> None:
    job = shop.lost()
    assert shop.db.write_blocking(retention.delete_finished, shop.actors.ada, None, None) == 0
    purge(shop)
    assert shop.stands(job.id) == "terminated/lost"
    shop.clock.move(1)
    shop.end(job.fence)
    assert shop.stands(job.id) == "finished/normal"


def test_it_can_be_narrowed_to_one_task(shop: Workshop) -> None:
    mine, other = shop.task(), shop.task(name="other")
    gone, stays = ended(shop, mine), ended(shop, other)
    assert shop.db.write_blocking(retention.delete_finished, shop.actors.ada, "Task", mine) == 1
    assert there(shop) == [stays]
    assert gone not in there(shop)


async def test_a_long_history_goes_in_batches(
    shop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "BATCH_SIZE", 2)
    mine, other = shop.task(), shop.task(name="other")
    for _ in range(5):
        ended(shop, mine)
    stays = ended(shop, other)
    assert shop.db.write_blocking(retention.delete_finished, shop.actors.ada, "Task", mine) == 2
    assert await retention.delete_history(shop.db, shop.actors.ada, "Task", mine) == 3
    assert there(shop) == [stays]


def test_another_organization_deletes_nothing_of_ours(shop: Workshop) -> None:
    task_id = shop.task()
    job_id = ended(shop, task_id)
    delete = retention.delete_finished
    assert shop.db.write_blocking(delete, shop.actors.eve, None, None) == 0
    assert shop.db.write_blocking(delete, shop.actors.eve, "Task", task_id) == 0
    assert shop.db.write_blocking(delete, shop.actors.ada, "Task", MISSING) == 0
    purge(shop)
    assert there(shop) == [job_id]


@pytest.mark.parametrize(
    ("kind", "object_id"),
    [("Task", None), (None, MISSING), ("", MISSING), ("Host", MISSING), ("Task", "x")],
)
def test_half_a_question_is_refused(
    shop: Workshop, kind: str | None, object_id: str | None
) -> None:
    with pytest.raises(Invalid):
        shop.db.write_blocking(retention.delete_finished, shop.actors.ada, kind, object_id)


# Logs follow their jobs.


def test_logs_of_dropped_jobs_are_forgotten(shop: Workshop, logs: Database) -> None:
    task_id = shop.task(history={"count": 1, "days": 90})
    ids = [ended(shop, task_id) for _ in range(2)]
    for fence, job_id in enumerate(ids, start=1):
        logs.write_blocking(joblog.append, [LogPiece(fence, job_id, 0, 0, b"x\n")])
    purge(shop)
    dropped = shop.db.write_blocking(retention.jobs_with_leftover_logs)
    assert dropped == ids[:1]
    logs.write_blocking(retention.delete_logs, dropped)
    shop.db.write_blocking(retention.confirm_logs_deleted, dropped)
    assert logs.write_blocking(joblog.find, 1) is None
    assert logs.write_blocking(joblog.chunks, 1, 0) == []
    assert logs.write_blocking(joblog.find, 2) is not None
    assert shop.db.write_blocking(retention.jobs_with_leftover_logs) == []


def test_a_purged_job_is_missing_for_a_late_report(shop: Workshop) -> None:
    job = shop.assigned()
    shop.end(job.fence)
    shop.db.write_blocking(retention.delete_jobs, [job.id])
    assert shop.end(job.fence).status == "foreign"
    assert shop.db.write_blocking(attempts_for_job, job.id) == []


# Clocks that are set back.


def delete_all(shop: Workshop) -> int:
    return shop.db.write_blocking(retention.delete_finished, shop.actors.ada, None, None)


def sees(shop: Workshop, job_id: str) -> bool:
    return shop.db.write_blocking(permissions.may_see, shop.actors.ada, job_id)


def test_jobs_that_end_after_the_clock_was_set_back_are_visible(shop: Workshop) -> None:
    task_id = shop.task()
    ended(shop, task_id)
    assert delete_all(shop) == 1
    purge(shop)
    shop.clock.move(-3_600)
    new = ended(shop, task_id)
    assert sees(shop, new)
    purge(shop)
    assert sees(shop, new) and there(shop) == [new]


def test_a_clock_that_is_set_back_while_rows_go_costs_none(shop: Workshop) -> None:
    task_id = shop.task()
    old, runs = ended(shop, task_id), shop.assigned(task_id)
    assert delete_all(shop) == 1
    shop.clock.move(-3_600)
    shop.end(runs.fence)
    new = ended(shop, task_id)
    purge(shop)
    assert [sees(shop, item) for item in (old, runs.id, new)] == [False, True, True]


def test_what_was_deleted_does_not_come_back_with_an_earlier_time(shop: Workshop) -> None:
    task_id = shop.task()
    old = ended(shop, task_id)
    delete_all(shop)
    shop.clock.move(-3_600)
    delete_all(shop)
    assert not sees(shop, old)
    purge(shop)
    assert there(shop) == []
