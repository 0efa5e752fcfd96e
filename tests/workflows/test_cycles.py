"""Cycles: a node starts again, as often as the limit allows."""

import msgspec
import pytest

from belvedere.base.errors import Conflict
from belvedere.db import Tx
from belvedere.db.migrate import migrations, statements
from belvedere.jobs.approvals import votes
from belvedere.jobs.history import consistency
from belvedere.workflows import control
from workflows.test_approval_scope import ASK, OTHER, edit, planned_arguments, waiting_approval
from workflows.workflow_steps import WorkflowSteps

ONE = [{"type": "input", "label": "x"}]


def visits(steps: WorkflowSteps, job_id: str) -> list[tuple[str, int]]:
    return [(step.node_id, step.visit) for step in steps.list_steps(job_id)]


def test_a_cycle_repeats_until_success(steps: WorkflowSteps) -> None:
    """Test, fix, test again; then continue."""
    job = steps.run(
        steps.flow("a-b a-c:failure c-a:success*3", tasks={"a": {"task_arguments": []}})
    )
    for _ in range(2):
        steps.ends("a", code=1)
        steps.ends("c")
    steps.ends("a")
    steps.ends("b")
    assert steps.status(job.id) == "finished/normal"
    assert steps.job(job.id).reason is None
    assert visits(steps, job.id) == [("a", 1), ("a", 2), ("a", 3), ("b", 1), ("c", 1), ("c", 2)]
    assert len({step.job_id for step in steps.list_steps(job.id)}) == 6
    assert steps.db.write_blocking(consistency.check, "", 1_000) == []


def test_the_output_is_passed_around_the_cycle(steps: WorkflowSteps) -> None:
    tasks = {"a": {"task_arguments": ONE}, "b": {"task_arguments": ONE}}
    job = steps.run(steps.flow("a-b b-a:again*2", tasks=tasks), ["1"])
    steps.ends("a", '["2"]')
    steps.ends("b", '{"event_name": "again", "output": ["3"]}')
    assert steps.values("a") == ["3"]
    steps.ends("a", '["4"]')
    assert steps.values("b") == ["4"]
    steps.ends("b", '["5"]')
    assert steps.status(job.id) == "finished/normal"


def test_at_its_limit_a_cycle_fails_with_the_reason(steps: WorkflowSteps) -> None:
    job = steps.run(steps.flow("a-a:failure*2 a-b:always"))
    for _ in range(3):
        assert steps.status(job.id) in ("ready/in_progress", "started/in_progress")
        steps.ends("a", code=1)
    steps.ends("b")
    assert steps.status(job.id) == "finished/failure"
    text = "The edge a → a (failure) reached its limit of 2 visits (max_visits)."
    assert steps.job(job.id).reason == text
    # `b` had started after the first end; what came later was no visit of its own.
    assert visits(steps, job.id) == [("a", 1), ("a", 2), ("a", 3), ("b", 1)]


def test_a_join_in_a_cycle_waits_for_both_each_time(steps: WorkflowSteps) -> None:
    job = steps.run(steps.flow("a-b a-c b-d c-d d-a:again*5", joins="d"))
    for _ in range(3):
        steps.ends("a")
        steps.ends("b")
        assert steps.waiting_tasks() == ["c"]
        steps.ends("c")
        assert steps.waiting_tasks() == ["d"]
        steps.ends("d", '{"event_name": "again"}')
    steps.ends("a")
    steps.ends("c")
    assert steps.waiting_tasks() == ["b"], "the end of b in the round before does not count"
    steps.ends("b")
    steps.ends("d")
    assert steps.status(job.id) == "finished/normal"


def test_a_join_that_is_led_back_to(steps: WorkflowSteps) -> None:
    """It waits for sources that can run before it; a source that leads back starts it by itself."""
    tasks = {"d": {"task_arguments": [{"type": "input", "required": False}]}}
    job = steps.run(steps.flow("a-b a-c b-d c-d d-e:failure e-d:success*2", joins="d", tasks=tasks))
    steps.ends("a")
    steps.ends("b", '["from b"]')
    assert steps.waiting_tasks() == ["c"]
    steps.ends("c")
    assert steps.values("d") == ["from b"]
    steps.ends("d", code=1)
    steps.ends("e", '["from e"]')
    assert steps.values("d") == ["from e"]
    steps.ends("d")
    assert steps.status(job.id) == "finished/normal"


def test_a_source_outside_the_cycle_counts_each_time(steps: WorkflowSteps) -> None:
    tasks = {"d": {"task_arguments": [{"type": "input"}, {"type": "input"}]}}
    job = steps.run(steps.flow("a-b a-c b-d c-d d-c:again*2", joins="d", tasks=tasks))
    steps.ends("a")
    steps.ends("b", '["b"]')
    steps.ends("c", '["c1"]')
    steps.ends("d", '{"event_name": "again"}')
    steps.ends("c", '["c2"]')
    assert steps.values("d") == ["b", "c2"]
    steps.ends("d")
    assert steps.status(job.id) == "finished/normal"


def test_a_slow_branch_starts_nothing_again(steps: WorkflowSteps) -> None:
    """`d` was started by `b`; the late `c` does not descend from it and causes no second visit."""
    job = steps.run(steps.flow("a-b a-c b-d c-d d-a:again*5"))
    steps.ends("a")
    steps.ends("b")
    steps.ends("d")
    steps.ends("c")
    assert steps.waiting_tasks() == []
    assert steps.status(job.id) == "finished/normal"


def test_each_visit_tries_again_by_itself(steps: WorkflowSteps) -> None:
    flow = steps.flow("a-b b-a:again*2", retry={"a": {"times": 1, "delay": 0}})
    job = steps.run(flow)
    for event in ("again", "success"):
        steps.ends("a", code=1)
        steps.ends("a")
        steps.ends("b", f'{{"event_name": "{event}"}}')
    assert steps.status(job.id) == "finished/normal"
    assert [step.tries for step in steps.list_steps(job.id) if step.node_id == "a"] == [1, 1]


def test_an_approval_is_requested_again_each_time(steps: WorkflowSteps) -> None:
    """And each approval covers what would run at that time."""
    job = steps.run(steps.flow("a-b b-c c-a:again*2", tasks={"b": ASK}))
    items = []
    for event in ("again", "success"):
        steps.ends("a")
        assert steps.waiting_tasks() == [], "nothing runs without a yes"
        items.append(waiting_approval(steps).id)
        assert sorted(planned_arguments(steps, waiting_approval(steps))) == ["a", "c"]
        steps.db.write_blocking(votes.approve, steps.actors.max, waiting_approval(steps).id)
        steps.react()
        steps.ends("c", f'{{"event_name": "{event}"}}')
        edit(steps, "c", script=OTHER)
    assert steps.status(job.id) == "finished/normal"
    assert len(set(items)) == 2


def test_a_task_changed_after_the_approval_does_not_start_in_a_later_round(
    steps: WorkflowSteps,
) -> None:
    job = steps.run(steps.flow("a-b b-c c-a:again*2", tasks={"b": ASK}))
    steps.ends("a")
    steps.db.write_blocking(votes.approve, steps.actors.max, waiting_approval(steps).id)
    steps.react()
    edit(steps, "a", script=OTHER)
    steps.ends("c", '{"event_name": "again"}')
    assert "the script of a" in (steps.steps()[-1].reason or "")
    assert steps.status(job.id) == "finished/failure"


def test_a_workflow_in_a_cycle_is_a_new_job_each_time(steps: WorkflowSteps) -> None:
    inner = steps.flow("x-y")
    job = steps.run(steps.flow("a-b b-a:success*1", flows={"b": inner}))
    for _ in range(2):
        steps.ends("a")
        steps.ends("x")
        steps.ends("y")
    assert steps.status(job.id) == "finished/failure"
    job_ids = [step.job_id for step in steps.list_steps(job.id) if step.node_id == "b"]
    assert len(set(job_ids)) == 2
    assert [steps.status(item) for item in job_ids] == ["finished/normal"] * 2


def test_canceling_ends_the_cycle(steps: WorkflowSteps) -> None:
    job = steps.run(steps.flow("a-b b-a:always*9"))
    steps.ends("a")
    steps.ends("b")
    steps.cancel(job)
    steps.react()
    assert steps.waiting_tasks() == []
    assert steps.status(job.id) == "terminated/canceled"


def test_a_restart_continues_in_the_round_that_failed(steps: WorkflowSteps) -> None:
    old = steps.run(steps.flow("a-b b-a:again*2 b-c"))
    steps.ends("a")
    steps.ends("b", '{"event_name": "again"}')
    steps.ends("a", code=1)
    assert steps.status(old.id) == "finished/failure"
    new = steps.restart(old)
    assert steps.waiting_tasks() == ["a"]
    assert visits(steps, new.id) == [("a", 1), ("a", 2), ("b", 1)]
    steps.ends("a")
    steps.ends("b", '{"event_name": "again"}')
    steps.ends("a")
    steps.ends("b")
    steps.ends("c")
    assert steps.status(new.id) == "finished/normal"
    assert visits(steps, new.id)[-1] == ("c", 1)


def test_a_restart_at_the_limit_allows_one_more_visit(steps: WorkflowSteps) -> None:
    old = steps.run(steps.flow("a-b a-a:failure*1"))
    steps.ends("a", code=1)
    steps.ends("a", code=1)
    assert steps.status(old.id) == "finished/failure"
    second = steps.restart(old)
    steps.ends("a", code=1)
    assert steps.status(second.id) == "finished/failure"
    third = steps.restart(second)
    steps.ends("a")
    steps.ends("b")
    assert steps.status(third.id) == "finished/normal"
    assert visits(steps, third.id) == [("a", 1), ("a", 2), ("b", 1)]
    assert third.reason is None


def test_a_restart_continues_inside_a_nested_workflow_of_a_later_round(
    steps: WorkflowSteps,
) -> None:
    inner = steps.flow("x-y")
    old = steps.run(steps.flow("a-b b-a:success*1 b-c:canceled", flows={"b": inner}))
    steps.ends("a")
    steps.ends("x")
    steps.ends("y")
    steps.ends("a")
    steps.ends("x")
    steps.ends("y", code=1)
    assert steps.status(old.id) == "finished/failure"
    new = steps.restart(old)
    assert steps.waiting_tasks() == ["y"], "x of the second round is taken over"
    assert visits(steps, new.id) == [("a", 1), ("a", 2), ("b", 1), ("b", 2)]


def test_successful_rounds_of_a_cycle_are_not_restarted(steps: WorkflowSteps) -> None:
    job = steps.run(steps.flow("a-a:failure*3"))
    steps.ends("a", code=1)
    steps.ends("a")
    assert steps.status(job.id) == "finished/normal"
    with pytest.raises(Conflict) as refused:
        steps.restart(job)
    assert refused.value.code == "nothing_failed"


def test_every_visit_is_listed_with_its_cause(steps: WorkflowSteps) -> None:
    job = steps.run(steps.flow("a-b b-a:success*1"))
    for name in "abab":
        steps.ends(name)
    actual_steps = steps.db.write_blocking(
        control.list_steps, steps.actors.ada, job.workflow_id or "", job.id
    )
    items = [(item.node_id, item.visit, msgspec.json.decode(item.causes)) for item in actual_steps]
    assert items == [
        ("a", 1, []),
        ("a", 2, [["b", 1]]),
        ("b", 1, [["a", 1]]),
        ("b", 2, [["a", 2]]),
    ]


def test_a_job_continues_during_the_upgrade(steps: WorkflowSteps) -> None:
    """Its steps are in a table without visits."""
    job = steps.run(steps.flow("a-b b-c"))
    steps.ends("a")
    before = steps.list_steps(job.id)
    steps.db.write_blocking(_as_of_old)
    steps.db.write_blocking(_upgrade)
    plain = [msgspec.structs.replace(step, causes="[]") for step in before]
    assert steps.list_steps(job.id) == plain
    steps.ends("b")
    steps.ends("c")
    assert steps.status(job.id) == "finished/normal"


def _as_of_old(tx: Tx) -> None:
    tx.execute("create table kept as select * from workflow_steps")
    tx.execute("drop table workflow_steps")
    (create,) = [
        item for item in _statements(tx, "0014_workflows") if "table workflow_steps" in item
    ]
    tx.execute(create)
    names = "workflow_job_id, node_id, job_id, tries, state, trigger_name, is_good, output, given"
    tx.execute(f"insert into workflow_steps ({names}) select {names} from kept")
    tx.execute("drop table kept")


def _upgrade(tx: Tx) -> None:
    for statement in _statements(tx, "0035_visits"):
        tx.execute(statement)


def _statements(tx: Tx, name: str) -> list[str]:
    return statements(dict(migrations(tx.dialect.name))[name])
