"""Deleting history on request: hidden at once, deleted in steps."""

from collections.abc import Mapping
from types import MappingProxyType

import pytest
from msgspec import UNSET

from belvedere import events
from belvedere.access.actor import Actor
from belvedere.access.customers import service
from belvedere.base.errors import Invalid, NotFound
from belvedere.bench.measure import history_data
from belvedere.bench.measure.fixture import Fixture
from belvedere.db import Tx, installation
from belvedere.jobs import permissions
from belvedere.jobs.history import deletion_rows, deletion_steps, deletions, unprocessed
from belvedere.jobs.history.deletion_rows import DeletionProgress
from belvedere.jobs.history.deletions import HistoryCount
from belvedere.jobs.lifecycle import actions
from belvedere.jobs.queries import pages
from belvedere.rest.listing import Listing
from jobs.job_steps import MISSING, JobSteps
from jobs.test_retention import READERS, end_job, list_ids, process_all, purge
from people import list_audit_entries
from statements import RecordingTx, cost


@pytest.fixture(autouse=True)
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deletion_steps, "STEP_ROWS", 2)


def delete(
    steps: JobSteps,
    kind: str | None = None,
    object_id: str | None = None,
    actor: Actor | None = None,
    consumers: Mapping[str, frozenset[str]] = MappingProxyType({}),
) -> int:
    """As a request does; the number of jobs."""
    actor = actor or steps.actors.ada
    scope = deletions.scope_of(actor, kind, object_id)
    count = HistoryCount()
    while not count.is_finished:
        count = steps.db.write_blocking(deletions.count_step, scope, count)
    begun = steps.db.write_blocking(deletions.begin, actor, scope, count, kind, consumers)
    assert begun.more == (True if count.after is not None else UNSET)
    return begun.deleted_count


def sees(steps: JobSteps, job_id: str) -> bool:
    return steps.db.write_blocking(permissions.may_see, steps.actors.ada, job_id)


def list_visible(steps: JobSteps) -> list[str]:
    listing = Listing(pages.listable(steps.db.dialect), limit=100)
    records, _ = steps.db.write_blocking(pages.list_page, steps.actors.ada, listing)
    return [record.id for record in records]


def progress(steps: JobSteps, object_id: str) -> DeletionProgress | None:
    return steps.db.write_blocking(deletion_rows.progress, steps.actors.acme.id, object_id)


def test_deleted_jobs_are_not_found_immediately(steps: JobSteps) -> None:
    task_id = steps.task()
    ids = [end_job(steps, task_id) for _ in range(3)]
    waiting = steps.create(task_id).id
    assert delete(steps) == 3
    for job_id in ids:
        with pytest.raises(NotFound):
            steps.db.write_blocking(permissions.require_visible, steps.actors.ada, job_id)
        with pytest.raises(NotFound):
            steps.db.write_blocking(actions.cancel, steps.actors.ada, job_id)
    assert steps.status(waiting) == "ready/in_progress"
    purge(steps)
    assert list_ids(steps) == [waiting]


def test_a_deletion_deletes_nothing_twice(steps: JobSteps) -> None:
    task_id = steps.task()
    end_job(steps, task_id)
    for kind, object_id in ((None, None), ("Task", task_id)):
        assert delete(steps, kind, object_id) == 1
        assert delete(steps, kind, object_id) == 0
        steps.clock.move(1)
        end_job(steps, task_id)


def test_a_lost_job_is_kept_until_it_is_resolved(steps: JobSteps) -> None:
    job = steps.lose()
    assert delete(steps) == 0
    purge(steps)
    assert steps.status(job.id) == "terminated/lost"
    steps.clock.move(1)
    steps.end(job.fence)
    assert steps.status(job.id) == "finished/normal"


def test_a_deletion_can_be_limited_to_one_task(steps: JobSteps) -> None:
    task_id, other = steps.task(), steps.task(name="other")
    gone, stays = end_job(steps, task_id), end_job(steps, other)
    assert delete(steps, "Task", task_id) == 1
    purge(steps)
    assert list_ids(steps) == [stays]
    assert gone not in list_ids(steps)


def test_a_long_history_is_hidden_and_deleted_in_steps(steps: JobSteps) -> None:
    task_id, other = steps.task(), steps.task(name="other")
    ids = [end_job(steps, task_id) for _ in range(5)]
    stays = end_job(steps, other)
    assert delete(steps, "Task", task_id) == 5
    assert list_ids(steps) == [*ids[2:], stays]
    assert [sees(steps, job_id) for job_id in (*ids, stays)] == [False] * 5 + [True]
    assert list_visible(steps) == [stays]
    assert progress(steps, task_id) == DeletionProgress(2, 5)
    steps.clock.move(1)
    later = end_job(steps, task_id)
    assert sees(steps, later)
    assert steps.db.write_blocking(deletion_steps.run_next, {})
    assert progress(steps, task_id) == DeletionProgress(4, 5)
    purge(steps)
    assert (list_ids(steps), progress(steps, task_id)) == ([stays, later], None)


def test_a_second_request_includes_jobs_that_ended_meanwhile(steps: JobSteps) -> None:
    task_id = steps.task()
    for _ in range(4):
        end_job(steps, task_id)
    assert delete(steps, "Task", task_id) == 4
    steps.clock.move(1)
    later = [end_job(steps, task_id) for _ in range(3)]
    assert delete(steps, "Task", task_id) == 3
    assert progress(steps, task_id) == DeletionProgress(4, 7)
    assert not any(sees(steps, job_id) for job_id in later)
    purge(steps)
    assert list_ids(steps) == []


def test_the_audit_has_the_request_and_the_end(steps: JobSteps) -> None:
    task_id = steps.task()
    for _ in range(3):
        end_job(steps, task_id)
    delete(steps, "Task", task_id)
    purge(steps)
    rows = steps.db.write_blocking(list_audit_entries, steps.actors.ada)
    entries = [(row.action, row.actor_name, row.object_id, row.after) for row in rows[:2]]
    assert entries == [
        ("job.history_deleted", "ada@acme.test", task_id, '{"deleted":3}'),
        (
            *("job.delete_finished", "ada@acme.test", task_id),
            f'{{"type":"Task","id":"{task_id}","deleted":3}}',
        ),
    ]


def test_a_deletion_of_an_older_version_is_continued(steps: JobSteps) -> None:
    task_id = steps.task()
    for _ in range(3):
        end_job(steps, task_id)
    steps.db.write_blocking(begin_as_before, steps.actors.acme.id)
    assert list_visible(steps) == []
    purge(steps)
    assert list_ids(steps) == []
    later = end_job(steps, task_id)
    assert list_visible(steps) == [later]


def begin_as_before(tx: Tx, customer_id: str) -> None:
    until = service.raise_purge_mark(tx, customer_id)
    last_event_id = tx.value("select max(id) from events")
    installation.write(tx, f"purge:{customer_id}", f"{until}:{last_event_id}")


# Event consumers read the jobs of their events.


def test_a_deletion_proceeds_up_to_the_slowest_consumer(steps: JobSteps) -> None:
    task_id = steps.task()
    ids = [end_job(steps, task_id) for _ in range(3)]
    steps.db.write_blocking(process_all, "reader")
    ids += [end_job(steps, task_id) for _ in range(3)]
    assert delete(steps, "Task", task_id, consumers=READERS) == 6
    for _ in range(3):
        steps.clock.move(2)
        run_steps(steps)
    assert (list_ids(steps), progress(steps, task_id)) == (ids[3:], DeletionProgress(3, 6))
    assert all(steps.events(job_id) for job_id in ids[3:])
    steps.db.write_blocking(process_all, "reader")
    steps.clock.move(2)
    run_steps(steps)
    assert (list_ids(steps), progress(steps, task_id)) == ([], None)


def test_deleted_jobs_are_hidden_while_a_consumer_needs_them(steps: JobSteps) -> None:
    task_id = steps.task()
    ids = [end_job(steps, task_id) for _ in range(2)]
    assert delete(steps, consumers=READERS) == 2
    assert list_ids(steps) == ids
    assert list_visible(steps) == []
    # A second request does not count them again, nor delete them.
    assert delete(steps, consumers=READERS) == 0
    assert list_ids(steps) == ids


def test_a_job_whose_output_a_trigger_needs_is_deleted_later(steps: JobSteps) -> None:
    task_id = steps.task()
    ids = [end_job(steps, task_id) for _ in range(3)]
    data = {"source": "task", "event_name": "success", "job_id": ids[1]}
    steps.db.write_blocking(process_all, "reader")
    steps.db.write_blocking(events.append, steps.actors.acme.id, "trigger.fired", task_id, data)
    assert delete(steps, "Task", task_id, consumers=READERS) == 3
    run_steps(steps)
    assert list_ids(steps) == ids[1:]
    steps.db.write_blocking(process_all, "triggers")
    steps.clock.move(2)
    run_steps(steps)
    assert list_ids(steps) == []


def test_a_deletion_that_waits_does_not_stop_another_one(steps: JobSteps) -> None:
    processed, waiting = steps.task(), steps.task(name="other")
    for _ in range(3):
        end_job(steps, processed)
    steps.db.write_blocking(process_all, "reader")
    job_id = end_job(steps, waiting)
    assert delete(steps, "Task", waiting, consumers=READERS) == 1
    assert delete(steps, "Task", processed, consumers=READERS) == 3
    run_steps(steps)
    assert list_ids(steps) == [job_id]


def test_a_deletion_waits_for_many_triggers(
    steps: JobSteps, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unprocessed, "MAX_TRIGGERS", 1)
    job_id = end_job(steps, steps.task())
    steps.db.write_blocking(process_all, "reader")
    data = {"source": "webhook", "event_name": "x", "arguments": []}
    steps.db.write_blocking(events.append, steps.actors.acme.id, "trigger.fired", "w", data)
    assert delete(steps, consumers=READERS) == 1
    assert list_ids(steps) == [job_id]
    steps.db.write_blocking(process_all, "triggers")
    steps.clock.move(2)
    run_steps(steps)
    assert list_ids(steps) == []


def run_steps(steps: JobSteps) -> None:
    """As the loop of a server does."""
    while steps.db.write_blocking(deletion_steps.run_next, READERS):
        pass


# The work of a request and of a step, however long the history is.


def test_a_step_costs_the_same_with_a_longer_history(
    steps: JobSteps, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deletion_steps, "STEP_ROWS", 10)
    task_id = steps.task()
    end_job(steps, task_id)
    history = Fixture(steps.actors.ada, steps.host_id, steps.session, task_id)
    costs = []
    for count in (40, 1_000):
        steps.db.write_blocking(history_data.fill, history, 0, count, count)
        assert delete(steps, "Task", task_id) >= count
        if steps.db.dialect.name == "postgres":
            steps.db.write_blocking(lambda tx: tx.execute("analyze"))
        costs.append(steps.db.write_blocking(step_cost))
        purge(steps)
        end_job(steps, task_id)
    assert 0 < costs[1] < 1.5 * costs[0], costs


def step_cost(tx: Tx) -> int:
    """The cost of finding the jobs of a step; it deletes the same number of rows each time."""
    recording = RecordingTx(tx)
    assert deletion_steps.run_next(recording, {})
    [statement] = [item for item in recording.statements if "is_marked" in item[0]]
    return cost(tx, statement)


def test_a_count_examines_a_limited_number_of_jobs(
    steps: JobSteps, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deletions, "COUNT_ROWS", 2)
    monkeypatch.setattr(deletions, "MAX_COUNTED", 4)
    task_id = steps.task()
    for _ in range(5):
        end_job(steps, task_id)
    assert delete(steps, "Task", task_id) == 4
    assert progress(steps, task_id) == DeletionProgress(2, None)


def test_another_organization_deletes_nothing_here(steps: JobSteps) -> None:
    task_id = steps.task()
    job_id = end_job(steps, task_id)
    assert delete(steps, actor=steps.actors.eve) == 0
    assert delete(steps, "Task", task_id, steps.actors.eve) == 0
    assert delete(steps, "Task", MISSING) == 0
    assert sees(steps, job_id)
    purge(steps)
    assert list_ids(steps) == [job_id]


@pytest.mark.parametrize(
    ("kind", "object_id"),
    [("Task", None), (None, MISSING), ("", MISSING), ("Host", MISSING), ("Task", "x")],
)
def test_an_incomplete_query_is_refused(
    steps: JobSteps, kind: str | None, object_id: str | None
) -> None:
    with pytest.raises(Invalid):
        delete(steps, kind, object_id)


# Clocks that are set back.


def test_jobs_that_end_after_the_clock_was_set_back_are_visible(steps: JobSteps) -> None:
    task_id = steps.task()
    end_job(steps, task_id)
    assert delete(steps) == 1
    purge(steps)
    steps.clock.move(-3_600)
    new = end_job(steps, task_id)
    assert sees(steps, new)
    purge(steps)
    assert sees(steps, new) and list_ids(steps) == [new]


def test_a_clock_that_is_set_back_while_rows_go_costs_none(steps: JobSteps) -> None:
    task_id = steps.task()
    old, runs = end_job(steps, task_id), steps.assign(task_id)
    assert delete(steps) == 1
    steps.clock.move(-3_600)
    steps.end(runs.fence)
    new = end_job(steps, task_id)
    purge(steps)
    assert [sees(steps, item) for item in (old, runs.id, new)] == [False, True, True]


def test_deleted_jobs_stay_hidden_after_a_clock_step(steps: JobSteps) -> None:
    task_id = steps.task()
    old = end_job(steps, task_id)
    delete(steps)
    steps.clock.move(-3_600)
    delete(steps)
    assert not sees(steps, old)
    purge(steps)
    assert list_ids(steps) == []
