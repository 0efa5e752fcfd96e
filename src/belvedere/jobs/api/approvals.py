"""Approval by a link in a message: GET shows a page, only POST decides.

Mail scanners follow links, so a GET must never be a vote.
"""

from collections.abc import Callable

from belvedere.access.credentials import one_time_links
from belvedere.access.limits.rate_limits import AttemptKind
from belvedere.access.request import AnyRequest, Request
from belvedere.jobs.approvals import links, page
from belvedere.jobs.approvals.links import ApprovalQuestion
from belvedere.rest.route import Handler, Reply, Route

HTML = "text/html"


async def show(request: Request[None]) -> Reply:
    request.services.limits.check(request.actor.address, AttemptKind.LINK)
    question = await request.services.db.read(
        links.find_question, request.services.keyring, request.path["link"]
    )
    return _page(request, question, page.render_question)


async def decide(request: Request[None]) -> Reply:
    request.services.limits.check(request.actor.address, AttemptKind.LINK)
    answer = (request.services.keyring, request.path["link"], request.actor.address)
    return _page(
        request,
        await request.services.db.write(links.vote_by_link, *answer),
        page.render_outcome,
    )


def _page(
    request: AnyRequest,
    question: ApprovalQuestion | None,
    render: Callable[[ApprovalQuestion], str],
) -> Reply:
    if question is None:
        # Counts as a wrong secret, so that guessing is slowed down.
        request.services.limits.record_failure(request.actor.address, kind=AttemptKind.LINK)
        raise one_time_links.link_gone()
    return Reply(render(question), headers=page.HEADERS, media_type=f"{HTML}; charset=utf-8")


def _route(method: str, handler: Handler, summary: str, codes: tuple[str, ...]) -> Route:
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
        from_interface=False,
    )


_REFUSALS = ("link_gone", "wrong_lifecycle", "approval_void", "answer_disabled")

ROUTES: tuple[Route, ...] = (
    _route("GET", show, "Show the page of an approval link; it decides nothing", ("link_gone",)),
    _route("POST", decide, "Vote with an approval link", _REFUSALS),
)
