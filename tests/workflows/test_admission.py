"""Where a workflow does not allow several jobs at once, the others wait for their turn."""

from belvedere.base.errors import Conflict
from belvedere.jobs.lifecycle import actions, timeouts
from belvedere.jobs.queries import details
from belvedere.workflows import service as workflows
from belvedere.workflows.bodies import WorkflowBody
from workflows.workflow_steps import WorkflowSteps

ONE = {"a": {"task_arguments": [{"type": "input", "label": "x"}]}}


def test_one_job_of_a_workflow_runs_at_a_time(steps: WorkflowSteps) -> None:
    flow = steps.flow("a", multitasking=False, tasks=ONE)
    first, second, third = (steps.run(flow, [value]) for value in ("1", "2", "3"))
    assert [steps.job(job.id).lifecycle for job in (first, second, third)] == [
        "ready",
        "onhold",
        "onhold",
    ]
    stored_job = steps.db.write_blocking(details.show, steps.actors.ada, second.id)
    assert stored_job.waiting_reason == "concurrency_limit"
    steps.ends("a")
    assert steps.status(first.id) == "finished/normal"
    assert steps.status(second.id) == "ready/in_progress"
    assert steps.values("a") == ["2"]
    steps.ends("a")
    steps.ends("a")
    assert steps.status(third.id) == "finished/normal"
    assert steps.kinds(third.id) == ["created", "ready", "started", "finished"]


def test_a_canceled_workflow_loses_its_place_in_the_queue(steps: WorkflowSteps) -> None:
    flow = steps.flow("a", multitasking=False)
    first, second, third = (steps.run(flow) for _ in range(3))
    steps.cancel(second)
    assert steps.status(second.id) == "canceled/canceled"
    steps.cancel(first)
    assert steps.status(third.id) == "ready/in_progress"


def test_a_workflow_that_waited_too_long_expires(steps: WorkflowSteps) -> None:
    flow = steps.flow("a", multitasking=False, expires=1_000)
    first, second = steps.run(flow), steps.run(flow)
    steps.clock.move(1)
    assert steps.db.write_blocking(timeouts.any_expired)
    assert steps.db.write_blocking(timeouts.expire) == 1
    assert steps.status(second.id) == "expired/canceled"
    assert steps.status(first.id) == "ready/in_progress"
    assert not steps.db.write_blocking(timeouts.any_expired)


def test_a_higher_limit_lets_all_workflows_start(steps: WorkflowSteps) -> None:
    flow = steps.flow("a", multitasking=False)
    jobs = [steps.run(flow) for _ in range(3)][1:]
    body = WorkflowBody(multitasking=True)
    steps.db.write_blocking(workflows.change, steps.actors.ada, flow.id, body, replaces=False)
    assert [steps.job(job.id).lifecycle for job in jobs] == ["ready", "ready"]


def test_deleting_the_workflow_ends_those_that_wait(steps: WorkflowSteps) -> None:
    flow = steps.flow("a", multitasking=False)
    first, second = steps.run(flow), steps.run(flow)
    steps.db.write_blocking(workflows.delete, steps.actors.ada, flow.id)
    assert steps.status(second.id) == "expired/canceled"
    steps.ends("a")
    assert steps.status(first.id) == "finished/normal"


def test_a_step_cannot_be_restarted_into_another_turn(steps: WorkflowSteps) -> None:
    flow = steps.flow("a", multitasking=False)
    first = steps.run(flow)
    steps.ends("a", code=1)
    steps.run(flow)
    try:
        steps.restart(first)
    except Conflict as refused:
        assert refused.code == "workflow_busy"
    else:
        raise AssertionError("two jobs at once")


def test_a_waiting_workflow_is_canceled_like_any_job(steps: WorkflowSteps) -> None:
    flow = steps.flow("a", multitasking=False)
    steps.run(flow)
    second = steps.run(flow)
    steps.db.write_blocking(actions.cancel, steps.actors.ada, second.id)
    assert steps.status(second.id) == "canceled/canceled"
