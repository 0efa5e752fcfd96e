"""Running a chosen step of a finished workflow job again, and all steps after it."""

import pytest

from belvedere.base.errors import Conflict, Invalid
from belvedere.jobs.approvals import votes
from belvedere.workflows.execution.visits import causes_of
from workflows.workflow_steps import WorkflowSteps

ONE = [{"type": "input", "label": "x"}]
ASK = {"type": "approval", "approvers": ["max@acme.test"]}


def test_the_steps_before_keep_their_output(steps: WorkflowSteps) -> None:
    old = steps.run(steps.flow("a-b b-c", tasks={"b": {"task_arguments": ONE}}))
    steps.ends("a", '["kept"]')
    steps.ends("b")
    steps.ends("c")
    assert steps.status(old.id) == "finished/normal"
    new = steps.restart(old, "b")
    assert new.restarted_from == old.id
    assert steps.names() == ["b"] and steps.values("b") == ["kept"]
    steps.ends("b")
    steps.ends("c")
    assert steps.status(new.id) == "finished/normal"
    assert [step.name for step in steps.steps()] == ["a", "b", "c", "b", "c"]


def test_the_first_step_gets_its_values_again(steps: WorkflowSteps) -> None:
    old = steps.run(steps.flow("a-b", tasks={"a": {"task_arguments": ONE}}), ["mine"])
    steps.ends("a")
    steps.ends("b")
    steps.restart(old, "a")
    assert steps.names() == ["a"] and steps.values("a") == ["mine"]


def test_other_branches_keep_their_results(steps: WorkflowSteps) -> None:
    old = steps.run(steps.flow("a-b a-c b-d c-d", joins="d"))
    for name in "abcd":
        steps.ends(name)
    new = steps.restart(old, "c")
    assert steps.names() == ["c"]
    steps.ends("c")
    assert steps.names() == ["d"]
    steps.ends("d")
    assert steps.status(new.id) == "finished/normal"


def test_steps_after_a_failure_run_again_only_after_another_failure(
    steps: WorkflowSteps,
) -> None:
    old = steps.run(steps.flow("a-b b-c b-e:failure"))
    steps.ends("a")
    steps.ends("b", code=1)
    steps.ends("e")
    new = steps.restart(old, "b")
    steps.ends("b")
    assert steps.names() == ["c"]
    steps.ends("c")
    assert steps.status(new.id) == "finished/normal"


def test_in_a_cycle_the_latest_visit_runs_again(steps: WorkflowSteps) -> None:
    old = steps.run(steps.flow("a-b b-a:again*3 b-c"))
    steps.ends("a")
    steps.ends("b", '{"state": "success", "event_name": "again"}')
    steps.ends("a")
    steps.ends("b")
    steps.ends("c")
    assert steps.status(old.id) == "finished/normal"
    new = steps.restart(old, "b")
    assert steps.names() == ["b"]
    steps.ends("b")
    assert steps.names() == ["c"]
    steps.ends("c")
    assert steps.status(new.id) == "finished/normal"


def test_a_step_that_was_not_reached_is_refused(steps: WorkflowSteps) -> None:
    old = steps.run(steps.flow("a-b"))
    steps.ends("a", code=1)
    for node_id in ("b", "missing"):
        with pytest.raises(Conflict) as refusal:
            steps.restart(old, node_id)
        assert refusal.value.code == "step_not_reached"


def test_a_running_job_is_refused(steps: WorkflowSteps) -> None:
    old = steps.run(steps.flow("a-b"))
    steps.ends("a")
    with pytest.raises(Conflict) as refusal:
        steps.restart(old, "a")
    assert refusal.value.code == "wrong_lifecycle"


def test_a_step_after_an_approval_needs_a_new_one(steps: WorkflowSteps) -> None:
    """One approval covers one run of the steps that follow it."""
    old = steps.run(steps.flow("a-b b-c c-d", tasks={"b": ASK}))
    steps.ends("a")
    (approval,) = [job for job in steps.steps() if job.lifecycle == "onhold"]
    steps.db.write_blocking(votes.approve, steps.actors.max, approval.id)
    steps.react()
    steps.ends("c")
    steps.ends("d")
    for node_id in ("c", "d"):
        with pytest.raises(Conflict) as refusal:
            steps.restart(old, node_id)
        assert refusal.value.code == "approval_needed"
    steps.restart(old, "b")
    assert [job.name for job in steps.steps() if job.lifecycle == "onhold"] == ["b"]


def test_a_step_runs_again_with_other_values(steps: WorkflowSteps) -> None:
    old = steps.run(steps.flow("a-b b-c", tasks={"b": {"task_arguments": ONE}}))
    steps.ends("a", '["kept"]')
    steps.ends("b")
    steps.ends("c")
    new = steps.restart(old, "b", ["other"])
    assert (steps.names(), steps.values("b")) == (["b"], ["other"])
    steps.ends("b")
    steps.ends("c")
    assert steps.status(new.id) == "finished/normal"
    assert [step.name for step in steps.steps()] == ["a", "b", "c", "b", "c"]


def test_a_step_that_ran_with_other_values_follows_the_steps_before_it(
    steps: WorkflowSteps,
) -> None:
    """It is recorded which visit it follows: if that one runs again, it leads to it again."""
    old = steps.run(steps.flow("a-b b-c", tasks={"b": {"task_arguments": ONE}}))
    steps.ends("a", '["kept"]')
    steps.ends("b")
    steps.ends("c")
    second = steps.restart(old, "b", ["other"])
    steps.ends("b")
    steps.ends("c")
    assert [(row.node_id, causes_of(row)) for row in steps.list_steps(second.id)] == [
        ("a", ()),
        ("b", (("a", 1),)),
        ("c", (("b", 1),)),
    ]
    third = steps.restart(second, "a")
    for name, output in (("a", '["newer"]'), ("b", ""), ("c", "")):
        assert steps.names() == [name]
        steps.ends(name, output)
    assert steps.status(third.id) == "finished/normal"


def test_in_a_cycle_other_values_are_those_of_the_latest_visit(steps: WorkflowSteps) -> None:
    flow = steps.flow("a-b b-a:again*3 b-c", tasks={"b": {"task_arguments": ONE}})
    old = steps.run(flow)
    steps.ends("a", '["one"]')
    steps.ends("b", '{"state": "success", "event_name": "again"}')
    steps.ends("a", '["two"]')
    steps.ends("b")
    steps.ends("c")
    new = steps.restart(old, "b", ["other"])
    assert (steps.names(), steps.values("b")) == (["b"], ["other"])
    assert ("b", 2, (("a", 2),)) in [
        (row.node_id, row.visit, causes_of(row)) for row in steps.list_steps(new.id)
    ]
    steps.ends("b")
    steps.ends("c")
    assert steps.status(new.id) == "finished/normal"


def test_the_first_step_runs_again_with_other_values(steps: WorkflowSteps) -> None:
    old = steps.run(steps.flow("a-b", tasks={"a": {"task_arguments": ONE}}), ["mine"])
    steps.ends("a")
    steps.ends("b")
    steps.restart(old, "a", ["other"])
    assert (steps.names(), steps.values("a")) == (["a"], ["other"])


def test_a_workflow_as_a_step_runs_again_with_other_values(steps: WorkflowSteps) -> None:
    inner = steps.flow("x-y", tasks={"x": {"task_arguments": ONE}})
    old = steps.run(steps.flow("a-b", flows={"b": inner}))
    for name in ("a", "x", "y"):
        steps.ends(name, '["kept"]')
    steps.restart(old, "b", ["other"])
    assert steps.values("x") == ["other"]


def test_values_that_do_not_fit_start_nothing(steps: WorkflowSteps) -> None:
    old = steps.run(steps.flow("a-b", tasks={"b": {"task_arguments": ONE}}))
    steps.ends("a", '["kept"]')
    steps.ends("b")
    with pytest.raises(Invalid):
        steps.restart(old, "b", ["too", "many"])
    assert steps.names() == []


def test_other_values_do_not_skip_an_approval(steps: WorkflowSteps) -> None:
    old = steps.run(steps.flow("a-b b-c", tasks={"b": ASK, "c": {"task_arguments": ONE}}))
    steps.ends("a", '["kept"]')
    (approval,) = [job for job in steps.steps() if job.lifecycle == "onhold"]
    steps.db.write_blocking(votes.approve, steps.actors.max, approval.id)
    steps.react()
    steps.ends("c")
    with pytest.raises(Conflict) as refusal:
        steps.restart(old, "c", ["other"])
    assert refusal.value.code == "approval_needed"
