"""Cancelling the job of a workflow: all of its steps, then the job itself."""

import pytest

from belvedere.base.errors import Conflict, Forbidden
from belvedere.jobs.history import consistency
from belvedere.jobs.lifecycle import actions
from workflows.workflow_steps import WorkflowSteps


def test_canceling_ends_all_open_steps(steps: WorkflowSteps) -> None:
    job = steps.run(steps.flow("a-b a-c"))
    steps.ends("a")
    steps.cancel(job)
    assert steps.status(job.id) == "terminated/canceled"
    assert steps.names("canceled") == ["b", "c"]
    stored_job = steps.job(job.id)
    assert (stored_job.trigger_name, stored_job.canceled_by) == ("canceled", "ada@acme.test")
    steps.react()
    assert steps.db.write_blocking(consistency.check, "", 100) == []


def test_before_anything_ran(steps: WorkflowSteps) -> None:
    job = steps.run(steps.flow())
    steps.cancel(job)
    assert steps.status(job.id) == "terminated/canceled"
    assert steps.kinds(job.id) == ["created", "cancel_requested", "started", "finished"]


def test_a_canceled_workflow_ends_when_its_last_script_ends(steps: WorkflowSteps) -> None:
    job = steps.run(steps.flow("a-b:always"))
    (claimed,) = steps.claim()
    steps.cancel(job)
    stored_job = steps.job(job.id)
    assert (stored_job.lifecycle, stored_job.cancel_requested_at is not None) == ("started", True)
    assert steps.job(claimed.job.id).cancel_requested_at is not None
    steps.end(claimed.job.fence, "canceled")
    steps.react()
    assert steps.status(job.id) == "terminated/canceled"
    assert len(steps.steps()) == 1


def test_a_step_that_ends_well_all_the_same_starts_nothing(steps: WorkflowSteps) -> None:
    job = steps.run(steps.flow("a-b"))
    steps.claim()
    steps.cancel(job)
    steps.ends("a")
    assert steps.status(job.id) == "terminated/canceled"
    assert len(steps.steps()) == 1


def test_by_the_route_of_jobs(steps: WorkflowSteps) -> None:
    """`PUT /job/{id}/cancel` knows nothing of workflows; the event consumer does."""
    job = steps.run(steps.flow("a-b"))
    steps.db.write_blocking(actions.cancel, steps.actors.ada, job.id)
    assert steps.names("canceled") == ["a"]
    steps.react()
    assert steps.status(job.id) == "terminated/canceled"


def test_canceling_ends_the_wait_for_a_lost_job(steps: WorkflowSteps) -> None:
    job = steps.run(steps.flow("a-b:always"))
    steps.claim()
    (step,) = steps.steps()
    steps.end(step.fence, "unknown", reason="keeper_lost")
    steps.react()
    assert steps.status(job.id) == "started/in_progress"
    steps.cancel(job)
    assert steps.status(job.id) == "terminated/canceled"


def test_a_task_that_cannot_be_cancelled_refuses_for_the_workflow(steps: WorkflowSteps) -> None:
    flow = steps.flow("a-b", tasks={"a": {"cancellable": False}}, acl=["uma@acme.test"])
    job = steps.run(flow)
    with pytest.raises(Forbidden, match="cannot be canceled"):
        steps.cancel(job, steps.actors.uma)
    assert steps.status(job.id) == "ready/in_progress"
    steps.cancel(job)
    assert steps.status(job.id) == "terminated/canceled"


def test_an_ended_workflow_cannot_be_canceled(steps: WorkflowSteps) -> None:
    job = steps.run(steps.flow("a"))
    steps.ends("a")
    with pytest.raises(Conflict, match="finished"):
        steps.cancel(job)
