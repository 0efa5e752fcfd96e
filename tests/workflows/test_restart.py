"""Resuming from the failed steps, as a new job."""

import pytest

from belvedere.base.errors import Conflict, Invalid
from workflows.workflow_steps import WorkflowSteps

ONE = [{"type": "input", "label": "x"}]


def test_a_restart_continues_at_the_failed_step(steps: WorkflowSteps) -> None:
    tasks = {"b": {"task_arguments": ONE}}
    old = steps.run(steps.flow("a-b b-c", tasks=tasks))
    steps.ends("a", '["kept"]')
    steps.ends("b", code=1)
    assert steps.status(old.id) == "finished/failure"
    new = steps.restart(old)
    assert (new.restarted_from, new.type) == (old.id, "WorkflowJob")
    assert steps.names() == ["b"] and steps.values("b") == ["kept"]
    steps.ends("b")
    steps.ends("c")
    assert steps.status(new.id) == "finished/normal"
    assert [step.name for step in steps.steps()] == ["a", "b", "b", "c"]
    assert steps.status(old.id) == "finished/failure"


def test_the_first_step_gets_its_own_values_again(steps: WorkflowSteps) -> None:
    old = steps.run(steps.flow("a-b", tasks={"a": {"task_arguments": ONE}}), ["mine"])
    steps.ends("a", code=1)
    new = steps.restart(old)
    assert steps.names() == ["a"] and steps.values("a") == ["mine"]
    steps.ends("a")
    steps.ends("b")
    assert steps.status(new.id) == "finished/normal"


def test_branches_that_went_well_are_not_run_again(steps: WorkflowSteps) -> None:
    old = steps.run(steps.flow("a-b a-c b-d c-d", joins="d"))
    steps.ends("a")
    steps.ends("b")
    steps.ends("c", code=1)
    new = steps.restart(old)
    steps.ends("c")
    steps.ends("d")
    assert steps.status(new.id) == "finished/normal"
    assert [step.name for step in steps.steps()] == ["a", "b", "c", "c", "d"]


def test_a_handled_failure_that_keeps_a_join_waiting_is_run_again(steps: WorkflowSteps) -> None:
    """Steps that only this failure had started are undone with it."""
    old = steps.run(steps.flow("a-b a-c b-d c-d c-e:failure", joins="d"))
    steps.ends("a")
    steps.ends("b")
    steps.ends("c", code=1)
    steps.ends("e")
    new = steps.restart(old)
    assert steps.names() == ["c"]
    steps.ends("c")
    steps.ends("d")
    assert steps.status(new.id) == "finished/normal"


def test_a_canceled_workflow_resumes_where_it_stopped(steps: WorkflowSteps) -> None:
    old = steps.run(steps.flow("a-b"))
    steps.ends("a")
    steps.cancel(old)
    new = steps.restart(old)
    assert steps.names() == ["b"]
    steps.ends("b")
    assert steps.status(new.id) == "finished/normal"


def test_a_restart_can_be_restarted(steps: WorkflowSteps) -> None:
    job = steps.run(steps.flow("a-b"))
    steps.ends("a")
    for _ in range(3):
        steps.ends("b", code=1)
        job = steps.restart(job)
    steps.ends("b")
    assert steps.status(job.id) == "finished/normal"
    assert [step.name for step in steps.steps()] == ["a", "b", "b", "b", "b"]


def test_a_succeeded_or_running_workflow_is_not_restarted(steps: WorkflowSteps) -> None:
    job = steps.run(steps.flow("a"))
    with pytest.raises(Conflict) as refused:
        steps.restart(job)
    assert refused.value.code == "wrong_lifecycle"
    steps.ends("a")
    with pytest.raises(Conflict) as refused:
        steps.restart(job)
    assert refused.value.code == "nothing_failed"


def test_a_succeeded_job_runs_again_with_its_values(steps: WorkflowSteps) -> None:
    old = steps.run(steps.flow("a-b", tasks={"a": {"task_arguments": ONE}}), ["mine"])
    steps.ends("a")
    steps.ends("b")
    new = steps.run_again(old)
    assert (new.restarted_from, steps.names(), steps.values("a")) == (old.id, ["a"], ["mine"])
    steps.ends("a")
    steps.ends("b")
    assert steps.status(new.id) == "finished/normal"


def test_a_workflow_as_first_step_gets_its_values_again(steps: WorkflowSteps) -> None:
    inner = steps.flow("x-y", tasks={"x": {"task_arguments": ONE}})
    old = steps.run(steps.flow("a-b", flows={"a": inner}), ["mine"])
    for name in "xyb":
        steps.ends(name)
    steps.run_again(old)
    assert (steps.names(), steps.values("x")) == (["release", "x"], ["mine"])


def test_a_job_that_never_started_runs_again_with_its_values(steps: WorkflowSteps) -> None:
    flow = steps.flow("a-b", tasks={"a": {"task_arguments": ONE}}, multitasking=False)
    first = steps.run(flow, ["first"])
    old = steps.run(flow, ["second"])
    steps.cancel(old)
    steps.ends("a")
    steps.ends("b")
    assert steps.status(first.id) == "finished/normal"
    steps.run_again(old)
    assert (steps.names(), steps.values("a")) == (["a"], ["second"])


def test_values_are_checked_if_the_first_task_was_replaced(steps: WorkflowSteps) -> None:
    old = steps.run(steps.flow("a-b", tasks={"a": {"task_arguments": ONE}}), ["mine"])
    steps.ends("a")
    steps.ends("b")
    choice = [{"type": "select", "label": "x", "options": [{"id": "a", "label": "a"}]}]
    other = steps.task(name="other", task_arguments=choice)
    steps.replace_task(old, "a", other)
    with pytest.raises(Invalid):
        steps.run_again(old)
