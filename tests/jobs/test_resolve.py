"""A person sets the outcome of a job that is lost."""

import pytest

import run_timeouts
from belvedere.base.errors import Conflict, Invalid, NotFound
from belvedere.db.signals import Signal, jobs_canceled
from belvedere.jobs.lifecycle import actions, timeouts
from jobs.job_steps import MISSING, JobSteps


def unreachable(steps: JobSteps) -> str:
    job = steps.assign()
    steps.clock.move(31)
    run_timeouts.mark_silent(steps.db)
    steps.db.write_blocking(timeouts.mark_unreachable)
    return job.id


def test_a_lost_job_is_resolved(steps: JobSteps) -> None:
    job = steps.lose()
    steps.clock.move(5)
    stored_job = steps.db.write_blocking(
        actions.resolve, steps.actors.ada, job.id, "success", "I looked."
    )
    assert stored_job == steps.job(job.id)
    assert (stored_job.lifecycle, stored_job.state, stored_job.trigger_name) == (
        "finished",
        "success",
        "success",
    )
    assert (stored_job.resolved_by, stored_job.reason, stored_job.ran) == (
        "ada@acme.test",
        "I looked.",
        "maybe",
    )
    assert stored_job.ended_at == steps.clock.now
    assert steps.kinds(job.id)[-1] == "resolved"
    audited = steps.db.write_blocking(
        lambda tx: tx.rows("select object_id from audit where action = 'job.resolve'")
    )
    assert audited == [(job.id,)]


@pytest.mark.parametrize(
    ("outcome", "state", "trigger"),
    [("normal", "normal", "success"), ("failure", "failure", "failure")],
)
def test_the_outcome_is_the_one_that_was_set(
    steps: JobSteps, outcome: str, state: str, trigger: str
) -> None:
    job = steps.lose()
    stored_job = steps.db.write_blocking(actions.resolve, steps.actors.ada, job.id, outcome, "")
    assert (stored_job.state, stored_job.trigger_name, stored_job.reason) == (
        state,
        trigger,
        "keeper_lost",
    )


def test_a_job_of_an_unreachable_agent_can_be_resolved(steps: JobSteps) -> None:
    job_id = unreachable(steps)
    job = steps.db.write_blocking(actions.resolve, steps.actors.ada, job_id, "failure", "")
    assert (job.lifecycle, job.unreachable_at, job.ran) == ("finished", None, "maybe")
    assert [attempt.state for attempt in steps.attempts(job_id)] == ["resolved"]


def test_a_reconnecting_agent_is_told_to_stop_the_job(steps: JobSteps) -> None:
    job_id = unreachable(steps)
    fence = steps.job(job_id).fence
    steps.db.write_blocking(actions.resolve, steps.actors.ada, job_id, "failure", "")
    assert steps.connect({fence: "live"}).stop == [fence]


def test_a_connected_agent_is_told_to_stop_the_job_too(steps: JobSteps) -> None:
    """A lost job may still run on an agent that reconnected before the person decided."""
    job = steps.lose()
    signals: list[set[Signal]] = []
    steps.db.on_signals = lambda emitted: signals.append(set(emitted))
    steps.db.write_blocking(actions.resolve, steps.actors.ada, job.id, "normal", "")
    assert jobs_canceled(steps.host_id) in signals[-1]
    assert [attempt.state for attempt in steps.attempts(job.id)] == ["resolved"]


def test_a_late_result_does_not_revert_the_decision(steps: JobSteps) -> None:
    job = steps.lose()
    steps.db.write_blocking(actions.resolve, steps.actors.ada, job.id, "success", "")
    assert steps.end(job.fence, code=1).status == "late"
    assert steps.status(job.id) == "finished/success"


def test_a_job_whose_agent_is_reachable_is_not_resolved(steps: JobSteps) -> None:
    job = steps.assign()
    with pytest.raises(Conflict) as refusal:
        steps.db.write_blocking(actions.resolve, steps.actors.ada, job.id, "success", "")
    assert refusal.value.code == "still_reachable"


@pytest.mark.parametrize("lifecycle", ["ready", "onhold", "syncing"])
def test_a_waiting_job_is_not_resolved(steps: JobSteps, lifecycle: str) -> None:
    job = steps.create(lifecycle=lifecycle)
    with pytest.raises(Conflict):
        steps.db.write_blocking(actions.resolve, steps.actors.ada, job.id, "success", "")


def test_an_ended_or_resolved_job_is_refused(steps: JobSteps) -> None:
    ended = steps.assign()
    steps.end(ended.fence, "timeout")
    resolved = steps.lose()
    steps.db.write_blocking(actions.resolve, steps.actors.ada, resolved.id, "success", "")
    for job_id in (ended.id, resolved.id):
        with pytest.raises(Conflict):
            steps.db.write_blocking(actions.resolve, steps.actors.ada, job_id, "failure", "")
    assert steps.status(resolved.id) == "finished/success"


@pytest.mark.parametrize("outcome", ["", "lost", "canceled", "timeout", "Success"])
def test_any_other_outcome_is_refused(steps: JobSteps, outcome: str) -> None:
    job = steps.lose()
    with pytest.raises(Invalid) as refusal:
        steps.db.write_blocking(actions.resolve, steps.actors.ada, job.id, outcome, "")
    assert refusal.value.code == "invalid_outcome"
    assert steps.status(job.id) == "terminated/lost"


def test_another_organization_finds_no_job(steps: JobSteps) -> None:
    job = steps.lose()
    for job_id in (job.id, MISSING):
        with pytest.raises(NotFound):
            steps.db.write_blocking(actions.resolve, steps.actors.eve, job_id, "success", "")
    with pytest.raises(NotFound):
        steps.db.write_blocking(actions.resolve, steps.actors.uma, job.id, "success", "")
