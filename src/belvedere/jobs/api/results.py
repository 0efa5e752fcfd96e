"""What went into a job and what came out of it, and the jobs that are not over."""

from dataclasses import replace
from typing import Any

import msgspec

from belvedere.jobs.api import list_pages, run_requests, wait
from belvedere.jobs.model import FINAL, OPEN
from belvedere.jobs.queries import details, pages
from belvedere.jobs.queries.pages import Running
from belvedere.jobs.queries.records import InputRecord, JobRecord
from belvedere.rest import listing as filters
from belvedere.rest import pagination
from belvedere.rest import query as values
from belvedere.rest.listing import Condition, Listing
from belvedere.rest.route import Ask, Handler, Reply, Route
from belvedere.rest.searches import run_search


async def list_running(ask: Ask) -> Reply:
    listing = _open_ones(ask)
    page = await list_pages.read(ask, listing)
    return pagination.answer(ask, listing, page.records, page.total, page.until)


async def count_running(ask: Ask) -> list[Running]:
    found: list[Running] = await run_search(ask, pages.running, ask.actor, _open_ones(ask))
    return found


def _open_ones(ask: Ask) -> Listing:
    asked = filters.read(ask.query, pages.listable(ask.house.db.sql.engine))
    still = Condition("lifecycle", "$in", tuple(OPEN))
    return replace(asked, conditions=(*asked.conditions, still))


async def _job(ask: Ask) -> JobRecord:
    found: JobRecord = await ask.house.db.glance(details.show, ask.actor, ask.path["id"])
    return found


async def show_input(ask: Ask) -> Reply:
    found = await _job(ask)
    if not is_said(ask, "include_definitions"):
        return Reply(_values(found))
    return Reply(InputRecord(found.id, _values(found), found.creation_date, found.task))


def _values(found: JobRecord) -> list[Any]:
    return found.task_arguments_values or []


async def show_output(ask: Ask) -> Reply:
    return Reply((await _job(ask)).output)


async def show_result(ask: Ask) -> Reply:
    """Once it is over, in the form that is asked for; 202 with the job where it takes longer."""
    nth = values.whole("parse", ask.first("parse") or "0")
    within_s = wait.seconds(ask.first("timeout"))
    found = await wait.until_over(ask, ask.actor, ask.path["id"], within_s)
    await run_requests.with_log(ask, found, found.id)
    if found.lifecycle not in FINAL:
        return Reply(found, 202)
    if is_said(ask, "full"):
        return Reply(found)
    if is_said(ask, "result"):
        return Reply(found.result or None)
    return Reply(found.output if is_said(ask, "output") else _parsed(found.output, nth))


def is_said(ask: Ask, name: str) -> bool:
    """A bare name in the query counts as yes."""
    return name in ask.query and (ask.first(name) or "").lower() not in ("false", "0")


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
