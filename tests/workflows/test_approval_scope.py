"""What an approval in a workflow lets run."""

from typing import Any

import pytest

from belvedere.base.errors import Conflict
from belvedere.db import Tx
from belvedere.jobs.approvals import plan, votes
from belvedere.jobs.lifecycle import timeouts
from belvedere.jobs.model import JobRow
from belvedere.tasks import service as tasks
from belvedere.tasks.bodies import ScriptBody, TaskBody
from belvedere.workflows import service as workflows
from belvedere.workflows.bodies import WorkflowBody
from workflows.workflow_steps import Yard

ASK = {"type": "approval", "approvers": ["max@acme.test"]}
TWO = [{"type": "input", "label": "x"}, {"type": "input", "label": "y"}]
OUTPUT = '{"output": ["1", "2"]}'
OTHER = ScriptBody(source="#!/bin/sh\ntrue\n")


def waiting(yard: Yard) -> JobRow:
    return [job for job in yard.steps() if job.lifecycle == "onhold"][-1]


def shown(yard: Yard, job: JobRow) -> dict[str, Any]:
    found = yard.db.write_blocking(plan.for_job, job.id)
    return {item.name: item.arguments for item in found}


def edit(yard: Yard, name: str, **fields: Any) -> None:
    task_id = yard.db.write_blocking(
        lambda tx: tx.value("select id from tasks where name = ?", name)
    )
    body = TaskBody(**fields)
    yard.db.write_blocking(tasks.change, yard.actors.ada, task_id, body, is_replacement=False)


def test_it_works(yard: Yard) -> None:
    """What follows at once has its values, what comes later does not."""
    yard.run(yard.flow("a-b b-c c-d", tasks={"b": ASK, "c": {"task_arguments": TWO}}))
    yard.ends("a", OUTPUT)
    assert shown(yard, waiting(yard)) == {"c": ["1", "2"], "d": None}


def test_only_the_way_of_yes_is_shown(yard: Yard) -> None:
    yard.run(yard.flow("a-b b-c b-d:failure b-e:always c-f:failure", tasks={"b": ASK}))
    yard.ends("a")
    assert sorted(shown(yard, waiting(yard))) == ["c", "e", "f"]


def test_it_ends_at_the_next_approval(yard: Yard) -> None:
    yard.run(yard.flow("a-b b-c c-d d-e", tasks={"b": ASK, "d": ASK}))
    yard.ends("a")
    assert list(shown(yard, waiting(yard))) == ["c"]
    yard.db.write_blocking(votes.approve, yard.actors.max, waiting(yard).id)
    yard.react()
    yard.ends("c")
    assert list(shown(yard, waiting(yard))) == ["e"]


def test_what_a_join_gets_is_not_known_yet(yard: Yard) -> None:
    yard.run(yard.flow("a-b a-c b-d c-d", joins="d", tasks={"b": ASK}))
    yard.ends("a")
    assert shown(yard, waiting(yard)) == {"d": None}


def test_each_step_starts_as_it_was_approved(yard: Yard) -> None:
    """Also hours later: d was changed while c ran."""
    job = yard.run(yard.flow("a-b b-c c-d", tasks={"b": ASK}))
    yard.ends("a")
    yard.db.write_blocking(votes.approve, yard.actors.max, waiting(yard).id)
    yard.react()
    edit(yard, "d", script=OTHER)
    yard.ends("c")
    assert yard.stands(yard.steps()[-1].id) == "finished/error"
    assert "the script of d" in (yard.steps()[-1].reason or "")
    assert yard.stands(job.id) == "finished/failure"


def test_a_restart_needs_what_was_approved(yard: Yard) -> None:
    """The yes is taken over by the new job, and so is what it was about."""
    job = yard.run(yard.flow("a-b b-c", tasks={"b": ASK}))
    yard.ends("a")
    yard.db.write_blocking(votes.approve, yard.actors.max, waiting(yard).id)
    yard.react()
    yard.ends("c", code=1)
    edit(yard, "c", script=OTHER)
    yard.restart(job)
    yard.react()
    assert "the script of c" in (yard.steps()[-1].reason or "")


def test_what_a_rejection_starts_needs_no_yes(yard: Yard) -> None:
    job = yard.run(yard.flow("a-b b-c:always", tasks={"b": ASK}))
    yard.ends("a")
    edit(yard, "c", script=OTHER)
    yard.db.write_blocking(votes.reject, yard.actors.max, waiting(yard).id)
    yard.react()
    yard.ends("c")
    assert yard.stands(job.id) == "finished/normal"


def test_a_void_approval_fails_the_workflow(yard: Yard) -> None:
    job = yard.run(yard.flow("a-b b-c", tasks={"b": ASK}))
    yard.ends("a")
    asked = waiting(yard)
    edit(yard, "c", script=OTHER)
    with pytest.raises(Conflict, match="the script of c"):
        yard.db.write_blocking(votes.approve, yard.actors.max, asked.id)
    found = yard.db.write_blocking(plan.for_job, asked.id)
    assert yard.db.write_blocking(timeouts.recheck_approvals, found[0].task_id) == 1
    assert yard.db.write_blocking(timeouts.recheck_approvals, found[0].task_id) == 0
    assert yard.kinds(asked.id) == ["created", "voided"]
    yard.react()
    assert yard.stands(asked.id) == "expired/canceled"
    assert yard.stands(job.id) == "finished/failure"


def test_a_purged_job_takes_its_plan_along(yard: Yard) -> None:
    yard.run(yard.flow("a-b b-c", tasks={"b": ASK}))
    yard.ends("a")
    asked = waiting(yard)
    yard.db.write_blocking(lambda tx: tx.execute("delete from jobs where id = ?", asked.id))
    assert yard.db.write_blocking(_left, asked.id) == [0, 0]


def _left(tx: Tx, job_id: str) -> list[int]:
    counted = "select count(*) from {} where job_id = ?"
    return [tx.value(counted.format(name), job_id) for name in ("approvals", "approval_objects")]


def test_a_workflow_that_follows_is_covered_with_all_that_is_in_it(yard: Yard) -> None:
    deep = yard.flow("q")
    inner = yard.flow("p-r", flows={"r": deep})
    yard.run(yard.flow("a-b", flows={"b": inner}, tasks={"a": ASK}))
    asked = waiting(yard)
    assert sorted(shown(yard, asked)) == ["p", "q"]
    edit(yard, "q", script=OTHER)
    with pytest.raises(Conflict):
        yard.db.write_blocking(votes.approve, yard.actors.max, asked.id)


def test_what_is_changed_in_there_after_the_yes_does_not_run(yard: Yard) -> None:
    inner = yard.flow("p-q")
    job = yard.run(yard.flow("a-b", flows={"b": inner}, tasks={"a": ASK}))
    yard.db.write_blocking(votes.approve, yard.actors.max, waiting(yard).id)
    yard.react()
    edit(yard, "q", script=OTHER)
    yard.ends("p")
    (step,) = [item for item in yard.steps() if item.name == "q"]
    assert (step.state, "not what was approved" in (step.reason or "")) == ("error", True)
    assert yard.stands(job.id) == "finished/failure"


def test_a_workflow_that_is_changed_after_the_yes_does_not_begin(yard: Yard) -> None:
    inner = yard.flow("p")
    yard.run(yard.flow("a-b b-c", flows={"c": inner}, tasks={"a": ASK}))
    yard.db.write_blocking(votes.approve, yard.actors.max, waiting(yard).id)
    yard.react()
    body = WorkflowBody(description="another one")
    yard.db.write_blocking(workflows.change, yard.actors.ada, inner.id, body, replaces=False)
    yard.ends("b")
    assert "not what was approved" in (yard.steps()[-1].reason or "")
