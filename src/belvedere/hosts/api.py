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
from belvedere.hosts.model import HostRecord, HostRow, to_record
from belvedere.hosts.service import Enrolment, HostChange
from belvedere.rest import listing as filters
from belvedere.rest import pagination
from belvedere.rest.route import Reply, Route


class EnrolBody(msgspec.Struct, forbid_unknown_fields=True):
    """What a new agent reports about itself."""

    token: str
    hostname: str
    fingerprint: str


def _record(request: AnyRequest, row: HostRow) -> HostRecord:
    return to_record(row, request.actor.customer_name)


async def enrol(request: Request[EnrolBody]) -> Reply:
    body: EnrolBody = request.body
    limits, address = request.services.limits, request.actor.address
    # A machine that retries with an expired token must not block others in its network.
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
    """How many seconds the token is valid."""

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
    rows, total = await run_search(request, service.list_page, request.actor, listing)
    return pagination.page_reply(request, listing, [_record(request, row) for row in rows], total)


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
    # The response of TheEye.
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
        "Exchange an enrolment token for an agent's credential",
        style="plain",
        body=EnrolBody,
        **route_builders.anonymous_options(AttemptKind.ENROLMENT),
        answer=Enrolment,
        codes=("bad_enrolment", "host_held", "host_exists", "too_many_requests"),
        from_interface=False,
    ),
    Route(
        "POST",
        "/host/{id}/enrolment",
        "admin",
        create_enrolment,
        "Create an enrolment token that binds this host to another agent; its text is shown once",
        body=NewHostEnrolment,
        answer=records.TokenRecord,
        from_interface=False,
        people=True,
    ),
    Route(
        "GET",
        "/host",
        "viewer",
        list_hosts,
        "List hosts",
        answer=list[HostRecord],
        compress=True,
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
        from_interface=False,
    ),
    Route("PUT", "/host/{id}/enable", "admin", enable, "Enable a host", answer=str),
    Route(
        "PUT", "/host/{id}/disable", "admin", disable, "Disable a host: it gets no jobs", answer=str
    ),
    Route(
        "DELETE",
        "/host/{id}",
        "admin",
        delete,
        "Delete a host; its agent loses access and its waiting jobs expire",
        answer=HostRecord,
        from_interface=False,
    ),
)
