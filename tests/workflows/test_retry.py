"""A node tries its task again, as a new job with the same values."""

from belvedere.jobs.lifecycle import actions
from workflows.workflow_steps import Yard

ONE = [{"type": "input", "label": "x"}]
TWICE = {"b": {"times": 2, "delay": 1_000, "backoff": 3.0}}


def test_it_works(yard: Yard) -> None:
    job = yard.run(yard.flow("a-b b-c", retry=TWICE, tasks={"b": {"task_arguments": ONE}}))
    yard.ends("a", '["v"]')
    first = yard.ends("b", code=1)
    second = yard.steps()[-1]
    assert (second.name, second.lifecycle, second.restarted_from) == ("b", "ready", first.id)
    assert second.not_before_at == yard.clock() + 1_000
    assert yard.claim() == []
    yard.clock.move(1)
    yard.ends("b", code=1)
    assert yard.steps()[-1].not_before_at == yard.clock() + 3_000
    yard.clock.move(3)
    assert yard.values("b") == ["v"]
    yard.ends("b")
    assert yard.names() == ["c"]
    yard.ends("c")
    assert yard.stands(job.id) == "finished/normal"


def test_the_last_end_counts(yard: Yard) -> None:
    job = yard.run(yard.flow("a", retry={"a": {"times": 1}}))
    yard.ends("a", code=1)
    yard.ends("a", code=1)
    assert yard.stands(job.id) == "finished/failure"
    assert len(yard.steps()) == 2


def test_a_cancel_is_not_tried_again(yard: Yard) -> None:
    job = yard.run(yard.flow("a", retry={"a": {"times": 1}}))
    yard.db.write_blocking(actions.cancel, yard.actors.ada, yard.steps()[0].id)
    yard.react()
    assert yard.stands(job.id) == "finished/failure"


def test_a_lost_job_only_where_the_node_says_so(yard: Yard) -> None:
    for on_lost, jobs in ((False, 1), (True, 2)):
        job = yard.run(yard.flow("a", retry={"a": {"times": 1, "on_lost": on_lost}}))
        yard.claim()
        (step,) = [item for item in yard.steps() if item.workflow_job_id == job.id]
        yard.end(step.fence, "unknown", reason="keeper_lost")
        yard.react()
        mine = [item for item in yard.steps() if item.workflow_job_id == job.id]
        assert len(mine) == jobs
