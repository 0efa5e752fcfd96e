"""A workflow goes on: what follows from the ends of its jobs."""

from typing import Any

import pytest

from belvedere.jobs.approvals import votes
from belvedere.jobs.history import consistency
from belvedere.jobs.lifecycle import actions
from belvedere.workflow_specs.model import Graph, decode
from belvedere.workflows import service as workflows
from belvedere.workflows.bodies import WorkflowBody
from workflows.workflow_steps import Yard

TWO = [{"type": "input", "label": "x"}, {"type": "input", "label": "y"}]
OUTPUT = '{"state": "success", "output": ["1", {"k": 2}]}'


def sound(yard: Yard) -> None:
    assert yard.db.write_blocking(consistency.check, "", 1_000) == []


def test_it_works(yard: Yard) -> None:
    flow = yard.flow("a-b b-c", tasks={"b": {"task_arguments": TWO}})
    job = yard.run(flow)
    assert (job.type, job.lifecycle, job.state) == ("WorkflowJob", "ready", "in_progress")
    assert (job.name, job.task_id, job.host_id) == ("release", None, None)
    yard.claim()
    yard.react()
    assert yard.stands(job.id) == "started/in_progress"
    yard.ends("a", OUTPUT)
    assert yard.names() == ["b"]
    assert yard.values("b") == ["1", '{"k":2}']
    yard.ends("b")
    yard.ends("c")
    assert yard.stands(job.id) == "finished/normal"
    assert yard.job(job.id).trigger_name == "success"
    assert yard.kinds(job.id) == ["created", "started", "finished"]
    for step in yard.steps():
        assert (step.workflow_id, step.workflow_job_id) == (flow.id, job.id)
        assert step.user_id == yard.actors.ada.user_id
    assert [step.origin for step in yard.steps()] == ["user", "workflow", "workflow"]
    sound(yard)


def test_branches_run_at_the_same_time_and_any_takes_the_first(yard: Yard) -> None:
    job = yard.run(yard.flow("a-b a-c b-d c-d"))
    yard.ends("a")
    assert yard.names() == ["b", "c"]
    yard.ends("c", '["from c"]')
    assert yard.names() == ["d"] and yard.names("assigned") == ["b"]
    yard.ends("d")
    assert yard.stands(job.id) == "started/in_progress"
    yard.ends("b")
    assert yard.stands(job.id) == "finished/normal"
    assert [step.name for step in yard.steps()] == ["a", "b", "c", "d"]


def test_all_waits_for_every_branch_and_gets_the_outputs_in_edge_order(yard: Yard) -> None:
    tasks = {"d": {"task_arguments": TWO}}
    job = yard.run(yard.flow("a-b a-c b-d c-d", joins="d", tasks=tasks))
    yard.ends("a")
    yard.ends("c", '["from c"]')
    assert yard.names() == []
    yard.ends("b", '["from b"]')
    assert yard.values("d") == ["from b", "from c"]
    yard.ends("d")
    assert yard.stands(job.id) == "finished/normal"


def test_a_join_whose_other_branch_never_comes_is_a_failure(yard: Yard) -> None:
    job = yard.run(yard.flow("a-b a-c b-d c-d c-e:failure", joins="d"))
    yard.ends("a")
    yard.ends("b")
    yard.ends("c", code=1)
    yard.ends("e")
    assert yard.stands(job.id) == "finished/failure"
    assert "d" not in [step.name for step in yard.steps()]


def test_a_failure_that_an_edge_handles_is_none(yard: Yard) -> None:
    job = yard.run(yard.flow("a-b:failure a-c"))
    yard.ends("a", code=3)
    assert yard.names() == ["b"]
    yard.ends("b")
    assert yard.stands(job.id) == "finished/normal"


def test_a_failure_that_no_edge_handles_ends_it_after_the_other_branches(yard: Yard) -> None:
    job = yard.run(yard.flow("a-b a-c c-d"))
    yard.ends("a")
    yard.ends("b", code=1)
    assert yard.stands(job.id) == "started/in_progress"
    yard.ends("c")
    yard.ends("d")
    assert yard.stands(job.id) == "finished/failure"
    assert yard.job(job.id).trigger_name == "failure"


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
    yard: Yard, lastline: str, report: dict[str, Any], followed: list[str]
) -> None:
    yard.run(yard.flow("a-b:blue a-c:timeout a-d:success a-e:failure a-f:always"))
    yard.ends("a", lastline, **report)
    assert yard.names() == [*followed, "f"]


def test_always_also_follows_a_cancel_of_the_one_job(yard: Yard) -> None:
    job = yard.run(yard.flow("a-b:always"))
    (step,) = yard.steps()
    yard.db.write_blocking(actions.cancel, yard.actors.ada, step.id)
    yard.react()
    assert yard.names() == ["b"]
    yard.ends("b")
    assert yard.stands(job.id) == "finished/normal"


def test_a_step_that_is_canceled_and_not_handled_fails_it(yard: Yard) -> None:
    job = yard.run(yard.flow("a-b"))
    (step,) = yard.steps()
    yard.db.write_blocking(actions.cancel, yard.actors.ada, step.id)
    yard.react()
    assert yard.stands(job.id) == "finished/failure"
    assert yard.kinds(job.id) == ["created", "started", "finished"]
    sound(yard)


def test_an_approval_uses_no_slot_and_passes_its_values_on(yard: Yard) -> None:
    tasks = {
        "b": {"type": "approval", "approvers": ["max@acme.test"]},
        "c": {"task_arguments": TWO},
    }
    job = yard.run(yard.flow("a-b b-c b-d:failure", tasks=tasks))
    yard.ends("a", OUTPUT)
    assert yard.names("onhold") == ["b"] and yard.claim() == []
    asked = yard.steps()[-1]
    yard.db.write_blocking(votes.approve, yard.actors.max, asked.id)
    yard.react()
    assert yard.values("c") == ["1", '{"k":2}']
    yard.ends("c")
    assert yard.stands(job.id) == "finished/normal"


def test_a_rejection_goes_the_way_of_failure(yard: Yard) -> None:
    tasks = {"b": {"type": "approval", "approvers": ["max@acme.test"]}}
    job = yard.run(yard.flow("a-b b-c b-d:failure", tasks=tasks))
    yard.ends("a")
    yard.db.write_blocking(votes.reject, yard.actors.max, yard.steps()[-1].id)
    yard.react()
    assert yard.names() == ["d"]
    yard.ends("d")
    assert yard.stands(job.id) == "finished/normal"


def test_an_input_node_waits_for_a_person(yard: Yard) -> None:
    tasks = {
        "b": {"type": "dummy", "task_arguments": TWO},
        "c": {"task_arguments": TWO},
    }
    yard.run(yard.flow("a-b b-c", tasks=tasks))
    yard.ends("a", '["only one"]')
    (asked,) = [step for step in yard.steps() if step.lifecycle == "onhold"]
    assert yard.values("b") == []
    yard.db.write_blocking(actions.give_input, yard.actors.ada, asked.id, ["p", "q"])
    yard.react()
    assert yard.values("c") == ["p", "q"]


def test_an_input_node_proposes_what_fits(yard: Yard) -> None:
    yard.run(yard.flow("a-b", tasks={"b": {"type": "dummy", "task_arguments": TWO}}))
    yard.ends("a", '["p", "q"]')
    assert yard.names("onhold") == ["b"]
    assert yard.values("b") == ["p", "q"]


def test_a_start_that_is_done_at_once_goes_on(yard: Yard) -> None:
    """A dummy that a person starts with its arguments is over before anybody looks."""
    tasks = {"a": {"type": "dummy", "task_arguments": TWO}, "b": {"task_arguments": TWO}}
    yard.run(yard.flow("a-b", tasks=tasks), ["p", "q"])
    yard.react()
    assert yard.values("b") == ["p", "q"]


def test_a_step_that_cannot_start_ends_in_error_and_says_why(yard: Yard) -> None:
    job = yard.run(yard.flow("a-b b-c:failure", tasks={"b": {"task_arguments": TWO}}))
    yard.ends("a", '["only one"]')
    (dead,) = [step for step in yard.steps() if step.name == "b"]
    assert (dead.lifecycle, dead.state, dead.trigger_name) == ("finished", "error", "failure")
    assert "Argument 2 (y) is missing" in (dead.reason or "")
    yard.ends("c")
    assert yard.stands(job.id) == "finished/normal"
    sound(yard)


def test_a_notification_is_over_at_once_and_hands_on(yard: Yard) -> None:
    tasks = {"b": {"type": "notification", "subject": "x"}, "c": {"task_arguments": TWO}}
    yard.run(yard.flow("a-b b-c", tasks=tasks))
    yard.ends("a", '["p", "q"]')
    assert yard.values("c") == ["p", "q"]


def test_it_goes_on_along_the_graph_that_it_began_with(yard: Yard) -> None:
    flow = yard.flow("a-b")
    job = yard.run(flow)
    graph = decode(flow.spec).graph
    body = WorkflowBody(graph=Graph(nodes=graph.nodes[:1]))
    yard.db.write_blocking(workflows.change, yard.actors.ada, flow.id, body, replaces=False)
    yard.ends("a")
    assert yard.names() == ["b"]
    yard.ends("b")
    assert yard.stands(job.id) == "finished/normal"
    again = yard.run(flow)
    yard.ends("a")
    assert yard.stands(again.id) == "finished/normal"
