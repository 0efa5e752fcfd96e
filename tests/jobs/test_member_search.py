"""Searches of members, who may not see all jobs: what they find, and that hidden jobs cost
nothing."""

from typing import Any

import pytest

from belvedere import access
from belvedere.access.actor import Actor
from belvedere.bench.measure import history_data
from belvedere.bench.measure.fixture import Fixture
from belvedere.db import Tx
from belvedere.jobs.lifecycle import assignment
from belvedere.jobs.model import JobRow
from belvedere.jobs.queries import pages, text_search
from belvedere.jobs.search import candidates, terms, visibility
from belvedere.rest.listing import Listing
from jobs.job_steps import JobSteps
from jobs.test_search import add_all, echo, search, search_cost

UMA = ["uma@acme.test"]


def approval(steps: JobSteps, approvers: list[str], **fields: Any) -> str:
    return steps.task(type="approval", name="needle", approvers=approvers, **fields)


def forbid_walk(monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on only the index finds jobs."""

    def refuse(*_: object) -> None:
        raise AssertionError("The search does not use the index.")

    monkeypatch.setattr(text_search, "_walk", refuse)


def step(steps: JobSteps, task_id: str, workflow_id: str) -> JobRow:
    job = steps.create(task_id)
    change = "update jobs set workflow_id = ? where id = ?"
    steps.db.write_blocking(lambda tx: tx.execute(change, workflow_id, job.id))
    return job


def create_jobs(steps: JobSteps) -> dict[str, JobRow]:
    """One job for each reason why a member may see it or not."""
    ada, uma = steps.actors.ada, steps.actors.uma
    shared, hidden = steps.task(name="needle", acl=UMA), steps.task(name="needle")
    jobs = {"hidden": steps.create(hidden), "shared task": steps.create(shared)}
    jobs["own start"] = steps.create(shared, actor=uma)
    jobs["no longer shared"] = steps.create(shared)
    jobs["own ACL"], jobs["assigned"] = steps.create(hidden), steps.create(hidden)
    jobs["approver"] = steps.create(approval(steps, UMA))
    jobs["other approver"] = steps.create(approval(steps, ["max@acme.test"]))
    assignees = {"approvals_target": "assignees", "assigned_users": UMA}
    jobs["assigned approver"] = steps.create(approval(steps, [], **assignees))
    jobs["replaced approver"] = steps.create(approval(steps, [], **assignees))
    jobs["step of a shared workflow"] = step(steps, hidden, "a" * 24)
    jobs["step of a hidden workflow"] = step(steps, shared, "b" * 24)
    change = steps.db.write_blocking
    change(access.replace_acl, ada, "workflow", "a" * 24, UMA)
    change(assignment.replace_acl, ada, jobs["no longer shared"].id, ["max@acme.test"])
    change(assignment.replace_acl, ada, jobs["own ACL"].id, UMA)
    change(assignment.assign, ada, jobs["assigned"].id, UMA)
    change(assignment.assign, ada, jobs["replaced approver"].id, ["max@acme.test"])
    return jobs


VISIBLE = {
    *("shared task", "own start", "own ACL", "assigned", "approver", "assigned approver"),
    "step of a shared workflow",
}


def reasons(jobs: dict[str, JobRow], ids: list[str]) -> set[str]:
    return {reason for reason, job in jobs.items() if job.id in ids}


def test_the_index_finds_what_the_member_may_see(
    steps: JobSteps, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = create_jobs(steps)
    assert reasons(jobs, search(steps, "needle", steps.actors.uma)) == VISIBLE
    add_all(steps)
    forbid_walk(monkeypatch)
    assert reasons(jobs, search(steps, "needle", steps.actors.uma)) == VISIBLE
    assert search(steps, "needle", steps.actors.vic) == []
    assert search(steps, "needle", steps.actors.eve) == []


def test_a_change_of_people_reaches_the_index(
    steps: JobSteps, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also for jobs that ended long ago, whose other texts do not change any more."""
    task_id = steps.task(name="needle", acl=UMA)
    visible, hidden = steps.create(task_id), steps.create(steps.task(name="needle"))
    add_all(steps)
    steps.db.write_blocking(assignment.replace_acl, steps.actors.ada, hidden.id, UMA)
    steps.db.write_blocking(assignment.replace_acl, steps.actors.ada, visible.id, ["max@acme.test"])
    add_all(steps)
    forbid_walk(monkeypatch)
    assert search(steps, "needle", steps.actors.uma) == [hidden.id]
    assert index_candidates(steps, steps.actors.uma) == [hidden.id]


def index_candidates(steps: JobSteps, actor: Actor) -> list[str]:
    """Before the permissions are checked again."""

    def find(tx: Tx) -> list[str]:
        listing = terms.with_search(Listing(pages.listable(tx.dialect)), "needle")
        return text_search.next_step(tx, actor, listing, 100).ids

    return steps.db.write_blocking(find)


def test_hidden_jobs_are_no_candidates(steps: JobSteps, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise the number of them would decide where a step ends."""
    jobs = create_jobs(steps)
    add_all(steps)
    forbid_walk(monkeypatch)
    assert reasons(jobs, index_candidates(steps, steps.actors.uma)) == VISIBLE
    assert len(index_candidates(steps, steps.actors.uma)) == len(VISIBLE)


def test_a_step_of_a_member_ends_after_visible_jobs(
    steps: JobSteps, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared, hidden = steps.task(name="needle", acl=UMA), steps.task(name="needle")
    steps.clock.move(1)
    visible = [steps.create(shared).id]
    for _ in range(5):
        steps.clock.move(1)
        steps.create(hidden)
    steps.clock.move(1)
    visible.append(steps.create(shared).id)
    add_all(steps)
    monkeypatch.setattr(candidates, "MAX_CANDIDATES", 3)
    listing = terms.with_search(Listing(pages.listable(steps.db.dialect)), "needle")
    page = steps.db.write_blocking(pages.read_page, steps.actors.uma, listing, None, 100)
    assert [record.id for record in page.records] == visible[::-1] and page.until is None


def test_a_member_with_too_many_tasks_searches_without_the_index(
    steps: JobSteps, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = create_jobs(steps)
    add_all(steps)
    monkeypatch.setattr(visibility, "MAX_SCOPES", 2)
    assert reasons(jobs, search(steps, "needle", steps.actors.uma)) == VISIBLE


def test_rows_of_an_older_version_are_not_used_for_members(
    steps: JobSteps, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They have no scopes for members until they are written again."""
    jobs = create_jobs(steps)
    monkeypatch.setattr(visibility, "job_scopes", lambda *_: [])
    add_all(steps)
    monkeypatch.undo()
    steps.db.write_blocking(
        lambda tx: tx.execute("update job_search_progress set members_reached = 'g'")
    )
    assert reasons(jobs, search(steps, "needle", steps.actors.uma)) == VISIBLE
    add_all(steps)
    forbid_walk(monkeypatch)
    assert reasons(jobs, search(steps, "needle", steps.actors.uma)) == VISIBLE


@pytest.mark.parametrize("text", ["rare-4711", "no such text", "straw"])
def test_the_search_of_a_member_does_not_cost_more_with_hidden_jobs(
    steps: JobSteps, text: str
) -> None:
    """Also if all of the hidden jobs contain the text."""
    steps.end(steps.assign(echo(steps, acl=UMA), given=["rare-4711"]).fence, lastline="straw")
    steps.clock.move(1)
    hidden = steps.task(name="straw")
    steps.end(steps.assign(hidden).fence)
    history = Fixture(steps.actors.ada, steps.host_id, steps.session, hidden)
    steps.db.write_blocking(history_data.fill, history, 0, 300, 300)
    add_all(steps)
    before = search_cost(steps, text, steps.actors.uma)
    steps.db.write_blocking(history_data.fill, history, 300, 1_200, 1_500)
    add_all(steps)
    assert search_cost(steps, text, steps.actors.uma) <= 1.3 * before + 50
