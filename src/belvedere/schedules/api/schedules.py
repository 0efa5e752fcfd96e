"""Schedules over HTTP."""

from collections.abc import Callable
from typing import Concatenate, ParamSpec

import msgspec

from belvedere.access import Actor
from belvedere.access.request import AnyRequest, Request, heavy_read
from belvedere.access.searches import run_search
from belvedere.db import Tx
from belvedere.rest import listing as filters
from belvedere.rest import pagination, query
from belvedere.rest.route import Reply, Route
from belvedere.schedules import run_history, service, store
from belvedere.schedules.api import preview, records
from belvedere.schedules.api.preview import FireRecord
from belvedere.schedules.api.records import RemovedRecord, RunRecord, ScheduleRecord
from belvedere.schedules.bodies import PauseBody, PreviewBody, ScheduleBody
from belvedere.schedules.service import ScheduleView
from belvedere.schedules.targets import ScheduleServices, Targets

P = ParamSpec("P")


class StartBody(msgspec.Struct):
    """Optionally another date."""

    runDate: str | int | None = None


def _record(request: AnyRequest, view: ScheduleView) -> ScheduleRecord:
    return records.to_record(view, request.actor, request.services.clock())


async def list_schedules(request: Request[None]) -> Reply:
    listing = filters.read(request.query, store.SCHEDULES)
    listing = await run_search(request, store.fit_page, request.actor, listing)
    async with heavy_read(request, listing.size):
        views, total = await run_search(
            request,
            service.list_page,
            request.services.of(ScheduleServices).targets,
            request.actor,
            listing,
        )
        records = [_record(request, view) for view in views]
    return pagination.page_reply(request, listing, records, total)


async def show(request: Request[None]) -> ScheduleRecord:
    return _record(request, await _read(request))


async def _read(request: AnyRequest) -> ScheduleView:
    view: ScheduleView = await request.services.db.read(
        service.show,
        request.services.of(ScheduleServices).targets,
        request.actor,
        request.path["id"],
    )
    return view


async def _write(
    request: AnyRequest,
    operation: Callable[Concatenate[Tx, Targets, Actor, str, P], ScheduleView],
    *a: P.args,
    **k: P.kwargs,
) -> ScheduleView:
    targets = request.services.of(ScheduleServices).targets
    return await request.services.db.write(
        operation, targets, request.actor, request.path["id"], *a, **k
    )


async def change(request: Request[ScheduleBody]) -> ScheduleRecord:
    return _record(request, await _write(request, service.change, request.body, request.if_match))


async def delete(request: Request[None]) -> RemovedRecord:
    view = await _write(request, service.delete)
    return records.to_removed_record(view, request.actor, request.services.clock())


async def stop(request: Request[None]) -> str:
    await _write(request, service.switch, False)
    return "ok"


async def start(request: Request[StartBody]) -> str:
    await _write(request, service.switch, True, request.body.runDate if request.body else None)
    return "ok"


async def pause(request: Request[PauseBody]) -> ScheduleRecord:
    body = request.body or PauseBody()
    return _record(request, await _write(request, service.pause, body.until, body.note))


async def resume(request: Request[None]) -> ScheduleRecord:
    return _record(request, await _write(request, service.resume))


async def show_preview(request: Request[None]) -> list[FireRecord]:
    count = query.integer("count", request.first("count") or "10")
    step = max(0, query.integer("step", request.first("step") or "0"))
    return preview.next_fires((await _read(request)).row, request.services.clock(), count, step)


async def preview_new(request: Request[PreviewBody]) -> list[FireRecord]:
    return preview.preview_body(
        service.empty_row(request.services.clock()), request.body, request.services.clock()
    )


async def list_runs(request: Request[None]) -> list[RunRecord]:
    listing = filters.read(request.query, run_history.RUNS)
    rows = await run_search(request, service.list_runs, request.actor, request.path["id"], listing)
    return [records.to_run_record(row) for row in rows]


def schedule_routes(kind: str, path: str) -> tuple[Route, ...]:
    """The routes for the schedules of a task or workflow, for the route table of its package."""

    async def create(request: Request[ScheduleBody]) -> ScheduleRecord:
        view = await request.services.db.write(
            service.create,
            request.services.of(ScheduleServices).targets,
            request.actor,
            kind,
            request.path["id"],
            request.body or ScheduleBody(),
        )
        return _record(request, view)

    async def list_of(request: Request[None]) -> list[ScheduleRecord]:
        views = await request.services.db.read(
            service.list_for_target,
            request.services.of(ScheduleServices).targets,
            request.actor,
            kind,
            request.path["id"],
        )
        return [_record(request, view) for view in views]

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
            f"Create a schedule of a {kind}",
            body=ScheduleBody,
            answer=ScheduleRecord,
            codes=("too_many_schedules",),
        ),
    )


COUNT = (
    ("count", "number of runs, at most 100 (default: 10)"),
    ("step", "milliseconds; only the first run of each period of this length"),
)
ROUTES: tuple[Route, ...] = (
    *schedule_routes("task", "/task/{id}/schedule"),
    Route(
        "GET",
        "/schedule",
        "viewer",
        list_schedules,
        "List the schedules of tasks and workflows that you may see",
        answer=list[ScheduleRecord],
        compress=True,
        query=pagination.QUERY,
    ),
    Route(
        "GET",
        "/schedule/{id}",
        "viewer",
        show,
        "Show a schedule",
        answer=ScheduleRecord,
        from_interface=False,
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
        "Pause a schedule, optionally until a date; runs during the pause are missed",
        body=PauseBody,
        answer=ScheduleRecord,
        from_interface=False,
    ),
    Route(
        "PUT",
        "/schedule/{id}/resume",
        "admin",
        resume,
        "Resume a paused schedule",
        answer=ScheduleRecord,
        from_interface=False,
    ),
    Route(
        "GET",
        "/schedule/{id}/preview",
        "viewer",
        show_preview,
        "Show the next runs of a schedule, including the effect of clock changes",
        answer=list[FireRecord],
        query=COUNT,
        from_interface=False,
    ),
    Route(
        "POST",
        "/schedule/preview",
        "viewer",
        preview_new,
        "Preview the runs of a date, a cron expression or an interval",
        body=PreviewBody,
        answer=list[FireRecord],
        from_interface=False,
    ),
    Route(
        "GET",
        "/schedule/{id}/run",
        "viewer",
        list_runs,
        "List the runs of a schedule, newest first: the job, or why it was missed",
        answer=list[RunRecord],
        query=pagination.QUERY[:3],
        from_interface=False,
    ),
    *(
        Route(
            "DELETE",
            path,
            "admin",
            delete,
            "Delete a schedule; its jobs continue",
            answer=RemovedRecord,
        )
        for path in ("/schedule/{id}", "/scheduler/{id}")
    ),
    Route("PUT", "/scheduler/{id}/stop", "admin", stop, "Disable a schedule", answer=str),
    Route(
        "PUT",
        "/scheduler/{id}/start",
        "admin",
        start,
        "Enable a schedule, optionally with another date",
        body=StartBody,
        answer=str,
    ),
)
