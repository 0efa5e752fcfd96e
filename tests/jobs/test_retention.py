"""Deleting old jobs."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import pytest

from belvedere import events
from belvedere.db import Database, Row, Tx
from belvedere.events import cursors
from belvedere.jobs.attempts import attempts_for_job
from belvedere.jobs.history import deletion_steps, limits, retention, unprocessed
from belvedere.jobs.output import log_store
from belvedere.jobs.output.log_store import LogPiece
from belvedere.tasks import service as task_service
from jobs.job_steps import JobSteps


def end_job(steps: JobSteps, task_id: str) -> str:
    job = steps.assign(task_id)
    steps.end(job.fence)
    steps.clock.move(0.001)
    return job.id


def purge(steps: JobSteps, consumers: Mapping[str, frozenset[str]] = MappingProxyType({})) -> None:
    while steps.db.write_blocking(deletion_steps.run_next, consumers):
        pass
    while steps.db.write_blocking(retention.purge, consumers):
        pass


def list_ids(steps: JobSteps) -> list[str]:
    rows = steps.db.write_blocking(lambda tx: tx.rows("select id from jobs order by id"))
    return [job_id for (job_id,) in rows]


def test_only_the_newest_jobs_of_a_task_are_kept(steps: JobSteps) -> None:
    task_id = steps.task(history={"count": 2, "days": 90})
    ids = [end_job(steps, task_id) for _ in range(5)]
    purge(steps)
    assert list_ids(steps) == ids[-2:]
    assert steps.attempts(ids[0]) == [] == steps.events(ids[0])
    assert len(steps.attempts(ids[-1])) == 1


def test_old_jobs_are_deleted_by_age(steps: JobSteps) -> None:
    task_id = steps.task(history={"count": 100, "days": 1})
    old = end_job(steps, task_id)
    steps.clock.move(12 * 3600)
    young = end_job(steps, task_id)
    purge(steps)
    # The age follows from the id, whose time is that of the machine: later than this clock by the
    # age of the database that the test got a copy of, and by the time that the test takes.
    steps.clock.move(18 * 3600)
    steps.db.write_blocking(limits.start_over)
    purge(steps)
    assert list_ids(steps) == [young]
    assert old != young


def test_a_task_that_no_longer_runs_grows_old_too(steps: JobSteps) -> None:
    end_job(steps, steps.task(history={"count": 100, "days": 1}))
    purge(steps)
    steps.clock.move(10 * 24 * 3600)
    steps.db.write_blocking(limits.start_over)
    purge(steps)
    assert list_ids(steps) == []


def test_each_task_is_checked_once_however_many_jobs_it_keeps(
    steps: JobSteps, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One pass counts what a task keeps; counting per slice of history would read it again for
    each."""
    monkeypatch.setattr(limits, "EVENT_BATCH_SIZE", 2)
    looked: list[str] = []
    beyond = limits._batch_for

    def watch(tx: Tx, column: str, object_id: str) -> list[str]:
        looked.append(object_id)
        return beyond(tx, column, object_id)

    monkeypatch.setattr(limits, "_batch_for", watch)
    tasks = sorted(steps.task(history={"count": 9, "days": 90}) for _ in range(3))
    for task_id in tasks * 4:
        end_job(steps, task_id)
    purge(steps)
    assert looked == tasks
    looked.clear()
    for task_id in tasks[:2] * 2:
        end_job(steps, task_id)
    purge(steps)
    assert looked == tasks[:2] * 2
    looked.clear()
    steps.db.write_blocking(limits.start_over)
    purge(steps)
    assert looked == tasks


def test_many_tasks_are_checked_in_batches(
    steps: JobSteps, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "MAX_OBJECTS", 2)
    purge(steps)
    tasks = [steps.task(history={"count": 1, "days": 90}) for _ in range(5)]
    ids = [end_job(steps, task_id) for task_id in tasks * 2]
    assert steps.db.write_blocking(retention.purge, {})
    assert list_ids(steps) == ids[2:]
    purge(steps)
    assert list_ids(steps) == ids[5:]


def test_constant_deletion_by_count_does_not_delay_deletion_by_age(steps: JobSteps) -> None:
    idle = end_job(steps, steps.task(history={"count": 100, "days": 1}))
    purge(steps)
    steps.clock.move(10 * 24 * 3600)
    steps.db.write_blocking(limits.start_over)
    busy = steps.task(history={"count": 1, "days": 90})
    for _ in range(8):
        end_job(steps, busy)
        end_job(steps, busy)
        steps.db.write_blocking(retention.purge, {})
    assert idle not in list_ids(steps)
    # A pass ends, no matter how many new jobs are created.
    end_job(steps, busy)
    assert not steps.db.write_blocking(retention.purge, {})
    assert len(list_ids(steps)) == 1


def test_jobs_that_end_long_after_they_were_created_are_trimmed(steps: JobSteps) -> None:
    """A flood of webhook calls is created while retention runs, and ends later."""
    task_id = steps.task(history={"count": 2, "days": 90})
    purge(steps)
    jobs = [steps.assign(task_id) for _ in range(6)]
    purge(steps)
    assert len(list_ids(steps)) == 6
    for job in jobs:
        steps.end(job.fence)
    purge(steps)
    assert list_ids(steps) == [job.id for job in jobs[-2:]]


def test_a_pass_begins_after_the_events_of_the_last(
    steps: JobSteps, monkeypatch: pytest.MonkeyPatch
) -> None:
    end_job(steps, steps.task())
    purge(steps)
    read: list[int] = []
    first_to_end = limits._first_ended

    def count_rows(rows: Sequence[Row]) -> tuple[list[tuple[str, str]], tuple[int, int] | None]:
        read.append(len(rows))
        return first_to_end(rows)

    monkeypatch.setattr(limits, "_first_ended", count_rows)
    purge(steps)
    assert sum(read) == 0


def test_open_and_lost_jobs_stay_whatever_their_number(steps: JobSteps) -> None:
    task_id = steps.task(history={"count": 0, "days": 0})
    waiting, running = steps.create(task_id, lifecycle="onhold").id, steps.assign(task_id).id
    lost = steps.lose(task_id).id
    gone = end_job(steps, task_id)
    steps.clock.move(400 * 24 * 3600)
    steps.db.write_blocking(limits.start_over)
    purge(steps)
    assert set(list_ids(steps)) == {waiting, running, lost}
    assert gone not in list_ids(steps)


def test_open_and_lost_jobs_take_no_place_of_a_finished_one(steps: JobSteps) -> None:
    task_id = steps.task(history={"count": 2, "days": 90})
    ids = [end_job(steps, task_id) for _ in range(4)]
    lost = steps.lose(task_id).id
    waiting = [steps.create(task_id, lifecycle="onhold").id for _ in range(3)]
    purge(steps)
    assert set(list_ids(steps)) == {*ids[-2:], lost, *waiting}
    ids.append(end_job(steps, task_id))
    purge(steps)
    assert set(list_ids(steps)) == {*ids[-2:], lost, *waiting}


def test_history_of_a_deleted_task_is_kept_and_trimmed_too(steps: JobSteps) -> None:
    task_id = steps.task(history={"count": 1, "days": 90})
    ids = [end_job(steps, task_id) for _ in range(2)]
    steps.db.write_blocking(task_service.delete, steps.actors.ada, task_id)
    purge(steps)
    assert list_ids(steps) == ids[-1:]


def test_jobs_are_purged_in_small_batches(steps: JobSteps, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "BATCH_SIZE", 2)
    task_id = steps.task(history={"count": 1, "days": 90})
    purge(steps)
    for _ in range(6):
        end_job(steps, task_id)
    assert steps.db.write_blocking(retention.purge, {})
    assert len(list_ids(steps)) == 4
    purge(steps)
    assert len(list_ids(steps)) == 1


# Logs follow their jobs.


def test_logs_of_dropped_jobs_are_forgotten(steps: JobSteps, logs: Database) -> None:
    task_id = steps.task(history={"count": 1, "days": 90})
    ids = [end_job(steps, task_id) for _ in range(2)]
    for fence, job_id in enumerate(ids, start=1):
        logs.write_blocking(log_store.append, [LogPiece(fence, job_id, 0, 0, b"x\n")])
    purge(steps)
    dropped = steps.db.write_blocking(retention.jobs_with_leftover_logs)
    assert dropped == ids[:1]
    logs.write_blocking(retention.delete_logs, dropped)
    steps.db.write_blocking(retention.confirm_logs_deleted, dropped)
    assert logs.write_blocking(log_store.find, 1) is None
    assert logs.write_blocking(log_store.chunks, 1, 0) == []
    assert logs.write_blocking(log_store.find, 2) is not None
    assert steps.db.write_blocking(retention.jobs_with_leftover_logs) == []


def test_a_purged_job_is_missing_for_a_late_report(steps: JobSteps) -> None:
    job = steps.assign()
    steps.end(job.fence)
    steps.db.write_blocking(retention.delete_jobs, [job.id])
    assert steps.end(job.fence).status == "foreign"
    assert steps.db.write_blocking(attempts_for_job, job.id) == []


READERS = {"reader": frozenset({"job.finished"}), "triggers": frozenset({"trigger.fired"})}


def process_all(tx: Tx, name: str) -> None:
    cursors.save(tx, name, events.newest(tx))


def test_a_job_is_kept_until_the_consumers_have_processed_its_events(steps: JobSteps) -> None:
    task_id = steps.task(history={"count": 0, "days": 90})
    purge(steps, READERS)
    first = end_job(steps, task_id)
    steps.db.write_blocking(process_all, "reader")
    second = end_job(steps, task_id)
    purge(steps, READERS)
    assert list_ids(steps) == [second]
    assert steps.events(first) == []
    # The full walk does not delete it either.
    steps.db.write_blocking(limits.start_over)
    purge(steps, READERS)
    assert list_ids(steps) == [second]
    # Nothing else happens to the task: the full pass still visits the job.
    steps.db.write_blocking(process_all, "reader")
    purge(steps, READERS)
    assert list_ids(steps) == []


def test_a_job_is_kept_until_its_output_was_passed_on(steps: JobSteps) -> None:
    task_id = steps.task(history={"count": 0, "days": 90})
    purge(steps, READERS)
    job_id = end_job(steps, task_id)
    steps.db.write_blocking(process_all, "reader")
    data = {"source": "task", "event_name": "success", "job_id": job_id}
    steps.db.write_blocking(events.append, steps.actors.acme.id, "trigger.fired", task_id, data)
    purge(steps, READERS)
    assert list_ids(steps) == [job_id]
    steps.db.write_blocking(process_all, "triggers")
    purge(steps, READERS)
    # The next job of the task visits it, or the daily full pass.
    steps.db.write_blocking(limits.start_over)
    purge(steps, READERS)
    assert list_ids(steps) == []


def test_retention_waits_for_many_triggers(
    steps: JobSteps, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unprocessed, "MAX_TRIGGERS", 2)
    task_id = steps.task(history={"count": 0, "days": 90})
    purge(steps, READERS)
    job_id = end_job(steps, task_id)
    for _ in range(2):
        data = {"source": "webhook", "event_name": "x", "arguments": []}
        steps.db.write_blocking(events.append, steps.actors.acme.id, "trigger.fired", "w", data)
    for name in READERS:
        purge(steps, READERS)
        assert list_ids(steps) == [job_id]
        steps.db.write_blocking(process_all, name)
    purge(steps, READERS)
    assert list_ids(steps) == []
