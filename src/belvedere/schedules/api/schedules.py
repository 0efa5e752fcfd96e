"""Schedules over HTTP."""

from typing import Any

import msgspec

from belvedere.rest import listing as filters
from belvedere.rest import pagination, query
from belvedere.rest.response_budget import heavy_read
from belvedere.rest.route import Ask, Reply, Route
from belvedere.rest.searches import run_search
from belvedere.schedules import run_history, service, store
from belvedere.schedules.api import preview
from belvedere.schedules.api import records as record
from belvedere.schedules.api.preview import FireRecord
from belvedere.schedules.api.records import RemovedRecord, RunRecord, ScheduleRecord
from belvedere.schedules.bodies import PauseBody, PreviewBody, ScheduleBody
from belvedere.schedules.service import Shown


class StartBody(msgspec.Struct):
    """Another date, where one is wanted."""

    runDate: str | int | None = None


def _record(request: Ask, shown: Shown) -> ScheduleRecord:
    return record.schedule(shown, request.actor, request.house.clock())


async def list_schedules(request: Ask) -> Reply:
    listing = filters.read(request.query, store.SCHEDULES)
    listing = await run_search(request, store.fitted, request.actor, listing)
    async with heavy_read(request, listing.size):
        found, total = await run_search(
            request, service.listed, request.house.schedule_targets, request.actor, listing
        )
        records = [_record(request, one) for one in found]
    return pagination.answer(request, listing, records, total)


async def show(request: Ask) -> ScheduleRecord:
    return _record(request, await _read(request))


async def _read(request: Ask) -> Shown:
    found: Shown = await request.house.db.read(
        service.show, request.house.schedule_targets, request.actor, request.path["id"]
    )
    return found


async def _write(request: Ask, verb: Any, *more: Any) -> Shown:
    changed: Shown = await request.house.db.write(
        verb, request.house.schedule_targets, request.actor, request.path["id"], *more
    )
    return changed


async def change(request: Ask) -> ScheduleRecord:
    return _record(request, await _write(request, service.change, request.body, request.if_match))


async def delete(request: Ask) -> RemovedRecord:
    gone = await _write(request, service.delete)
    return record.removed(gone, request.actor, request.house.clock())


async def stop(request: Ask) -> str:
    await _write(request, service.switch, False)
    return "ok"


async def start(request: Ask) -> str:
    await _write(request, service.switch, True, request.body.runDate if request.body else None)
    return "ok"


async def pause(request: Ask) -> ScheduleRecord:
    body = request.body or PauseBody()
    return _record(request, await _write(request, service.pause, body.until, body.note))


async def resume(request: Ask) -> ScheduleRecord:
    return _record(request, await _write(request, service.resume))


async def show_preview(request: Ask) -> list[FireRecord]:
    count = query.whole("count", request.first("count") or "10")
    return preview.of((await _read(request)).row, request.house.clock(), count)


async def would_be(request: Ask) -> list[FireRecord]:
    return preview.would_be(
        service.empty_row(request.house.clock()), request.body, request.house.clock()
    )


async def list_runs(request: Ask) -> list[RunRecord]:
    listing = filters.read(request.query, run_history.RUNS)
    found = await run_search(request, service.runs, request.actor, request.path["id"], listing)
    return [record.run(one) for one in found]


def schedule_routes(kind: str, path: str) -> tuple[Route, ...]:
    """The schedules of one task or workflow; whoever owns the path adds them to its doors."""

    async def create(request: Ask) -> ScheduleRecord:
        made = await request.house.db.write(
            service.create,
            request.house.schedule_targets,
            request.actor,
            kind,
            request.path["id"],
            request.body or ScheduleBody(),
        )
        return _record(request, made)

    async def list_of(request: Ask) -> list[ScheduleRecord]:
        found = await request.house.db.read(
            service.of_target,
            request.house.schedule_targets,
            request.actor,
            kind,
            request.path["id"],
        )
        return [_record(request, one) for one in found]

    return (
        Route(
            "GET",
            path,
            "viewer",
            list_of,
            f"List the schedules of a {kind}",
            answer=list[ScheduleRecord],
        ),
        Route(
            "POST",
            path,
            "admin",
            create,
            f"Make a schedule of a {kind}",
            body=ScheduleBody,
            answer=ScheduleRecord,
            codes=("too_many_schedules",),
        ),
    )


COUNT = (("count", "how many, 100 at most (default: 10)"),)
ROUTES: tuple[Route, ...] = (
    *schedule_routes("task", "/task/{id}/schedule"),
    Route(
        "GET",
        "/schedule",
        "viewer",
        list_schedules,
        "List the schedules of what you may see",
        answer=list[ScheduleRecord],
        query=pagination.QUERY,
    ),
    Route(
        "GET",
        "/schedule/{id}",
        "viewer",
        show,
        "Show a schedule",
        answer=ScheduleRecord,
        known=False,
    ),
    Route(
        "PATCH",
        "/schedule/{id}",
        "admin",
        change,
        "Change parts of a schedule",
        body=ScheduleBody,
        answer=ScheduleRecord,
        codes=("stale",),
    ),
    Route(
        "PUT",
        "/schedule/{id}/pause",
        "admin",
        pause,
        "Pause a schedule, with an end or without; what falls into it is missed",
        body=PauseBody,
        answer=ScheduleRecord,
        known=False,
    ),
    Route(
        "PUT",
        "/schedule/{id}/resume",
        "admin",
        resume,
        "End a schedule's pause",
        answer=ScheduleRecord,
        known=False,
    ),
    Route(
        "GET",
        "/schedule/{id}/preview",
        "viewer",
        show_preview,
        "The next runs of a schedule, with what clock changes do to them",
        answer=list[FireRecord],
        query=COUNT,
        known=False,
    ),
    Route(
        "POST",
        "/schedule/preview",
        "viewer",
        would_be,
        "The runs that a date, a cron text or an interval would give",
        body=PreviewBody,
        answer=list[FireRecord],
        known=False,
    ),
    Route(
        "GET",
        "/schedule/{id}/run",
        "viewer",
        list_runs,
        "What became of a schedule's instants, newest first: a job, or why it was missed",
        answer=list[RunRecord],
        query=pagination.QUERY[:3],
        known=False,
    ),
    *(
        Route(
            "DELETE",
            path,
            "admin",
            delete,
            "Delete a schedule; its jobs go on",
            answer=RemovedRecord,
        )
        for path in ("/schedule/{id}", "/scheduler/{id}")
    ),
    Route("PUT", "/scheduler/{id}/stop", "admin", stop, "Switch a schedule off", answer=str),
    Route(
        "PUT",
        "/scheduler/{id}/start",
        "admin",
        start,
        "Switch a schedule on, perhaps with another date",
        body=StartBody,
        answer=str,
    ),
)
