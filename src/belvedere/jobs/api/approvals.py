"""Approval by a link out of a message: a page on GET, and only POST decides.

Programs that look into mails follow links; a look must never be an answer.
"""

from collections.abc import Callable
from typing import Any

from belvedere.access.credentials import one_time_links
from belvedere.access.limits.rate_limits import Kind
from belvedere.jobs.approvals import links as vote_links
from belvedere.jobs.approvals import page as vote_page
from belvedere.jobs.approvals.links import Asked
from belvedere.rest.route import Ask, Reply, Route

HTML = "text/html"


async def show(ask: Ask) -> Reply:
    ask.house.limits.check(ask.actor.address, Kind.LINK)
    found = await ask.house.db.read(vote_links.look, ask.house.keys, ask.path["link"])
    return _page(ask, found, vote_page.question)


async def decide(ask: Ask) -> Reply:
    ask.house.limits.check(ask.actor.address, Kind.LINK)
    whose = (ask.house.keys, ask.path["link"], ask.actor.address)
    return _page(ask, await ask.house.db.write(vote_links.use, *whose), vote_page.answer)


def _page(ask: Ask, asked: Asked | None, page: Callable[[Asked], str]) -> Reply:
    if asked is None:
        # Like a wrong secret: who guesses is held up.
        ask.house.limits.wrong(ask.actor.address, kind=Kind.LINK)
        raise one_time_links.gone()
    return Reply(page(asked), headers=vote_page.HEADERS, media_type=f"{HTML}; charset=utf-8")


def _route(method: str, handler: Any, summary: str, codes: tuple[str, ...]) -> Route:
    return Route(
        method,
        "/-/approval/{link}",
        "anonymous",
        handler,
        summary,
        style="plain",
        answer=bytes,
        media=(HTML,),
        codes=codes,
        known=False,
    )


_REFUSALS = ("link_gone", "wrong_lifecycle", "approval_void")

ROUTES: tuple[Route, ...] = (
    _route("GET", show, "The page of an approval link; it decides nothing", ("link_gone",)),
    _route("POST", decide, "Decide as the link says, once", _REFUSALS),
)
