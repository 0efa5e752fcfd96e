"""Approving and rejecting."""

import json
from collections.abc import Callable

import pytest

from belvedere.access.actor import Actor
from belvedere.base.errors import Conflict, Forbidden, Invalid, NotFound
from belvedere.db import Tx
from belvedere.jobs.approvals import votes
from belvedere.jobs.lifecycle import actions
from belvedere.jobs.model import JobRow
from jobs.job_steps import MISSING, JobSteps

Vote = Callable[[Tx, Actor, str], JobRow]

NAME = {"type": "input", "label": "name"}


def create_waiting(steps: JobSteps, **more: object) -> JobRow:
    fields = {"approvers": ["uma@acme.test"], "task_arguments": [NAME], **more}
    return steps.create(steps.task(type="approval", **fields), ["x"])


@pytest.mark.parametrize(
    ("verb", "state", "trigger", "event"),
    [
        (votes.approve, "success", "success", "approved"),
        (votes.reject, "failure", "failure", "rejected"),
    ],
)
def test_a_vote_ends_the_approval(
    steps: JobSteps, verb: Vote, state: str, trigger: str, event: str
) -> None:
    job = create_waiting(steps)
    steps.clock.move(1)
    stored_job = steps.db.write_blocking(verb, steps.actors.uma, job.id)
    assert stored_job == steps.job(job.id)
    assert (stored_job.lifecycle, stored_job.state, stored_job.trigger_name) == (
        "finished",
        state,
        trigger,
    )
    assert stored_job.ended_at == steps.clock.now
    heavy = steps.heavy(job.id)
    assert heavy.output == '["x"]'
    assert heavy.result is not None
    assert json.loads(heavy.result)["user"]["email"] == "uma@acme.test"
    assert steps.kinds(job.id) == ["created", event]


def test_one_vote_decides(steps: JobSteps) -> None:
    job = create_waiting(steps, approvers=["uma@acme.test", "max@acme.test"])
    steps.db.write_blocking(votes.approve, steps.actors.uma, job.id)
    for verb in (votes.approve, votes.reject):
        with pytest.raises(Conflict):
            steps.db.write_blocking(verb, steps.actors.max, job.id)
    assert steps.status(job.id) == "finished/success"


def test_only_approvers_may_decide(steps: JobSteps) -> None:
    job = create_waiting(steps)
    for actor in (steps.actors.ada, steps.actors.max):
        with pytest.raises(Forbidden):
            steps.db.write_blocking(votes.approve, actor, job.id)
    with pytest.raises(NotFound):
        steps.db.write_blocking(votes.approve, steps.actors.vic, job.id)
    assert steps.status(job.id) == "onhold/in_progress"


def test_the_starter_may_be_the_approver(steps: JobSteps) -> None:
    job = create_waiting(steps, approvers=[], approvals_target="initiator")
    with pytest.raises(Forbidden):
        steps.db.write_blocking(votes.approve, steps.actors.max, job.id)
    assert steps.db.write_blocking(votes.approve, steps.actors.ada, job.id).state == "success"


def test_another_organization_finds_no_job(steps: JobSteps) -> None:
    job = create_waiting(steps)
    for job_id in (job.id, MISSING):
        with pytest.raises(NotFound):
            steps.db.write_blocking(votes.approve, steps.actors.eve, job_id)


def test_a_script_asks_for_no_approval(steps: JobSteps) -> None:
    job = steps.create(lifecycle="onhold")
    with pytest.raises(Invalid) as refusal:
        steps.db.write_blocking(votes.approve, steps.actors.ada, job.id)
    assert refusal.value.code == "not_an_approval"


def test_a_cancelled_approval_cannot_be_decided(steps: JobSteps) -> None:
    job = create_waiting(steps)
    steps.db.write_blocking(actions.cancel, steps.actors.ada, job.id)
    with pytest.raises(Conflict):
        steps.db.write_blocking(votes.approve, steps.actors.uma, job.id)
    assert steps.status(job.id) == "canceled/canceled"
