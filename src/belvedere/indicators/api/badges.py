"""Indicators as pictures over HTTP, for members and for whoever holds a public link."""

import msgspec

from belvedere.access.request import Request
from belvedere.indicators import public_links, queries
from belvedere.indicators.api import badge_svg
from belvedere.indicators.api.records import IndicatorRecord, record
from belvedere.indicators.queries import Shown
from belvedere.rest.route import Reply, Route

SVG = "image/svg+xml"


class PublicLink(msgspec.Struct):
    """Shown once: whoever holds it sees the badge of this indicator."""

    id: str
    token: str
    url: str


async def show_badge(request: Request[None]) -> Reply:
    return _badge(await request.services.db.read(queries.show, request.actor, request.path["id"]))


async def show_public_badge(request: Request[None]) -> Reply:
    token = request.path["token"].removesuffix(".svg")
    return _badge(
        await request.services.db.read(public_links.behind, request.services.keyring, token)
    )


def _badge(shown: Shown) -> Reply:
    return Reply(badge_svg.svg(shown.row, shown.now), media_type=SVG)


async def publish(request: Request[None]) -> Reply:
    shown, token = await request.services.db.write(
        public_links.publish, request.services.keyring, request.actor, request.path["id"]
    )
    url = f"{request.services.settings.base_url}/-/badge/{token}.svg"
    return Reply(PublicLink(shown.row.id, token, url), status=201)


async def unpublish(request: Request[None]) -> IndicatorRecord:
    shown = await request.services.db.write(
        public_links.unpublish, request.actor, request.path["id"]
    )
    return record(shown, request.actor)


ROUTES: tuple[Route, ...] = (
    Route(
        "GET",
        "/indicator/{id}/badge.svg",
        "viewer",
        show_badge,
        "It as a small picture",
        answer=bytes,
        media=(SVG,),
        known=False,
    ),
    Route(
        "POST",
        "/indicator/{id}/public",
        "admin",
        publish,
        "Make a link that shows its badge to anybody; the one before is dead",
        answer=PublicLink,
        known=False,
    ),
    Route(
        "DELETE",
        "/indicator/{id}/public",
        "admin",
        unpublish,
        "Revoke that link",
        answer=IndicatorRecord,
        known=False,
    ),
    Route(
        "GET",
        "/-/badge/{token}",
        "anonymous",
        show_public_badge,
        "What a public link shows; .svg may follow the token",
        style="plain",
        answer=bytes,
        media=(SVG,),
        codes=("link_gone",),
        known=False,
    ),
)
