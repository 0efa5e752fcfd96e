"""Hosts over HTTP."""

import msgspec

from belvedere.access import anonymous_requests
from belvedere.access.api import records, route_builders
from belvedere.access.credentials import enrolment
from belvedere.access.limits.rate_limits import AttemptKind
from belvedere.access.request import AnyRequest, Request
from belvedere.access.searches import run_search
from belvedere.base.errors import Unauthenticated
from belvedere.hosts import service, store
from belvedere.hosts.model import HostRecord, HostRow, record
from belvedere.hosts.service import Enrolment, HostChange
from belvedere.rest import listing as filters
from belvedere.rest import pagination
from belvedere.rest.route import Reply, Route


class EnrolBody(msgspec.Struct, forbid_unknown_fields=True):
    """What a new agent says of itself."""

    token: str
    hostname: str
    fingerprint: str


def _record(request: AnyRequest, row: HostRow) -> HostRecord:
    return record(row, request.actor.customer_name)


async def enrol(request: Request[EnrolBody]) -> Reply:
    body: EnrolBody = request.body
    limits, address = request.services.limits, request.actor.address
    # One machine that retries with an expired token must not stop others of its network.
    target = body.hostname[: anonymous_requests.MAX_TARGET]
    limits.check(address, AttemptKind.ENROLMENT, target)
    try:
        registration = await request.services.db.write(
            service.enrol,
            request.services.keyring,
            body.token,
            body.hostname,
            body.fingerprint,
            address,
        )
    except Unauthenticated:
        limits.record_failure(address, kind=AttemptKind.ENROLMENT, target=target)
        raise
    return Reply(registration, status=201)


class NewHostEnrolment(msgspec.Struct, forbid_unknown_fields=True):
    """Seconds for which the token is good."""

    expires_in: int = enrolment.LIFE_S


async def create_enrolment(request: Request[NewHostEnrolment]) -> Reply:
    body = request.body or NewHostEnrolment()
    token, text = await request.services.db.write(
        service.create_host_enrolment,
        request.services.keyring,
        request.actor,
        request.path["id"],
        body.expires_in,
    )
    return Reply(records.token(token, text), status=201)


async def list_hosts(request: Request[None]) -> Reply:
    listing = filters.read(request.query, store.listable(request.services.db.dialect))
    rows, total = await run_search(request, service.listed, request.actor, listing)
    return pagination.answer(request, listing, [_record(request, row) for row in rows], total)


async def show(request: Request[None]) -> HostRecord:
    return _record(
        request, await request.services.db.read(service.show, request.actor, request.path["id"])
    )


async def change(request: Request[HostChange]) -> HostRecord:
    row = await request.services.db.write(
        service.change, request.actor, request.path["id"], request.body, request.if_match
    )
    return _record(request, row)


async def enable(request: Request[None]) -> str:
    return await _set(request, HostChange(enable=True))


async def disable(request: Request[None]) -> str:
    return await _set(request, HostChange(enable=False))


async def _set(request: AnyRequest, change: HostChange) -> str:
    await request.services.db.write(service.change, request.actor, request.path["id"], change)
    # The original's answer.
    return "ok"


async def delete(request: Request[None]) -> HostRecord:
    return _record(
        request, await request.services.db.write(service.delete, request.actor, request.path["id"])
    )


ROUTES: tuple[Route, ...] = (
    Route(
        "POST",
        "/-/enrol",
        "anonymous",
        enrol,
        "Trade an enrolment token for an agent's credential",
        style="plain",
        body=EnrolBody,
        **route_builders.anonymous_options(AttemptKind.ENROLMENT),
        answer=Enrolment,
        codes=("bad_enrolment", "host_held", "host_exists", "too_many_requests"),
        known=False,
    ),
    Route(
        "POST",
        "/host/{id}/enrolment",
        "admin",
        create_enrolment,
        "Create an enrolment token that binds this host to another agent; its text is shown once",
        body=NewHostEnrolment,
        answer=records.TokenRecord,
        known=False,
        people=True,
    ),
    Route(
        "GET",
        "/host",
        "viewer",
        list_hosts,
        "List hosts",
        answer=list[HostRecord],
        query=(*pagination.QUERY, ("filter[where][field]", "the same as where[field]")),
    ),
    Route("GET", "/host/{id}", "viewer", show, "Show a host", answer=HostRecord),
    Route(
        "PATCH",
        "/host/{id}",
        "admin",
        change,
        "Rename, tag, enable, disable or drain a host",
        body=HostChange,
        answer=HostRecord,
        codes=("hostname_taken", "stale"),
        known=False,
    ),
    Route("PUT", "/host/{id}/enable", "admin", enable, "Let a host take work", answer=str),
    Route("PUT", "/host/{id}/disable", "admin", disable, "Stop sending jobs to a host", answer=str),
    Route(
        "DELETE",
        "/host/{id}",
        "admin",
        delete,
        "Delete a host; its agent is shut out and what waits for it expires",
        answer=HostRecord,
        known=False,
    ),
)
