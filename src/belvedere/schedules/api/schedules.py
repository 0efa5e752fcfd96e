"""Schedules over HTTP."""

from typing import Any

import msgspec

from belvedere.rest import listing as filters
from belvedere.rest import pagination, query
from belvedere.rest.response_budget import heavy_read
from belvedere.rest.route import Ask, Reply, Route
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


def _record(ask: Ask, shown: Shown) -> ScheduleRecord:
    return record.schedule(shown, ask.actor, ask.house.clock())


async def list_schedules(ask: Ask) -> Reply:
    listing = filters.read(ask.query, store.SCHEDULES)
    listing = await ask.house.db.read(store.fitted, ask.actor, listing)
    async with heavy_read(ask, listing.size):
        found, total = await ask.house.db.read(
            service.listed, ask.house.schedule_targets, ask.actor, listing
        )
        records = [_record(ask, one) for one in found]
    return pagination.answer(ask, listing, records, total)


async def show(ask: Ask) -> ScheduleRecord:
    return _record(ask, await _read(ask))


async def _read(ask: Ask) -> Shown:
    found: Shown = await ask.house.db.read(
        service.show, ask.house.schedule_targets, ask.actor, ask.path["id"]
    )
    return found


async def _write(ask: Ask, verb: Any, *more: Any) -> Shown:
    changed: Shown = await ask.house.db.write(
        verb, ask.house.schedule_targets, ask.actor, ask.path["id"], *more
    )
    return changed


async def change(ask: Ask) -> ScheduleRecord:
    return _record(ask, await _write(ask, service.change, ask.body, ask.if_match))


async def delete(ask: Ask) -> RemovedRecord:
    gone = await _write(ask, service.delete)
    return record.removed(gone, ask.actor, ask.house.clock())


async def stop(ask: Ask) -> str:
    await _write(ask, service.switch, False)
    return "ok"


async def start(ask: Ask) -> str:
    await _write(ask, service.switch, True, ask.body.runDate if ask.body else None)
    return "ok"


async def pause(ask: Ask) -> ScheduleRecord:
    body = ask.body or PauseBody()
    return _record(ask, await _write(ask, service.pause, body.until, body.note))


async def resume(ask: Ask) -> ScheduleRecord:
    return _record(ask, await _write(ask, service.resume))


async def show_preview(ask: Ask) -> list[FireRecord]:
    count = query.whole("count", ask.first("count") or "10")
    return preview.of((await _read(ask)).row, ask.house.clock(), count)


async def would_be(ask: Ask) -> list[FireRecord]:
    return preview.would_be(service.empty_row(ask.house.clock()), ask.body, ask.house.clock())


async def list_runs(ask: Ask) -> list[RunRecord]:
    listing = filters.read(ask.query, run_history.RUNS)
    found = await ask.house.db.read(service.runs, ask.actor, ask.path["id"], listing)
    return [record.run(one) for one in found]


def schedule_routes(kind: str, path: str) -> tuple[Route, ...]:
    """The schedules of one task or workflow; whoever owns the path adds them to its doors."""

    async def create(ask: Ask) -> ScheduleRecord:
        made = await ask.house.db.write(
            service.create,
            ask.house.schedule_targets,
            ask.actor,
            kind,
            ask.path["id"],
            ask.body or ScheduleBody(),
        )
        return _record(ask, made)

    async def list_of(ask: Ask) -> list[ScheduleRecord]:
        found = await ask.house.db.read(
            service.of_target, ask.house.schedule_targets, ask.actor, kind, ask.path["id"]
        )
        return [_record(ask, one) for one in found]

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
