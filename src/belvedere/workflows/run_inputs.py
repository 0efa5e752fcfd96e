"""What the jobs of a workflow were started with."""

import msgspec

from belvedere.access.actor import Actor
from belvedere.db import Tx
from belvedere.jobs import store as jobs
from belvedere.jobs.queries import details, pages
from belvedere.jobs.queries.records import InputRecord
from belvedere.rest.listing import Listing
from belvedere.rest.response_budget import Budget, check_order


class WorkflowInput(InputRecord):
    """The values of a workflow job's first step; `id` is that step's job."""

    workflow_job_id: str = ""


def of_jobs(tx: Tx, actor: Actor, listing: Listing) -> tuple[list[WorkflowInput], bool]:
    """Of the workflow jobs in this page, in its order; and whether it ends early because more would
    be too many bytes."""
    found, _ = pages.page(tx, actor, listing)
    first: dict[str, str] = dict(
        tx.rows(
            "select s.workflow_job_id, s.job_id from workflow_steps s join workflow_jobs w"
            " on w.job_id = s.workflow_job_id and w.start = s.node_id and s.visit = 1"
            f" where s.workflow_job_id in {tx.sql.texts}",
            msgspec.json.encode([one.id for one in found]).decode(),
        )
    )
    budget, inputs = Budget(), list[WorkflowInput]()
    for one in found:
        if one.id not in first:
            continue
        given = _of(tx, actor, one.id, _deepest(tx, first[one.id]))
        if not budget.takes(len(msgspec.json.encode(given))):
            check_order(listing)
            return inputs, True
        inputs.append(given)
    return inputs, False


def _deepest(tx: Tx, job_id: str) -> str:
    """Where the first step is a workflow, the first of its own, as far as it has begun."""
    while True:
        inner: str | None = tx.value(
            "select s.job_id from workflow_steps s join workflow_jobs w"
            " on w.job_id = s.workflow_job_id and w.start = s.node_id and s.visit = 1"
            " where w.job_id = ?",
            job_id,
        )
        if inner is None:
            return job_id
        job_id = inner


def _of(tx: Tx, actor: Actor, workflow_job_id: str, job_id: str) -> WorkflowInput:
    step = details.whole(tx, jobs.find(tx, actor.customer_id, job_id), actor.customer_name)
    values = step.task_arguments_values or []
    return WorkflowInput(step.id, values, step.creation_date, step.task, workflow_job_id)
