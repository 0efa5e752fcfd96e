"""Old jobs of workflows are deleted with their steps; unfinished ones stay."""

from belvedere import events
from belvedere.jobs.history import limits, retention
from workflows.workflow_steps import WorkflowSteps


def purge(steps: WorkflowSteps) -> None:
    while steps.db.write_blocking(retention.purge, {}):
        pass


def count(steps: WorkflowSteps, table: str) -> int:
    number: int = steps.db.write_blocking(lambda tx: tx.value(f"select count(*) from {table}"))
    return number


def test_a_workflow_is_purged_with_its_steps(steps: WorkflowSteps) -> None:
    steps.run(steps.flow("a-b"))
    steps.ends("a")
    steps.ends("b")
    steps.clock.move(91 * 86_400)
    purge(steps)
    for table in ("jobs", "workflow_jobs", "workflow_steps"):
        assert count(steps, table) == 0


def test_a_step_of_a_running_workflow_stays_however_old(steps: WorkflowSteps) -> None:
    tasks = {"a": {"history": {"count": 0, "days": 0}}, "b": {"expires": 365 * 86_400_000}}
    job = steps.run(steps.flow("a-b", tasks=tasks))
    steps.ends("a", '["x"]')
    steps.clock.move(100 * 86_400)
    steps.db.write_blocking(limits.start_over)
    purge(steps)
    assert [step.name for step in steps.steps()] == ["a", "b"]
    steps.connect()
    steps.ends("b")
    assert steps.status(job.id) == "finished/normal"
    steps.db.write_blocking(limits.start_over)
    purge(steps)
    # The task keeps nothing; the workflow job is kept by the workflow's own rule.
    assert [step.name for step in steps.steps()] == ["b"]


def test_steps_stay_until_the_output_of_their_workflow_was_passed_on(
    steps: WorkflowSteps,
) -> None:
    job = steps.run(steps.flow("a-b"))
    steps.ends("a")
    steps.ends("b")
    steps.clock.move(91 * 86_400)
    data = {"source": "workflow", "event_name": "success", "job_id": job.id}
    customer_id = steps.actors.acme.id
    steps.db.write_blocking(events.append, customer_id, "trigger.fired", job.id, data)
    while steps.db.write_blocking(retention.purge, {"triggers": frozenset({"trigger.fired"})}):
        pass
    assert (count(steps, "jobs"), count(steps, "workflow_steps")) == (3, 2)
    steps.db.write_blocking(limits.start_over)
    purge(steps)
    assert count(steps, "jobs") == 0
