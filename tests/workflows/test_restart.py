"""Going on from the steps that failed, as a new job."""

import pytest

from belvedere.base.errors import Conflict, Invalid
from workflows.workflow_steps import Yard

ONE = [{"type": "input", "label": "x"}]


def test_it_works(yard: Yard) -> None:
    tasks = {"b": {"task_arguments": ONE}}
    old = yard.run(yard.flow("a-b b-c", tasks=tasks))
    yard.ends("a", '["kept"]')
    yard.ends("b", code=1)
    assert yard.stands(old.id) == "finished/failure"
    new = yard.restart(old)
    assert (new.restarted_from, new.type) == (old.id, "WorkflowJob")
    assert yard.names() == ["b"] and yard.values("b") == ["kept"]
    yard.ends("b")
    yard.ends("c")
    assert yard.stands(new.id) == "finished/normal"
    assert [step.name for step in yard.steps()] == ["a", "b", "b", "c"]
    assert yard.stands(old.id) == "finished/failure"


def test_the_first_step_gets_its_own_values_again(yard: Yard) -> None:
    old = yard.run(yard.flow("a-b", tasks={"a": {"task_arguments": ONE}}), ["mine"])
    yard.ends("a", code=1)
    new = yard.restart(old)
    assert yard.names() == ["a"] and yard.values("a") == ["mine"]
    yard.ends("a")
    yard.ends("b")
    assert yard.stands(new.id) == "finished/normal"


def test_branches_that_went_well_are_not_run_again(yard: Yard) -> None:
    old = yard.run(yard.flow("a-b a-c b-d c-d", joins="d"))
    yard.ends("a")
    yard.ends("b")
    yard.ends("c", code=1)
    new = yard.restart(old)
    yard.ends("c")
    yard.ends("d")
    assert yard.stands(new.id) == "finished/normal"
    assert [step.name for step in yard.steps()] == ["a", "b", "c", "c", "d"]


def test_a_handled_failure_that_keeps_a_join_waiting_is_run_again(yard: Yard) -> None:
    """What only that failure had started is undone with it."""
    old = yard.run(yard.flow("a-b a-c b-d c-d c-e:failure", joins="d"))
    yard.ends("a")
    yard.ends("b")
    yard.ends("c", code=1)
    yard.ends("e")
    new = yard.restart(old)
    assert yard.names() == ["c"]
    yard.ends("c")
    yard.ends("d")
    assert yard.stands(new.id) == "finished/normal"


def test_a_canceled_one_goes_on_where_it_was(yard: Yard) -> None:
    old = yard.run(yard.flow("a-b"))
    yard.ends("a")
    yard.cancel(old)
    new = yard.restart(old)
    assert yard.names() == ["b"]
    yard.ends("b")
    assert yard.stands(new.id) == "finished/normal"


def test_a_restart_can_be_restarted(yard: Yard) -> None:
    job = yard.run(yard.flow("a-b"))
    yard.ends("a")
    for _ in range(3):
        yard.ends("b", code=1)
        job = yard.restart(job)
    yard.ends("b")
    assert yard.stands(job.id) == "finished/normal"
    assert [step.name for step in yard.steps()] == ["a", "b", "b", "b", "b"]


def test_what_went_well_or_goes_on_is_refused(yard: Yard) -> None:
    job = yard.run(yard.flow("a"))
    with pytest.raises(Conflict) as refused:
        yard.restart(job)
    assert refused.value.code == "wrong_lifecycle"
    yard.ends("a")
    with pytest.raises(Conflict) as refused:
        yard.restart(job)
    assert refused.value.code == "nothing_failed"


def test_a_succeeded_job_runs_again_with_its_values(yard: Yard) -> None:
    old = yard.run(yard.flow("a-b", tasks={"a": {"task_arguments": ONE}}), ["mine"])
    yard.ends("a")
    yard.ends("b")
    new = yard.run_again(old)
    assert (new.restarted_from, yard.names(), yard.values("a")) == (old.id, ["a"], ["mine"])
    yard.ends("a")
    yard.ends("b")
    assert yard.stands(new.id) == "finished/normal"


def test_a_workflow_as_first_step_gets_its_values_again(yard: Yard) -> None:
    inner = yard.flow("x-y", tasks={"x": {"task_arguments": ONE}})
    old = yard.run(yard.flow("a-b", flows={"a": inner}), ["mine"])
    for name in "xyb":
        yard.ends(name)
    yard.run_again(old)
    assert (yard.names(), yard.values("x")) == (["release", "x"], ["mine"])


def test_a_job_that_never_started_runs_again_with_its_values(yard: Yard) -> None:
    flow = yard.flow("a-b", tasks={"a": {"task_arguments": ONE}}, multitasking=False)
    first = yard.run(flow, ["first"])
    old = yard.run(flow, ["second"])
    yard.cancel(old)
    yard.ends("a")
    yard.ends("b")
    assert yard.stands(first.id) == "finished/normal"
    yard.run_again(old)
    assert (yard.names(), yard.values("a")) == (["a"], ["second"])


def test_values_are_checked_if_the_first_task_was_replaced(yard: Yard) -> None:
    old = yard.run(yard.flow("a-b", tasks={"a": {"task_arguments": ONE}}), ["mine"])
    yard.ends("a")
    yard.ends("b")
    choice = [{"type": "select", "label": "x", "options": [{"id": "a", "label": "a"}]}]
    other = yard.task(name="other", task_arguments=choice)
    yard.replace_task(old, "a", other)
    with pytest.raises(Invalid):
        yard.run_again(old)
