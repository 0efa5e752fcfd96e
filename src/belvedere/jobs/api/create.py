"""Running tasks over HTTP: by a member, or by the secret key of the task."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import msgspec

from belvedere.access.actor import Actor
from belvedere.access.customers import service
from belvedere.access.request import AnyRequest, Request
from belvedere.base.errors import Invalid
from belvedere.base.ids import is_id
from belvedere.db import Tx
from belvedere.jobs.api import run_requests
from belvedere.jobs.api.request_size import MAX_BODY, admit_task, check_task
from belvedere.jobs.lifecycle.create import CreatedJob, JobRequest
from belvedere.jobs.lifecycle.legacy_orders import LegacyJobs
from belvedere.jobs.model import Lifecycle
from belvedere.jobs.queries import records
from belvedere.jobs.queries.records import JobRecord
from belvedere.rest.patterns import matcher
from belvedere.rest.route import Handler, Reply, Route
from belvedere.rest.run_arguments import RunArguments
from belvedere.tasks import store as tasks

# A body with one of these fields is a run request, not an argument of the script.
OWN_NAMES = frozenset({"task", "customer", "task_arguments", "lifecycle", "wait_result"})

# Members of the body besides task, customer and task_arguments.
RUN_FIELDS = ("lifecycle", "wait_result")


class CreateJob(msgspec.Struct):
    """The body of a run request; forms and query strings use the same names."""

    task: str = ""
    task_arguments: list[Any] | None = None
    customer: str | None = None
    lifecycle: str | None = None
    wait_result: bool | None = None
    # Members to whom the job is assigned; not with a secret key.
    assignee: list[str] | None = None


async def create_job(request: Request[None]) -> Reply:
    arguments = await run_requests.read_arguments(request)
    task_id = _task_id(arguments)
    await check_task(request, task_id)
    return await _run(request, request.actor, arguments, task_id)


async def create_for_task(request: Request[None]) -> Reply:
    return await _run(
        request, request.actor, await run_requests.read_arguments(request), request.path["id"]
    )


async def admit_secret(request: AnyRequest) -> None:
    """The path or the query names the task; if only the body does, the secret is looked up."""
    task_id = request.path.get("id") or request.first("task")
    if task_id is not None and not is_id(task_id):
        task_id = ""
    await run_requests.admit(request, "task", task_id, tasks.takes_file)


async def create_by_secret(request: Request[None]) -> Reply:
    arguments = await run_requests.read_arguments(request)
    if request.customer is None:
        raise Invalid("Name the organization: ?customer=<name>.", code="customer_required")
    return await _run_by_secret(request, arguments, _task_id(arguments))


async def create_for_task_by_secret(request: Request[None]) -> Reply:
    return await _run_by_secret(
        request, await run_requests.read_arguments(request), request.path["id"]
    )


def _task_id(arguments: RunArguments) -> str:
    if not arguments.task:
        raise Invalid("task is required: pass the id of the task to run.", code="task_required")
    return arguments.task


async def _run_by_secret(request: AnyRequest, arguments: RunArguments, task_id: str) -> Reply:
    secret = request.path["secret"]
    return await run_requests.run_by_secret(
        request,
        partial(_customer, task_id=task_id),
        lambda actor: _run(request, actor, arguments, task_id, secret=secret),
    )


def _customer(tx: Tx, name: str | None, task_id: str) -> tuple[str, str] | None:
    """The named organization, else that of the task."""
    if name is not None:
        customer = service.by_name(tx, name)
        return (customer.id, customer.name) if customer is not None and customer.enabled else None
    row = tx.row(
        "select c.id, c.name from customers c join tasks t on t.customer_id = c.id"
        " where t.id = ? and c.enabled = 1",
        task_id,
    )
    return None if row is None else (row[0], row[1])


async def _run(
    request: AnyRequest,
    actor: Actor,
    arguments: RunArguments,
    task_id: str,
    secret: str | None = None,
) -> Reply:
    body = _body_argument(request, arguments)
    if body is None and arguments.rest:
        run_requests.note_unknown_fields(
            request, arguments, (*RUN_FIELDS, *run_requests.assignee_names(secret))
        )
    within_s = run_requests.wait_seconds(request, arguments)
    idempotency_key = await run_requests.idempotency_key(request)
    run_requests.release_body(request)
    job_request = JobRequest(
        actor=actor,
        task_id=task_id,
        values=arguments.arguments,
        origin="user" if secret is None else "secret",
        secret=secret,
        keys=request.services.keyring if secret is not None else None,
        idempotency_key=idempotency_key,
        lifecycle=_lifecycle(request, arguments),
        body=body,
        assignees=() if body or secret else run_requests.assignees(arguments),
        ignores_extra=not request.is_strict,
        traceparent=run_requests.traceparent(request),
    )
    created = await start(request, job_request)
    request.ignored += created.ignored
    headers = run_requests.replay_headers(created.replayed)
    if within_s is not None:
        is_new = not (created.replayed or created.job.is_over)
        return await run_requests.wait_for_end(
            request, actor, created.job.id, within_s, headers, created if is_new else None
        )
    record = run_requests.add_secret(request, actor, created_record(created, actor))
    return Reply(record, headers=headers)


@dataclass(frozen=True, slots=True)
class JobServices:
    """What the server provides to the endpoints of jobs."""

    # Creates jobs, and claims them for agents that are connected here.
    create: Callable[[Tx, list[JobRequest]], Sequence[CreatedJob | Exception]]
    # `GET /job` with the credential of a TheEye agent.
    legacy_poll: Callable[[AnyRequest], Awaitable[LegacyJobs]]
    # Whether the credential of a request that takes long still has the same permissions.
    is_current: Callable[[AnyRequest], Awaitable[bool]]


async def start(request: AnyRequest, job_request: JobRequest) -> CreatedJob:
    """Create the job. Patterns that this server has not compiled yet are compiled on a thread,
    outside the transaction, which is then repeated."""
    create = request.services.of(JobServices).create
    created: CreatedJob
    try:
        job_request.defers_patterns = True
        created = await request.services.db.write_batched(create, job_request)
    except matcher.NotCompiled as missing:
        await matcher.load(missing.texts)
        job_request.defers_patterns = False
        created = await request.services.db.write_batched(create, job_request)
    return created


def _body_argument(request: AnyRequest, arguments: RunArguments) -> dict[str, Any] | None:
    """If the path names the task, a body without known fields is the only argument."""
    if "id" not in request.path or not isinstance(arguments.body, dict):
        return None
    is_request = OWN_NAMES & arguments.body.keys() or _only_assigns(arguments.body)
    return None if is_request else arguments.body


def _only_assigns(body: dict[str, Any]) -> bool:
    """The payload of another system may have a field of this name, too."""
    return body.keys() == {"assignee"} and isinstance(body["assignee"], list)


def _lifecycle(request: AnyRequest, arguments: RunArguments) -> str | None:
    word = arguments.rest.get("lifecycle")
    if word is None or word == "":
        return request.first("lifecycle") or None
    if not isinstance(word, str):
        raise Invalid("lifecycle must be a string.", code="invalid_lifecycle")
    return word


def created_record(created: CreatedJob, actor: Actor) -> JobRecord:
    """The record of a new job, without reading it again."""
    job = created.job
    record = records.summary(job, actor.customer_name, job.created_at)
    records.add_task(record, created.task.id, created.task.spec, created.arguments)
    # The output of a job without an agent (dummy, notification) is its values.
    passes_values_on = job.lifecycle == Lifecycle.FINISHED and job.fence == 0
    record.output = record.task_arguments_values if passes_values_on else None
    if created.plan is not None:
        record.will_run = created.plan
    if created.host is not None:
        record.host = created.host.record
        record.hostname = created.host.row.hostname
    return record


RUN_CODES = (
    "task_disabled",
    "host_gone",
    "no_approver",
    "idempotency_key_reused",
    "replayed_job_gone",
    "storage_quota",
)


def _run_route(path: str, level: str, handler: Handler, summary: str) -> Route:
    return Route(
        "POST",
        path,
        level,
        handler,
        summary,
        body=CreateJob,
        raw_body=True,
        answer=JobRecord,
        codes=RUN_CODES,
        statuses=(202,),
        selectable=True,
        needs_customer=path.startswith("/job/secret"),
        max_body=MAX_BODY,
        admit=admit_task if level == "user" else admit_secret,
        query=run_requests.QUERY,
    )


ROUTES: tuple[Route, ...] = (
    _run_route("/job", "user", create_job, "Run a task"),
    _run_route("/task/{id}/job", "user", create_for_task, "Run a task by its id"),
    _run_route(
        "/job/secret/{secret}", "anonymous", create_by_secret, "Run a task with its secret key"
    ),
    _run_route(
        "/task/{id}/secret/{secret}/job",
        "anonymous",
        create_for_task_by_secret,
        "Run a task by its id, with its secret key",
    ),
)
