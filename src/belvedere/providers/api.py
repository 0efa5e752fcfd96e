"""Providers over HTTP."""

from functools import partial

import msgspec

from belvedere.base.clock import iso
from belvedere.providers import issuer_client as issuer
from belvedere.providers import login_flow, model, service, signin_api
from belvedere.providers.model import ProviderBody, ProviderRow
from belvedere.rest.route import Ask, Reply, Route


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
    # `own`, or `shared` with other providers that were added before each had its own.
    callback_kind: str
    # What `callback` is once `callback_kind` is `own`.
    own_callback: str


async def listing(ask: Ask) -> list[ProviderRecord]:
    rows = await ask.house.db.read(service.listed, ask.actor)
    return [record(ask, row) for row in rows]


async def show(ask: Ask) -> ProviderRecord:
    return record(ask, await ask.house.db.read(service.show, ask.actor, ask.path["id"]))


async def create(ask: Ask) -> Reply:
    where = await issuer.look_up(
        ask.house.couriers.of(ask.actor.customer_id), service.required(ask.body)
    )
    row = await ask.house.db.write(service.create, ask.house.keys, ask.actor, ask.body, where)
    return Reply(record(ask, row), 201)


async def change(ask: Ask) -> ProviderRecord:
    house, body = ask.house, ask.body
    row = await house.db.read(service.show, ask.actor, ask.path["id"])
    # Looked up with every change: so saving it again is what helps when the issuer has moved.
    wanted = row.issuer if body.issuer is None else model.issuer(body.issuer)
    where = await issuer.look_up(house.couriers.of(ask.actor.customer_id), wanted)
    changed = await house.db.write(
        service.change, house.keys, ask.actor, row.id, body, where, ask.if_match
    )
    return record(ask, changed)


async def delete(ask: Ask) -> ProviderRecord:
    return record(ask, await ask.house.db.write(service.delete, ask.actor, ask.path["id"]))


def record(ask: Ask, row: ProviderRow) -> ProviderRecord:
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
        signin_api.base_url(ask) + login_flow.callback(row),
        row.version,
        iso(row.created_at),
        iso(row.updated_at),
        model.SHARED if row.is_shared else model.OWN,
        signin_api.base_url(ask) + login_flow.OWN_CALLBACK.format(id=row.id),
    )


_plain = partial(Route, style="plain", known=False)
_owned = partial(_plain, people=True, answer=ProviderRecord)
_LOOKED_UP = ("provider_unreachable", "bad_issuer")

ROUTES: tuple[Route, ...] = (
    _plain("GET", "/api/provider", "admin", listing, "Providers", answer=list[ProviderRecord]),
    _plain("GET", "/api/provider/{id}", "admin", show, "One provider", answer=ProviderRecord),
    _owned(
        "POST",
        "/api/provider",
        "owner",
        create,
        "Let members sign in at an OpenID provider",
        body=ProviderBody,
        codes=(*_LOOKED_UP, "too_many_providers"),
    ),
    _owned(
        "PATCH",
        "/api/provider/{id}",
        "owner",
        change,
        "Change a provider; its issuer is looked up again",
        body=ProviderBody,
        codes=(*_LOOKED_UP, "stale", "no_other_way"),
    ),
    _owned(
        "DELETE",
        "/api/provider/{id}",
        "owner",
        delete,
        "Delete a provider; sessions through it end",
        codes=("no_other_way",),
    ),
    *signin_api.ROUTES,
)
