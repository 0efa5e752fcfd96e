"""Input, output and results of jobs, lists of open jobs, and counts and arguments for lists."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from belvedere.access.actor import Actor, Level
from belvedere.access.limits.rate_limits import AttemptKind, count_secret_use
from belvedere.access.request import AnyRequest, Request
from belvedere.access.searches import run_search
from belvedere.base.errors import Forbidden
from belvedere.base.ids import is_id
from belvedere.jobs.api import list_pages, run_requests, wait
from belvedere.jobs.model import FINAL, OPEN
from belvedere.jobs.queries import details, list_details, pages, result_form
from belvedere.jobs.queries.list_details import JobArguments, StateCounts
from belvedere.jobs.queries.pages import OpenJobCount
from belvedere.jobs.queries.records import InputRecord, JobRecord
from belvedere.jobs.queries.result_form import FORM_QUERY, is_set
from belvedere.rest import listing as filters
from belvedere.rest import pagination
from belvedere.rest.listing import Condition, Listing
from belvedere.rest.query import invalid_query
from belvedere.rest.route import Handler, QueryTable, Reply, Route


async def list_running(request: Request[None]) -> Reply:
    listing = _open_listing(request)
    page = await list_pages.read(request, listing)
    return pagination.answer_page(request, listing, page)


async def count_running(request: Request[None]) -> list[OpenJobCount]:
    counts: list[OpenJobCount] = await run_search(
        request, pages.count_open, request.actor, _open_listing(request)
    )
    return counts


def _open_listing(request: AnyRequest) -> Listing:
    listing = filters.read(request.query, pages.listable(request.services.db.dialect))
    is_open = Condition("lifecycle", "$in", tuple(OPEN))
    return replace(listing, conditions=(*listing.conditions, is_open))


async def count_states(request: Request[None]) -> StateCounts:
    listing = list_pages.listing(request)
    counts: StateCounts = await run_search(
        request, list_details.count_states, request.actor, listing
    )
    return counts


async def list_arguments(request: Request[None]) -> list[JobArguments]:
    ids = (request.first("ids") or "").split(",")
    if len(ids) > list_details.MAX_IDS or not all(map(is_id, ids)):
        message = f"ids must be 1 to {list_details.MAX_IDS} job ids, separated by commas."
        raise invalid_query("ids", message)
    records: list[JobArguments] = await run_search(
        request, list_details.list_arguments, request.actor, ids
    )
    return records


async def _job(request: AnyRequest) -> JobRecord:
    record: JobRecord = await request.services.db.read_inline(
        details.show, request.actor, request.path["id"]
    )
    return record


async def show_input(request: Request[None]) -> Reply:
    record = await _job(request)
    if not is_set(request.query, "include_definitions"):
        return Reply(_values(record))
    return Reply(InputRecord(record.id, _values(record), record.creation_date, record.task))


def _values(record: JobRecord) -> list[Any]:
    return record.task_arguments_values or []


async def show_output(request: Request[None]) -> Reply:
    return Reply((await _job(request)).output)


async def show_result(request: Request[None]) -> Reply:
    """The result in the requested form once the job has ended; 202 if it takes longer."""
    return await _result_for(request, request.actor)


async def show_result_by_secret(request: Request[None]) -> Reply:
    """The same with the key of the job, which is in the response to a start by a secret."""
    services, address, secret = request.services, request.actor.address, request.path["secret"]
    proof, job_id = services.keyring.digest(secret), request.path["id"]
    services.limits.check(address, AttemptKind.SECRET, job_id, proof=proof)
    owner = await services.db.read_inline(details.owner_of, job_id, request.customer)
    if not result_form.is_job_secret(services.keyring, job_id, secret) or owner is None:
        services.limits.record_failure(
            address,
            kind=AttemptKind.SECRET,
            target=job_id,
            proof=proof,
            customer="" if owner is None else owner[1],
        )
        raise Forbidden("Invalid secret key.", code="wrong_secret")
    services.limits.record_success(proof)
    count_secret_use(services.secret_uses, proof)
    return await _result_for(request, Actor(*owner, Level.MANAGER, "secret", address=address))


async def _result_for(request: AnyRequest, actor: Actor) -> Reply:
    result_form.check(request.query)
    within_s = wait.parse_seconds(request.first("timeout"))
    record = await wait.until_over(request, actor, request.path["id"], within_s)
    await run_requests.add_log(request, record, record.id)
    if record.lifecycle not in FINAL:
        return Reply(record, 202)
    return Reply(result_form.in_form(request.query, record))


_FILTERS = (
    ("where[field]", "only jobs whose field has this value, as in GET /job"),
    ("q", list_pages.SEARCH_TEXT),
)
_INPUT = (("include_definitions", "also the definitions of the arguments"),)
_RESULT = (
    ("timeout", "seconds to wait for the end, default 60, at most 300"),
    *FORM_QUERY,
)


def _read(
    path: str, handler: Handler, summary: str, answer: object, query: QueryTable = ()
) -> Route:
    return Route("GET", path, "viewer", handler, summary, answer=answer, query=query)


def _results(path: str, level: str, handler: Handler, summary: str) -> Iterator[Route]:
    for method in ("GET", "POST"):
        yield Route(
            method,
            path,
            level,
            handler,
            summary,
            answer=Any,
            statuses=(202,),
            query=_RESULT,
        )


ROUTES: tuple[Route, ...] = (
    _read(
        "/job/running",
        list_running,
        "List open jobs, newest first",
        list[JobRecord],
        pagination.QUERY,
    ),
    _read(
        "/job/running_count",
        count_running,
        "Count the open jobs of each task and workflow",
        list[OpenJobCount],
        pagination.QUERY,
    ),
    _read(
        "/job/{id}/input",
        show_input,
        "Show the values of a job's arguments",
        list[Any] | InputRecord,
        _INPUT,
    ),
    _read("/job/{id}/output", show_output, "Show the values of a job's output", list[Any] | None),
    *_results(
        "/job/{id}/result", "viewer", show_result, "Show the result of a job, once it has ended"
    ),
    *_results(
        "/job/{id}/secret/{secret}/result",
        "anonymous",
        show_result_by_secret,
        "Show the result of a job that was started with a secret key, with the job's secret",
    ),
    Route(
        "GET",
        "/job/counts",
        "viewer",
        count_states,
        "Count jobs by lifecycle and state, the newest 20,000",
        answer=StateCounts,
        from_interface=False,
        query=_FILTERS,
    ),
    Route(
        "GET",
        "/job/arguments",
        "viewer",
        list_arguments,
        "List the arguments of some jobs as short texts, without masked ones",
        answer=list[JobArguments],
        from_interface=False,
        query=(("ids", f"ids of at most {list_details.MAX_IDS} jobs, separated by commas"),),
    ),
)
