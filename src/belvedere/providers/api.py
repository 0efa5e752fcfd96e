"""Endpoints of providers; those of the sign-in are in `signin_api`."""

from functools import partial

import msgspec

from belvedere.access.request import AnyRequest, Request
from belvedere.base.clock import iso
from belvedere.providers import issuer_client, login_flow, model, service, signin_api
from belvedere.providers.model import ProviderBody, ProviderRow
from belvedere.rest.route import Reply, Route


class ProviderRecord(msgspec.Struct):
    id: str
    name: str
    issuer: str
    client_id: str
    has_client_secret: bool
    scopes: list[str]
    domains: list[str]
    level: str
    level_claim: str
    level_map: dict[str, str]
    enabled: bool
    # The address to register at the provider.
    callback: str
    version: int
    creation_date: str
    last_update: str
    # `own`, or `shared` with other older providers.
    callback_kind: str
    # The value of `callback` once `callback_kind` is `own`.
    own_callback: str


async def listing(request: Request[None]) -> list[ProviderRecord]:
    rows = await request.services.db.read(service.list_all, request.actor)
    return [to_record(request, row) for row in rows]


async def show(request: Request[None]) -> ProviderRecord:
    return to_record(
        request, await request.services.db.read(service.show, request.actor, request.path["id"])
    )


async def create(request: Request[ProviderBody]) -> Reply:
    endpoints = await issuer_client.discover(
        request.services.egress.of(request.actor.customer_id),
        service.check_required(request.body),
    )
    row = await request.services.db.write(
        service.create, request.services.keyring, request.actor, request.body, endpoints
    )
    return Reply(to_record(request, row), 201)


async def change(request: Request[ProviderBody]) -> ProviderRecord:
    services, body = request.services, request.body
    row = await services.db.read(service.show, request.actor, request.path["id"])
    # Discovery runs at every change, so that saving again helps if endpoints have moved.
    address = row.issuer if body.issuer is None else model.check_issuer(body.issuer)
    endpoints = await issuer_client.discover(services.egress.of(request.actor.customer_id), address)
    saved = await services.db.write(
        service.change, services.keyring, request.actor, row.id, body, endpoints, request.if_match
    )
    return to_record(request, saved)


async def delete(request: Request[None]) -> ProviderRecord:
    return to_record(
        request, await request.services.db.write(service.delete, request.actor, request.path["id"])
    )


def to_record(request: AnyRequest, row: ProviderRow) -> ProviderRecord:
    return ProviderRecord(
        row.id,
        row.name,
        row.issuer,
        row.client_id,
        bool(row.box),
        msgspec.json.decode(row.scopes),
        msgspec.json.decode(row.domains),
        row.level,
        row.level_claim,
        msgspec.json.decode(row.level_map),
        bool(row.enabled),
        signin_api.base_url(request) + login_flow.callback(row),
        row.version,
        iso(row.created_at),
        iso(row.updated_at),
        model.SHARED if row.is_shared else model.OWN,
        signin_api.base_url(request) + login_flow.OWN_CALLBACK.format(id=row.id),
    )


_plain = partial(Route, style="plain", from_interface=False)
_owned = partial(_plain, people=True, answer=ProviderRecord)
_LOOKUP_CODES = ("provider_unreachable", "bad_issuer")

ROUTES: tuple[Route, ...] = (
    _plain("GET", "/api/provider", "admin", listing, "List providers", answer=list[ProviderRecord]),
    _plain("GET", "/api/provider/{id}", "admin", show, "Show a provider", answer=ProviderRecord),
    _owned(
        "POST",
        "/api/provider",
        "owner",
        create,
        "Create an OpenID Connect provider",
        body=ProviderBody,
        codes=(*_LOOKUP_CODES, "too_many_providers"),
    ),
    _owned(
        "PATCH",
        "/api/provider/{id}",
        "owner",
        change,
        "Change a provider; discovery runs again",
        body=ProviderBody,
        codes=(*_LOOKUP_CODES, "stale", "no_other_way"),
    ),
    _owned(
        "DELETE",
        "/api/provider/{id}",
        "owner",
        delete,
        "Delete a provider and end its sessions",
        codes=("no_other_way",),
    ),
    *signin_api.ROUTES,
)
