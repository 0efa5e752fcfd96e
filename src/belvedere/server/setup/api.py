"""Setting up a server that belongs to nobody yet, over HTTP."""

import msgspec

from belvedere.access.api import doors
from belvedere.access.api.sessions import LoginAnswer, agent_of, answered
from belvedere.access.limits.rate_limits import Kind
from belvedere.base.errors import Forbidden
from belvedere.rest.route import Ask, Reply, Route
from belvedere.server.setup import first_start, setup_code
from belvedere.server.setup.setup_code import SetUpBody


class SetUpNeeded(msgspec.Struct):
    """Whether this server waits for its first organization."""

    needed: bool


async def look(ask: Ask) -> SetUpNeeded:
    return SetUpNeeded(await ask.house.db.glance(first_start.is_empty))


async def set_up(ask: Ask) -> Reply:
    house, body, address = ask.house, ask.body, ask.actor.address
    limits = house.turnstile.limits
    limits.check(address, Kind.SETUP)
    try:
        await house.db.read(setup_code.check, house.keys, body.code)
    except Forbidden:
        limits.wrong(address, kind=Kind.SETUP)
        raise
    about = (body.email, body.organization)
    kept = await house.turnstile.digest(address, body.password, about)
    entered = await house.db.write(setup_code.set_up, house, body, kept, address, agent_of(ask))
    done = answered(ask, entered)
    done.status = 201
    return done


ROUTES: tuple[Route, ...] = (
    Route(
        "GET",
        "/-/setup",
        "anonymous",
        look,
        "Whether this server waits for its first organization",
        style="plain",
        answer=SetUpNeeded,
        known=False,
    ),
    Route(
        "POST",
        "/-/setup",
        "anonymous",
        set_up,
        "Make the first organization and its owner, with the code from the server's log",
        style="plain",
        body=SetUpBody,
        **doors.anonymous(Kind.SETUP),
        answer=LoginAnswer,
        codes=("already_set_up", "too_many_requests"),
        known=False,
    ),
)
