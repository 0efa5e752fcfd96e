"""Who sees and decides one job: its participants, and approval by a link in a message.

Of a link, GET shows a page and only POST decides: mail scanners follow links, so a GET must never
be a vote.
"""

from collections.abc import Callable

import msgspec

from belvedere.access.credentials import one_time_links
from belvedere.access.limits.rate_limits import AttemptKind
from belvedere.access.request import AnyRequest, Request
from belvedere.jobs.approvals import links, page
from belvedere.jobs.approvals.links import ApprovalQuestion
from belvedere.jobs.lifecycle import assignment
from belvedere.jobs.lifecycle.assignment import JobPeople
from belvedere.rest.route import Handler, Reply, Route

HTML = "text/html"


class JobAclBody(msgspec.Struct):
    """The users in an object; TheEye's clients send the list itself."""

    users: list[str] = []


class AssigneeBody(msgspec.Struct):
    """The members in an object; TheEye's clients send the list itself."""

    assignee: list[str] = []


async def show_people(request: Request[None]) -> JobPeople:
    people: JobPeople = await request.services.db.read(
        assignment.list_people, request.actor, request.path["id"]
    )
    return people


async def assign(request: Request[list[str] | AssigneeBody]) -> list[str]:
    body = request.body
    names = body if isinstance(body, list) else body.assignee
    member_ids: list[str] = await request.services.db.write(
        assignment.assign, request.actor, request.path["id"], names
    )
    return member_ids


async def replace_acl(request: Request[list[str] | JobAclBody]) -> list[str]:
    acl: list[str] = await request.services.db.write(
        assignment.replace_acl, request.actor, request.path["id"], users_in(request.body)
    )
    return acl


def users_in(body: list[str] | JobAclBody) -> list[str]:
    return body if isinstance(body, list) else body.users


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
    Route(
        "GET",
        "/job/{id}/participants",
        "viewer",
        show_people,
        "Show who started a job, to whom it is assigned, and who may see it",
        answer=JobPeople,
    ),
    Route(
        "PUT",
        "/job/{id}/assignee",
        "admin",
        assign,
        "Replace the assignees of a job and of its steps; returns their member ids",
        body=list[str] | AssigneeBody,
        answer=list[str],
    ),
    Route(
        "PUT",
        "/job/{id}/acl",
        "admin",
        replace_acl,
        "Give a job and its steps their own ACL",
        body=list[str] | JobAclBody,
        answer=list[str],
    ),
    _route("GET", show, "Show the page of an approval link; it decides nothing", ("link_gone",)),
    _route("POST", decide, "Vote with an approval link", _REFUSALS),
)
