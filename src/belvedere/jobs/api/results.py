"""Input, output and results of jobs, and lists of open jobs."""

from dataclasses import replace
from typing import Any

import msgspec

from belvedere.access.request import AnyRequest, Request
from belvedere.access.searches import run_search
from belvedere.jobs.api import list_pages, run_requests, wait
from belvedere.jobs.model import FINAL, OPEN
from belvedere.jobs.queries import details, pages
from belvedere.jobs.queries.pages import OpenJobCount
from belvedere.jobs.queries.records import InputRecord, JobRecord
from belvedere.rest import listing as filters
from belvedere.rest import pagination
from belvedere.rest import query as values
from belvedere.rest.listing import Condition, Listing
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


async def _job(request: AnyRequest) -> JobRecord:
    record: JobRecord = await request.services.db.read_inline(
        details.show, request.actor, request.path["id"]
    )
    return record


async def show_input(request: Request[None]) -> Reply:
    record = await _job(request)
    if not is_set(request, "include_definitions"):
        return Reply(_values(record))
    return Reply(InputRecord(record.id, _values(record), record.creation_date, record.task))


def _values(record: JobRecord) -> list[Any]:
    return record.task_arguments_values or []


async def show_output(request: Request[None]) -> Reply:
    return Reply((await _job(request)).output)


async def show_result(request: Request[None]) -> Reply:
    """The result in the requested form once the job has ended; 202 if it takes longer."""
    index = values.integer("parse", request.first("parse") or "0")
    within_s = wait.parse_seconds(request.first("timeout"))
    record = await wait.until_over(request, request.actor, request.path["id"], within_s)
    await run_requests.add_log(request, record, record.id)
    if record.lifecycle not in FINAL:
        return Reply(record, 202)
    if is_set(request, "full"):
        return Reply(record)
    if is_set(request, "result"):
        return Reply(record.result or None)
    return Reply(record.output if is_set(request, "output") else _parsed(record.output, index))


def is_set(request: AnyRequest, name: str) -> bool:
    """A parameter without a value counts as true."""
    return name in request.query and (request.first(name) or "").lower() not in ("false", "0")


def _parsed(output: object, index: int) -> object:
    """One value of the output, decoded where it is JSON."""
    if not isinstance(output, list) or not 0 <= index < len(output):
        return None
    try:
        return msgspec.json.decode(output[index])
    except (msgspec.DecodeError, TypeError):
        return output[index]


_INPUT = (("include_definitions", "also the definitions of the arguments"),)
_RESULT = (
    ("timeout", "seconds to wait for the end, default 60, at most 300"),
    ("full", "the whole job"),
    ("result", "its result"),
    ("output", "all values of its output"),
    ("parse", "the index of one value of its output, decoded; default 0"),
)


def _read(
    path: str, handler: Handler, summary: str, answer: object, query: QueryTable = ()
) -> Route:
    return Route("GET", path, "viewer", handler, summary, answer=answer, query=query)


def _result(method: str) -> Route:
    return Route(
        method,
        "/job/{id}/result",
        "viewer",
        show_result,
        "The result, once the job has ended.",
        answer=Any,
        statuses=(202,),
        query=_RESULT,
    )


ROUTES: tuple[Route, ...] = (
    _read(
        "/job/running",
        list_running,
        "Open jobs, newest first.",
        list[JobRecord],
        pagination.QUERY,
    ),
    _read(
        "/job/running_count",
        count_running,
        "The number of open jobs of each task and workflow.",
        list[OpenJobCount],
        pagination.QUERY,
    ),
    _read(
        "/job/{id}/input",
        show_input,
        "The values of its arguments.",
        list[Any] | InputRecord,
        _INPUT,
    ),
    _read("/job/{id}/output", show_output, "The values of its output.", list[Any] | None),
    _result("GET"),
    _result("POST"),
)
