"""Who may see which job: one by id, and the same in lists."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from belvedere.access import Actor, Level, replace_acl
from belvedere.base.errors import NotFound
from belvedere.jobs import permissions
from jobs.job_steps import MISSING, Workshop

ALL = ("olga", "ada", "max", "uma", "vic", "eve")


def by_id(shop: Workshop, job_id: str) -> set[str]:
    seeing = set()
    for name in ALL:
        try:
            shop.db.write_blocking(permissions.require_visible, getattr(shop.actors, name), job_id)
        except NotFound as refusal:
            assert refusal.code == "job_not_found"
        else:
            seeing.add(name)
    return seeing


def in_lists(shop: Workshop, job_id: str) -> set[str]:
    def lists(tx: Any, actor: Actor) -> bool:
        seen, params = permissions.visible_filter(actor, tx.dialect)
        sql = f"select 1 from jobs j where j.id = ? and j.customer_id = ? and {seen}"
        return tx.row(sql, job_id, actor.customer_id, *params) is not None

    return {name for name in ALL if shop.db.write_blocking(lists, getattr(shop.actors, name))}


@pytest.fixture(params=["by id", "in lists"])
def seeing(request: pytest.FixtureRequest) -> Callable[[Workshop, str], set[str]]:
    """The rule is written twice, in Python and in SQL; both are asked."""
    return {"by id": by_id, "in lists": in_lists}[request.param]


def test_it_works(shop: Workshop, seeing: Callable[[Workshop, str], set[str]]) -> None:
    job = shop.create()
    assert seeing(shop, job.id) == {"olga", "ada", "max"}


def test_the_acl_of_the_task_opens_its_jobs(
    shop: Workshop, seeing: Callable[[Workshop, str], set[str]]
) -> None:
    task_id = shop.task()
    job = shop.create(task_id)
    shop.db.write_blocking(
        replace_acl, shop.actors.ada, "task", task_id, ["uma@acme.test", "vic@acme.test"]
    )
    assert seeing(shop, job.id) == {"olga", "ada", "max", "uma", "vic"}


def test_who_started_it_sees_it(
    shop: Workshop, seeing: Callable[[Workshop, str], set[str]]
) -> None:
    task_id = shop.task(acl=["uma@acme.test"])
    job = shop.create(task_id, actor=shop.actors.uma)
    shop.db.write_blocking(replace_acl, shop.actors.ada, "task", task_id, [])
    assert seeing(shop, job.id) == {"olga", "ada", "max", "uma"}


def test_a_job_without_a_starter_belongs_to_nobody(
    shop: Workshop, seeing: Callable[[Workshop, str], set[str]]
) -> None:
    nobody: Any = msgspec.structs.replace(shop.actors.ada, user_id="", username="", email="")
    job = shop.create(actor=nobody)
    assert seeing(shop, job.id) == {"olga", "ada", "max"}


@pytest.mark.parametrize(
    ("fields", "sees"),
    [
        ({"approvers": ["uma@acme.test"]}, True),
        ({"approvers": ["vic@acme.test"]}, False),
        ({"approvals_target": "initiator"}, False),
        ({"approvals_target": "assignees", "assigned_users": ["uma@acme.test"]}, True),
    ],
)
def test_an_approver_sees_what_to_approve(
    shop: Workshop,
    seeing: Callable[[Workshop, str], set[str]],
    fields: dict[str, Any],
    sees: bool,
) -> None:
    job = shop.create(shop.task(type="approval", **fields))
    assert ("uma" in seeing(shop, job.id)) is sees


def test_another_organizations_id_is_like_a_missing_one(shop: Workshop) -> None:
    job = shop.create()
    told = set()
    for job_id in (job.id, MISSING, "nonsense"):
        with pytest.raises(NotFound) as refusal:
            shop.db.write_blocking(permissions.require_visible, shop.actors.eve, job_id)
        told.add((refusal.value.code, refusal.value.message))
    assert len(told) == 1


def test_an_agent_sees_the_jobs_of_its_own_host_only(shop: Workshop) -> None:
    job = shop.create()
    for host_id, sees in ((shop.host_id, True), (MISSING, False)):
        agent = Actor(shop.actors.acme.id, "acme", Level.AGENT, "agent", host_id=host_id)
        assert shop.db.write_blocking(permissions.may_see, agent, job.id) is sees
