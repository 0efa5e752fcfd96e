"""Monitors over HTTP."""

import msgspec

from belvedere.access.api.acl import acl_routes
from belvedere.access.limits import anonymous_requests
from belvedere.access.limits.rate_limits import Kind
from belvedere.base.clock import Millis, parse_iso
from belvedere.base.errors import Fault, Forbidden
from belvedere.legacy_agents import check_reports
from belvedere.legacy_agents.check_reports import ReportBody
from belvedere.monitors import history, push, service, store, turns
from belvedere.monitors.api.records import MonitorRecord, record
from belvedere.monitors.config.bodies import MonitorBody
from belvedere.monitors.config.validation import refusal
from belvedere.monitors.history import History
from belvedere.monitors.push import Pushed
from belvedere.monitors.turns import Turns
from belvedere.rest import listing as filters
from belvedere.rest import pagination, query
from belvedere.rest.response_budget import heavy_read
from belvedere.rest.route import Ask, Reply, Route
from belvedere.rest.searches import run_search


class AlertsBody(msgspec.Struct):
    """Whether people are told of it."""

    alerts: bool


class UntilBody(msgspec.Struct, forbid_unknown_fields=True):
    """When it ends by itself; without it, somebody ends it."""

    until: str | None = None


class PushBody(msgspec.Struct):
    state: str = ""
    message: str = ""


class PushCredentials(msgspec.Struct):
    """The secret of a push monitor, and the URL to be called."""

    id: str
    secret: str
    url: str


class RotateBody(msgspec.Struct, forbid_unknown_fields=True):
    """For how many seconds the old URL still works."""

    overlap: int = 0


def _record(ask: Ask, shown: service.Shown) -> MonitorRecord:
    return record(*shown, ask.actor)


async def list_monitors(ask: Ask) -> Reply:
    listing = filters.read(ask.query, store.MONITORS)
    listing = await run_search(ask, store.fitted, ask.actor, listing)
    async with heavy_read(ask, listing.size):
        found, total = await run_search(ask, service.listed, ask.actor, listing)
        records = [_record(ask, one) for one in found]
    return pagination.answer(ask, listing, records, total)


async def show(ask: Ask) -> MonitorRecord:
    return _record(ask, await ask.house.db.read(service.show, ask.actor, ask.path["id"]))


async def create(ask: Ask) -> MonitorRecord:
    by_query = ask.first("host_id")
    made = await ask.house.db.write(service.create, ask.house.keys, ask.actor, ask.body, by_query)
    return _record(ask, made)


async def replace(ask: Ask) -> MonitorRecord:
    return await _change(ask, whole=True)


async def change(ask: Ask) -> MonitorRecord:
    return await _change(ask, whole=False)


async def _change(ask: Ask, *, whole: bool) -> MonitorRecord:
    changed = await ask.house.db.write(
        service.change, ask.actor, ask.path["id"], ask.body, ask.if_match, whole=whole
    )
    return _record(ask, changed)


async def delete(ask: Ask) -> MonitorRecord:
    return _record(ask, await ask.house.db.write(service.delete, ask.actor, ask.path["id"]))


def _until(ask: Ask) -> Millis | None:
    if ask.body is None or ask.body.until is None:
        return None
    try:
        return parse_iso(ask.body.until)
    except (ValueError, OverflowError):
        message = "Give a time such as 2026-01-31T08:00:00.000Z."
        raise refusal([Fault("until", message)]) from None


async def pause(ask: Ask) -> MonitorRecord:
    paused = await ask.house.db.write(service.pause, ask.actor, ask.path["id"], _until(ask))
    return _record(ask, paused)


async def resume(ask: Ask) -> MonitorRecord:
    return _record(ask, await ask.house.db.write(service.resume, ask.actor, ask.path["id"]))


async def mute(ask: Ask) -> MonitorRecord:
    return await _mute(ask, alerts=False, until=_until(ask))


async def unmute(ask: Ask) -> MonitorRecord:
    return await _mute(ask, alerts=True, until=None)


async def set_alerts(ask: Ask) -> MonitorRecord:
    return await _mute(ask, alerts=ask.body.alerts, until=None)


async def _mute(ask: Ask, *, alerts: bool, until: Millis | None) -> MonitorRecord:
    muted = await ask.house.db.write(service.mute, ask.actor, ask.path["id"], alerts, until)
    return _record(ask, muted)


async def show_history(ask: Ask) -> History:
    since, until, step = (ask.first(name) for name in ("from", "to", "step"))
    return await run_search(
        ask,
        history.history,
        ask.actor,
        ask.path["id"],
        None if since is None else query.time("from", since),
        None if until is None else query.time("to", until),
        None if step is None else query.whole("step", step),
    )


async def show_turns(ask: Ask) -> Turns:
    since = ask.first("from")
    return await run_search(
        ask,
        turns.turns,
        ask.actor,
        ask.path["id"],
        None if since is None else query.time("from", since),
    )


async def take_report(ask: Ask) -> MonitorRecord:
    """From an agent of the original."""
    return _record(
        ask, await ask.house.db.write(check_reports.report, ask.actor, ask.path["id"], ask.body)
    )


async def admit_push(ask: Ask) -> None:
    await anonymous_requests.by_secret(ask, "monitor", ask.path["id"])


async def push_state(ask: Ask) -> Pushed:
    body = ask.body or PushBody()
    said = (body.state or ask.first("state") or "", body.message or ask.first("message") or "")
    limits, address, target = ask.house.limits, ask.actor.address, ask.path["id"]
    proof = ask.house.keys.digest(ask.path["secret"])
    try:
        pushed: Pushed = await ask.house.db.write(
            push.push, ask.house.keys, ask.customer, ask.path["id"], ask.path["secret"], said
        )
    except Forbidden:
        limits.wrong(address, kind=Kind.SECRET, target=target, proof=proof)
        raise
    limits.right(proof)
    return pushed


def _credentials(ask: Ask, secret: str) -> PushCredentials:
    monitor_id = ask.path["id"]
    url = f"{ask.house.settings.base_url}/monitor/{monitor_id}/push/{secret}"
    return PushCredentials(monitor_id, secret, url)


async def reveal(ask: Ask) -> PushCredentials:
    secret = await ask.house.db.write(push.reveal, ask.house.keys, ask.actor, ask.path["id"])
    return _credentials(ask, secret)


async def rotate(ask: Ask) -> PushCredentials:
    secret = await ask.house.db.write(
        push.rotate, ask.house.keys, ask.actor, ask.path["id"], ask.body.overlap
    )
    return _credentials(ask, secret)


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


_PUSHED = (("state", "normal or failure; normal without"), ("message", "a sentence to keep"))

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
    Route(
        "GET",
        "/monitor/{id}/credentials",
        "admin",
        reveal,
        "Read the URL of a push monitor; the reading is audited",
        answer=PushCredentials,
        codes=("no_push_url",),
        known=False,
    ),
    Route(
        "POST",
        "/monitor/{id}/credentials/rotate",
        "admin",
        rotate,
        "Change the URL of a push monitor",
        body=RotateBody,
        answer=PushCredentials,
        codes=("no_push_url",),
        known=False,
    ),
    Route(
        "GET",
        "/monitor/{id}/push/{secret}",
        "anonymous",
        push_state,
        admit=admit_push,
        summary="Say that what a push monitor watches is alive",
        answer=Pushed,
        codes=("monitor_paused",),
        query=_PUSHED,
    ),
    Route(
        "POST",
        "/monitor/{id}/push/{secret}",
        "anonymous",
        push_state,
        admit=admit_push,
        max_body=anonymous_requests.SMALL_BODY,
        summary="Say how it is with what a push monitor watches",
        body=PushBody,
        answer=Pushed,
        codes=("monitor_paused",),
        query=_PUSHED,
    ),
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
