"""The events of a job match its row; every difference is reported."""

import json
from typing import Any

import pytest

from belvedere.db import Database, Tx
from belvedere.events import Event
from belvedere.jobs.history import consistency, retention
from belvedere.jobs.history.consistency import Inconsistency, ReplayedJob
from belvedere.jobs.lifecycle import actions
from belvedere.jobs.output import log_store
from belvedere.jobs.output.log_store import LogPiece
from jobs.job_steps import JobSteps


def event(kind: str, version: int, lifecycle: str, state: str, fence: int = 0) -> Event:
    data = {"lifecycle": lifecycle, "state": state, "fence": fence, "version": version, "x": 1}
    return Event(version, 0, 0, "c", f"job.{kind}", "job", "j", json.dumps(data))


def check(steps: JobSteps) -> list[str]:
    return steps.db.write_blocking(consistency.check, "", 100)


def test_events_of_a_job_agree_with_its_row(steps: JobSteps) -> None:
    job = steps.assign()
    steps.report_started(job.fence)
    steps.end(job.fence)
    stored_job = steps.job(job.id)
    folded = consistency.replay(steps.events(job.id))
    assert folded == ReplayedJob("finished", "normal", stored_job.fence, 4)
    assert check(steps) == []


def test_jobs_with_every_outcome_are_consistent(steps: JobSteps) -> None:
    retried = steps.assign(steps.task(retry={"times": 1}))
    steps.end(retried.fence, code=1)
    steps.claim()
    steps.end(steps.job(retried.id).fence, "timeout")
    lost = steps.lose()
    steps.end(lost.fence)
    resolved = steps.lose()
    steps.db.write_blocking(actions.resolve, steps.actors.ada, resolved.id, "success", "")
    returned = steps.assign()
    steps.connect({})
    steps.db.write_blocking(actions.cancel, steps.actors.ada, returned.id)
    job = steps.assign()
    steps.db.write_blocking(actions.cancel, steps.actors.ada, job.id)
    steps.connect({})
    steps.create(steps.task(type="dummy"))
    steps.create(lifecycle="onhold")
    assert check(steps) == []


def test_a_batch_begins_after_an_id(steps: JobSteps) -> None:
    first, second = steps.create().id, steps.create().id
    steps.db.write_blocking(lambda tx: tx.execute("update jobs set version = 9"))
    assert len(steps.db.write_blocking(consistency.check, "", 1)) == 1
    assert [sentence.split()[1] for sentence in check(steps)] == [f"{first}:", f"{second}:"]
    assert len(steps.db.write_blocking(consistency.check, first, 100)) == 1
    assert steps.db.write_blocking(consistency.check, second, 100) == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("update jobs set version = version + 1", "its row"),
        ("update jobs set fence = fence + 1", "its row"),
        ("delete from events where object = 'job'", "no events"),
        ("delete from events where kind = 'job.created'", "begin with job.assigned"),
        ("delete from events where kind = 'job.assigned'", "version 3 after 1"),
        ("update attempts set state = 'live'", "but has live attempts"),
        ("update jobs set attempts = 5", "counts 5 attempts"),
        ("delete from attempts", "counts 1 attempts, but there are 0"),
        ("update jobs set ended_at = null", "ended_at is None"),
    ],
)
def test_every_contradiction_is_reported(steps: JobSteps, change: str, said: str) -> None:
    job = steps.assign()
    steps.end(job.fence)
    steps.db.write_blocking(lambda tx: tx.execute(change))
    faults = check(steps)
    assert faults and said in " ".join(faults)
    assert all(job.id in sentence and sentence.endswith(".") for sentence in faults)


def test_an_assigned_job_without_a_live_attempt_is_reported(steps: JobSteps) -> None:
    steps.assign()
    steps.db.write_blocking(lambda tx: tx.execute("update attempts set state = 'ended'"))
    assert "is assigned with fence" in check(steps)[0]


@pytest.mark.parametrize(
    ("events", "said"),
    [
        ([], "no events"),
        ([event("assigned", 2, "assigned", "in_progress")], "begin with"),
        (
            [
                event("created", 1, "ready", "in_progress"),
                event("finished", 2, "finished", "normal"),
            ],
            "moves it from ready to finished",
        ),
        (
            [
                event("created", 1, "ready", "in_progress"),
                event("assigned", 2, "assigned", "in_progress", 5),
                event("retried", 3, "ready", "in_progress", 4),
            ],
            "fence 4 after 5",
        ),
        (
            [
                event("created", 1, "ready", "in_progress"),
                event("assigned", 2, "assigned", "in_progress", 5),
                event("finished", 3, "terminated", "timeout", 5),
                event("reconciled", 4, "finished", "normal", 5),
            ],
            "moves it from terminated to finished",
        ),
    ],
)
def test_events_that_do_not_follow_are_broken(events: list[Event], said: str) -> None:
    with pytest.raises(Inconsistency, match=said):
        consistency.replay(events)


# Logs.


def test_a_log_without_its_job_is_a_stray(steps: JobSteps, logs: Database) -> None:
    object_id, gone = steps.create().id, steps.create().id
    for fence, job_id in ((1, object_id), (2, gone)):
        logs.write_blocking(log_store.append, [LogPiece(fence, job_id, 0, 0, b"x")])
    ids = logs.write_blocking(consistency.jobs_with_logs, "", 10)
    assert ids == sorted([object_id, gone])
    assert steps.db.write_blocking(consistency.orphaned_logs, ids) == []
    steps.db.write_blocking(retention.delete_jobs, [gone])
    assert steps.db.write_blocking(consistency.orphaned_logs, ids) == [
        f"Job {gone} is gone, its log is not."
    ]
    assert logs.write_blocking(consistency.jobs_with_logs, ids[0], 10) == ids[1:]


def test_a_database_without_jobs_is_sound(db: Database) -> None:
    def look(tx: Tx) -> Any:
        return consistency.check(tx, "", 10)

    assert db.write_blocking(look) == []
