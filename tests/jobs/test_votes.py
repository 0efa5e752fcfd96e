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
from jobs.job_steps import MISSING, Workshop

Vote = Callable[[Tx, Actor, str], JobRow]

NAME = {"type": "input", "label": "name"}


def waiting(shop: Workshop, **more: object) -> JobRow:
    fields = {"approvers": ["uma@acme.test"], "task_arguments": [NAME], **more}
    return shop.create(shop.task(type="approval", **fields), ["x"])


@pytest.mark.parametrize(
    ("verb", "state", "trigger", "event"),
    [
        (votes.approve, "success", "success", "approved"),
        (votes.reject, "failure", "failure", "rejected"),
    ],
)
def test_it_works(shop: Workshop, verb: Vote, state: str, trigger: str, event: str) -> None:
    job = waiting(shop)
    shop.clock.move(1)
    found = shop.db.write_blocking(verb, shop.actors.uma, job.id)
    assert found == shop.job(job.id)
    assert (found.lifecycle, found.state, found.trigger_name) == ("finished", state, trigger)
    assert found.ended_at == shop.clock.now
    heavy = shop.heavy(job.id)
    assert heavy.output == '["x"]'
    assert heavy.result is not None
    assert json.loads(heavy.result)["user"]["email"] == "uma@acme.test"
    assert shop.kinds(job.id) == ["created", event]


def test_one_vote_decides(shop: Workshop) -> None:
    job = waiting(shop, approvers=["uma@acme.test", "max@acme.test"])
    shop.db.write_blocking(votes.approve, shop.actors.uma, job.id)
    for verb in (votes.approve, votes.reject):
        with pytest.raises(Conflict):
            shop.db.write_blocking(verb, shop.actors.max, job.id)
    assert shop.stands(job.id) == "finished/success"


def test_nobody_else_may_decide(shop: Workshop) -> None:
    job = waiting(shop)
    for actor in (shop.actors.ada, shop.actors.max):
        with pytest.raises(Forbidden):
            shop.db.write_blocking(votes.approve, actor, job.id)
    with pytest.raises(NotFound):
        shop.db.write_blocking(votes.approve, shop.actors.vic, job.id)
    assert shop.stands(job.id) == "onhold/in_progress"


def test_the_one_who_started_it_may_be_the_approver(shop: Workshop) -> None:
    job = waiting(shop, approvers=[], approvals_target="initiator")
    with pytest.raises(Forbidden):
        shop.db.write_blocking(votes.approve, shop.actors.max, job.id)
    assert shop.db.write_blocking(votes.approve, shop.actors.ada, job.id).state == "success"


def test_another_organization_finds_no_job(shop: Workshop) -> None:
    job = waiting(shop)
    for job_id in (job.id, MISSING):
        with pytest.raises(NotFound):
            shop.db.write_blocking(votes.approve, shop.actors.eve, job_id)


def test_a_script_asks_for_no_approval(shop: Workshop) -> None:
    job = shop.create(lifecycle="onhold")
    with pytest.raises(Invalid) as refusal:
        shop.db.write_blocking(votes.approve, shop.actors.ada, job.id)
    assert refusal.value.code == "not_an_approval"


def test_a_cancelled_approval_cannot_be_decided(shop: Workshop) -> None:
    job = waiting(shop)
    shop.db.write_blocking(actions.cancel, shop.actors.ada, job.id)
    with pytest.raises(Conflict):
        shop.db.write_blocking(votes.approve, shop.actors.uma, job.id)
    assert shop.stands(job.id) == "canceled/canceled"
