"""The inputs of workflow jobs."""

import msgspec

from belvedere.access.actor import Actor
from belvedere.db import Tx
from belvedere.jobs import store as jobs
from belvedere.jobs.queries import details, pages
from belvedere.jobs.queries.records import InputRecord
from belvedere.rest.listing import Listing
from belvedere.rest.response_budget import Budget, check_order


class WorkflowInput(InputRecord):
    """The values of a workflow job's first step; `id` is the job of that step."""

    workflow_job_id: str = ""


def list_inputs(tx: Tx, actor: Actor, listing: Listing) -> tuple[list[WorkflowInput], bool]:
    """The inputs of the workflow jobs of this page, in its order, and whether it ends early because
    of the size limit of a response."""
    jobs, _ = pages.list_page(tx, actor, listing)
    first: dict[str, str] = dict(
        tx.rows(
            "select s.workflow_job_id, s.job_id from workflow_steps s join workflow_jobs w"
            " on w.job_id = s.workflow_job_id and w.start = s.node_id and s.visit = 1"
            f" where s.workflow_job_id in {tx.dialect.in_texts}",
            msgspec.json.encode([job.id for job in jobs]).decode(),
        )
    )
    budget, inputs = Budget(), list[WorkflowInput]()
    for job in jobs:
        if job.id not in first:
            continue
        values = _input(tx, actor, job.id, _deepest(tx, first[job.id]))
        if not budget.takes(len(msgspec.json.encode(values))):
            check_order(listing)
            return inputs, True
        inputs.append(values)
    return inputs, False


def _deepest(tx: Tx, job_id: str) -> str:
    """If the first step runs a workflow, the first step of that one, as far as it has started."""
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


def _input(tx: Tx, actor: Actor, workflow_job_id: str, job_id: str) -> WorkflowInput:
    step = details.full_record(tx, jobs.find(tx, actor.customer_id, job_id), actor.customer_name)
    values = step.task_arguments_values or []
    return WorkflowInput(step.id, values, step.creation_date, step.task, workflow_job_id)
