"""Jobs over HTTP: reading and changing them; jobs/api/create.py has the ways to run a task."""

from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec

import msgspec

from belvedere.access.actor import Actor, Level
from belvedere.access.request import AnyRequest, Request
from belvedere.base.errors import Invalid
from belvedere.db import Tx
from belvedere.jobs.api import create, list_pages, run_requests
from belvedere.jobs.api.create import JobServices
from belvedere.jobs.approvals import votes
from belvedere.jobs.lifecycle import actions
from belvedere.jobs.lifecycle.job_arguments import extra_values
from belvedere.jobs.lifecycle.legacy_orders import LegacyJobs
from belvedere.jobs.queries import details
from belvedere.jobs.queries.records import JobRecord
from belvedere.rest import pagination, run_arguments
from belvedere.rest import query as values
from belvedere.rest.route import Handler, Reply, Route

P = ParamSpec("P")

MAX_COUNTED = 100_000

# Reading


async def list_jobs(request: Request[None]) -> Reply:
    if request.actor.level is Level.AGENT:
        # TheEye agents poll for work at the same path.
        orders = await request.services.of(JobServices).legacy_poll(request)
        return Reply(orders, compress=False)
    listing = list_pages.listing(request)
    count_limit, search_limit = _limit(request, "count_most"), _limit(request, "look")
    page = await list_pages.read(request, listing, count_limit, search_limit)
    reply = pagination.answer_page(request, listing, page, count_limit)
    # Arguments and output may contain both secrets and text from outside.
    reply.compress = not listing.include
    return reply


def _limit(request: AnyRequest, name: str) -> int | None:
    text = request.first(name)
    if text is None:
        return None
    number = values.integer(name, text)
    if not 1 <= number <= MAX_COUNTED:
        raise values.invalid_query(name, f"{name} must be 1 to {MAX_COUNTED}.")
    return number


async def show(request: Request[None]) -> JobRecord:
    record: JobRecord = await request.services.db.read_inline(
        details.show, request.actor, request.path["id"]
    )
    await run_requests.add_log(request, record, record.id)
    return record


async def lifecycle(request: Request[None]) -> Reply:
    word = await request.services.db.read_inline(
        details.lifecycle_of, request.actor, request.path["id"]
    )
    return Reply(word)


# Changing


class GiveInput(msgspec.Struct):
    """The values that the job waits for, under either name."""

    args: list[Any] | None = None
    task_arguments: list[Any] | None = None
    customer: str | None = None


class Resolve(msgspec.Struct, forbid_unknown_fields=True):
    """The result of the job, set by a person."""

    outcome: str
    note: str = ""


class Restart(msgspec.Struct):
    """Other values for the new job; without them, those of the old job."""

    task_arguments: list[Any] | None = None
    customer: str | None = None


async def cancel(request: Request[None]) -> JobRecord:
    return await _apply(request, actions.cancel)


async def approve(request: Request[None]) -> JobRecord:
    return await _apply(request, votes.approve)


async def reject(request: Request[None]) -> JobRecord:
    return await _apply(request, votes.reject)


async def synced(request: Request[None]) -> JobRecord:
    return await _apply(request, actions.sync)


async def hold(request: Request[None]) -> JobRecord:
    return await _apply(request, actions.hold)


async def give_input(request: Request[GiveInput]) -> JobRecord:
    values = request.body.args if request.body.args is not None else request.body.task_arguments
    if values is None:
        raise Invalid(
            "args is required: pass the values that the job waits for.", code="missing_arguments"
        )
    values = run_arguments.unwrap(values)
    record = await _apply(request, actions.give_input, values, ignores_extra=not request.is_strict)
    if record.task:
        request.ignored += extra_values(record.task.task_arguments, values)
    return record


async def resolve(request: Request[Resolve]) -> JobRecord:
    return await _apply(request, actions.resolve, request.body.outcome, request.body.note)


async def _apply(
    request: AnyRequest,
    operation: Callable[Concatenate[Tx, Actor, str, P], object],
    *a: P.args,
    **k: P.kwargs,
) -> JobRecord:
    await request.services.db.write(operation, request.actor, request.path["id"], *a, **k)
    return await show(request)


async def restart(request: Request[Restart]) -> Reply:
    old: JobRecord = await request.services.db.read_inline(
        details.show, request.actor, request.path["id"]
    )
    arguments = request.body.task_arguments
    job_request = await request.services.db.read(
        actions.restart,
        request.actor,
        old.id,
        None if arguments is None else run_arguments.unwrap(arguments),
        await run_requests.idempotency_key(request),
        ignores_extra=not request.is_strict,
    )
    created = await create.start(request, job_request)
    request.ignored += created.ignored
    return Reply(
        create.created_record(created, request.actor),
        headers=run_requests.replay_headers(created.replayed),
    )


def _change_route(
    action: str,
    level: str,
    handler: Handler,
    summary: str,
    body: object = None,
    codes: tuple[str, ...] = ("wrong_lifecycle",),
    *,
    from_interface: bool = True,
) -> Route:
    return Route(
        "PUT",
        f"/job/{{id}}/{action}",
        level,
        handler,
        summary,
        body=body,
        exact_numbers=body is not None,
        answer=JobRecord,
        codes=codes,
        from_interface=from_interface,
    )


def _read(path: str, level: str, handler: Handler, summary: str, answer: object) -> Route:
    return Route("GET", path, level, handler, summary, answer=answer)


_TEXT = (
    "q",
    list_pages.SEARCH_TEXT,
)
_COUNT_MOST = (
    "count_most",
    "count up to this number: X-Total-Count, and X-Total-More if there are more",
)
_LOOK = ("look", "examine at most this many jobs: X-Looked-Until, and Link for the next page")
_INCLUDE = ("include[field]", "1: also task, task_arguments_values, output, result.log, attempts")

ROUTES: tuple[Route, ...] = (
    *create.ROUTES,
    Route(
        "GET",
        "/job",
        "viewer",
        list_jobs,
        "List jobs, newest first, at most 1,000. For a TheEye agent: its next jobs",
        answer=list[JobRecord] | LegacyJobs,
        codes=("not_registered",),
        query=(
            *pagination.QUERY,
            _INCLUDE,
            _TEXT,
            _COUNT_MOST,
            _LOOK,
            ("hostname", "the host name of the agent that requests jobs"),
        ),
        also_agent=True,
        compress=True,
    ),
    _read("/job/{id}", "viewer", show, "Show a job", JobRecord),
    _read(
        "/job/{id}/lifecycle", "user", lifecycle, "Show the lifecycle of a job as plain text", str
    ),
    _change_route("cancel", "user", cancel, "Cancel a job"),
    _change_route(
        "approve",
        "viewer",
        approve,
        "Approve an approval",
        codes=("wrong_lifecycle", "approval_void", "answer_disabled"),
    ),
    _change_route(
        "reject",
        "viewer",
        reject,
        "Reject an approval",
        codes=("wrong_lifecycle", "answer_disabled"),
    ),
    _change_route("hold", "user", hold, "Keep a queued job from starting until it is released"),
    _change_route("synced", "user", synced, "Let a syncing job run"),
    _change_route(
        "input",
        "user",
        give_input,
        "Provide the input that a job waits for",
        GiveInput,
        ("wrong_lifecycle", "storage_quota"),
    ),
    _change_route(
        "resolve",
        "user",
        resolve,
        "Set the result of a lost job",
        Resolve,
        ("wrong_lifecycle", "still_reachable"),
        from_interface=False,
    ),
    _change_route(
        "restart",
        "user",
        restart,
        "Run a job again, as a new job",
        Restart,
        ("wrong_lifecycle", *create.RUN_CODES),
    ),
)
