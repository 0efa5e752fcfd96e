"""Who may see which job: one by id, and the same in lists."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from belvedere.access import Actor, Level, replace_acl
from belvedere.base.errors import NotFound
from belvedere.jobs import permissions
from belvedere.jobs.lifecycle import assignment
from jobs.job_steps import MISSING, JobSteps

ALL = ("olga", "ada", "max", "uma", "vic", "eve")


def by_id(steps: JobSteps, job_id: str) -> set[str]:
    seeing = set()
    for name in ALL:
        try:
            steps.db.write_blocking(
                permissions.require_visible, getattr(steps.actors, name), job_id
            )
        except NotFound as refusal:
            assert refusal.code == "job_not_found"
        else:
            seeing.add(name)
    return seeing


def in_lists(steps: JobSteps, job_id: str) -> set[str]:
    def lists(tx: Any, actor: Actor) -> bool:
        text, params = permissions.visible_filter(actor, tx.dialect)
        sql = f"select 1 from jobs j where j.id = ? and j.customer_id = ? and {text}"
        return tx.row(sql, job_id, actor.customer_id, *params) is not None

    return {name for name in ALL if steps.db.write_blocking(lists, getattr(steps.actors, name))}


@pytest.fixture(params=["by id", "in lists"])
def visible_ids(request: pytest.FixtureRequest) -> Callable[[JobSteps, str], set[str]]:
    """The rule exists twice, in Python and in SQL; both are tested."""
    return {"by id": by_id, "in lists": in_lists}[request.param]


def test_managers_see_every_job(
    steps: JobSteps, visible_ids: Callable[[JobSteps, str], set[str]]
) -> None:
    job = steps.create()
    assert visible_ids(steps, job.id) == {"olga", "ada", "max"}


def test_the_acl_of_the_task_opens_its_jobs(
    steps: JobSteps, visible_ids: Callable[[JobSteps, str], set[str]]
) -> None:
    task_id = steps.task()
    job = steps.create(task_id)
    steps.db.write_blocking(
        replace_acl, steps.actors.ada, "task", task_id, ["uma@acme.test", "vic@acme.test"]
    )
    assert visible_ids(steps, job.id) == {"olga", "ada", "max", "uma", "vic"}


def test_the_starter_sees_the_job(
    steps: JobSteps, visible_ids: Callable[[JobSteps, str], set[str]]
) -> None:
    task_id = steps.task(acl=["uma@acme.test"])
    job = steps.create(task_id, actor=steps.actors.uma)
    steps.db.write_blocking(replace_acl, steps.actors.ada, "task", task_id, [])
    assert visible_ids(steps, job.id) == {"olga", "ada", "max", "uma"}


def test_a_job_without_a_starter_has_no_owner(
    steps: JobSteps, visible_ids: Callable[[JobSteps, str], set[str]]
) -> None:
    nobody: Any = msgspec.structs.replace(steps.actors.ada, user_id="", username="", email="")
    job = steps.create(actor=nobody)
    assert visible_ids(steps, job.id) == {"olga", "ada", "max"}


@pytest.mark.parametrize(
    ("fields", "sees"),
    [
        ({"approvers": ["uma@acme.test"]}, True),
        ({"approvers": ["vic@acme.test"]}, False),
        ({"approvals_target": "initiator"}, False),
        ({"approvals_target": "assignees", "assigned_users": ["uma@acme.test"]}, True),
    ],
)
def test_an_approver_sees_the_jobs_to_approve(
    steps: JobSteps,
    visible_ids: Callable[[JobSteps, str], set[str]],
    fields: dict[str, Any],
    sees: bool,
) -> None:
    job = steps.create(steps.task(type="approval", **fields))
    assert ("uma" in visible_ids(steps, job.id)) is sees


def test_assignees_see_it_instead_of_the_assigned_users_of_the_task(
    steps: JobSteps, visible_ids: Callable[[JobSteps, str], set[str]]
) -> None:
    fields: Any = {"approvals_target": "assignees", "assigned_users": ["uma@acme.test"]}
    job = steps.create(steps.task(type="approval", **fields), assignees=["vic"])
    assert visible_ids(steps, job.id) == {"olga", "ada", "max", "vic"}


def test_the_acl_of_a_job_replaces_that_of_its_task(
    steps: JobSteps, visible_ids: Callable[[JobSteps, str], set[str]]
) -> None:
    job = steps.create(steps.task(acl=["uma@acme.test"]))
    steps.db.write_blocking(assignment.replace_acl, steps.actors.ada, job.id, ["vic"])
    assert visible_ids(steps, job.id) == {"olga", "ada", "max", "vic"}


def test_another_organizations_id_is_like_a_missing_one(steps: JobSteps) -> None:
    job = steps.create()
    result = set()
    for job_id in (job.id, MISSING, "nonsense"):
        with pytest.raises(NotFound) as refusal:
            steps.db.write_blocking(permissions.require_visible, steps.actors.eve, job_id)
        result.add((refusal.value.code, refusal.value.message))
    assert len(result) == 1


def test_an_agent_sees_the_jobs_of_its_own_host_only(steps: JobSteps) -> None:
    job = steps.create()
    for host_id, sees in ((steps.host_id, True), (MISSING, False)):
        agent = Actor(steps.actors.acme.id, "acme", Level.AGENT, "agent", host_id=host_id)
        assert steps.db.write_blocking(permissions.may_see, agent, job.id) is sees
