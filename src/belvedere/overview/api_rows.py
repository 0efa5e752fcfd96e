"""Rows of the list pages over HTTP: up to 200 in one request."""

from collections.abc import Callable
from typing import Any

from belvedere.access.request import AnyRequest
from belvedere.access.searches import run_search
from belvedere.db.interface import Dialect
from belvedere.overview.rows import changes, hosts, indicators, monitors, tasks
from belvedere.overview.rows.changes import HostLineChange, MonitorLineChange, MonitorPosition
from belvedere.overview.rows.hosts import HostLine
from belvedere.overview.rows.indicators import IndicatorLine
from belvedere.overview.rows.monitors import MonitorLine
from belvedere.overview.rows.tasks import TaskLine, WorkflowLine
from belvedere.rest import listing as filters
from belvedere.rest import pagination
from belvedere.rest import query as values
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


def _change_handler(
    listable: Callable[[Dialect], Listable], operation: Callable[..., Any]
) -> Handler:
    async def list_changes(request: AnyRequest) -> Reply:
        page = filters.read(request.query, listable(request.services.db.dialect))
        since = request.query.get("since")
        since_ms = values.time("since", since[-1]) if since else None
        rows, total = await run_search(request, operation, request.actor, page, since_ms)
        return pagination.page_reply(request, page, rows, total)

    return list_changes


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


def _changes_route(noun: str, handler: Handler, answer: object, since: str) -> Route:
    return Route(
        "GET",
        f"/-/board/{noun}/changes",
        "viewer",
        handler,
        f"List {noun} with only the fields that change all the time, in the order of the page",
        style="plain",
        answer=answer,
        from_interface=False,
        compress=True,
        query=(*pagination.QUERY, _SKIP, ("sort[rank]", "1: failures first"), ("since", since)),
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
    _changes_route(
        "monitors",
        _change_handler(monitors.listable, changes.list_monitors),
        list[MonitorLineChange],
        "only monitors of the page that were checked or changed after this time",
    ),
    Route(
        "GET",
        "/-/board/monitors/order",
        "viewer",
        _list_handler(monitors.listable, changes.list_order),
        "List the ids of the monitors of a page, in its order",
        style="plain",
        answer=list[MonitorPosition],
        from_interface=False,
        compress=True,
        query=(*pagination.QUERY, _SKIP, ("sort[rank]", "1: failures first")),
    ),
    _changes_route(
        "hosts",
        _change_handler(hosts.listable, changes.list_hosts),
        list[HostLineChange],
        "leave out hosts without figures after this time, unless they have a running job, a failing"
        " monitor or a warning",
    ),
)
