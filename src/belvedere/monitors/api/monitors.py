"""Monitors over HTTP."""

import msgspec

from belvedere.access.api.route_builders import acl_routes
from belvedere.access.request import AnyRequest, Request, heavy_read
from belvedere.access.searches import run_search
from belvedere.base.clock import Millis, parse_iso
from belvedere.base.errors import Fault
from belvedere.monitors import history, service, state_log, store, trials
from belvedere.monitors.api import agent_reports, push_urls
from belvedere.monitors.api.records import MonitorRecord, to_record
from belvedere.monitors.config.bodies import MonitorBody
from belvedere.monitors.config.validation import invalid_fields
from belvedere.monitors.history import MonitorHistory
from belvedere.monitors.state_log import StateLog
from belvedere.monitors.trials import TrialRecord
from belvedere.rest import listing as filters
from belvedere.rest import pagination, query
from belvedere.rest.route import Reply, Route


class AlertsBody(msgspec.Struct):
    """Whether state changes of the monitor send notifications."""

    alerts: bool


class UntilBody(msgspec.Struct, forbid_unknown_fields=True):
    """When the pause or mute ends; without it, somebody has to end it."""

    until: str | None = None


def _record(request: AnyRequest, details: service.MonitorDetails) -> MonitorRecord:
    return to_record(*details, request.actor)


async def list_monitors(request: Request[None]) -> Reply:
    listing = filters.read(request.query, store.MONITORS)
    listing = await run_search(request, store.fit_to_budget, request.actor, listing)
    async with heavy_read(request, listing.size):
        rows, total = await run_search(request, service.list_page, request.actor, listing)
        records = [_record(request, details) for details in rows]
    return pagination.page_reply(request, listing, records, total)


async def show(request: Request[None]) -> MonitorRecord:
    return _record(
        request, await request.services.db.read(service.show, request.actor, request.path["id"])
    )


async def create(request: Request[MonitorBody]) -> MonitorRecord:
    query_host_id = request.first("host_id")
    details = await request.services.db.write(
        service.create, request.services.keyring, request.actor, request.body, query_host_id
    )
    return _record(request, details)


async def create_trial(request: Request[MonitorBody]) -> TrialRecord:
    return await request.services.db.write(
        trials.create, request.actor, request.body, request.first("host_id")
    )


async def show_trial(request: Request[None]) -> TrialRecord:
    return await request.services.db.read(trials.show, request.actor, request.path["id"])


async def replace(request: Request[MonitorBody]) -> MonitorRecord:
    return await _change(request, replaces=True)


async def change(request: Request[MonitorBody]) -> MonitorRecord:
    return await _change(request, replaces=False)


async def _change(request: AnyRequest, *, replaces: bool) -> MonitorRecord:
    details = await request.services.db.write(
        service.change,
        request.actor,
        request.path["id"],
        request.body,
        request.if_match,
        replaces=replaces,
    )
    return _record(request, details)


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
        message = "Must be a time such as 2026-01-31T08:00:00.000Z."
        raise invalid_fields([Fault("until", message)]) from None


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


async def show_history(request: Request[None]) -> MonitorHistory:
    since, until, step = (request.first(name) for name in ("from", "to", "step"))
    return await run_search(
        request,
        history.history,
        request.actor,
        request.path["id"],
        None if since is None else query.time("from", since),
        None if until is None else query.time("to", until),
        None if step is None else query.integer("step", step),
    )


async def show_state_log(request: Request[None]) -> StateLog:
    since = request.first("from")
    return await run_search(
        request,
        state_log.read_state_log,
        request.actor,
        request.path["id"],
        None if since is None else query.time("from", since),
    )


def _switch(action: str, handler: object, summary: str, *, has_end: bool) -> Route:
    return Route(
        "PUT",
        f"/monitor/{{id}}/{action}",
        "admin",
        handler,  # type: ignore[arg-type]
        summary,
        body=UntilBody if has_end else None,
        answer=MonitorRecord,
        from_interface=False,
    )


ROUTES: tuple[Route, ...] = (
    Route(
        "GET",
        "/monitor",
        "viewer",
        list_monitors,
        "List monitors",
        answer=list[MonitorRecord],
        compress=True,
        query=pagination.QUERY,
    ),
    Route("GET", "/monitor/{id}", "viewer", show, "Show a monitor", answer=MonitorRecord),
    Route(
        "POST",
        "/monitor",
        "admin",
        create,
        "Create a monitor",
        body=MonitorBody,
        answer=MonitorRecord,
        query=(("host_id", "the host that runs the check, if the body names none"),),
    ),
    Route(
        "POST",
        "/monitor/trial",
        "admin",
        create_trial,
        "Run a check once on an agent, without creating a monitor",
        body=MonitorBody,
        answer=TrialRecord,
        query=(("host_id", "the host that runs the check, if the body names none"),),
        codes=("host_offline", "too_many_trials"),
    ),
    Route(
        "GET",
        "/monitor/trial/{id}",
        "admin",
        show_trial,
        "Show the result of such a check, or that it is pending",
        answer=TrialRecord,
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
        "Turn alerts of a monitor on or off",
        body=AlertsBody,
        answer=MonitorRecord,
    ),
    _switch("pause", pause, "Pause a monitor", has_end=True),
    _switch("resume", resume, "Resume a monitor", has_end=False),
    _switch("mute", mute, "Mute alerts of a monitor", has_end=True),
    _switch("unmute", unmute, "Unmute alerts of a monitor", has_end=False),
    Route(
        "GET",
        "/monitor/{id}/history",
        "viewer",
        show_history,
        "Show check results of a monitor over time, and its uptime",
        answer=MonitorHistory,
        from_interface=False,
        compress=True,
        query=(
            ("from", "start time; default: one day before the end"),
            ("to", "end time; default: now"),
            ("step", "0 (single checks), 60000, 600000, 3600000 or 86400000 milliseconds"),
        ),
    ),
    Route(
        "GET",
        "/monitor/{id}/turns",
        "viewer",
        show_state_log,
        "List state changes of a monitor, newest first",
        answer=StateLog,
        from_interface=False,
        query=(("from", "start time; default: everything that is stored"),),
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
    *agent_reports.ROUTES,
    *acl_routes("monitor", "/monitor/{id}/acl", store.find),
)
