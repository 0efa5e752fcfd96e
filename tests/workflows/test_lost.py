"""At a lost job a workflow waits: for the truth, for a person, at most so long."""

from belvedere.base.clock import DAY
from belvedere.jobs.lifecycle import actions
from belvedere.jobs.queries import details
from belvedere.workflows.execution import advance
from workflows.workflow_steps import Yard


def lose(yard: Yard) -> int:
    yard.claim()
    step = yard.steps()[-1]
    yard.end(step.fence, "unknown", reason="keeper_lost")
    yard.react()
    return step.fence


def test_it_works(yard: Yard) -> None:
    job = yard.run(yard.flow("a-b a-c:always"))
    fence = lose(yard)
    assert yard.stands(job.id) == "started/in_progress"
    found = yard.db.write_blocking(details.show, yard.actors.ada, job.id)
    assert found.waiting_reason == "lost"
    yard.end(fence, "exit")
    yard.react()
    assert yard.names() == ["b", "c"]


def test_a_person_says_how_it_ended(yard: Yard) -> None:
    job = yard.run(yard.flow("a-b:failure"))
    lose(yard)
    yard.db.write_blocking(actions.resolve, yard.actors.ada, yard.steps()[0].id, "failure", "seen")
    yard.react()
    assert yard.names() == ["b"]
    yard.ends("b")
    assert yard.stands(job.id) == "finished/normal"


def test_it_gives_up_after_the_workflows_own_time(yard: Yard) -> None:
    job = yard.run(yard.flow("a-b", expires=DAY))
    yard.clock.move(3_600)
    fence = lose(yard)
    yard.clock.move(86_399)
    assert not yard.db.write_blocking(advance.has_overdue)
    yard.clock.move(1)
    assert yard.db.write_blocking(advance.has_overdue)
    assert yard.db.write_blocking(advance.abandon_lost) == 1
    assert yard.stands(job.id) == "finished/failure"
    # The truth still reaches the job itself, and nothing else.
    yard.end(fence, "exit")
    yard.react()
    assert yard.stands(yard.steps()[0].id) == "finished/normal"
    assert len(yard.steps()) == 1
    assert yard.db.write_blocking(advance.abandon_lost) == 0


def test_another_branch_goes_on_meanwhile(yard: Yard) -> None:
    job = yard.run(yard.flow("a-b a-c c-d", expires=DAY))
    yard.ends("a")
    yard.claim()
    (b,) = [step for step in yard.steps() if step.name == "b"]
    yard.end(b.fence, "unknown", reason="keeper_lost")
    yard.react()
    yard.ends("c")
    yard.clock.move(86_400)
    yard.db.write_blocking(advance.abandon_lost)
    assert yard.stands(job.id) == "started/in_progress"
    yard.ends("d")
    assert yard.stands(job.id) == "finished/failure"


def test_a_long_workflow_without_a_lost_job_is_left_alone(yard: Yard) -> None:
    job = yard.run(yard.flow("a-b", expires=1_000))
    yard.clock.move(3_600)
    assert not yard.db.write_blocking(advance.has_overdue)
    yard.ends("a")
    yard.ends("b")
    assert yard.stands(job.id) == "finished/normal"
