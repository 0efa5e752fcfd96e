"""A person says how a job ended that cannot tell any more."""

import pytest

import run_timeouts
from belvedere.base.errors import Conflict, Invalid, NotFound
from belvedere.db.signals import Signal, jobs_canceled
from belvedere.jobs.lifecycle import actions, timeouts
from jobs.job_steps import MISSING, Workshop


def unreachable(shop: Workshop) -> str:
    job = shop.assigned()
    shop.clock.move(31)
    run_timeouts.mark_silent(shop.db)
    shop.db.write_blocking(timeouts.mark_unreachable)
    return job.id


def test_it_works(shop: Workshop) -> None:
    job = shop.lost()
    shop.clock.move(5)
    found = shop.db.write_blocking(actions.resolve, shop.actors.ada, job.id, "success", "I looked.")
    assert found == shop.job(job.id)
    assert (found.lifecycle, found.state, found.trigger_name) == ("finished", "success", "success")
    assert (found.resolved_by, found.reason, found.ran) == ("ada@acme.test", "I looked.", "maybe")
    assert found.ended_at == shop.clock.now
    assert shop.kinds(job.id)[-1] == "resolved"
    audited = shop.db.write_blocking(
        lambda tx: tx.rows("select object_id from audit where action = 'job.resolve'")
    )
    assert audited == [(job.id,)]


@pytest.mark.parametrize(
    ("outcome", "state", "trigger"),
    [("normal", "normal", "success"), ("failure", "failure", "failure")],
)
def test_the_outcome_is_the_one_that_was_set(
    shop: Workshop, outcome: str, state: str, trigger: str
) -> None:
    job = shop.lost()
    found = shop.db.write_blocking(actions.resolve, shop.actors.ada, job.id, outcome, "")
    assert (found.state, found.trigger_name, found.reason) == (state, trigger, "keeper_lost")


def test_a_job_of_an_unreachable_agent_can_be_resolved(shop: Workshop) -> None:
    job_id = unreachable(shop)
    found = shop.db.write_blocking(actions.resolve, shop.actors.ada, job_id, "failure", "")
    assert (found.lifecycle, found.unreachable_at, found.ran) == ("finished", None, "maybe")
    assert [attempt.state for attempt in shop.attempts(job_id)] == ["resolved"]


def test_a_reconnecting_agent_is_told_to_stop_the_job(shop: Workshop) -> None:
    job_id = unreachable(shop)
    fence = shop.job(job_id).fence
    shop.db.write_blocking(actions.resolve, shop.actors.ada, job_id, "failure", "")
    assert shop.connect({fence: "live"}).stop == [fence]


def test_a_connected_agent_is_told_to_stop_the_job_too(shop: Workshop) -> None:
    """A lost job may still run on an agent that came back before the person decided."""
    job = shop.lost()
    signals: list[set[Signal]] = []
    shop.db.on_signals = lambda emitted: signals.append(set(emitted))
    shop.db.write_blocking(actions.resolve, shop.actors.ada, job.id, "normal", "")
    assert jobs_canceled(shop.host_id) in signals[-1]
    assert [attempt.state for attempt in shop.attempts(job.id)] == ["resolved"]


def test_a_late_result_does_not_unsay_it(shop: Workshop) -> None:
    job = shop.lost()
    shop.db.write_blocking(actions.resolve, shop.actors.ada, job.id, "success", "")
    assert shop.end(job.fence, code=1).status == "late"
    assert shop.stands(job.id) == "finished/success"


def test_it_refuses_a_job_whose_agent_can_be_reached(shop: Workshop) -> None:
    job = shop.assigned()
    with pytest.raises(Conflict) as refusal:
        shop.db.write_blocking(actions.resolve, shop.actors.ada, job.id, "success", "")
    assert refusal.value.code == "still_reachable"


@pytest.mark.parametrize("lifecycle", ["ready", "onhold", "syncing"])
def test_it_refuses_a_job_that_waits(shop: Workshop, lifecycle: str) -> None:
    job = shop.create(lifecycle=lifecycle)
    with pytest.raises(Conflict):
        shop.db.write_blocking(actions.resolve, shop.actors.ada, job.id, "success", "")


def test_it_refuses_what_is_over_or_resolved(shop: Workshop) -> None:
    ended = shop.assigned()
    shop.end(ended.fence, "timeout")
    resolved = shop.lost()
    shop.db.write_blocking(actions.resolve, shop.actors.ada, resolved.id, "success", "")
    for job_id in (ended.id, resolved.id):
        with pytest.raises(Conflict):
            shop.db.write_blocking(actions.resolve, shop.actors.ada, job_id, "failure", "")
    assert shop.stands(resolved.id) == "finished/success"


@pytest.mark.parametrize("outcome", ["", "lost", "canceled", "timeout", "Success"])
def test_it_refuses_any_other_outcome(shop: Workshop, outcome: str) -> None:
    job = shop.lost()
    with pytest.raises(Invalid) as refusal:
        shop.db.write_blocking(actions.resolve, shop.actors.ada, job.id, outcome, "")
    assert refusal.value.code == "invalid_outcome"
    assert shop.stands(job.id) == "terminated/lost"


def test_another_organization_finds_no_job(shop: Workshop) -> None:
    job = shop.lost()
    for job_id in (job.id, MISSING):
        with pytest.raises(NotFound):
            shop.db.write_blocking(actions.resolve, shop.actors.eve, job_id, "success", "")
    with pytest.raises(NotFound):
        shop.db.write_blocking(actions.resolve, shop.actors.uma, job.id, "success", "")
