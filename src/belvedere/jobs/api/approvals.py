"""Approval by a link out of a message: a page on GET, and only POST decides.

Programs that look into mails follow links; a look must never be an answer.
"""

from collections.abc import Callable
from typing import Any

from belvedere.access.credentials import one_time_links
from belvedere.access.limits.rate_limits import AttemptKind
from belvedere.access.request import AnyRequest, Request
from belvedere.jobs.approvals import links as vote_links
from belvedere.jobs.approvals import page as vote_page
from belvedere.jobs.approvals.links import Asked
from belvedere.rest.route import Reply, Route

HTML = "text/html"


async def show(request: Request[None]) -> Reply:
    request.services.limits.check(request.actor.address, AttemptKind.LINK)
    found = await request.services.db.read(
        vote_links.look, request.services.keyring, request.path["link"]
    )
    return _page(request, found, vote_page.question)


async def decide(request: Request[None]) -> Reply:
    request.services.limits.check(request.actor.address, AttemptKind.LINK)
    whose = (request.services.keyring, request.path["link"], request.actor.address)
    return _page(request, await request.services.db.write(vote_links.use, *whose), vote_page.answer)


def _page(request: AnyRequest, asked: Asked | None, page: Callable[[Asked], str]) -> Reply:
    if asked is None:
        # Like a wrong secret: who guesses is held up.
        request.services.limits.record_failure(request.actor.address, kind=AttemptKind.LINK)
        raise one_time_links.link_gone()
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
