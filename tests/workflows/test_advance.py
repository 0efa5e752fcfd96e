"""Workflows continue after the ends of their jobs."""

from typing import Any

import pytest

from belvedere.jobs.approvals import votes
from belvedere.jobs.history import consistency
from belvedere.jobs.lifecycle import actions
from belvedere.workflow_specs.model import Graph, decode
from belvedere.workflows import service as workflows
from belvedere.workflows.bodies import WorkflowBody
from workflows.workflow_steps import WorkflowSteps

TWO = [{"type": "input", "label": "x"}, {"type": "input", "label": "y"}]
OUTPUT = '{"state": "success", "output": ["1", {"k": 2}]}'


def check_consistent(steps: WorkflowSteps) -> None:
    assert steps.db.write_blocking(consistency.check, "", 1_000) == []


def test_a_workflow_runs_its_steps_in_order(steps: WorkflowSteps) -> None:
    flow = steps.flow("a-b b-c", tasks={"b": {"task_arguments": TWO}})
    job = steps.run(flow)
    assert (job.type, job.lifecycle, job.state) == ("WorkflowJob", "ready", "in_progress")
    assert (job.name, job.task_id, job.host_id) == ("release", None, None)
    steps.claim()
    steps.react()
    assert steps.status(job.id) == "started/in_progress"
    steps.ends("a", OUTPUT)
    assert steps.names() == ["b"]
    assert steps.values("b") == ["1", '{"k":2}']
    steps.ends("b")
    steps.ends("c")
    assert steps.status(job.id) == "finished/normal"
    assert steps.job(job.id).trigger_name == "success"
    assert steps.kinds(job.id) == ["created", "started", "finished"]
    for step in steps.steps():
        assert (step.workflow_id, step.workflow_job_id) == (flow.id, job.id)
        assert step.user_id == steps.actors.ada.user_id
    assert [step.origin for step in steps.steps()] == ["user", "workflow", "workflow"]
    check_consistent(steps)


def test_branches_run_at_the_same_time_and_any_takes_the_first(steps: WorkflowSteps) -> None:
    job = steps.run(steps.flow("a-b a-c b-d c-d"))
    steps.ends("a")
    assert steps.names() == ["b", "c"]
    steps.ends("c", '["from c"]')
    assert steps.names() == ["d"] and steps.names("assigned") == ["b"]
    steps.ends("d")
    assert steps.status(job.id) == "started/in_progress"
    steps.ends("b")
    assert steps.status(job.id) == "finished/normal"
    assert [step.name for step in steps.steps()] == ["a", "b", "c", "d"]


def test_all_waits_for_every_branch_and_gets_the_outputs_in_edge_order(
    steps: WorkflowSteps,
) -> None:
    tasks = {"d": {"task_arguments": TWO}}
    job = steps.run(steps.flow("a-b a-c b-d c-d", joins="d", tasks=tasks))
    steps.ends("a")
    steps.ends("c", '["from c"]')
    assert steps.names() == []
    steps.ends("b", '["from b"]')
    assert steps.values("d") == ["from b", "from c"]
    steps.ends("d")
    assert steps.status(job.id) == "finished/normal"


def test_a_join_whose_other_branch_never_comes_is_a_failure(steps: WorkflowSteps) -> None:
    job = steps.run(steps.flow("a-b a-c b-d c-d c-e:failure", joins="d"))
    steps.ends("a")
    steps.ends("b")
    steps.ends("c", code=1)
    steps.ends("e")
    assert steps.status(job.id) == "finished/failure"
    assert "d" not in [step.name for step in steps.steps()]


def test_a_failure_that_an_edge_handles_does_not_fail_the_workflow(steps: WorkflowSteps) -> None:
    job = steps.run(steps.flow("a-b:failure a-c"))
    steps.ends("a", code=3)
    assert steps.names() == ["b"]
    steps.ends("b")
    assert steps.status(job.id) == "finished/normal"


def test_a_failure_that_no_edge_handles_ends_it_after_the_other_branches(
    steps: WorkflowSteps,
) -> None:
    job = steps.run(steps.flow("a-b a-c c-d"))
    steps.ends("a")
    steps.ends("b", code=1)
    assert steps.status(job.id) == "started/in_progress"
    steps.ends("c")
    steps.ends("d")
    assert steps.status(job.id) == "finished/failure"
    assert steps.job(job.id).trigger_name == "failure"


@pytest.mark.parametrize(
    ("lastline", "report", "followed"),
    [
        ('{"event_name": "blue"}', {}, ["b"]),
        ('{"state": "failure", "event_name": "blue"}', {}, ["b"]),
        ("", {}, ["d"]),
        ("", {"ending": "timeout"}, ["c"]),
        ("", {"ending": "error", "reason": "no interpreter"}, ["e"]),
    ],
)
def test_edges_follow_the_trigger_name(
    steps: WorkflowSteps, lastline: str, report: dict[str, Any], followed: list[str]
) -> None:
    steps.run(steps.flow("a-b:blue a-c:timeout a-d:success a-e:failure a-f:always"))
    steps.ends("a", lastline, **report)
    assert steps.names() == [*followed, "f"]


def test_always_also_follows_a_cancel_of_the_one_job(steps: WorkflowSteps) -> None:
    job = steps.run(steps.flow("a-b:always"))
    (step,) = steps.steps()
    steps.db.write_blocking(actions.cancel, steps.actors.ada, step.id)
    steps.react()
    assert steps.names() == ["b"]
    steps.ends("b")
    assert steps.status(job.id) == "finished/normal"


def test_a_step_that_is_canceled_and_not_handled_fails_it(steps: WorkflowSteps) -> None:
    job = steps.run(steps.flow("a-b"))
    (step,) = steps.steps()
    steps.db.write_blocking(actions.cancel, steps.actors.ada, step.id)
    steps.react()
    assert steps.status(job.id) == "finished/failure"
    assert steps.kinds(job.id) == ["created", "started", "finished"]
    check_consistent(steps)


def test_an_approval_uses_no_slot_and_passes_its_values_on(steps: WorkflowSteps) -> None:
    tasks = {
        "b": {"type": "approval", "approvers": ["max@acme.test"]},
        "c": {"task_arguments": TWO},
    }
    job = steps.run(steps.flow("a-b b-c b-d:failure", tasks=tasks))
    steps.ends("a", OUTPUT)
    assert steps.names("onhold") == ["b"] and steps.claim() == []
    sent_job = steps.steps()[-1]
    steps.db.write_blocking(votes.approve, steps.actors.max, sent_job.id)
    steps.react()
    assert steps.values("c") == ["1", '{"k":2}']
    steps.ends("c")
    assert steps.status(job.id) == "finished/normal"


def test_a_rejection_follows_the_edge_for_failure(steps: WorkflowSteps) -> None:
    tasks = {"b": {"type": "approval", "approvers": ["max@acme.test"]}}
    job = steps.run(steps.flow("a-b b-c b-d:failure", tasks=tasks))
    steps.ends("a")
    steps.db.write_blocking(votes.reject, steps.actors.max, steps.steps()[-1].id)
    steps.react()
    assert steps.names() == ["d"]
    steps.ends("d")
    assert steps.status(job.id) == "finished/normal"


def test_an_input_node_waits_for_a_person(steps: WorkflowSteps) -> None:
    tasks = {
        "b": {"type": "dummy", "task_arguments": TWO},
        "c": {"task_arguments": TWO},
    }
    steps.run(steps.flow("a-b b-c", tasks=tasks))
    steps.ends("a", '["only one"]')
    (job,) = [step for step in steps.steps() if step.lifecycle == "onhold"]
    assert steps.values("b") == []
    steps.db.write_blocking(actions.give_input, steps.actors.ada, job.id, ["p", "q"])
    steps.react()
    assert steps.values("c") == ["p", "q"]


def test_an_input_node_proposes_matching_values(steps: WorkflowSteps) -> None:
    steps.run(steps.flow("a-b", tasks={"b": {"type": "dummy", "task_arguments": TWO}}))
    steps.ends("a", '["p", "q"]')
    assert steps.names("onhold") == ["b"]
    assert steps.values("b") == ["p", "q"]


def test_a_first_step_that_ends_at_once_starts_the_next(steps: WorkflowSteps) -> None:
    """A dummy that a person starts with its arguments has ended before its end is processed."""
    tasks = {"a": {"type": "dummy", "task_arguments": TWO}, "b": {"task_arguments": TWO}}
    steps.run(steps.flow("a-b", tasks=tasks), ["p", "q"])
    steps.react()
    assert steps.values("b") == ["p", "q"]


def test_a_step_that_cannot_start_ends_in_error_and_says_why(steps: WorkflowSteps) -> None:
    job = steps.run(steps.flow("a-b b-c:failure", tasks={"b": {"task_arguments": TWO}}))
    steps.ends("a", '["only one"]')
    (dead,) = [step for step in steps.steps() if step.name == "b"]
    assert (dead.lifecycle, dead.state, dead.trigger_name) == ("finished", "error", "failure")
    assert "Argument 2 (y) is missing" in (dead.reason or "")
    steps.ends("c")
    assert steps.status(job.id) == "finished/normal"
    check_consistent(steps)


def test_a_notification_ends_at_once_and_passes_its_values_on(steps: WorkflowSteps) -> None:
    tasks = {"b": {"type": "notification", "subject": "x"}, "c": {"task_arguments": TWO}}
    steps.run(steps.flow("a-b b-c", tasks=tasks))
    steps.ends("a", '["p", "q"]')
    assert steps.values("c") == ["p", "q"]


def test_a_running_workflow_keeps_the_graph_of_its_start(steps: WorkflowSteps) -> None:
    flow = steps.flow("a-b")
    job = steps.run(flow)
    graph = decode(flow.spec).graph
    body = WorkflowBody(graph=Graph(nodes=graph.nodes[:1]))
    steps.db.write_blocking(workflows.change, steps.actors.ada, flow.id, body, replaces=False)
    steps.ends("a")
    assert steps.names() == ["b"]
    steps.ends("b")
    assert steps.status(job.id) == "finished/normal"
    again = steps.run(flow)
    steps.ends("a")
    assert steps.status(again.id) == "finished/normal"
