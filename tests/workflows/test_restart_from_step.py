"""Running a chosen step of a finished workflow job again, and all that follows it."""

import pytest

from belvedere.base.errors import Conflict
from belvedere.jobs.approvals import votes
from workflows.workflow_steps import Yard

ONE = [{"type": "input", "label": "x"}]
ASK = {"type": "approval", "approvers": ["max@acme.test"]}


def test_the_steps_before_keep_their_output(yard: Yard) -> None:
    old = yard.run(yard.flow("a-b b-c", tasks={"b": {"task_arguments": ONE}}))
    yard.ends("a", '["kept"]')
    yard.ends("b")
    yard.ends("c")
    assert yard.stands(old.id) == "finished/normal"
    new = yard.restart(old, "b")
    assert new.restarted_from == old.id
    assert yard.names() == ["b"] and yard.values("b") == ["kept"]
    yard.ends("b")
    yard.ends("c")
    assert yard.stands(new.id) == "finished/normal"
    assert [step.name for step in yard.steps()] == ["a", "b", "c", "b", "c"]


def test_the_first_step_gets_its_values_again(yard: Yard) -> None:
    old = yard.run(yard.flow("a-b", tasks={"a": {"task_arguments": ONE}}), ["mine"])
    yard.ends("a")
    yard.ends("b")
    yard.restart(old, "a")
    assert yard.names() == ["a"] and yard.values("a") == ["mine"]


def test_other_branches_keep_their_results(yard: Yard) -> None:
    old = yard.run(yard.flow("a-b a-c b-d c-d", joins="d"))
    for name in "abcd":
        yard.ends(name)
    new = yard.restart(old, "c")
    assert yard.names() == ["c"]
    yard.ends("c")
    assert yard.names() == ["d"]
    yard.ends("d")
    assert yard.stands(new.id) == "finished/normal"


def test_what_a_failure_started_is_run_again_only_after_another_failure(yard: Yard) -> None:
    old = yard.run(yard.flow("a-b b-c b-e:failure"))
    yard.ends("a")
    yard.ends("b", code=1)
    yard.ends("e")
    new = yard.restart(old, "b")
    yard.ends("b")
    assert yard.names() == ["c"]
    yard.ends("c")
    assert yard.stands(new.id) == "finished/normal"


def test_in_a_cycle_the_latest_visit_is_run_again(yard: Yard) -> None:
    old = yard.run(yard.flow("a-b b-a:again*3 b-c"))
    yard.ends("a")
    yard.ends("b", '{"state": "success", "event_name": "again"}')
    yard.ends("a")
    yard.ends("b")
    yard.ends("c")
    assert yard.stands(old.id) == "finished/normal"
    new = yard.restart(old, "b")
    assert yard.names() == ["b"]
    yard.ends("b")
    assert yard.names() == ["c"]
    yard.ends("c")
    assert yard.stands(new.id) == "finished/normal"


def test_a_step_that_was_not_reached_is_refused(yard: Yard) -> None:
    old = yard.run(yard.flow("a-b"))
    yard.ends("a", code=1)
    for node_id in ("b", "missing"):
        with pytest.raises(Conflict) as refusal:
            yard.restart(old, node_id)
        assert refusal.value.code == "step_not_reached"


def test_a_running_job_is_refused(yard: Yard) -> None:
    old = yard.run(yard.flow("a-b"))
    yard.ends("a")
    with pytest.raises(Conflict) as refusal:
        yard.restart(old, "a")
    assert refusal.value.code == "wrong_lifecycle"


def test_a_step_after_an_approval_needs_a_new_one(yard: Yard) -> None:
    """One approval covers one run of the steps that follow it."""
    old = yard.run(yard.flow("a-b b-c c-d", tasks={"b": ASK}))
    yard.ends("a")
    (approval,) = [job for job in yard.steps() if job.lifecycle == "onhold"]
    yard.db.write_blocking(votes.approve, yard.actors.max, approval.id)
    yard.react()
    yard.ends("c")
    yard.ends("d")
    for node_id in ("c", "d"):
        with pytest.raises(Conflict) as refusal:
            yard.restart(old, node_id)
        assert refusal.value.code == "approval_needed"
    yard.restart(old, "b")
    assert [job.name for job in yard.steps() if job.lifecycle == "onhold"] == ["b"]
