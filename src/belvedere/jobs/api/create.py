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
from belvedere.jobs.lifecycle.create import Created, NewJob
from belvedere.jobs.lifecycle.orders import OldJobs
from belvedere.jobs.model import Lifecycle
from belvedere.jobs.queries import records
from belvedere.jobs.queries.records import JobRecord
from belvedere.rest.patterns import matcher
from belvedere.rest.route import Handler, Reply, Route
from belvedere.rest.run_arguments import RunArguments
from belvedere.tasks import store as tasks

# A body with one of these speaks to us, not to the script.
OWN_NAMES = frozenset({"task", "customer", "task_arguments", "lifecycle", "wait_result"})


class CreateJob(msgspec.Struct):
    """What a run request may hold; forms and query strings carry the same names."""

    task: str = ""
    task_arguments: list[Any] | None = None
    customer: str | None = None
    lifecycle: str | None = None
    wait_result: bool | None = None


async def create_job(request: Request[None]) -> Reply:
    given = await run_requests.given(request)
    task_id = _task_id(given)
    await check_task(request, task_id)
    return await _run(request, request.actor, given, task_id)


async def create_for_task(request: Request[None]) -> Reply:
    return await _run(request, request.actor, await run_requests.given(request), request.path["id"])


async def admit_secret(request: AnyRequest) -> None:
    """The path or the query names the task; or else the body does, and the secret is looked up."""
    task_id = request.path.get("id") or request.first("task")
    if task_id is not None and not is_id(task_id):
        task_id = ""
    await run_requests.admit(request, "task", task_id, tasks.takes_file)


async def create_by_secret(request: Request[None]) -> Reply:
    given = await run_requests.given(request)
    if request.customer is None:
        raise Invalid("Name the organization: ?customer=<name>.", code="customer_required")
    return await _run_by_secret(request, given, _task_id(given))


async def create_for_task_by_secret(request: Request[None]) -> Reply:
    return await _run_by_secret(request, await run_requests.given(request), request.path["id"])


def _task_id(given: RunArguments) -> str:
    if not given.task:
        raise Invalid("Say which task to run: task is required.", code="task_required")
    return given.task


async def _run_by_secret(request: AnyRequest, given: RunArguments, task_id: str) -> Reply:
    secret = request.path["secret"]
    return await run_requests.by_secret(
        request,
        partial(_customer, task_id=task_id),
        lambda actor: _run(request, actor, given, task_id, secret=secret),
    )


def _customer(tx: Any, name: str | None, task_id: str) -> tuple[str, str] | None:
    """The organization as named, or else the task's own."""
    if name is not None:
        found = service.by_name(tx, name)
        return (found.id, found.name) if found is not None and found.enabled else None
    row: tuple[str, str] | None = tx.row(
        "select c.id, c.name from customers c join tasks t on t.customer_id = c.id"
        " where t.id = ? and c.enabled = 1",
        task_id,
    )
    return row


async def _run(
    request: AnyRequest, actor: Actor, given: RunArguments, task_id: str, secret: str | None = None
) -> Reply:
    within_s = run_requests.patience(request, given)
    wanted = NewJob(
        actor=actor,
        task_id=task_id,
        given=given.arguments,
        origin="user" if secret is None else "secret",
        secret=secret,
        keys=request.services.keyring if secret is not None else None,
        once=await run_requests.once(request),
        lifecycle=_lifecycle(request, given),
        whole=_whole(request, given),
    )
    made = await start(request, wanted)
    headers = run_requests.replayed(made.replayed)
    if within_s is not None:
        is_new = not (made.replayed or made.job.is_over)
        return await run_requests.wait(
            request, actor, made.job.id, within_s, headers, is_new=is_new
        )
    return Reply(created(made, actor), headers=headers)


@dataclass(frozen=True, slots=True)
class JobServices:
    """What the server provides to the endpoints of jobs."""

    # Creates jobs, and claims them for agents that are connected here.
    create: Callable[[Tx, list[NewJob]], Sequence[Created | Exception]]
    # `GET /job` with the credential of a TheEye agent.
    legacy_poll: Callable[[AnyRequest], Awaitable[OldJobs]]


async def start(request: AnyRequest, wanted: NewJob) -> Created:
    """Create the job. Patterns that this server has not compiled yet are compiled on a thread,
    outside the transaction, which is then repeated."""
    create = request.services.of(JobServices).create
    made: Created
    try:
        wanted.defers_patterns = True
        made = await request.services.db.write_batched(create, wanted)
    except matcher.NotCompiled as missing:
        await matcher.load(missing.texts)
        wanted.defers_patterns = False
        made = await request.services.db.write_batched(create, wanted)
    return made


def _whole(request: AnyRequest, given: RunArguments) -> dict[str, Any] | None:
    """Where the address names the task, an object of the caller's own is the one argument."""
    if "id" not in request.path or not isinstance(given.body, dict):
        return None
    return None if OWN_NAMES & given.body.keys() else given.body


def _lifecycle(request: AnyRequest, given: RunArguments) -> str | None:
    asked = given.rest.get("lifecycle")
    if asked is None or asked == "":
        return request.first("lifecycle") or None
    if not isinstance(asked, str):
        raise Invalid("lifecycle is a word.", code="invalid_lifecycle")
    return asked


def created(made: Created, actor: Actor) -> JobRecord:
    """The record of a new job, without reading it again."""
    job = made.job
    found = records.light(job, actor.customer_name, job.created_at)
    records.with_task(found, made.task.id, made.task.spec, made.arguments)
    # A job that is done without an agent (dummy, notification) gives its values on.
    is_given_on = job.lifecycle == Lifecycle.FINISHED and job.fence == 0
    found.output = found.task_arguments_values if is_given_on else None
    if made.plan is not None:
        found.will_run = made.plan
    if made.host is not None:
        found.host = made.host.record
        found.hostname = made.host.row.hostname
    return found


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
        needs_customer=path.startswith("/job/secret"),
        max_body=MAX_BODY,
        admit=admit_task if level == "user" else admit_secret,
        query=run_requests.QUERY,
    )


ROUTES: tuple[Route, ...] = (
    _run_route("/job", "user", create_job, "Run a task."),
    _run_route("/task/{id}/job", "user", create_for_task, "Run this task."),
    _run_route(
        "/job/secret/{secret}", "anonymous", create_by_secret, "Run a task with its secret key."
    ),
    _run_route(
        "/task/{id}/secret/{secret}/job",
        "anonymous",
        create_for_task_by_secret,
        "Run this task with its secret key.",
    ),
)
