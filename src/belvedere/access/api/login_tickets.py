"""The second step of a sign-in: exchanging a ticket and a code for a session."""

import msgspec

from belvedere.access import anonymous_requests
from belvedere.access.api import route_builders
from belvedere.access.api.route_builders import plain_route
from belvedere.access.api.second_factor import TotpSecretRecord, totp_secret
from belvedere.access.api.sessions import LoginAnswer, agent_of, login_reply
from belvedere.access.limits.rate_limits import AttemptKind
from belvedere.access.request import Request
from belvedere.access.signin import login, login_tickets
from belvedere.base.errors import Unauthenticated
from belvedere.rest.route import Reply


class TicketOnly(msgspec.Struct, forbid_unknown_fields=True):
    ticket: str


class TicketAndCode(msgspec.Struct, forbid_unknown_fields=True):
    ticket: str
    # From the app, or a recovery code.
    code: str


async def exchange_ticket(request: Request[TicketAndCode]) -> Reply:
    services, body, address = request.services, request.body, request.actor.address
    limits, browser = services.passwords.limits, anonymous_requests.browser_of(request)
    limits.check(address, AttemptKind.CODE)
    result = await services.db.write(
        login.exchange_ticket,
        services.keyring,
        body.ticket,
        body.code,
        address,
        agent_of(request),
        browser.digest,
    )
    if result is None:
        # In addition to the tries of the ticket and of the person, which all servers share.
        user_id = await services.db.read(login_tickets.owner, services.keyring, body.ticket)
        limits.record_failure(address, kind=AttemptKind.CODE, user_ids=[user_id])
        raise Unauthenticated(
            "The code is wrong, or was used before. Wait for the next one.", code="wrong_code"
        )
    return login_reply(request, result)


async def set_up_second_factor(request: Request[TicketOnly]) -> TotpSecretRecord:
    services = request.services
    services.passwords.limits.check(request.actor.address, AttemptKind.CODE)
    digest = anonymous_requests.browser_of(request).digest
    user, secret = await services.db.write(
        login.set_up_second_factor, services.keyring, request.body.ticket, digest
    )
    return totp_secret(secret, user.email)


_CODES = ("ticket_gone", "too_many_requests")

ROUTES = (
    plain_route(
        "POST",
        "/api/auth/login/second-factor",
        "anonymous",
        exchange_ticket,
        "Sign in with a ticket and the code of the second factor",
        body=TicketAndCode,
        **route_builders.anonymous_options(AttemptKind.CODE),
        answer=LoginAnswer,
        codes=("wrong_code", *_CODES),
        from_interface=False,
    ),
    plain_route(
        "POST",
        "/api/auth/login/second-factor/setup",
        "anonymous",
        set_up_second_factor,
        "Set up a second factor that the organization requires",
        body=TicketOnly,
        **route_builders.anonymous_options(AttemptKind.CODE),
        answer=TotpSecretRecord,
        codes=(*_CODES, "second_factor_on"),
        from_interface=False,
    ),
)
