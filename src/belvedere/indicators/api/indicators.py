"""Indicators over HTTP."""

from belvedere.access.api.acl import acl_routes
from belvedere.access.request import AnyRequest, Request, heavy_read
from belvedere.access.searches import run_search
from belvedere.base.errors import Invalid
from belvedere.indicators import counting, history, queries, service, store
from belvedere.indicators.api.records import IndicatorRecord, PointRecord, point, record, records
from belvedere.indicators.bodies import IndicatorBody, StateBody
from belvedere.indicators.counting import Step
from belvedere.indicators.model import Action
from belvedere.indicators.queries import Shown
from belvedere.rest import listing as filters
from belvedere.rest import pagination, query
from belvedere.rest.route import Handler, Reply, Route

POINTS = 100


def _record(request: AnyRequest, shown: Shown) -> IndicatorRecord:
    return record(shown, request.actor)


def _named(request: AnyRequest) -> tuple[str, str]:
    """The id or the title that the path holds, and which of them it is."""
    by = "title" if "title" in request.path else "id"
    return request.path[by], by


async def list_indicators(request: Request[None]) -> Reply:
    listing = filters.read(request.query, store.INDICATORS)
    listing = await run_search(request, store.fitted, request.actor, listing)
    async with heavy_read(request, listing.size):
        found, total = await run_search(request, queries.listed, request.actor, listing)
        shown = records(found, request.actor)
    return pagination.answer(request, listing, shown, total)


async def show(request: Request[None]) -> IndicatorRecord:
    name, by = _named(request)
    return _record(
        request, await request.services.db.read_inline(queries.show, request.actor, name, by=by)
    )


async def create(request: Request[IndicatorBody]) -> IndicatorRecord:
    return _record(
        request, await request.services.db.write(service.create, request.actor, request.body)
    )


async def replace(request: Request[IndicatorBody]) -> IndicatorRecord:
    verb = service.put if "title" in request.path else service.replace
    name, _ = _named(request)
    return _record(
        request,
        await request.services.db.write(verb, request.actor, name, request.body, request.if_match),
    )


async def change(request: Request[IndicatorBody]) -> IndicatorRecord:
    name, by = _named(request)
    return _record(
        request,
        await request.services.db.write(
            service.change, request.actor, name, request.body, request.if_match, by=by
        ),
    )


async def push(request: Request[StateBody]) -> IndicatorRecord:
    given: StateBody = request.body
    if given.state is None and given.value is None:
        raise Invalid("Give a state, a value, or both.", code="nothing_given")
    # The original's scripts say success where an indicator says normal.
    state = "normal" if given.state == "success" else given.state
    body = IndicatorBody(state=state, value=given.value)
    changed = await request.services.db.write(
        service.change, request.actor, request.path["id"], body, request.if_match
    )
    return _record(request, changed)


def _counts(action: Action) -> Handler:
    async def count(request: AnyRequest) -> IndicatorRecord:
        name, by = _named(request)
        return _record(
            request,
            await request.services.db.write_batched(
                counting.step, Step(request.actor, by, name, action)
            ),
        )

    return count


async def delete(request: Request[None]) -> IndicatorRecord:
    name, by = _named(request)
    return _record(
        request, await request.services.db.write(service.delete, request.actor, name, by=by)
    )


async def past(request: Request[None]) -> list[PointRecord]:
    since = query.time("since", request.first("since") or "1970-01-01")
    until = query.time("until", request.first("until") or "2100-01-01")
    most = query.whole("points", request.first("points") or str(POINTS))
    if not 1 <= most <= history.MOST_POINTS:
        raise query.bad("points", f"points takes 1 to {history.MOST_POINTS}.")
    found = await run_search(
        request, queries.past, request.actor, request.path["id"], since, until, most
    )
    return [point(one) for one in found]


def _door(
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


_DOES = {
    Action.INCREASE: "Count up by one",
    Action.DECREASE: "Count down by one, not below 0",
    Action.RESTART: "Start again at 1",
}
_EDIT = ("title_taken", "stale")


def _doors(path: str, called: str) -> tuple[Route, ...]:
    """What can be done to one indicator, by its id or by its title."""
    puts = "Make or replace" if "title" in path else "Replace"
    return (
        _door("GET", path, "viewer", show, f"Show an indicator {called}"),
        _door("PUT", path, "admin", replace, f"{puts} an indicator {called}", IndicatorBody, _EDIT),
        _door(
            "PATCH",
            path,
            "admin",
            change,
            f"Change parts of an indicator {called}",
            IndicatorBody,
            _EDIT,
        ),
        *(
            _door("PATCH", f"{path}/{action}", "admin", _counts(action), f"{does}, {called}")
            for action, does in _DOES.items()
        ),
        _door(
            "DELETE",
            path,
            "user",
            delete,
            f"Delete or dismiss an indicator {called}",
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
    _door(
        "POST",
        "/indicator",
        "admin",
        create,
        "Make an indicator",
        IndicatorBody,
        ("title_taken",),
    ),
    *_doors("/indicator/{id}", "by its id"),
    *_doors("/indicator/title/{title}", "by its title"),
    _door(
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
        past,
        "Its values over time, oldest first",
        answer=list[PointRecord],
        known=False,
        query=(
            ("since", "only from this moment on"),
            ("until", "only before this moment"),
            ("points", f"at most so many ({POINTS}; at most {history.MOST_POINTS})"),
        ),
    ),
    *acl_routes("indicator", "/indicator/{id}/acl", store.find),
)
