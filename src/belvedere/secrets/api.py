"""Secrets over HTTP. Values of secrets are never returned, values of variables are."""

import msgspec
from msgspec import UNSET, UnsetType

from belvedere.access.request import AnyRequest, Request
from belvedere.access.searches import run_search
from belvedere.base.clock import iso
from belvedere.rest import listing as filters
from belvedere.rest import pagination
from belvedere.rest.route import Reply, Route
from belvedere.secrets import service, store
from belvedere.secrets.service import SecretBody, SecretView


class SecretRecord(msgspec.Struct):
    """A secret without its value; a variable with it."""

    id: str
    kind: str = msgspec.field(name="_type")
    name: str
    # The task whose scripts get it; null: all scripts of the organization.
    task_id: str | None
    # True: a secret; false: a variable.
    secret: bool
    description: str
    # Who set it last.
    updated_by: str
    version: int
    customer_id: str
    customer_name: str
    creation_date: str
    last_update: str
    value: str | UnsetType = UNSET


def _record(request: AnyRequest, view: SecretView) -> SecretRecord:
    row = view.row
    return SecretRecord(
        row.id,
        "Secret",
        row.name,
        row.task_id or None,
        bool(row.is_secret),
        row.description,
        row.updated_by,
        row.version,
        row.customer_id,
        request.actor.customer_name,
        iso(row.created_at),
        iso(row.updated_at),
        UNSET if view.value is None else view.value,
    )


async def list_secrets(request: Request[None]) -> Reply:
    listing = filters.read(request.query, store.SECRETS)
    views = await run_search(
        request, service.list_page, request.services.keyring, request.actor, listing
    )
    return pagination.page_reply(request, listing, [_record(request, view) for view in views])


async def put(request: Request[SecretBody]) -> SecretRecord:
    view = await request.services.db.write(
        service.put,
        request.services.keyring,
        request.actor,
        request.path["name"],
        request.body,
        request.if_match,
    )
    return _record(request, view)


async def delete(request: Request[None]) -> SecretRecord:
    gone = await request.services.db.write(
        service.delete,
        request.services.keyring,
        request.actor,
        request.path["name"],
        request.first("task_id"),
    )
    return _record(request, gone)


ROUTES: tuple[Route, ...] = (
    Route(
        "GET",
        "/secret",
        "admin",
        list_secrets,
        "List secrets by name, without their values, and variables",
        answer=list[SecretRecord],
        query=pagination.QUERY[:4],
        from_interface=False,
    ),
    Route(
        "PUT",
        "/secret/{name}",
        "admin",
        put,
        "Set a secret or variable of the organization or, with task_id, of one task",
        body=SecretBody,
        answer=SecretRecord,
        codes=("stale", "too_many_secrets"),
        from_interface=False,
    ),
    Route(
        "DELETE",
        "/secret/{name}",
        "admin",
        delete,
        "Delete a secret; scripts that run keep it",
        answer=SecretRecord,
        query=(("task_id", "the task that it belongs to; without it: the organization"),),
        from_interface=False,
    ),
)
