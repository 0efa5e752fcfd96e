"""A workflow waits for the outcome of a lost job: its report, a person, or the time limit."""

from belvedere.base.clock import DAY
from belvedere.jobs.lifecycle import actions
from belvedere.jobs.queries import details
from belvedere.workflows.execution import advance
from workflows.workflow_steps import WorkflowSteps


def lose(steps: WorkflowSteps) -> int:
    steps.claim()
    step = steps.steps()[-1]
    steps.end(step.fence, "unknown", reason="keeper_lost")
    steps.react()
    return step.fence


def test_a_lost_step_waits_for_its_outcome(steps: WorkflowSteps) -> None:
    job = steps.run(steps.flow("a-b a-c:always"))
    fence = lose(steps)
    assert steps.status(job.id) == "started/in_progress"
    stored_job = steps.db.write_blocking(details.show, steps.actors.ada, job.id)
    assert stored_job.waiting_reason == "lost"
    steps.end(fence, "exit")
    steps.react()
    assert steps.names() == ["b", "c"]


def test_a_person_sets_the_outcome(steps: WorkflowSteps) -> None:
    job = steps.run(steps.flow("a-b:failure"))
    lose(steps)
    steps.db.write_blocking(
        actions.resolve, steps.actors.ada, steps.steps()[0].id, "failure", "seen"
    )
    steps.react()
    assert steps.names() == ["b"]
    steps.ends("b")
    assert steps.status(job.id) == "finished/normal"


def test_a_lost_step_fails_after_the_timeout_of_the_workflow(steps: WorkflowSteps) -> None:
    job = steps.run(steps.flow("a-b", expires=DAY))
    steps.clock.move(3_600)
    fence = lose(steps)
    steps.clock.move(86_399)
    assert not steps.db.write_blocking(advance.has_overdue)
    steps.clock.move(1)
    assert steps.db.write_blocking(advance.has_overdue)
    assert steps.db.write_blocking(advance.abandon_lost) == 1
    assert steps.status(job.id) == "finished/failure"
    # The result still reaches the job itself, and nothing else.
    steps.end(fence, "exit")
    steps.react()
    assert steps.status(steps.steps()[0].id) == "finished/normal"
    assert len(steps.steps()) == 1
    assert steps.db.write_blocking(advance.abandon_lost) == 0


def test_another_branch_continues_in_the_meantime(steps: WorkflowSteps) -> None:
    job = steps.run(steps.flow("a-b a-c c-d", expires=DAY))
    steps.ends("a")
    steps.claim()
    (b,) = [step for step in steps.steps() if step.name == "b"]
    steps.end(b.fence, "unknown", reason="keeper_lost")
    steps.react()
    steps.ends("c")
    steps.clock.move(86_400)
    steps.db.write_blocking(advance.abandon_lost)
    assert steps.status(job.id) == "started/in_progress"
    steps.ends("d")
    assert steps.status(job.id) == "finished/failure"


def test_a_long_workflow_without_a_lost_job_is_left_alone(steps: WorkflowSteps) -> None:
    job = steps.run(steps.flow("a-b", expires=1_000))
    steps.clock.move(3_600)
    assert not steps.db.write_blocking(advance.has_overdue)
    steps.ends("a")
    steps.ends("b")
    assert steps.status(job.id) == "finished/normal"
