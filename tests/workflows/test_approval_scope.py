"""What an approval in a workflow allows to run."""

from typing import Any

import pytest

from belvedere.base.errors import Conflict
from belvedere.db import Tx
from belvedere.jobs.approvals import plan, votes
from belvedere.jobs.lifecycle import timeouts
from belvedere.jobs.model import JobRow
from belvedere.tasks import service as tasks
from belvedere.tasks.bodies import ScriptBody, TaskBody
from belvedere.workflows import service as workflows
from belvedere.workflows.bodies import WorkflowBody
from workflows.workflow_steps import WorkflowSteps

ASK = {"type": "approval", "approvers": ["max@acme.test"]}
TWO = [{"type": "input", "label": "x"}, {"type": "input", "label": "y"}]
OUTPUT = '{"output": ["1", "2"]}'
OTHER = ScriptBody(source="#!/bin/sh\ntrue\n")


def waiting_approval(steps: WorkflowSteps) -> JobRow:
    return [job for job in steps.steps() if job.lifecycle == "onhold"][-1]


def planned_arguments(steps: WorkflowSteps, job: JobRow) -> dict[str, Any]:
    planned_tasks = steps.db.write_blocking(plan.for_job, job.id)
    return {item.name: item.arguments for item in planned_tasks}


def edit(steps: WorkflowSteps, name: str, **fields: Any) -> None:
    task_id = steps.db.write_blocking(
        lambda tx: tx.value("select id from tasks where name = ?", name)
    )
    body = TaskBody(**fields)
    steps.db.write_blocking(tasks.change, steps.actors.ada, task_id, body, is_replacement=False)


def test_an_approval_shows_the_values_of_the_next_step(steps: WorkflowSteps) -> None:
    """What follows at once has its values; later steps do not have them yet."""
    steps.run(steps.flow("a-b b-c c-d", tasks={"b": ASK, "c": {"task_arguments": TWO}}))
    steps.ends("a", OUTPUT)
    assert planned_arguments(steps, waiting_approval(steps)) == {"c": ["1", "2"], "d": None}


def test_only_the_approved_branch_is_shown(steps: WorkflowSteps) -> None:
    steps.run(steps.flow("a-b b-c b-d:failure b-e:always c-f:failure", tasks={"b": ASK}))
    steps.ends("a")
    assert sorted(planned_arguments(steps, waiting_approval(steps))) == ["c", "e", "f"]


def test_the_scope_of_an_approval_ends_at_the_next_approval(steps: WorkflowSteps) -> None:
    steps.run(steps.flow("a-b b-c c-d d-e", tasks={"b": ASK, "d": ASK}))
    steps.ends("a")
    assert list(planned_arguments(steps, waiting_approval(steps))) == ["c"]
    steps.db.write_blocking(votes.approve, steps.actors.max, waiting_approval(steps).id)
    steps.react()
    steps.ends("c")
    assert list(planned_arguments(steps, waiting_approval(steps))) == ["e"]


def test_the_input_of_a_join_is_not_known_yet(steps: WorkflowSteps) -> None:
    steps.run(steps.flow("a-b a-c b-d c-d", joins="d", tasks={"b": ASK}))
    steps.ends("a")
    assert planned_arguments(steps, waiting_approval(steps)) == {"d": None}


def test_each_step_starts_as_it_was_approved(steps: WorkflowSteps) -> None:
    """Also hours later: d was changed while c ran."""
    job = steps.run(steps.flow("a-b b-c c-d", tasks={"b": ASK}))
    steps.ends("a")
    steps.db.write_blocking(votes.approve, steps.actors.max, waiting_approval(steps).id)
    steps.react()
    edit(steps, "d", script=OTHER)
    steps.ends("c")
    assert steps.status(steps.steps()[-1].id) == "finished/error"
    assert "the script of d" in (steps.steps()[-1].reason or "")
    assert steps.status(job.id) == "finished/failure"


def test_a_restart_needs_the_approved_plan(steps: WorkflowSteps) -> None:
    """The new job takes over the approval, and what it covered."""
    job = steps.run(steps.flow("a-b b-c", tasks={"b": ASK}))
    steps.ends("a")
    steps.db.write_blocking(votes.approve, steps.actors.max, waiting_approval(steps).id)
    steps.react()
    steps.ends("c", code=1)
    edit(steps, "c", script=OTHER)
    steps.restart(job)
    steps.react()
    assert "the script of c" in (steps.steps()[-1].reason or "")


def test_tasks_after_a_rejection_need_no_approval(steps: WorkflowSteps) -> None:
    job = steps.run(steps.flow("a-b b-c:always", tasks={"b": ASK}))
    steps.ends("a")
    edit(steps, "c", script=OTHER)
    steps.db.write_blocking(votes.reject, steps.actors.max, waiting_approval(steps).id)
    steps.react()
    steps.ends("c")
    assert steps.status(job.id) == "finished/normal"


def test_a_void_approval_fails_the_workflow(steps: WorkflowSteps) -> None:
    job = steps.run(steps.flow("a-b b-c", tasks={"b": ASK}))
    steps.ends("a")
    sent_job = waiting_approval(steps)
    edit(steps, "c", script=OTHER)
    with pytest.raises(Conflict, match="the script of c"):
        steps.db.write_blocking(votes.approve, steps.actors.max, sent_job.id)
    planned_tasks = steps.db.write_blocking(plan.for_job, sent_job.id)
    assert steps.db.write_blocking(timeouts.recheck_approvals, planned_tasks[0].task_id) == 1
    assert steps.db.write_blocking(timeouts.recheck_approvals, planned_tasks[0].task_id) == 0
    assert steps.kinds(sent_job.id) == ["created", "voided"]
    steps.react()
    assert steps.status(sent_job.id) == "expired/canceled"
    assert steps.status(job.id) == "finished/failure"


def test_a_plan_is_purged_with_its_job(steps: WorkflowSteps) -> None:
    steps.run(steps.flow("a-b b-c", tasks={"b": ASK}))
    steps.ends("a")
    job = waiting_approval(steps)
    steps.db.write_blocking(lambda tx: tx.execute("delete from jobs where id = ?", job.id))
    assert steps.db.write_blocking(_count_rows, job.id) == [0, 0]


def _count_rows(tx: Tx, job_id: str) -> list[int]:
    counted = "select count(*) from {} where job_id = ?"
    return [tx.value(counted.format(name), job_id) for name in ("approvals", "approval_objects")]


def test_a_workflow_that_follows_is_covered_with_all_that_is_in_it(steps: WorkflowSteps) -> None:
    deep = steps.flow("q")
    inner = steps.flow("p-r", flows={"r": deep})
    steps.run(steps.flow("a-b", flows={"b": inner}, tasks={"a": ASK}))
    job = waiting_approval(steps)
    assert sorted(planned_arguments(steps, job)) == ["p", "q"]
    edit(steps, "q", script=OTHER)
    with pytest.raises(Conflict):
        steps.db.write_blocking(votes.approve, steps.actors.max, job.id)


def test_a_nested_task_changed_after_the_approval_does_not_run(steps: WorkflowSteps) -> None:
    inner = steps.flow("p-q")
    job = steps.run(steps.flow("a-b", flows={"b": inner}, tasks={"a": ASK}))
    steps.db.write_blocking(votes.approve, steps.actors.max, waiting_approval(steps).id)
    steps.react()
    edit(steps, "q", script=OTHER)
    steps.ends("p")
    (step,) = [item for item in steps.steps() if item.name == "q"]
    assert (step.state, "not what was approved" in (step.reason or "")) == ("error", True)
    assert steps.status(job.id) == "finished/failure"


def test_a_workflow_changed_after_the_approval_does_not_start(steps: WorkflowSteps) -> None:
    inner = steps.flow("p")
    steps.run(steps.flow("a-b b-c", flows={"c": inner}, tasks={"a": ASK}))
    steps.db.write_blocking(votes.approve, steps.actors.max, waiting_approval(steps).id)
    steps.react()
    body = WorkflowBody(description="another one")
    steps.db.write_blocking(workflows.change, steps.actors.ada, inner.id, body, replaces=False)
    steps.ends("b")
    assert "not what was approved" in (steps.steps()[-1].reason or "")
