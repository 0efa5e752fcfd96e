"""Integration tokens and enrolment tokens. Only the response that creates one has its text."""

import msgspec

from belvedere.access.api import records
from belvedere.access.api.route_builders import plain_route
from belvedere.access.credentials import enrolment, tokens
from belvedere.access.request import Request
from belvedere.rest.route import Reply


class NewToken(msgspec.Struct):
    name: str
    # Seconds; without it the token is valid until it is revoked.
    expires_in: int | None = None


class NewEnrolment(msgspec.Struct, forbid_unknown_fields=True):
    name: str = ""
    uses: int = 1
    expires_in: int = enrolment.LIFE_S


async def listing(request: Request[None]) -> list[records.TokenRecord]:
    return [
        records.token(token)
        for token in await request.services.db.read(tokens.list_active, request.actor)
    ]


async def create(request: Request[NewToken]) -> records.TokenRecord:
    token, text = await request.services.db.write(
        tokens.create_token,
        request.services.keyring,
        request.actor,
        request.body.name,
        request.body.expires_in,
    )
    return records.token(token, text)


async def revoke(request: Request[None]) -> records.TokenRecord:
    return records.token(
        await request.services.db.write(tokens.revoke, request.actor, request.path["id"])
    )


async def enrolments(request: Request[None]) -> list[records.TokenRecord]:
    rows = await request.services.db.read(tokens.list_active, request.actor, tokens.ENROLMENT)
    return [records.token(token) for token in rows]


async def enrol(request: Request[NewEnrolment]) -> Reply:
    body = request.body or NewEnrolment()
    token, text = await request.services.db.write(
        enrolment.create_enrolment,
        request.services.keyring,
        request.actor,
        body.name,
        body.uses,
        body.expires_in,
    )
    return Reply(records.token(token, text), status=201)


async def revoke_enrolment(request: Request[None]) -> records.TokenRecord:
    token = await request.services.db.write(
        tokens.revoke, request.actor, request.path["id"], tokens.ENROLMENT
    )
    return records.token(token)


ROUTES = (
    plain_route(
        "GET",
        "/api/token",
        "admin",
        listing,
        "List integration tokens",
        answer=list[records.TokenRecord],
    ),
    plain_route(
        "POST",
        "/api/token",
        "admin",
        create,
        "Create an integration token; its text is shown once",
        body=NewToken,
        answer=records.TokenRecord,
        people=True,
    ),
    plain_route(
        "DELETE",
        "/api/token/{id}",
        "admin",
        revoke,
        "Revoke an integration token",
        answer=records.TokenRecord,
        people=True,
    ),
    plain_route(
        "GET",
        "/api/enrolment",
        "admin",
        enrolments,
        "List enrolment tokens",
        from_interface=False,
        answer=list[records.TokenRecord],
    ),
    plain_route(
        "POST",
        "/api/enrolment",
        "admin",
        enrol,
        "Create an enrolment token for one or more hosts; its text is shown once",
        body=NewEnrolment,
        from_interface=False,
        answer=records.TokenRecord,
        people=True,
    ),
    plain_route(
        "DELETE",
        "/api/enrolment/{id}",
        "admin",
        revoke_enrolment,
        "Revoke an enrolment token",
        from_interface=False,
        answer=records.TokenRecord,
        people=True,
    ),
)
