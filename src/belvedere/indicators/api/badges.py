"""Endpoints of badges, for members and for everybody with a public link."""

import msgspec

from belvedere.access.request import Request
from belvedere.indicators import public_links, queries
from belvedere.indicators.api import badge_svg
from belvedere.indicators.api.records import IndicatorRecord, to_record
from belvedere.indicators.queries import IndicatorView
from belvedere.rest.route import Reply, Route

SVG = "image/svg+xml"


class PublicLink(msgspec.Struct):
    """A public link, shown once: everybody with the link can see the badge."""

    id: str
    token: str
    url: str


async def show_badge(request: Request[None]) -> Reply:
    return _badge(await request.services.db.read(queries.show, request.actor, request.path["id"]))


async def show_public_badge(request: Request[None]) -> Reply:
    token = request.path["token"].removesuffix(".svg")
    return _badge(
        await request.services.db.read(public_links.find_by_token, request.services.keyring, token)
    )


def _badge(view: IndicatorView) -> Reply:
    return Reply(badge_svg.draw_indicator(view.row, view.now), media_type=SVG)


async def publish(request: Request[None]) -> Reply:
    view, token = await request.services.db.write(
        public_links.publish, request.services.keyring, request.actor, request.path["id"]
    )
    url = f"{request.services.settings.base_url}/-/badge/{token}.svg"
    return Reply(PublicLink(view.row.id, token, url), status=201)


async def unpublish(request: Request[None]) -> IndicatorRecord:
    view = await request.services.db.write(
        public_links.unpublish, request.actor, request.path["id"]
    )
    return to_record(view, request.actor)


ROUTES: tuple[Route, ...] = (
    Route(
        "GET",
        "/indicator/{id}/badge.svg",
        "viewer",
        show_badge,
        "Show the badge of an indicator",
        answer=bytes,
        media=(SVG,),
        from_interface=False,
    ),
    Route(
        "POST",
        "/indicator/{id}/public",
        "admin",
        publish,
        "Create a public link to the badge; the previous one stops working",
        answer=PublicLink,
        from_interface=False,
    ),
    Route(
        "DELETE",
        "/indicator/{id}/public",
        "admin",
        unpublish,
        "Revoke the public link to the badge",
        answer=IndicatorRecord,
        from_interface=False,
    ),
    Route(
        "GET",
        "/-/badge/{token}",
        "anonymous",
        show_public_badge,
        "Show the badge of a public link; .svg may follow the token",
        style="plain",
        answer=bytes,
        media=(SVG,),
        codes=("link_gone",),
        from_interface=False,
    ),
)
