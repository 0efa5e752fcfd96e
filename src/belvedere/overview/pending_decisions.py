"""Jobs that wait for a person, as far as the one who asks may answer them."""

from typing import Any

import msgspec

from belvedere import access
from belvedere.access import Actor, Level
from belvedere.base.clock import iso
from belvedere.db import Tx, columns
from belvedere.jobs import permissions, specs, store
from belvedere.jobs.approvals.plan import Planned, of_job
from belvedere.jobs.model import APPROVAL, RESTORED, WORKFLOW, JobRow
from belvedere.jobs.queries import details
from belvedere.jobs.queries import records as record
from belvedere.jobs.queries.records import JobRecord
from belvedere.rest.response_budget import Budget
from belvedere.tasks.model import shown

MOST = 200


class Need(msgspec.Struct):
    """An approval or an input. `arguments`: what an input asks for; `will_run`: what an approval
    lets run."""

    kind: str
    job: JobRecord
    # The description of the task.
    question: str
    until: str
    arguments: list[Any]
    will_run: list[Planned]


def waiting(tx: Tx, actor: Actor) -> list[JobRow]:
    """The newest that the actor may answer, 200 at most."""
    seen, params = permissions.visible(actor, tx.dialect)
    found = tx.all(
        JobRow,
        f"select {columns(JobRow, 'j.')} from jobs j where j.customer_id = ?"
        f" and j.lifecycle = 'onhold' and j.type <> '{WORKFLOW}' and {seen}"
        # Those are released, not answered.
        f" and (j.reason is null or j.reason <> '{RESTORED}')"
        " order by j.id desc limit ?",
        *(actor.customer_id, *params, MOST),
    )
    acls: dict[tuple[str, str], list[str]] = {}
    return [job for job in found if _may_answer(tx, actor, job, acls)]


def _may_answer(tx: Tx, actor: Actor, job: JobRow, acls: dict[tuple[str, str], list[str]]) -> bool:
    if job.type == APPROVAL:
        return permissions.may_decide(tx, actor, job)
    if not actor.level.reaches(Level.USER):
        return False
    of = ("workflow", job.workflow_id) if job.workflow_id else ("task", job.task_id or "")
    if of not in acls:
        acls[of] = access.acl_of(tx, actor.customer_id, *of)
    return access.may_run(actor, acls[of])


def needs(tx: Tx, actor: Actor, limit: int = MOST) -> list[Need]:
    """As many as an answer may have bytes; the others come when these are answered."""
    jobs = waiting(tx, actor)[:limit]
    records = details.named(tx, [record.light(job, actor.customer_name, tx.now) for job in jobs])
    budget, found = Budget(), list[Need]()
    for job, light in zip(jobs, records, strict=True):
        need = _need(tx, job, light)
        if not budget.takes(len(msgspec.json.encode(need))):
            break
        found.append(need)
    return found


def _need(tx: Tx, job: JobRow, found: JobRecord) -> Need:
    spec = specs.of_job(tx, job)
    is_vote = job.type == APPROVAL
    record.with_task(found, job.task_id or "", spec, store.heavy(tx, job.id).arguments)
    return Need(
        "approval" if is_vote else "input",
        found,
        spec.description or spec.short_description,
        iso(job.expires_at),
        [] if is_vote else shown(spec.task_arguments),
        of_job(tx, job.id) if is_vote else [],
    )
