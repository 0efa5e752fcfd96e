"""Indicators as pictures over HTTP, for members and for whoever holds a public link."""

import msgspec

from belvedere.indicators import public_links, queries
from belvedere.indicators.api import badge_svg
from belvedere.indicators.api.records import IndicatorRecord, record
from belvedere.indicators.queries import Shown
from belvedere.rest.route import Ask, Reply, Route

SVG = "image/svg+xml"


class PublicLink(msgspec.Struct):
    """Shown once: whoever holds it sees the badge of this indicator."""

    id: str
    token: str
    url: str


async def show_badge(ask: Ask) -> Reply:
    return _badge(await ask.house.db.read(queries.show, ask.actor, ask.path["id"]))


async def show_public_badge(ask: Ask) -> Reply:
    token = ask.path["token"].removesuffix(".svg")
    return _badge(await ask.house.db.read(public_links.behind, ask.house.keys, token))


def _badge(shown: Shown) -> Reply:
    return Reply(badge_svg.svg(shown.row, shown.now), media_type=SVG)


async def publish(ask: Ask) -> Reply:
    shown, token = await ask.house.db.write(
        public_links.publish, ask.house.keys, ask.actor, ask.path["id"]
    )
    url = f"{ask.house.settings.base_url}/-/badge/{token}.svg"
    return Reply(PublicLink(shown.row.id, token, url), status=201)


async def unpublish(ask: Ask) -> IndicatorRecord:
    shown = await ask.house.db.write(public_links.unpublish, ask.actor, ask.path["id"])
    return record(shown, ask.actor)


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
