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
from workflows.workflow_steps import Yard

ONE = {"task_arguments": [{"type": "input", "label": "x"}]}


def inner_of(yard: Yard, job: JobRow) -> list[JobRow]:
    """The jobs of workflows that ran in this one, oldest first."""
    return [
        step for step in yard.steps() if step.workflow_job_id == job.id and step.task_id is None
    ]


def nested(yard: Yard, **more: Any) -> tuple[WorkflowRow, WorkflowRow]:
    """a, then a workflow of p and q, then c; d where that workflow fails."""
    inner = yard.flow("p-q", name="inner", tasks={"p": ONE})
    return inner, yard.flow("a-b b-c b-d:failure", flows={"b": inner}, tasks={"c": ONE}, **more)


def change(yard: Yard, flow: WorkflowRow, **body: Any) -> None:
    yard.db.write_blocking(
        workflows.change, yard.actors.ada, flow.id, WorkflowBody(**body), replaces=False
    )


def test_it_works(yard: Yard) -> None:
    """Values go in and come out, and each knows of the other."""
    inner, outer = nested(yard)
    job = yard.run(outer)
    yard.ends("a", '["in"]')
    (run,) = inner_of(yard, job)
    assert (run.type, run.workflow_id, run.name) == ("WorkflowJob", inner.id, "inner")
    assert (run.origin, run.user_id) == ("workflow", job.user_id)
    assert yard.values("p") == ["in"]
    yard.ends("p")
    assert yard.stands(run.id) == "started/in_progress"
    yard.ends("q", '["out"]')
    assert yard.stands(run.id) == "finished/normal"
    assert yard.names() == ["c"] and yard.values("c") == ["out"]
    yard.ends("c")
    assert yard.stands(job.id) == "finished/normal"
    (step,) = [item for item in yard.taken(job.id) if item.node_id == "b"]
    assert (step.job_id, step.trigger_name, step.is_good) == (run.id, "success", 1)
    assert yard.db.write_blocking(consistency.check, "", 100) == []


def test_its_failure_is_followed_like_that_of_a_task(yard: Yard) -> None:
    _, outer = nested(yard)
    job = yard.run(outer)
    yard.ends("a", '["in"]')
    yard.ends("p", code=1)
    assert yard.names() == ["d"]
    yard.ends("d")
    assert yard.stands(job.id) == "finished/normal"


def test_a_workflow_as_the_first_step_takes_the_arguments(yard: Yard) -> None:
    deep = yard.flow("p", tasks={"p": ONE})
    middle = yard.flow("b-c", flows={"b": deep})
    outer = yard.flow("a-d", flows={"a": middle})
    job = yard.run(outer, ["mine"])
    assert yard.values("p") == ["mine"]
    (step,) = [item for item in yard.steps() if item.name == "p"]
    assert step.origin == "user"
    yard.ends("p")
    assert yard.stands(job.id) == "started/in_progress"
    yard.ends("c")
    yard.ends("d")
    assert yard.stands(job.id) == "finished/normal"
    with pytest.raises(Invalid):
        yard.run(outer, [])
    assert yard.db.write_blocking(nesting.first_task, outer.customer_id, outer.id) == step.task_id


def test_a_cancel_reaches_what_runs_deep_inside(yard: Yard) -> None:
    deep = yard.flow("p-q:always")
    outer = yard.flow("a", flows={"a": yard.flow("b", flows={"b": deep})})
    job = yard.run(outer)
    (claimed,) = yard.claim()
    yard.cancel(job)
    yard.react()
    assert not yard.job(job.id).is_over
    assert yard.job(claimed.job.id).cancel_requested_at is not None
    yard.end(claimed.job.fence, "canceled")
    yard.react()
    runs = [job.id, *(run.id for run in yard.steps() if run.task_id is None)]
    assert [yard.stands(run) for run in runs] == ["terminated/canceled"] * 3
    assert len(yard.steps()) == 3


def test_a_cancel_of_the_inner_one_is_an_end_of_its_node(yard: Yard) -> None:
    inner = yard.flow("p")
    job = yard.run(yard.flow("a-b:canceled", flows={"a": inner}))
    (run,) = inner_of(yard, job)
    yard.cancel(run)
    yard.react()
    assert yard.names() == ["b"]


def test_a_restart_goes_on_with_the_workflow_that_failed(yard: Yard) -> None:
    _, outer = nested(yard)
    change(yard, outer, graph=without_d(outer))
    old = yard.run(outer)
    yard.ends("a", '["in"]')
    yard.ends("p")
    yard.ends("q", code=1)
    assert yard.stands(old.id) == "finished/failure"
    new = yard.restart(old)
    (before,), (again,) = inner_of(yard, old), inner_of(yard, new)
    assert again.restarted_from == before.id
    # What went well in there is not run again either.
    assert yard.names() == ["inner", "q"]
    yard.ends("q", '["out"]')
    yard.ends("c")
    assert yard.stands(new.id) == "finished/normal"
    assert [step.name for step in yard.steps() if step.task_id] == ["a", "p", "q", "q", "c"]


def without_d(flow: WorkflowRow) -> Graph:
    graph = decode(flow.spec).graph
    return Graph(
        [node for node in graph.nodes if node.id != "d"],
        [edge for edge in graph.edges if edge.target != "d"],
    )


def test_restarting_the_inner_one_alone_leaves_the_outer_one(yard: Yard) -> None:
    inner = yard.flow("p")
    job = yard.run(yard.flow("a", flows={"a": inner}))
    yard.ends("p", code=1)
    (run,) = inner_of(yard, job)
    again = yard.restart(run)
    assert again.workflow_job_id is None
    yard.ends("p")
    assert yard.stands(again.id) == "finished/normal"
    assert yard.stands(job.id) == "finished/failure"


def test_a_node_tries_its_workflow_again(yard: Yard) -> None:
    inner = yard.flow("p", tasks={"p": ONE})
    retry = {"b": {"times": 1, "delay": 1_000}}
    job = yard.run(yard.flow("a-b", flows={"b": inner}, retry=retry))
    yard.ends("a", '["v"]')
    yard.ends("p", code=1)
    assert yard.claim() == []
    yard.clock.move(1)
    assert yard.values("p") == ["v"]
    yard.ends("p")
    assert yard.stands(job.id) == "finished/normal"
    first, second = inner_of(yard, job)
    assert second.restarted_from == first.id


def test_it_waits_for_its_turn(yard: Yard) -> None:
    inner = yard.flow("p", multitasking=False)
    held = yard.run(inner)
    job = yard.run(yard.flow("a-b", flows={"b": inner}))
    yard.ends("a")
    (run,) = inner_of(yard, job)
    assert yard.stands(run.id) == "onhold/in_progress"
    shown = yard.db.write_blocking(details.show, yard.actors.ada, job.id)
    assert shown.waiting_reason == "concurrency_limit"
    yard.ends("p")
    assert yard.stands(held.id) == "finished/normal"
    yard.ends("p")
    assert yard.stands(job.id) == "finished/normal"


def test_who_may_not_run_it_alone_may_not_run_it_within(yard: Yard) -> None:
    inner = yard.flow("p")
    outer = yard.flow("a-b b-c:failure", flows={"b": inner})
    yard.db.write_blocking(replace_acl, yard.actors.ada, "workflow", outer.id, ["uma@acme.test"])
    job = yard.run(outer, actor=yard.actors.uma)
    yard.ends("a")
    (run,) = inner_of(yard, job)
    assert yard.stands(run.id) == "finished/error"
    assert "does not let the person who started this run it" in (yard.job(run.id).reason or "")
    assert yard.names() == ["c"]
    yard.db.write_blocking(replace_acl, yard.actors.ada, "workflow", inner.id, ["uma@acme.test"])
    job = yard.run(outer, actor=yard.actors.uma)
    yard.cancel(job)
    other = yard.flow("a", flows={"a": yard.flow("p")})
    yard.db.write_blocking(replace_acl, yard.actors.ada, "workflow", other.id, ["uma@acme.test"])
    with pytest.raises(Forbidden) as refused:
        yard.run(other, actor=yard.actors.uma)
    assert refused.value.code == "may_not_run"


def test_cancelling_the_outer_workflow_cancels_the_inner_one(yard: Yard) -> None:
    inner = yard.flow("p")
    outer = yard.flow("a", flows={"a": inner})
    yard.db.write_blocking(replace_acl, yard.actors.ada, "workflow", outer.id, ["uma@acme.test"])
    job = yard.run(outer)
    (run,) = inner_of(yard, job)
    yard.cancel(job, yard.actors.uma)
    yard.react()
    assert yard.stands(run.id) == yard.stands(job.id) == "terminated/canceled"


def test_what_changed_since_then_ends_in_error(yard: Yard) -> None:
    inner, outer = nested(yard)
    job = yard.run(outer)
    change(yard, inner, enable=False)
    yard.ends("a", '["in"]')
    (run,) = inner_of(yard, job)
    assert yard.stands(run.id) == "finished/error"
    assert "disabled" in (yard.job(run.id).reason or "")


def test_circles_of_workflows_are_refused(yard: Yard) -> None:
    inner, outer = nested(yard)
    above = yard.flow("a", flows={"a": outer})
    for flow in (inner, outer, above):
        with pytest.raises(Invalid) as refused:
            change(yard, inner, graph=Graph([Node("x", workflow_id=flow.id)]))
        (fault,) = refused.value.faults
        assert fault.field == "graph.nodes[0].workflow_id"
        assert "run itself" in fault.message


def test_they_nest_only_so_deep(yard: Yard) -> None:
    bottom = flow = yard.flow("z")
    for _ in range(nesting.MAX_DEPTH - 1):
        flow = yard.flow("a", flows={"a": flow})
    with pytest.raises(Invalid) as refused:
        yard.flow("a", flows={"a": flow})
    assert "deep" in refused.value.faults[0].message
    job = yard.run(flow)
    assert "z" in yard.names()
    yard.ends("z")
    assert yard.stands(job.id) == "finished/normal"
    # One that grows deeper later stops there.
    deeper = yard.flow("x-y", flows={"y": yard.flow("w")})
    change(yard, bottom, graph=decode(deeper.spec).graph)
    job = yard.run(flow)
    yard.ends("x")
    assert yard.stands(job.id) == "finished/failure"
    assert "deep" in (yard.steps()[-1].reason or "")


def test_one_that_another_runs_cannot_be_deleted(yard: Yard) -> None:
    inner, outer = nested(yard)
    with pytest.raises(Conflict) as refused:
        yard.db.write_blocking(workflows.delete, yard.actors.ada, inner.id)
    assert refused.value.code == "workflow_in_use" and outer.id in refused.value.message
    yard.db.write_blocking(workflows.delete, yard.actors.ada, outer.id)
    yard.db.write_blocking(workflows.delete, yard.actors.ada, inner.id)
    with pytest.raises(Invalid) as missing:
        yard.flow("a", flows={"a": inner})
    assert "no such workflow" in missing.value.faults[0].message.lower()


def test_a_lost_job_inside_is_waited_for_outside(yard: Yard) -> None:
    inner = yard.flow("p")
    job = yard.run(yard.flow("a-b", flows={"a": inner}))
    yard.claim()
    (step,) = [item for item in yard.steps() if item.name == "p"]
    yard.end(step.fence, "unknown", reason="keeper_lost")
    yard.react()
    shown = yard.db.write_blocking(details.show, yard.actors.ada, job.id)
    assert (shown.waiting_reason, yard.stands(job.id)) == ("lost", "started/in_progress")
    yard.db.write_blocking(actions.resolve, yard.actors.ada, step.id, "success", "seen")
    yard.react()
    assert yard.names() == ["b"]


def test_it_waits_only_where_nothing_inside_runs(yard: Yard) -> None:
    ask = {"type": "approval", "approvers": ["max@acme.test"]}
    inner = {"b": yard.flow("p"), "c": yard.flow("q", tasks={"q": ask})}
    job = yard.run(yard.flow("a-b a-c", flows=inner))
    yard.ends("a")
    assert yard.claim()
    yard.react()
    assert yard.db.write_blocking(details.show, yard.actors.ada, job.id).waiting_reason is None
    yard.ends("p")
    shown = yard.db.write_blocking(details.show, yard.actors.ada, job.id)
    (asked,) = [step.id for step in yard.steps() if step.name == "q"]
    assert shown.waiting_reason == "approval"
    assert (shown.waiting_detail or {})["job_id"] == asked


def test_steps_name_the_job_of_the_inner_one(yard: Yard) -> None:
    inner, outer = nested(yard)
    job = yard.run(outer)
    yard.ends("a", '["in"]')
    found = yard.db.write_blocking(control.list_steps, yard.actors.ada, outer.id, job.id)
    assert [step.node_id for step in found] == ["a", "b"]
    (run,) = inner_of(yard, job)
    assert found[1].job_id == run.id
    assert (
        yard.db.write_blocking(control.require_workflow_job, yard.actors.ada, inner.id, run.id).id
        == run.id
    )
