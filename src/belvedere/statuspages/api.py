"""Status pages over HTTP: management for admins, and the public pages."""

from functools import partial

from belvedere.access import Actor
from belvedere.access.request import AnyRequest, Request
from belvedere.db import Tx
from belvedere.indicators.api import badge_svg
from belvedere.rest.route import Reply, Route
from belvedere.statuspages import logo, model, service
from belvedere.statuspages.model import StatusPageBody, StatusPageRecord, StatusPageRow
from belvedere.statuspages.public_status import PageCache, Status, status

SVG = "image/svg+xml"
COLOURS = {"normal": badge_svg.NORMAL, "failure": badge_svg.HIGH, "unknown": badge_svg.STALE}
WORDS = {"normal": "operational", "failure": "disrupted", "unknown": "unknown"}


def _record(request: AnyRequest, row: StatusPageRow) -> StatusPageRecord:
    return model.to_record(row, request.services.settings.base_url)


async def list_pages(request: Request[None]) -> list[StatusPageRecord]:
    return [
        _record(request, row)
        for row in await request.services.db.read(service.list_all, request.actor)
    ]


async def show(request: Request[None]) -> StatusPageRecord:
    row, digest = await request.services.db.read(_with_logo, request.actor, request.path["id"])
    return model.to_record(row, request.services.settings.base_url, digest)


def _with_logo(tx: Tx, actor: Actor, page_id: str) -> tuple[StatusPageRow, str]:
    row = service.show(tx, actor, page_id)
    return row, logo.digest(tx, row.id)


async def create(request: Request[StatusPageBody]) -> Reply:
    row = await request.services.db.write(service.create, request.actor, request.body)
    return Reply(_record(request, row), status=201)


async def change(request: Request[StatusPageBody]) -> StatusPageRecord:
    row = await request.services.db.write(
        service.change, request.actor, request.path["id"], request.body, request.if_match
    )
    return _record(request, row)


async def delete(request: Request[None]) -> StatusPageRecord:
    return _record(
        request, await request.services.db.write(service.delete, request.actor, request.path["id"])
    )


async def public(request: Request[None]) -> Status:
    slug = request.path["slug"]

    async def compute() -> Status:
        page: Status = await request.services.db.read(status, slug)
        page.subscribe = bool(request.services.settings.mail)
        return page

    return await request.services.of(PageCache).get(slug, compute)


async def public_badge(request: Request[None]) -> Reply:
    page = await public(request)
    picture = badge_svg.draw_badge(page.title, WORDS[page.state], COLOURS[page.state])
    return Reply(picture, media_type=SVG)


_route = partial(Route, from_interface=False, answer=StatusPageRecord)
_public_route = partial(Route, "GET", level="anonymous", from_interface=False, style="plain")

ROUTES: tuple[Route, ...] = (
    Route(
        "GET",
        "/statuspage",
        "manager",
        list_pages,
        "List the status pages",
        answer=list[StatusPageRecord],
        from_interface=False,
    ),
    _route("GET", "/statuspage/{id}", "manager", show, "Show a status page"),
    _route(
        "POST",
        "/statuspage",
        "admin",
        create,
        "Create a public status page",
        body=StatusPageBody,
        codes=("slug_taken", "too_many_statuspages"),
    ),
    _route(
        "PATCH",
        "/statuspage/{id}",
        "admin",
        change,
        "Change parts of a status page",
        body=StatusPageBody,
        codes=("slug_taken", "stale"),
    ),
    _route("DELETE", "/statuspage/{id}", "admin", delete, "Delete a status page"),
    _public_route(
        path="/-/status/{slug}",
        handler=public,
        summary="Show a public status page, at most a few seconds old",
        answer=Status,
    ),
    _public_route(
        path="/-/status/{slug}/badge.svg",
        handler=public_badge,
        summary="The state of a public status page as a badge",
        answer=bytes,
        media=(SVG,),
    ),
)
