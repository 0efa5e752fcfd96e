"""Cancelling a workflow's job: all of its steps, and only then the whole."""

import pytest

from belvedere.base.errors import Conflict, Forbidden
from belvedere.jobs.history import consistency
from belvedere.jobs.lifecycle import actions
from workflows.workflow_steps import Yard


def test_it_works(yard: Yard) -> None:
    job = yard.run(yard.flow("a-b a-c"))
    yard.ends("a")
    yard.cancel(job)
    assert yard.stands(job.id) == "terminated/canceled"
    assert yard.names("canceled") == ["b", "c"]
    found = yard.job(job.id)
    assert (found.trigger_name, found.canceled_by) == ("canceled", "ada@acme.test")
    yard.react()
    assert yard.db.write_blocking(consistency.check, "", 100) == []


def test_before_anything_ran(yard: Yard) -> None:
    job = yard.run(yard.flow())
    yard.cancel(job)
    assert yard.stands(job.id) == "terminated/canceled"
    assert yard.kinds(job.id) == ["created", "cancel_requested", "started", "finished"]


def test_it_ends_when_the_last_script_ends(yard: Yard) -> None:
    job = yard.run(yard.flow("a-b:always"))
    (claimed,) = yard.claim()
    yard.cancel(job)
    found = yard.job(job.id)
    assert (found.lifecycle, found.cancel_requested_at is not None) == ("started", True)
    assert yard.job(claimed.job.id).cancel_requested_at is not None
    yard.end(claimed.job.fence, "canceled")
    yard.react()
    assert yard.stands(job.id) == "terminated/canceled"
    assert len(yard.steps()) == 1


def test_a_step_that_ends_well_all_the_same_starts_nothing(yard: Yard) -> None:
    job = yard.run(yard.flow("a-b"))
    yard.claim()
    yard.cancel(job)
    yard.ends("a")
    assert yard.stands(job.id) == "terminated/canceled"
    assert len(yard.steps()) == 1


def test_by_the_route_of_jobs(yard: Yard) -> None:
    """`PUT /job/{id}/cancel` knows nothing of workflows; the event does."""
    job = yard.run(yard.flow("a-b"))
    yard.db.write_blocking(actions.cancel, yard.actors.ada, job.id)
    assert yard.names("canceled") == ["a"]
    yard.react()
    assert yard.stands(job.id) == "terminated/canceled"


def test_it_ends_the_waiting_for_a_lost_job(yard: Yard) -> None:
    job = yard.run(yard.flow("a-b:always"))
    yard.claim()
    (step,) = yard.steps()
    yard.end(step.fence, "unknown", reason="keeper_lost")
    yard.react()
    assert yard.stands(job.id) == "started/in_progress"
    yard.cancel(job)
    assert yard.stands(job.id) == "terminated/canceled"


def test_a_task_that_cannot_be_cancelled_refuses_for_the_workflow(yard: Yard) -> None:
    flow = yard.flow("a-b", tasks={"a": {"cancellable": False}}, acl=["uma@acme.test"])
    job = yard.run(flow)
    with pytest.raises(Forbidden, match="cannot be canceled"):
        yard.cancel(job, yard.actors.uma)
    assert yard.stands(job.id) == "ready/in_progress"
    yard.cancel(job)
    assert yard.stands(job.id) == "terminated/canceled"


def test_what_is_over_cannot_be_cancelled(yard: Yard) -> None:
    job = yard.run(yard.flow("a"))
    yard.ends("a")
    with pytest.raises(Conflict, match="finished"):
        yard.cancel(job)
