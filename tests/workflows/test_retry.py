"""A node retries its task, as a new job with the same values."""

from belvedere.jobs.lifecycle import actions
from workflows.workflow_steps import WorkflowSteps

ONE = [{"type": "input", "label": "x"}]
TWICE = {"b": {"times": 2, "delay": 1_000, "backoff": 3.0}}


def test_a_failed_step_is_tried_again(steps: WorkflowSteps) -> None:
    job = steps.run(steps.flow("a-b b-c", retry=TWICE, tasks={"b": {"task_arguments": ONE}}))
    steps.ends("a", '["v"]')
    first = steps.ends("b", code=1)
    second = steps.steps()[-1]
    assert (second.name, second.lifecycle, second.restarted_from) == ("b", "ready", first.id)
    assert second.not_before_at == steps.clock() + 1_000
    assert steps.claim() == []
    steps.clock.move(1)
    steps.ends("b", code=1)
    assert steps.steps()[-1].not_before_at == steps.clock() + 3_000
    steps.clock.move(3)
    assert steps.values("b") == ["v"]
    steps.ends("b")
    assert steps.names() == ["c"]
    steps.ends("c")
    assert steps.status(job.id) == "finished/normal"


def test_the_last_end_counts(steps: WorkflowSteps) -> None:
    job = steps.run(steps.flow("a", retry={"a": {"times": 1}}))
    steps.ends("a", code=1)
    steps.ends("a", code=1)
    assert steps.status(job.id) == "finished/failure"
    assert len(steps.steps()) == 2


def test_a_cancel_is_not_tried_again(steps: WorkflowSteps) -> None:
    job = steps.run(steps.flow("a", retry={"a": {"times": 1}}))
    steps.db.write_blocking(actions.cancel, steps.actors.ada, steps.steps()[0].id)
    steps.react()
    assert steps.status(job.id) == "finished/failure"


def test_a_lost_job_only_where_the_node_says_so(steps: WorkflowSteps) -> None:
    for on_lost, jobs in ((False, 1), (True, 2)):
        job = steps.run(steps.flow("a", retry={"a": {"times": 1, "on_lost": on_lost}}))
        steps.claim()
        (step,) = [item for item in steps.steps() if item.workflow_job_id == job.id]
        steps.end(step.fence, "unknown", reason="keeper_lost")
        steps.react()
        own_jobs = [item for item in steps.steps() if item.workflow_job_id == job.id]
        assert len(own_jobs) == jobs
