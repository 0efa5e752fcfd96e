"""Workflow jobs over HTTP: run a workflow, list its jobs, cancel or restart one."""

from dataclasses import replace
from functools import partial
from typing import Any

import msgspec

from belvedere.access.actor import Actor
from belvedere.access.customers import service as customers
from belvedere.access.request import AnyRequest, Request, heavy_read
from belvedere.access.searches import read_list
from belvedere.base.errors import Invalid
from belvedere.db import Tx
from belvedere.jobs.api import list_pages, request_size, run_requests
from belvedere.jobs.api.approvals import JobAclBody, users_in
from belvedere.jobs.api.bulk import delete_history
from belvedere.jobs.api.create import RUN_CODES
from belvedere.jobs.history.deletions import DeletedHistory
from belvedere.jobs.model import WORKFLOW, JobRow
from belvedere.jobs.queries import details, pages, records
from belvedere.jobs.queries.records import JobRecord
from belvedere.jobs.queries.result_form import is_set
from belvedere.rest import listing as filters
from belvedere.rest import pagination, run_arguments, text_fields
from belvedere.rest.listing import Condition
from belvedere.rest.route import Handler, Reply, Route
from belvedere.rest.run_arguments import RunArguments
from belvedere.workflow_specs import store
from belvedere.workflows import control, rerun, run_inputs, service, start
from belvedere.workflows.records import StepRecord, to_step_record
from belvedere.workflows.run_inputs import WorkflowInput
from belvedere.workflows.start import PreparedWorkflowJob, WorkflowJobRequest

JOBS = "/workflows/{id}/job"
JOB = f"{JOBS}/{{workflow_job_id}}"
# What a restart runs again: the failed steps, all steps from the start, or from one step on.
RESTART_FROM = ("failed", "start", "step")


class RunWorkflow(msgspec.Struct):
    """The fields of a run request; forms and query strings use the same names."""

    task_arguments: list[Any] | None = None
    customer: str | None = None
    # Start with this node, or with the node of this task.
    task: str | None = None
    wait_result: bool | None = None
    # Members to whom the job and its steps are assigned; not with a secret key.
    assignee: list[str] | None = None


class RestartBody(msgspec.Struct, forbid_unknown_fields=True):
    """The body may be empty."""

    # Other arguments for the step of `from=step`; all of them, in their order.
    task_arguments: list[Any] | None = None


async def run(request: Request[None]) -> Reply:
    return await _run(request, request.actor, await run_requests.read_arguments(request))


async def admit_size(request: AnyRequest) -> None:
    await request_size.admit(
        request, request.path["id"], partial(_takes_file, request.actor.customer_id)
    )


def _takes_file(customer_id: str, tx: Tx, workflow_id: str) -> bool:
    workflow = store.look_up(tx, customer_id, workflow_id)
    return workflow is not None and store.takes_file(tx, workflow_id)


async def admit_secret(request: AnyRequest) -> None:
    await run_requests.admit(request, "workflow", request.path["id"], store.takes_file)


async def run_by_secret(request: Request[None]) -> Reply:
    arguments = await run_requests.read_arguments(request)
    secret = request.path["secret"]
    return await run_requests.run_by_secret(
        request,
        partial(_customer, workflow_id=request.path["id"]),
        lambda actor: _run(request, actor, arguments, secret=secret),
    )


def _customer(tx: Tx, name: str | None, workflow_id: str) -> tuple[str, str] | None:
    """The named organization, else that of the workflow."""
    if name is None:
        return store.owner_of(tx, workflow_id)
    customer = customers.by_name(tx, name)
    return (customer.id, customer.name) if customer is not None and customer.enabled else None


async def _run(
    request: AnyRequest, actor: Actor, arguments: RunArguments, secret: str | None = None
) -> Reply:
    if arguments.rest:
        names = ("wait_result", *run_requests.assignee_names(secret))
        run_requests.note_unknown_fields(request, arguments, names)
    wait_s = run_requests.wait_seconds(request, arguments)
    idempotency_key = await run_requests.idempotency_key(request)
    run_requests.release_body(request)
    job_request = WorkflowJobRequest(
        actor=actor,
        workflow_id=request.path["id"],
        values=arguments.arguments,
        origin="user" if secret is None else "secret",
        secret=secret,
        keys=request.services.keyring if secret is not None else None,
        idempotency_key=idempotency_key,
        # A caller with the secret key cannot choose where the workflow starts.
        start=arguments.task or None if secret is None else None,
        assignees=run_requests.assignees(arguments) if secret is None else (),
        ignores_extra=not request.is_strict,
        traceparent=run_requests.traceparent(request),
    )
    return await _start(request, actor, job_request, wait_s)


async def _start(
    request: AnyRequest, actor: Actor, job_request: WorkflowJobRequest, wait_s: float | None = None
) -> Reply:
    prepared: PreparedWorkflowJob = await request.services.db.write_batched(start.run, job_request)
    request.ignored += prepared.ignored
    headers = run_requests.replay_headers(prepared.is_replayed)
    if wait_s is not None:
        return await run_requests.wait_for_end(request, actor, prepared.job.id, wait_s, headers)
    record = run_requests.add_secret(request, actor, _created(prepared.job, actor))
    return Reply(record, headers=headers)


def _created(job: JobRow, actor: Actor) -> JobRecord:
    record = records.summary(job, actor.customer_name, job.created_at)
    record.output = None
    return record


async def list_jobs(request: Request[None]) -> Reply:
    """Workflow jobs and the jobs of their steps, mixed."""
    await request.services.db.read(service.show, request.actor, request.path["id"])
    return await _page(request, Condition("workflow_id", "$eq", (request.path["id"],)))


async def list_steps(request: Request[None]) -> Reply:
    job_id = request.path["workflow_job_id"]
    await request.services.db.read(
        control.require_workflow_job, request.actor, request.path["id"], job_id
    )
    return await _page(request, Condition("workflow_job_id", "$eq", (job_id,)))


async def list_inputs(request: Request[None]) -> Reply:
    workflow_id = request.path["id"]
    await request.services.db.read(service.show, request.actor, workflow_id)
    query = filters.read(request.query, pages.listable(request.services.db.dialect))
    only = (
        Condition("workflow_id", "$eq", (workflow_id,)),
        Condition("_type", "$eq", (WORKFLOW,)),
    )
    listing = replace(query, conditions=(*query.conditions, *only))
    async with heavy_read(request):
        page = await read_list(request, listing, run_inputs.read_inputs, request.actor)
    if not is_set(request.query, "include_definitions"):
        for record in page.records:
            record.task = msgspec.UNSET
    return pagination.answer_page(request, listing, page)


async def list_nodes(request: Request[None]) -> list[StepRecord]:
    steps = await request.services.db.read(
        control.list_steps, request.actor, request.path["id"], request.path["workflow_job_id"]
    )
    return [to_step_record(row) for row in steps]


async def _page(request: AnyRequest, only: Condition) -> Reply:
    query = filters.read(request.query, pages.listable(request.services.db.dialect))
    listing = replace(query, conditions=(*query.conditions, only))
    page = await list_pages.read(request, listing)
    return pagination.answer_page(request, listing, page)


async def show(request: Request[None]) -> JobRecord:
    job_id = request.path["workflow_job_id"]
    await request.services.db.read_inline(
        control.require_visible, request.actor, request.path["id"], job_id
    )
    return await _job_record(request, job_id)


async def _job_record(request: AnyRequest, job_id: str) -> JobRecord:
    record: JobRecord = await request.services.db.read_inline(details.show, request.actor, job_id)
    await run_requests.add_log(request, record, job_id)
    return record


async def cancel(request: Request[None]) -> JobRecord:
    job_id = request.path["workflow_job_id"]
    await request.services.db.write(control.cancel, request.actor, request.path["id"], job_id)
    return await _job_record(request, job_id)


async def replace_acl(request: Request[list[str] | JobAclBody]) -> list[str]:
    path = (request.path["id"], request.path["workflow_job_id"])
    acl: list[str] = await request.services.db.write(
        control.replace_acl, request.actor, *path, users_in(request.body)
    )
    return acl


async def restart(request: Request[RestartBody]) -> Reply:
    path = (request.path["id"], request.path["workflow_job_id"])
    first = request.first("from") or RESTART_FROM[0]
    if first not in RESTART_FROM:
        message = f"from must be {' or '.join(RESTART_FROM)}, not {first[:64]!r}."
        raise Invalid(message, code="invalid_query")
    node_id = request.first("step") if first == "step" else None
    if first == "step" and not node_id:
        raise Invalid("from=step needs step, the id of a step.", code="invalid_query")
    values = request.body.task_arguments
    if values is not None and node_id is None:
        message = "task_arguments are only for from=step; run the workflow to choose them."
        raise text_fields.invalid_field("task_arguments", message)
    if first == "start":
        idempotency_key = await run_requests.idempotency_key(request)
        job_request = await request.services.db.read(
            rerun.request_for, request.actor, *path, idempotency_key
        )
        return await _start(request, request.actor, job_request)
    job_id = await request.services.db.write(
        control.restart,
        request.actor,
        *path,
        node_id,
        None if values is None else run_arguments.unwrap(values),
    )
    return Reply(await _job_record(request, job_id))


async def delete_jobs(request: Request[None]) -> DeletedHistory:
    workflow_id = request.path["id"]
    await request.services.db.read(service.show, request.actor, workflow_id)
    return await delete_history(request, "Workflow", workflow_id)


_RUN_CODES = ("workflow_disabled", "approval_needed", *RUN_CODES)


def _run_route(path: str, level: str, handler: Handler, summary: str) -> Route:
    return Route(
        "POST",
        path,
        level,
        handler,
        summary,
        body=RunWorkflow,
        raw_body=True,
        answer=JobRecord,
        codes=_RUN_CODES,
        statuses=(202,),
        selectable=True,
        max_body=request_size.MAX_BODY,
        admit=admit_size if level == "user" else admit_secret,
        query=run_requests.QUERY,
    )


def _list_route(path: str, handler: Handler, summary: str) -> Route:
    return Route(
        "GET", path, "viewer", handler, summary, answer=list[JobRecord], query=pagination.QUERY
    )


ROUTES: tuple[Route, ...] = (
    _run_route(JOBS, "user", run, "Run a workflow"),
    _run_route(
        "/workflows/{id}/secret/{secret}/job",
        "anonymous",
        run_by_secret,
        "Run a workflow with its secret key",
    ),
    _list_route(JOBS, list_jobs, "List a workflow's jobs and the jobs of its steps, newest first"),
    Route(
        "GET",
        "/workflows/{id}/jobs/input",
        "viewer",
        list_inputs,
        "List the inputs of a workflow's jobs, newest first",
        answer=list[WorkflowInput],
        query=(
            *pagination.QUERY,
            ("include_definitions", "include the definitions of the arguments"),
        ),
    ),
    Route("GET", JOB, "viewer", show, "Show a job of a workflow", answer=JobRecord),
    _list_route(f"{JOB}/jobs", list_steps, "List the jobs of its steps, newest first"),
    Route(
        "GET",
        f"{JOB}/steps",
        "viewer",
        list_nodes,
        "List the nodes that it has reached, and their outcomes",
        answer=list[StepRecord],
        from_interface=False,
    ),
    Route(
        "PUT",
        f"{JOB}/cancel",
        "user",
        cancel,
        "Cancel a workflow job and all of its steps",
        answer=JobRecord,
        codes=("wrong_lifecycle",),
    ),
    Route(
        "PUT",
        f"{JOB}/acl",
        "admin",
        replace_acl,
        "Give a workflow job and its steps their own ACL",
        body=list[str] | JobAclBody,
        answer=list[str],
    ),
    Route(
        "PUT",
        f"{JOB}/restart",
        "user",
        restart,
        "Resume from the failed steps, or run again from the start or from one step, as a new job",
        body=RestartBody,
        exact_numbers=True,
        answer=JobRecord,
        codes=(
            *("wrong_lifecycle", "nothing_failed", "workflow_busy", "invalid_query"),
            "step_not_reached",
            *_RUN_CODES,
        ),
        query=(
            (
                "from",
                "`failed` (default): resume from the failed steps; `start`: run again; `step`: run"
                " again from one step",
            ),
            ("step", "the id of the step, for `from=step`"),
        ),
        from_interface=False,
    ),
    Route(
        "DELETE",
        JOBS,
        "admin",
        delete_jobs,
        "Delete the job history of a workflow",
        answer=DeletedHistory,
    ),
)
