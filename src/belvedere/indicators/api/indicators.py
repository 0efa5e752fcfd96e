"""Endpoints of indicators."""

from belvedere.access.api.route_builders import acl_routes
from belvedere.access.request import AnyRequest, Request, heavy_read
from belvedere.access.searches import run_search
from belvedere.base.errors import Invalid
from belvedere.indicators import counting, history, queries, service, store
from belvedere.indicators.api.records import (
    IndicatorRecord,
    PointRecord,
    to_point_record,
    to_record,
    to_records,
)
from belvedere.indicators.bodies import IndicatorBody, StateBody
from belvedere.indicators.counting import CounterRequest
from belvedere.indicators.model import Action
from belvedere.indicators.queries import IndicatorView
from belvedere.rest import listing as filters
from belvedere.rest import pagination, query
from belvedere.rest.route import Handler, Reply, Route

DEFAULT_POINTS = 100


def _record(request: AnyRequest, view: IndicatorView) -> IndicatorRecord:
    return to_record(view, request.actor)


def _path_name(request: AnyRequest) -> tuple[str, str]:
    """The id or title from the path, and which of them it is."""
    by = "title" if "title" in request.path else "id"
    return request.path[by], by


async def list_indicators(request: Request[None]) -> Reply:
    listing = filters.read(request.query, store.INDICATORS)
    listing = await run_search(request, store.fit_to_budget, request.actor, listing)
    async with heavy_read(request, listing.size):
        views, total = await run_search(request, queries.list_page, request.actor, listing)
        records = to_records(views, request.actor)
    return pagination.page_reply(request, listing, records, total)


async def show(request: Request[None]) -> IndicatorRecord:
    name, by = _path_name(request)
    return _record(
        request, await request.services.db.read_inline(queries.show, request.actor, name, by=by)
    )


async def create(request: Request[IndicatorBody]) -> IndicatorRecord:
    return _record(
        request, await request.services.db.write(service.create, request.actor, request.body)
    )


async def replace(request: Request[IndicatorBody]) -> IndicatorRecord:
    operation = service.put if "title" in request.path else service.replace
    name, _ = _path_name(request)
    return _record(
        request,
        await request.services.db.write(
            operation, request.actor, name, request.body, request.if_match
        ),
    )


async def change(request: Request[IndicatorBody]) -> IndicatorRecord:
    name, by = _path_name(request)
    return _record(
        request,
        await request.services.db.write(
            service.change, request.actor, name, request.body, request.if_match, by=by
        ),
    )


async def push(request: Request[StateBody]) -> IndicatorRecord:
    report: StateBody = request.body
    if report.state is None and report.value is None:
        raise Invalid("Send a state, a value or both.", code="nothing_given")
    body = IndicatorBody(state=report.state, value=report.value)
    changed = await request.services.db.write(
        service.change, request.actor, request.path["id"], body, request.if_match
    )
    return _record(request, changed)


def _counter_handler(action: Action) -> Handler:
    async def count(request: AnyRequest) -> IndicatorRecord:
        name, by = _path_name(request)
        return _record(
            request,
            await request.services.db.write_batched(
                counting.count_batch, CounterRequest(request.actor, by, name, action)
            ),
        )

    return count


async def delete(request: Request[None]) -> IndicatorRecord:
    name, by = _path_name(request)
    return _record(
        request, await request.services.db.write(service.delete, request.actor, name, by=by)
    )


async def show_history(request: Request[None]) -> list[PointRecord]:
    since = query.time("since", request.first("since") or "1970-01-01")
    until = query.time("until", request.first("until") or "2100-01-01")
    max_points = query.integer("points", request.first("points") or str(DEFAULT_POINTS))
    if not 1 <= max_points <= history.MAX_POINTS:
        raise query.invalid_query("points", f"Must be 1 to {history.MAX_POINTS} points.")
    points = await run_search(
        request, queries.list_points, request.actor, request.path["id"], since, until, max_points
    )
    return [to_point_record(point) for point in points]


def _route(
    method: str,
    path: str,
    level: str,
    handler: Handler,
    summary: str,
    body: object = None,
    codes: tuple[str, ...] = (),
) -> Route:
    return Route(
        method,
        path,
        level,
        handler,
        summary,
        body=body,
        answer=IndicatorRecord,
        codes=codes,
    )


_COUNTER_SUMMARIES = {
    Action.INCREASE: "Count up by one",
    Action.DECREASE: "Count down by one, not below 0",
    Action.RESTART: "Reset to 1",
}
_EDIT_CODES = ("title_taken", "stale")


def _routes_for(path: str, lookup: str) -> tuple[Route, ...]:
    """Routes of one indicator, by its id or by its title."""
    put_summary = "Create or replace" if "title" in path else "Replace"
    return (
        _route("GET", path, "viewer", show, f"Show an indicator {lookup}"),
        _route(
            "PUT",
            path,
            "admin",
            replace,
            f"{put_summary} an indicator {lookup}",
            IndicatorBody,
            _EDIT_CODES,
        ),
        _route(
            "PATCH",
            path,
            "admin",
            change,
            f"Change parts of an indicator {lookup}",
            IndicatorBody,
            _EDIT_CODES,
        ),
        *(
            _route(
                "PATCH",
                f"{path}/{action}",
                "admin",
                _counter_handler(action),
                f"{counter_summary}, {lookup}",
            )
            for action, counter_summary in _COUNTER_SUMMARIES.items()
        ),
        _route(
            "DELETE",
            path,
            "user",
            delete,
            f"Delete or dismiss an indicator {lookup}",
            codes=("read_only",),
        ),
    )


ROUTES: tuple[Route, ...] = (
    Route(
        "GET",
        "/indicator",
        "viewer",
        list_indicators,
        "List the indicators that you may see",
        answer=list[IndicatorRecord],
        query=pagination.QUERY,
    ),
    _route(
        "POST",
        "/indicator",
        "admin",
        create,
        "Create an indicator",
        IndicatorBody,
        ("title_taken",),
    ),
    *_routes_for("/indicator/{id}", "by its id"),
    *_routes_for("/indicator/title/{title}", "by its title"),
    _route(
        "PATCH",
        "/indicator/{id}/state",
        "admin",
        push,
        "Push a state, a value, or both",
        StateBody,
        ("stale",),
    ),
    Route(
        "GET",
        "/indicator/{id}/history",
        "viewer",
        show_history,
        "List values of an indicator over time, oldest first",
        answer=list[PointRecord],
        from_interface=False,
        query=(
            ("since", "start time, inclusive"),
            ("until", "end time, exclusive"),
            (
                "points",
                f"number of values (default {DEFAULT_POINTS}, at most {history.MAX_POINTS})",
            ),
        ),
    ),
    *acl_routes("indicator", "/indicator/{id}/acl", store.find),
)
