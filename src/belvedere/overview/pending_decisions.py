"""Jobs that wait for an approval or an input that the caller may give."""

from collections.abc import Collection
from typing import Any

import msgspec

from belvedere import access
from belvedere.access import Actor, Level
from belvedere.base.clock import iso
from belvedere.db import Tx, columns
from belvedere.jobs import permissions, specs, store
from belvedere.jobs.approvals.plan import PlannedTask, for_job
from belvedere.jobs.approvals.votes import enabled_answers
from belvedere.jobs.model import APPROVAL, HELD, RESTORED, WORKFLOW, JobRow
from belvedere.jobs.people import participants
from belvedere.jobs.queries import details
from belvedere.jobs.queries import records as job_records
from belvedere.jobs.queries.records import JobRecord
from belvedere.rest.response_budget import Budget
from belvedere.tasks.model import mask_arguments

MAX_LIMIT = 200


class PendingDecision(msgspec.Struct):
    """An approval or an input. `arguments`: the arguments of the input form; `will_run`: the jobs
    that the approval releases; `answers`: those of `approve` and `reject` that its task offers."""

    kind: str
    job: JobRecord
    # The description of the task.
    question: str
    until: str
    arguments: list[Any]
    will_run: list[PlannedTask]
    answers: list[str]


def answerable_jobs(tx: Tx, actor: Actor) -> list[JobRow]:
    """The newest ones that the actor may answer, at most `MAX_LIMIT`."""
    visibility, params = permissions.visible_filter(actor, tx.dialect)
    rows = tx.all(
        JobRow,
        f"select {columns(JobRow, 'j.')} from jobs j where j.customer_id = ?"
        f" and j.lifecycle = 'onhold' and j.type <> '{WORKFLOW}' and {visibility}"
        # Jobs that a person put on hold or that are held after a restore are released.
        f" and (j.reason is null or j.reason not in ('{HELD}', '{RESTORED}'))"
        " order by j.id desc limit ?",
        *(actor.customer_id, *params, MAX_LIMIT),
    )
    acls: dict[tuple[str, str], list[str]] = {}
    own_acls = participants.with_any(tx, [job.id for job in rows])
    return [job for job in rows if _may_answer(tx, actor, job, acls, own_acls)]


def _may_answer(
    tx: Tx,
    actor: Actor,
    job: JobRow,
    acls: dict[tuple[str, str], list[str]],
    own_acls: Collection[str],
) -> bool:
    if job.type == APPROVAL:
        return permissions.may_decide(tx, actor, job)
    if not actor.level.reaches(Level.USER):
        return False
    if job.id in own_acls:
        return access.may_run(actor, permissions.acl_for(tx, job))
    object_key = ("workflow", job.workflow_id) if job.workflow_id else ("task", job.task_id or "")
    if object_key not in acls:
        acls[object_key] = access.acl_of(tx, actor.customer_id, *object_key)
    return access.may_run(actor, acls[object_key])


def list_pending(tx: Tx, actor: Actor, limit: int = MAX_LIMIT) -> list[PendingDecision]:
    """As many as fit into one response; the others follow when these are answered."""
    jobs = answerable_jobs(tx, actor)[:limit]
    records = details.add_hostnames(
        tx, [job_records.summary(job, actor.customer_name, tx.now) for job in jobs]
    )
    budget, decisions = Budget(), list[PendingDecision]()
    for job, summary in zip(jobs, records, strict=True):
        decision = _pending_decision(tx, job, summary)
        if not budget.takes(len(msgspec.json.encode(decision))):
            break
        decisions.append(decision)
    return decisions


def _pending_decision(tx: Tx, job: JobRow, job_record: JobRecord) -> PendingDecision:
    spec = specs.for_job(tx, job)
    is_approval = job.type == APPROVAL
    job_records.add_task(
        job_record, job.task_id or "", spec, store.read_details(tx, job.id).arguments
    )
    return PendingDecision(
        "approval" if is_approval else "input",
        job_record,
        spec.description or spec.short_description,
        iso(job.expires_at),
        [] if is_approval else mask_arguments(spec.task_arguments),
        for_job(tx, job.id) if is_approval else [],
        enabled_answers(spec) if is_approval else [],
    )
