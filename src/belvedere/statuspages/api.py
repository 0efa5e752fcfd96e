"""Status pages over HTTP: for admins who make them, and for everybody."""

from functools import partial

from belvedere.access.request import AnyRequest, Request
from belvedere.indicators.api import badge_svg
from belvedere.rest.route import Reply, Route
from belvedere.statuspages import model, service
from belvedere.statuspages.model import StatusPageBody, StatusPageRecord, StatusPageRow
from belvedere.statuspages.public_status import Status, status
from belvedere.statuspages.recent import Recent

SVG = "image/svg+xml"
COLOURS = {"normal": badge_svg.NORMAL, "failure": badge_svg.HIGH, "unknown": badge_svg.STALE}
WORDS = {"normal": "operational", "failure": "disrupted", "unknown": "unknown"}


def _record(request: AnyRequest, row: StatusPageRow) -> StatusPageRecord:
    return model.record(row, request.services.settings.base_url)


async def listing(request: Request[None]) -> list[StatusPageRecord]:
    return [
        _record(request, row)
        for row in await request.services.db.read(service.listed, request.actor)
    ]


async def show(request: Request[None]) -> StatusPageRecord:
    return _record(
        request, await request.services.db.read(service.show, request.actor, request.path["id"])
    )


async def create(request: Request[StatusPageBody]) -> Reply:
    made = await request.services.db.write(service.create, request.actor, request.body)
    return Reply(_record(request, made), status=201)


async def change(request: Request[StatusPageBody]) -> StatusPageRecord:
    changed = await request.services.db.write(
        service.change, request.actor, request.path["id"], request.body, request.if_match
    )
    return _record(request, changed)


async def delete(request: Request[None]) -> StatusPageRecord:
    return _record(
        request, await request.services.db.write(service.delete, request.actor, request.path["id"])
    )


async def public(request: Request[None]) -> Status:
    slug = request.path["slug"]
    found: Status = await request.services.of(Recent).get(
        slug, lambda: request.services.db.read(status, slug)
    )
    return found


async def public_badge(request: Request[None]) -> Reply:
    found = await public(request)
    picture = badge_svg.drawn(found.title, WORDS[found.state], COLOURS[found.state])
    return Reply(picture, media_type=SVG)


_page = partial(Route, known=False, answer=StatusPageRecord)
_public = partial(Route, "GET", level="anonymous", known=False, style="plain")

ROUTES: tuple[Route, ...] = (
    Route(
        "GET",
        "/statuspage",
        "manager",
        listing,
        "List the status pages",
        answer=list[StatusPageRecord],
        known=False,
    ),
    _page("GET", "/statuspage/{id}", "manager", show, "Show a status page"),
    _page(
        "POST",
        "/statuspage",
        "admin",
        create,
        "Make a status page that everybody may see",
        body=StatusPageBody,
        codes=("slug_taken", "too_many_statuspages"),
    ),
    _page(
        "PATCH",
        "/statuspage/{id}",
        "admin",
        change,
        "Change parts of a status page",
        body=StatusPageBody,
        codes=("slug_taken", "stale"),
    ),
    _page("DELETE", "/statuspage/{id}", "admin", delete, "Delete a status page"),
    _public(
        path="/-/status/{slug}",
        handler=public,
        summary="What a status page shows to everybody, a few seconds old at most",
        answer=Status,
    ),
    _public(
        path="/-/status/{slug}/badge.svg",
        handler=public_badge,
        summary="The same as a small picture",
        answer=bytes,
        media=(SVG,),
    ),
)
