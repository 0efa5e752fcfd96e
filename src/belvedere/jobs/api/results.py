"""What went into a job and what came out of it, and the jobs that are not over."""

from dataclasses import replace
from typing import Any

import msgspec

from belvedere.access.request import AnyRequest, Request
from belvedere.access.searches import run_search
from belvedere.jobs.api import list_pages, run_requests, wait
from belvedere.jobs.model import FINAL, OPEN
from belvedere.jobs.queries import details, pages
from belvedere.jobs.queries.pages import Running
from belvedere.jobs.queries.records import InputRecord, JobRecord
from belvedere.rest import listing as filters
from belvedere.rest import pagination
from belvedere.rest import query as values
from belvedere.rest.listing import Condition, Listing
from belvedere.rest.route import Handler, Reply, Route


async def list_running(request: Request[None]) -> Reply:
    listing = _open_ones(request)
    page = await list_pages.read(request, listing)
    return pagination.answer(request, listing, page.records, page.total, page.until)


async def count_running(request: Request[None]) -> list[Running]:
    found: list[Running] = await run_search(
        request, pages.running, request.actor, _open_ones(request)
    )
    return found


def _open_ones(request: AnyRequest) -> Listing:
    asked = filters.read(request.query, pages.listable(request.services.db.dialect))
    still = Condition("lifecycle", "$in", tuple(OPEN))
    return replace(asked, conditions=(*asked.conditions, still))


async def _job(request: AnyRequest) -> JobRecord:
    found: JobRecord = await request.services.db.read_inline(
        details.show, request.actor, request.path["id"]
    )
    return found


async def show_input(request: Request[None]) -> Reply:
    found = await _job(request)
    if not is_said(request, "include_definitions"):
        return Reply(_values(found))
    return Reply(InputRecord(found.id, _values(found), found.creation_date, found.task))


def _values(found: JobRecord) -> list[Any]:
    return found.task_arguments_values or []


async def show_output(request: Request[None]) -> Reply:
    return Reply((await _job(request)).output)


async def show_result(request: Request[None]) -> Reply:
    """Once it is over, in the form that is asked for; 202 with the job where it takes longer."""
    nth = values.whole("parse", request.first("parse") or "0")
    within_s = wait.seconds(request.first("timeout"))
    found = await wait.until_over(request, request.actor, request.path["id"], within_s)
    await run_requests.with_log(request, found, found.id)
    if found.lifecycle not in FINAL:
        return Reply(found, 202)
    if is_said(request, "full"):
        return Reply(found)
    if is_said(request, "result"):
        return Reply(found.result or None)
    return Reply(found.output if is_said(request, "output") else _parsed(found.output, nth))


def is_said(request: AnyRequest, name: str) -> bool:
    """A bare name in the query counts as yes."""
    return name in request.query and (request.first(name) or "").lower() not in ("false", "0")


def _parsed(output: Any, nth: int) -> Any:
    """One value of the output, decoded where it is JSON."""
    if not isinstance(output, list) or not 0 <= nth < len(output):
        return None
    try:
        return msgspec.json.decode(output[nth])
    except (msgspec.DecodeError, TypeError):
        return output[nth]


_INPUT = (("include_definitions", "also the definitions of the arguments"),)
_RESULT = (
    ("timeout", "seconds to wait for its end, 60 unless told, at most 300"),
    ("full", "the whole job"),
    ("result", "its result"),
    ("output", "all values of its output"),
    ("parse", "the number of one value of its output, decoded; the first unless told"),
)


def _read(path: str, handler: Handler, summary: str, answer: Any, query: Any = ()) -> Route:
    return Route("GET", path, "viewer", handler, summary, answer=answer, query=query)


def _result(method: str) -> Route:
    return Route(
        method,
        "/job/{id}/result",
        "viewer",
        show_result,
        "What came of it, once it is over.",
        answer=Any,
        statuses=(202,),
        query=_RESULT,
    )


ROUTES: tuple[Route, ...] = (
    _read(
        "/job/running",
        list_running,
        "Jobs that are not over, newest first.",
        list[JobRecord],
        pagination.QUERY,
    ),
    _read(
        "/job/running_count",
        count_running,
        "How many of each task and workflow are not over.",
        list[Running],
        pagination.QUERY,
    ),
    _read(
        "/job/{id}/input",
        show_input,
        "The values that it was given.",
        list[Any] | InputRecord,
        _INPUT,
    ),
    _read("/job/{id}/output", show_output, "The values that it gave.", list[Any] | None),
    _result("GET"),
    _result("POST"),
)
