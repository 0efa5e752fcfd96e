"""A node that runs another workflow: its job is a step like any other."""

from typing import Any

import pytest

from belvedere.access import replace_acl
from belvedere.base.errors import Conflict, Forbidden, Invalid
from belvedere.jobs.history import consistency
from belvedere.jobs.lifecycle import actions
from belvedere.jobs.model import JobRow
from belvedere.jobs.queries import details
from belvedere.workflow_specs import nesting
from belvedere.workflow_specs.model import Graph, Node, WorkflowRow, decode
from belvedere.workflows import control
from belvedere.workflows import service as workflows
from belvedere.workflows.bodies import WorkflowBody
from workflows.workflow_steps import WorkflowSteps

ONE = {"task_arguments": [{"type": "input", "label": "x"}]}


def inner_of(steps: WorkflowSteps, job: JobRow) -> list[JobRow]:
    """The jobs of workflows that ran in this one, oldest first."""
    return [
        step for step in steps.steps() if step.workflow_job_id == job.id and step.task_id is None
    ]


def create_nested(steps: WorkflowSteps, **more: Any) -> tuple[WorkflowRow, WorkflowRow]:
    """a, then a workflow of p and q, then c; d where that workflow fails."""
    inner = steps.flow("p-q", name="inner", tasks={"p": ONE})
    return inner, steps.flow("a-b b-c b-d:failure", flows={"b": inner}, tasks={"c": ONE}, **more)


def change(steps: WorkflowSteps, flow: WorkflowRow, **body: Any) -> None:
    steps.db.write_blocking(
        workflows.change, steps.actors.ada, flow.id, WorkflowBody(**body), replaces=False
    )


def test_a_nested_workflow_gets_and_returns_values(steps: WorkflowSteps) -> None:
    """Arguments are passed in and outputs are passed on, and each job names the other."""
    inner, outer = create_nested(steps)
    job = steps.run(outer)
    steps.ends("a", '["in"]')
    (run,) = inner_of(steps, job)
    assert (run.type, run.workflow_id, run.name) == ("WorkflowJob", inner.id, "inner")
    assert (run.origin, run.user_id) == ("workflow", job.user_id)
    assert steps.values("p") == ["in"]
    steps.ends("p")
    assert steps.status(run.id) == "started/in_progress"
    steps.ends("q", '["out"]')
    assert steps.status(run.id) == "finished/normal"
    assert steps.names() == ["c"] and steps.values("c") == ["out"]
    steps.ends("c")
    assert steps.status(job.id) == "finished/normal"
    (step,) = [item for item in steps.list_steps(job.id) if item.node_id == "b"]
    assert (step.job_id, step.trigger_name, step.is_good) == (run.id, "success", 1)
    assert steps.db.write_blocking(consistency.check, "", 100) == []


def test_a_failed_nested_workflow_follows_the_failure_edge(steps: WorkflowSteps) -> None:
    _, outer = create_nested(steps)
    job = steps.run(outer)
    steps.ends("a", '["in"]')
    steps.ends("p", code=1)
    assert steps.names() == ["d"]
    steps.ends("d")
    assert steps.status(job.id) == "finished/normal"


def test_a_workflow_as_the_first_step_takes_the_arguments(steps: WorkflowSteps) -> None:
    deep = steps.flow("p", tasks={"p": ONE})
    middle = steps.flow("b-c", flows={"b": deep})
    outer = steps.flow("a-d", flows={"a": middle})
    job = steps.run(outer, ["mine"])
    assert steps.values("p") == ["mine"]
    (step,) = [item for item in steps.steps() if item.name == "p"]
    assert step.origin == "user"
    steps.ends("p")
    assert steps.status(job.id) == "started/in_progress"
    steps.ends("c")
    steps.ends("d")
    assert steps.status(job.id) == "finished/normal"
    with pytest.raises(Invalid):
        steps.run(outer, [])
    assert steps.db.write_blocking(nesting.first_task, outer.customer_id, outer.id) == step.task_id


def test_canceling_stops_scripts_of_deeply_nested_workflows(steps: WorkflowSteps) -> None:
    deep = steps.flow("p-q:always")
    outer = steps.flow("a", flows={"a": steps.flow("b", flows={"b": deep})})
    job = steps.run(outer)
    (claimed,) = steps.claim()
    steps.cancel(job)
    steps.react()
    assert not steps.job(job.id).is_over
    assert steps.job(claimed.job.id).cancel_requested_at is not None
    steps.end(claimed.job.fence, "canceled")
    steps.react()
    runs = [job.id, *(run.id for run in steps.steps() if run.task_id is None)]
    assert [steps.status(run) for run in runs] == ["terminated/canceled"] * 3
    assert len(steps.steps()) == 3


def test_canceling_the_inner_workflow_ends_its_node(steps: WorkflowSteps) -> None:
    inner = steps.flow("p")
    job = steps.run(steps.flow("a-b:canceled", flows={"a": inner}))
    (run,) = inner_of(steps, job)
    steps.cancel(run)
    steps.react()
    assert steps.names() == ["b"]


def test_a_restart_continues_with_the_workflow_that_failed(steps: WorkflowSteps) -> None:
    _, outer = create_nested(steps)
    change(steps, outer, graph=without_d(outer))
    old = steps.run(outer)
    steps.ends("a", '["in"]')
    steps.ends("p")
    steps.ends("q", code=1)
    assert steps.status(old.id) == "finished/failure"
    new = steps.restart(old)
    (before,), (again,) = inner_of(steps, old), inner_of(steps, new)
    assert again.restarted_from == before.id
    # Successful steps inside are not run again either.
    assert steps.names() == ["inner", "q"]
    steps.ends("q", '["out"]')
    steps.ends("c")
    assert steps.status(new.id) == "finished/normal"
    assert [step.name for step in steps.steps() if step.task_id] == ["a", "p", "q", "q", "c"]


def without_d(flow: WorkflowRow) -> Graph:
    graph = decode(flow.spec).graph
    return Graph(
        [node for node in graph.nodes if node.id != "d"],
        [edge for edge in graph.edges if edge.target != "d"],
    )


def test_restarting_the_inner_workflow_leaves_the_outer_one(steps: WorkflowSteps) -> None:
    inner = steps.flow("p")
    job = steps.run(steps.flow("a", flows={"a": inner}))
    steps.ends("p", code=1)
    (run,) = inner_of(steps, job)
    again = steps.restart(run)
    assert again.workflow_job_id is None
    steps.ends("p")
    assert steps.status(again.id) == "finished/normal"
    assert steps.status(job.id) == "finished/failure"


def test_a_node_tries_its_workflow_again(steps: WorkflowSteps) -> None:
    inner = steps.flow("p", tasks={"p": ONE})
    retry = {"b": {"times": 1, "delay": 1_000}}
    job = steps.run(steps.flow("a-b", flows={"b": inner}, retry=retry))
    steps.ends("a", '["v"]')
    steps.ends("p", code=1)
    assert steps.claim() == []
    steps.clock.move(1)
    assert steps.values("p") == ["v"]
    steps.ends("p")
    assert steps.status(job.id) == "finished/normal"
    first, second = inner_of(steps, job)
    assert second.restarted_from == first.id


def test_a_nested_workflow_waits_for_its_turn(steps: WorkflowSteps) -> None:
    inner = steps.flow("p", multitasking=False)
    stored_job = steps.run(inner)
    job = steps.run(steps.flow("a-b", flows={"b": inner}))
    steps.ends("a")
    (run,) = inner_of(steps, job)
    assert steps.status(run.id) == "onhold/in_progress"
    job_record = steps.db.write_blocking(details.show, steps.actors.ada, job.id)
    assert job_record.waiting_reason == "concurrency_limit"
    steps.ends("p")
    assert steps.status(stored_job.id) == "finished/normal"
    steps.ends("p")
    assert steps.status(job.id) == "finished/normal"


def test_running_inside_a_workflow_needs_the_same_permission(steps: WorkflowSteps) -> None:
    inner = steps.flow("p")
    outer = steps.flow("a-b b-c:failure", flows={"b": inner})
    steps.db.write_blocking(replace_acl, steps.actors.ada, "workflow", outer.id, ["uma@acme.test"])
    job = steps.run(outer, actor=steps.actors.uma)
    steps.ends("a")
    (run,) = inner_of(steps, job)
    assert steps.status(run.id) == "finished/error"
    assert "does not let the person who started this run it" in (steps.job(run.id).reason or "")
    assert steps.names() == ["c"]
    steps.db.write_blocking(replace_acl, steps.actors.ada, "workflow", inner.id, ["uma@acme.test"])
    job = steps.run(outer, actor=steps.actors.uma)
    steps.cancel(job)
    other = steps.flow("a", flows={"a": steps.flow("p")})
    steps.db.write_blocking(replace_acl, steps.actors.ada, "workflow", other.id, ["uma@acme.test"])
    with pytest.raises(Forbidden) as refused:
        steps.run(other, actor=steps.actors.uma)
    assert refused.value.code == "may_not_run"


def test_cancelling_the_outer_workflow_cancels_the_inner_one(steps: WorkflowSteps) -> None:
    inner = steps.flow("p")
    outer = steps.flow("a", flows={"a": inner})
    steps.db.write_blocking(replace_acl, steps.actors.ada, "workflow", outer.id, ["uma@acme.test"])
    job = steps.run(outer)
    (run,) = inner_of(steps, job)
    steps.cancel(job, steps.actors.uma)
    steps.react()
    assert steps.status(run.id) == steps.status(job.id) == "terminated/canceled"


def test_a_nested_workflow_disabled_meanwhile_ends_in_error(steps: WorkflowSteps) -> None:
    inner, outer = create_nested(steps)
    job = steps.run(outer)
    change(steps, inner, enable=False)
    steps.ends("a", '["in"]')
    (run,) = inner_of(steps, job)
    assert steps.status(run.id) == "finished/error"
    assert "disabled" in (steps.job(run.id).reason or "")


def test_cycles_of_workflows_are_refused(steps: WorkflowSteps) -> None:
    inner, outer = create_nested(steps)
    above = steps.flow("a", flows={"a": outer})
    for flow in (inner, outer, above):
        with pytest.raises(Invalid) as refused:
            change(steps, inner, graph=Graph([Node("x", workflow_id=flow.id)]))
        (fault,) = refused.value.faults
        assert fault.field == "graph.nodes[0].workflow_id"
        assert "run itself" in fault.message


def test_the_depth_of_nesting_is_limited(steps: WorkflowSteps) -> None:
    bottom = flow = steps.flow("z")
    for _ in range(nesting.MAX_DEPTH - 1):
        flow = steps.flow("a", flows={"a": flow})
    with pytest.raises(Invalid) as refused:
        steps.flow("a", flows={"a": flow})
    assert "deep" in refused.value.faults[0].message
    job = steps.run(flow)
    assert "z" in steps.names()
    steps.ends("z")
    assert steps.status(job.id) == "finished/normal"
    # If one becomes deeper later, it stops there.
    deeper = steps.flow("x-y", flows={"y": steps.flow("w")})
    change(steps, bottom, graph=decode(deeper.spec).graph)
    job = steps.run(flow)
    steps.ends("x")
    assert steps.status(job.id) == "finished/failure"
    assert "deep" in (steps.steps()[-1].reason or "")


def test_a_workflow_that_another_runs_cannot_be_deleted(steps: WorkflowSteps) -> None:
    inner, outer = create_nested(steps)
    with pytest.raises(Conflict) as refused:
        steps.db.write_blocking(workflows.delete, steps.actors.ada, inner.id)
    assert refused.value.code == "workflow_in_use" and outer.id in refused.value.message
    steps.db.write_blocking(workflows.delete, steps.actors.ada, outer.id)
    steps.db.write_blocking(workflows.delete, steps.actors.ada, inner.id)
    with pytest.raises(Invalid) as missing:
        steps.flow("a", flows={"a": inner})
    assert "no such workflow" in missing.value.faults[0].message.lower()


def test_a_lost_job_inside_is_waited_for_outside(steps: WorkflowSteps) -> None:
    inner = steps.flow("p")
    job = steps.run(steps.flow("a-b", flows={"a": inner}))
    steps.claim()
    (step,) = [item for item in steps.steps() if item.name == "p"]
    steps.end(step.fence, "unknown", reason="keeper_lost")
    steps.react()
    stored_job = steps.db.write_blocking(details.show, steps.actors.ada, job.id)
    assert (stored_job.waiting_reason, steps.status(job.id)) == ("lost", "started/in_progress")
    steps.db.write_blocking(actions.resolve, steps.actors.ada, step.id, "success", "seen")
    steps.react()
    assert steps.names() == ["b"]


def test_a_workflow_waits_only_if_none_of_its_nested_jobs_run(steps: WorkflowSteps) -> None:
    fields = {"type": "approval", "approvers": ["max@acme.test"]}
    inner = {"b": steps.flow("p"), "c": steps.flow("q", tasks={"q": fields})}
    job = steps.run(steps.flow("a-b a-c", flows=inner))
    steps.ends("a")
    assert steps.claim()
    steps.react()
    assert steps.db.write_blocking(details.show, steps.actors.ada, job.id).waiting_reason is None
    steps.ends("p")
    stored_job = steps.db.write_blocking(details.show, steps.actors.ada, job.id)
    (text,) = [step.id for step in steps.steps() if step.name == "q"]
    assert stored_job.waiting_reason == "approval"
    assert (stored_job.waiting_detail or {})["job_id"] == text


def test_steps_name_the_job_of_the_inner_workflow(steps: WorkflowSteps) -> None:
    inner, outer = create_nested(steps)
    job = steps.run(outer)
    steps.ends("a", '["in"]')
    actual_steps = steps.db.write_blocking(control.list_steps, steps.actors.ada, outer.id, job.id)
    assert [step.node_id for step in actual_steps] == ["a", "b"]
    (run,) = inner_of(steps, job)
    assert actual_steps[1].job_id == run.id
    assert (
        steps.db.write_blocking(control.require_workflow_job, steps.actors.ada, inner.id, run.id).id
        == run.id
    )
