"""Rows of pages over HTTP: one request for 200 of them."""

from collections.abc import Callable
from typing import Any

from belvedere.access.request import AnyRequest
from belvedere.access.searches import run_search
from belvedere.db.interface import Dialect
from belvedere.overview.rows import hosts, indicators, monitors, tasks
from belvedere.overview.rows.hosts import HostLine
from belvedere.overview.rows.indicators import IndicatorLine
from belvedere.overview.rows.monitors import MonitorLine
from belvedere.overview.rows.tasks import TaskLine, WorkflowLine
from belvedere.rest import listing as filters
from belvedere.rest import pagination
from belvedere.rest.listing import Listable
from belvedere.rest.route import Handler, Reply, Route


def _listing(listable: Callable[[Dialect], Listable], verb: Callable[..., Any]) -> Handler:
    async def listing(request: AnyRequest) -> Reply:
        asked = filters.read(request.query, listable(request.services.db.dialect))
        found, total = await run_search(request, verb, request.actor, asked)
        return pagination.answer(request, asked, found, total)

    return listing


_SKIP = ("skip", "leave out so many from the start, in any order")


def _board(noun: str, handler: Handler, line: Any, ranked: bool = False) -> Route:
    worst = (("sort[rank]", "1: what wants to be seen comes first"),) if ranked else ()
    return Route(
        "GET",
        f"/-/board/{noun}",
        "viewer",
        handler,
        f"The {noun} as rows of a page, 200 at most",
        style="plain",
        answer=list[line],
        known=False,
        query=(*pagination.QUERY, _SKIP, *worst),
    )


ROUTES: tuple[Route, ...] = (
    _board("monitors", _listing(monitors.listable, monitors.listed), MonitorLine, ranked=True),
    _board("tasks", _listing(tasks.task_list, tasks.tasks), TaskLine),
    _board("workflows", _listing(tasks.workflow_list, tasks.workflows), WorkflowLine),
    _board("hosts", _listing(hosts.listable, hosts.listed), HostLine, ranked=True),
    _board(
        "indicators", _listing(indicators.listable, indicators.listed), IndicatorLine, ranked=True
    ),
)
