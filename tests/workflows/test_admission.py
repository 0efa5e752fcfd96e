"""Where a workflow does not allow several jobs at once, the others wait for their turn."""

from belvedere.base.errors import Conflict
from belvedere.jobs.lifecycle import actions, timeouts
from belvedere.jobs.queries import details
from belvedere.workflows import service as workflows
from belvedere.workflows.bodies import WorkflowBody
from workflows.workflow_steps import Yard

ONE = {"a": {"task_arguments": [{"type": "input", "label": "x"}]}}


def test_it_works(yard: Yard) -> None:
    flow = yard.flow("a", multitasking=False, tasks=ONE)
    first, second, third = (yard.run(flow, [value]) for value in ("1", "2", "3"))
    assert [yard.job(job.id).lifecycle for job in (first, second, third)] == [
        "ready",
        "onhold",
        "onhold",
    ]
    shown = yard.db.write_blocking(details.show, yard.actors.ada, second.id)
    assert shown.waiting_reason == "concurrency_limit"
    yard.ends("a")
    assert yard.stands(first.id) == "finished/normal"
    assert yard.stands(second.id) == "ready/in_progress"
    assert yard.values("a") == ["2"]
    yard.ends("a")
    yard.ends("a")
    assert yard.stands(third.id) == "finished/normal"
    assert yard.kinds(third.id) == ["created", "ready", "started", "finished"]


def test_a_canceled_one_loses_its_turn(yard: Yard) -> None:
    flow = yard.flow("a", multitasking=False)
    first, second, third = (yard.run(flow) for _ in range(3))
    yard.cancel(second)
    assert yard.stands(second.id) == "canceled/canceled"
    yard.cancel(first)
    assert yard.stands(third.id) == "ready/in_progress"


def test_one_that_waited_too_long_expires(yard: Yard) -> None:
    flow = yard.flow("a", multitasking=False, expires=1_000)
    first, second = yard.run(flow), yard.run(flow)
    yard.clock.move(1)
    assert yard.db.write_blocking(timeouts.any_expired)
    assert yard.db.write_blocking(timeouts.expire) == 1
    assert yard.stands(second.id) == "expired/canceled"
    assert yard.stands(first.id) == "ready/in_progress"
    assert not yard.db.write_blocking(timeouts.any_expired)


def test_allowing_several_lets_them_all_begin(yard: Yard) -> None:
    flow = yard.flow("a", multitasking=False)
    held = [yard.run(flow) for _ in range(3)][1:]
    body = WorkflowBody(multitasking=True)
    yard.db.write_blocking(workflows.change, yard.actors.ada, flow.id, body, replaces=False)
    assert [yard.job(job.id).lifecycle for job in held] == ["ready", "ready"]


def test_deleting_the_workflow_ends_those_that_wait(yard: Yard) -> None:
    flow = yard.flow("a", multitasking=False)
    first, second = yard.run(flow), yard.run(flow)
    yard.db.write_blocking(workflows.delete, yard.actors.ada, flow.id)
    assert yard.stands(second.id) == "expired/canceled"
    yard.ends("a")
    assert yard.stands(first.id) == "finished/normal"


def test_a_step_cannot_be_restarted_into_another_turn(yard: Yard) -> None:
    flow = yard.flow("a", multitasking=False)
    first = yard.run(flow)
    yard.ends("a", code=1)
    yard.run(flow)
    try:
        yard.restart(first)
    except Conflict as refused:
        assert refused.code == "workflow_busy"
    else:
        raise AssertionError("two jobs at once")


def test_a_waiting_one_is_canceled_like_any_job(yard: Yard) -> None:
    flow = yard.flow("a", multitasking=False)
    yard.run(flow)
    second = yard.run(flow)
    yard.db.write_blocking(actions.cancel, yard.actors.ada, second.id)
    assert yard.stands(second.id) == "canceled/canceled"
