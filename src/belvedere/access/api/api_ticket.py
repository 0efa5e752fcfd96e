"""The second half of signing in: a ticket and a code for a session."""

import msgspec

from belvedere.access.api import doors
from belvedere.access.api.doors import plain
from belvedere.access.api.second_factor import SecretShown, shown
from belvedere.access.api.sessions import LoginAnswer, agent_of, answered
from belvedere.access.limits import known_browsers
from belvedere.access.limits.rate_limits import Kind
from belvedere.access.request import Request
from belvedere.access.signin import login, login_tickets
from belvedere.base.errors import Unauthenticated
from belvedere.rest.route import Reply


class TicketOnly(msgspec.Struct, forbid_unknown_fields=True):
    ticket: str


class TicketAndCode(msgspec.Struct, forbid_unknown_fields=True):
    ticket: str
    # Of the app, or a recovery code.
    code: str


async def trade(request: Request[TicketAndCode]) -> Reply:
    services, body, address = request.services, request.body, request.actor.address
    limits, browser = services.passwords.limits, known_browsers.of(request)
    limits.check(address, Kind.CODE)
    entered = await services.db.write(
        login.trade,
        services.keyring,
        body.ticket,
        body.code,
        address,
        agent_of(request),
        browser.digest,
    )
    if entered is None:
        # Beside the tries that the ticket and the person have, which all servers count together.
        user_id = await services.db.read(login_tickets.owner, services.keyring, body.ticket)
        limits.wrong(address, kind=Kind.CODE, user_ids=[user_id])
        raise Unauthenticated(
            "The code is wrong, or was used before; wait for the next one.", code="wrong_code"
        )
    return answered(request, entered)


async def set_up(request: Request[TicketOnly]) -> SecretShown:
    services = request.services
    services.passwords.limits.check(request.actor.address, Kind.CODE)
    digest = known_browsers.of(request).digest
    user, secret = await services.db.write(
        login.set_up, services.keyring, request.body.ticket, digest
    )
    return shown(secret, user.email)


_CODES = ("ticket_gone", "too_many_requests")

ROUTES = (
    plain(
        "POST",
        "/api/auth/login/second-factor",
        "anonymous",
        trade,
        "Sign in: the ticket of the password, and a code",
        body=TicketAndCode,
        **doors.anonymous(Kind.CODE),
        answer=LoginAnswer,
        codes=("wrong_code", *_CODES),
        known=False,
    ),
    plain(
        "POST",
        "/api/auth/login/second-factor/setup",
        "anonymous",
        set_up,
        "Set up a second factor where the organization requires one",
        body=TicketOnly,
        **doors.anonymous(Kind.CODE),
        answer=SecretShown,
        codes=(*_CODES, "second_factor_on"),
        known=False,
    ),
)
