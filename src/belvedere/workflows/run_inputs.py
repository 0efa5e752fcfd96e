"""The inputs of workflow jobs."""

import msgspec

from belvedere.access.actor import Actor
from belvedere.db import Tx
from belvedere.jobs import store as jobs
from belvedere.jobs.queries import details, pages
from belvedere.jobs.queries.records import InputRecord
from belvedere.rest.listing import Listing
from belvedere.rest.pagination import ListPage
from belvedere.rest.response_budget import Budget, check_order


class WorkflowInput(InputRecord):
    """The values of a workflow job's first step; `id` is the job of that step."""

    workflow_job_id: str = ""


def read_inputs(
    tx: Tx,
    actor: Actor,
    listing: Listing,
    count_limit: int | None,
    row_limit: int | None,
    size: int = 0,
) -> ListPage[WorkflowInput]:
    """One step of the list of inputs, in the order of their workflow jobs; see
    `searches.read_list`."""
    jobs = pages.read_page(tx, actor, listing, count_limit, row_limit)
    first = _first_steps(tx, [job.id for job in jobs.records])
    budget, page = Budget(), ListPage[WorkflowInput]([], jobs.total, jobs.until)
    budget.spent = size
    for job in jobs.records:
        if job.id not in first:
            continue
        values = _input(tx, actor, job.id, _deepest(tx, first[job.id]))
        if not budget.takes(len(msgspec.json.encode(values))):
            check_order(listing)
            page.cut(len(page.records), page.last or listing.after)
            break
        page.records.append(values)
        page.last = job.id
    page.size = budget.spent
    return page


def _first_steps(tx: Tx, workflow_job_ids: list[str]) -> dict[str, str]:
    return dict(
        tx.rows(
            "select s.workflow_job_id, s.job_id from workflow_steps s join workflow_jobs w"
            " on w.job_id = s.workflow_job_id and w.start = s.node_id and s.visit = 1"
            f" where s.workflow_job_id in {tx.dialect.in_texts}",
            msgspec.json.encode(workflow_job_ids).decode(),
        )
    )


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
