"""Monitors over HTTP."""

import msgspec

from belvedere.access.api.acl import acl_routes
from belvedere.access.request import AnyRequest, Request, heavy_read
from belvedere.access.searches import run_search
from belvedere.base.clock import Millis, parse_iso
from belvedere.base.errors import Fault
from belvedere.legacy_agents import check_reports
from belvedere.legacy_agents.check_reports import ReportBody
from belvedere.monitors import history, service, store, turns
from belvedere.monitors.api import push_urls
from belvedere.monitors.api.records import MonitorRecord, record
from belvedere.monitors.config.bodies import MonitorBody
from belvedere.monitors.config.validation import refusal
from belvedere.monitors.history import History
from belvedere.monitors.turns import Turns
from belvedere.rest import listing as filters
from belvedere.rest import pagination, query
from belvedere.rest.route import Reply, Route


class AlertsBody(msgspec.Struct):
    """Whether people are told of it."""

    alerts: bool


class UntilBody(msgspec.Struct, forbid_unknown_fields=True):
    """When it ends by itself; without it, somebody ends it."""

    until: str | None = None


def _record(request: AnyRequest, shown: service.Shown) -> MonitorRecord:
    return record(*shown, request.actor)


async def list_monitors(request: Request[None]) -> Reply:
    listing = filters.read(request.query, store.MONITORS)
    listing = await run_search(request, store.fitted, request.actor, listing)
    async with heavy_read(request, listing.size):
        found, total = await run_search(request, service.listed, request.actor, listing)
        records = [_record(request, one) for one in found]
    return pagination.answer(request, listing, records, total)


async def show(request: Request[None]) -> MonitorRecord:
    return _record(
        request, await request.services.db.read(service.show, request.actor, request.path["id"])
    )


async def create(request: Request[MonitorBody]) -> MonitorRecord:
    by_query = request.first("host_id")
    made = await request.services.db.write(
        service.create, request.services.keyring, request.actor, request.body, by_query
    )
    return _record(request, made)


async def replace(request: Request[MonitorBody]) -> MonitorRecord:
    return await _change(request, whole=True)


async def change(request: Request[MonitorBody]) -> MonitorRecord:
    return await _change(request, whole=False)


async def _change(request: AnyRequest, *, whole: bool) -> MonitorRecord:
    changed = await request.services.db.write(
        service.change,
        request.actor,
        request.path["id"],
        request.body,
        request.if_match,
        whole=whole,
    )
    return _record(request, changed)


async def delete(request: Request[None]) -> MonitorRecord:
    return _record(
        request, await request.services.db.write(service.delete, request.actor, request.path["id"])
    )


def _until(request: AnyRequest) -> Millis | None:
    if request.body is None or request.body.until is None:
        return None
    try:
        return parse_iso(request.body.until)
    except (ValueError, OverflowError):
        message = "Give a time such as 2026-01-31T08:00:00.000Z."
        raise refusal([Fault("until", message)]) from None


async def pause(request: Request[UntilBody]) -> MonitorRecord:
    paused = await request.services.db.write(
        service.pause, request.actor, request.path["id"], _until(request)
    )
    return _record(request, paused)


async def resume(request: Request[None]) -> MonitorRecord:
    return _record(
        request, await request.services.db.write(service.resume, request.actor, request.path["id"])
    )


async def mute(request: Request[UntilBody]) -> MonitorRecord:
    return await _mute(request, alerts=False, until=_until(request))


async def unmute(request: Request[None]) -> MonitorRecord:
    return await _mute(request, alerts=True, until=None)


async def set_alerts(request: Request[AlertsBody]) -> MonitorRecord:
    return await _mute(request, alerts=request.body.alerts, until=None)


async def _mute(request: AnyRequest, *, alerts: bool, until: Millis | None) -> MonitorRecord:
    muted = await request.services.db.write(
        service.mute, request.actor, request.path["id"], alerts, until
    )
    return _record(request, muted)


async def show_history(request: Request[None]) -> History:
    since, until, step = (request.first(name) for name in ("from", "to", "step"))
    return await run_search(
        request,
        history.history,
        request.actor,
        request.path["id"],
        None if since is None else query.time("from", since),
        None if until is None else query.time("to", until),
        None if step is None else query.whole("step", step),
    )


async def show_turns(request: Request[None]) -> Turns:
    since = request.first("from")
    return await run_search(
        request,
        turns.turns,
        request.actor,
        request.path["id"],
        None if since is None else query.time("from", since),
    )


async def take_report(request: Request[ReportBody]) -> MonitorRecord:
    """From an agent of the original."""
    return _record(
        request,
        await request.services.db.write(
            check_reports.report, request.actor, request.path["id"], request.body
        ),
    )


def _switch(word: str, handler: object, summary: str, *, has_end: bool) -> Route:
    return Route(
        "PUT",
        f"/monitor/{{id}}/{word}",
        "admin",
        handler,  # type: ignore[arg-type]
        summary,
        body=UntilBody if has_end else None,
        answer=MonitorRecord,
        known=False,
    )


ROUTES: tuple[Route, ...] = (
    Route(
        "GET",
        "/monitor",
        "viewer",
        list_monitors,
        "List monitors",
        answer=list[MonitorRecord],
        query=pagination.QUERY,
    ),
    Route("GET", "/monitor/{id}", "viewer", show, "Show a monitor", answer=MonitorRecord),
    Route(
        "POST",
        "/monitor",
        "admin",
        create,
        "Make a monitor",
        body=MonitorBody,
        answer=MonitorRecord,
        query=(("host_id", "the host that checks, where the body does not say it"),),
    ),
    Route(
        "PUT",
        "/monitor/{id}",
        "admin",
        replace,
        "Replace a monitor's definition",
        body=MonitorBody,
        answer=MonitorRecord,
        codes=("stale", "follows_definition"),
    ),
    Route(
        "PATCH",
        "/monitor/{id}",
        "admin",
        change,
        "Change parts of a monitor's definition",
        body=MonitorBody,
        answer=MonitorRecord,
        codes=("stale", "follows_definition"),
    ),
    Route(
        "DELETE",
        "/monitor/{id}",
        "admin",
        delete,
        "Delete a monitor",
        answer=MonitorRecord,
        codes=("host_monitor", "follows_definition"),
    ),
    Route(
        "PATCH",
        "/monitor/{id}/alerts",
        "admin",
        set_alerts,
        "Tell people of a monitor, or not",
        body=AlertsBody,
        answer=MonitorRecord,
    ),
    _switch("pause", pause, "Do not check it for a while", has_end=True),
    _switch("resume", resume, "Check it again", has_end=False),
    _switch("mute", mute, "Tell nobody of it for a while", has_end=True),
    _switch("unmute", unmute, "Tell people of it again", has_end=False),
    Route(
        "GET",
        "/monitor/{id}/history",
        "viewer",
        show_history,
        "What a monitor saw over time, and its uptime",
        answer=History,
        known=False,
        query=(
            ("from", "a time; a day before the end without it"),
            ("to", "a time; now without it"),
            ("step", "0 (single checks), 60000, 600000, 3600000 or 86400000 milliseconds"),
        ),
    ),
    Route(
        "GET",
        "/monitor/{id}/turns",
        "viewer",
        show_turns,
        "When a monitor came into which state, newest first",
        answer=Turns,
        known=False,
        query=(("from", "a time; all that is kept without it"),),
    ),
    *push_urls.ROUTES,
    Route(
        "GET",
        "/resource",
        "viewer",
        list_monitors,
        "The same as GET /monitor",
        answer=list[MonitorRecord],
        query=pagination.QUERY,
    ),
    Route(
        "GET",
        "/resource/{id}",
        "viewer",
        show,
        "The same as GET /monitor/{id}",
        answer=MonitorRecord,
    ),
    *(
        Route(
            method,
            path,
            "agent",
            take_report,
            "Say what a check of this agent's host saw",
            body=ReportBody,
            answer=MonitorRecord,
        )
        for method, path in (("PATCH", "/resource/{id}/state"), ("PUT", "/resource/{id}"))
    ),
    *acl_routes("monitor", "/monitor/{id}/acl", store.find),
)
