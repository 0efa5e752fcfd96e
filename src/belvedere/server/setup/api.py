"""Setup of a server without an organization, over HTTP."""

import msgspec

from belvedere.access.api import route_builders
from belvedere.access.api.sessions import LoginAnswer, agent_of, login_reply
from belvedere.access.limits.rate_limits import AttemptKind
from belvedere.access.request import Request
from belvedere.base.errors import Forbidden
from belvedere.rest.route import Reply, Route
from belvedere.server.runtime import runtime_of
from belvedere.server.setup import first_start, setup_code
from belvedere.server.setup.setup_code import SetUpBody


class SetUpNeeded(msgspec.Struct):
    """Whether this server is waiting for its first organization."""

    needed: bool


async def is_needed(request: Request[None]) -> SetUpNeeded:
    return SetUpNeeded(await request.services.db.read_inline(first_start.is_empty))


async def set_up(request: Request[SetUpBody]) -> Reply:
    runtime, body, address = runtime_of(request), request.body, request.actor.address
    limits = runtime.passwords.limits
    limits.check(address, AttemptKind.SETUP)
    try:
        await runtime.db.read(setup_code.check, runtime.keyring, body.code)
    except Forbidden:
        limits.record_failure(address, kind=AttemptKind.SETUP)
        raise
    about = (body.email, body.organization)
    password_hash = await runtime.passwords.digest(address, body.password, about)
    login = await runtime.db.write(
        setup_code.set_up, runtime, body, password_hash, address, agent_of(request)
    )
    reply = login_reply(request, login)
    reply.status = 201
    return reply


ROUTES: tuple[Route, ...] = (
    Route(
        "GET",
        "/-/setup",
        "anonymous",
        is_needed,
        "Show whether this server is waiting for its first organization",
        style="plain",
        answer=SetUpNeeded,
        from_interface=False,
    ),
    Route(
        "POST",
        "/-/setup",
        "anonymous",
        set_up,
        "Create the first organization and its owner, with the code from the server's log",
        style="plain",
        body=SetUpBody,
        **route_builders.anonymous_options(AttemptKind.SETUP),
        answer=LoginAnswer,
        codes=("already_set_up", "too_many_requests"),
        from_interface=False,
    ),
)
