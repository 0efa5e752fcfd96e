"""Rows of the list pages over HTTP: up to 200 in one request."""

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


def _list_handler(
    listable: Callable[[Dialect], Listable], operation: Callable[..., Any]
) -> Handler:
    async def list_rows(request: AnyRequest) -> Reply:
        page = filters.read(request.query, listable(request.services.db.dialect))
        rows, total = await run_search(request, operation, request.actor, page)
        return pagination.page_reply(request, page, rows, total)

    return list_rows


_SKIP = ("skip", "skip this many rows, in any sort order")


def _rows_route(noun: str, handler: Handler, answer: object, ranked: bool = False) -> Route:
    rank = (("sort[rank]", "1: failures first"),) if ranked else ()
    return Route(
        "GET",
        f"/-/board/{noun}",
        "viewer",
        handler,
        f"List {noun} as rows of a page, at most 200",
        style="plain",
        answer=answer,
        from_interface=False,
        compress=True,
        query=(*pagination.QUERY, _SKIP, *rank),
    )


ROUTES: tuple[Route, ...] = (
    _rows_route(
        "monitors",
        _list_handler(monitors.listable, monitors.list_page),
        list[MonitorLine],
        ranked=True,
    ),
    _rows_route("tasks", _list_handler(tasks.listable_tasks, tasks.list_tasks), list[TaskLine]),
    _rows_route(
        "workflows",
        _list_handler(tasks.listable_workflows, tasks.list_workflows),
        list[WorkflowLine],
    ),
    _rows_route(
        "hosts", _list_handler(hosts.listable, hosts.list_page), list[HostLine], ranked=True
    ),
    _rows_route(
        "indicators",
        _list_handler(indicators.listable, indicators.list_page),
        list[IndicatorLine],
        ranked=True,
    ),
)
