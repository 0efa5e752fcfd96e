"""Webhooks over HTTP: the webhooks themselves, and their secrets."""

from belvedere.access.api.route_builders import RotateSecretBody, credential_routes
from belvedere.access.request import AnyRequest, Request
from belvedere.access.searches import run_search
from belvedere.rest import listing as filters
from belvedere.rest import pagination
from belvedere.rest.route import Reply, Route
from belvedere.webhooks import service, store
from belvedere.webhooks.records import WebhookRecord, webhook
from belvedere.webhooks.service import WebhookBody, WebhookView


class ChosenSecretBody(RotateSecretBody, forbid_unknown_fields=True):
    """The same, or a secret that the sender chose, as Stripe and Slack do."""

    secret: str | None = None


def _record(request: AnyRequest, view: WebhookView) -> WebhookRecord:
    return webhook(view, request.actor)


async def list_webhooks(request: Request[None]) -> Reply:
    listing = filters.read(request.query, store.WEBHOOKS)
    views, total = await run_search(request, service.list_page, request.actor, listing)
    return pagination.page_reply(
        request, listing, [_record(request, view) for view in views], total
    )


async def show(request: Request[None]) -> WebhookRecord:
    return _record(
        request, await request.services.db.read(service.show, request.actor, request.path["id"])
    )


async def create(request: Request[WebhookBody]) -> WebhookRecord:
    view = await request.services.db.write(
        service.create, request.services.keyring, request.actor, request.body
    )
    return _record(request, view)


async def replace(request: Request[WebhookBody]) -> WebhookRecord:
    return await _change(request, needs_name=True)


async def change(request: Request[WebhookBody]) -> WebhookRecord:
    return await _change(request, needs_name=False)


async def _change(request: AnyRequest, *, needs_name: bool) -> WebhookRecord:
    changed = await request.services.db.write(
        service.change,
        request.actor,
        request.path["id"],
        request.body,
        request.if_match,
        needs_name=needs_name,
    )
    return _record(request, changed)


async def delete(request: Request[None]) -> WebhookRecord:
    return _record(
        request, await request.services.db.write(service.delete, request.actor, request.path["id"])
    )


ROUTES: tuple[Route, ...] = (
    Route(
        "GET",
        "/webhook",
        "viewer",
        list_webhooks,
        "List webhooks",
        answer=list[WebhookRecord],
        query=pagination.QUERY,
    ),
    Route("GET", "/webhook/{id}", "viewer", show, "Show a webhook", answer=WebhookRecord),
    Route(
        "POST",
        "/webhook",
        "admin",
        create,
        "Create a webhook",
        body=WebhookBody,
        answer=WebhookRecord,
    ),
    Route(
        "PUT",
        "/webhook/{id}",
        "admin",
        replace,
        "Change a webhook; its name is required",
        body=WebhookBody,
        answer=WebhookRecord,
        codes=("stale",),
    ),
    Route(
        "PATCH",
        "/webhook/{id}",
        "admin",
        change,
        "Change parts of a webhook",
        body=WebhookBody,
        answer=WebhookRecord,
        codes=("stale",),
    ),
    Route(
        "DELETE",
        "/webhook/{id}",
        "admin",
        delete,
        "Delete a webhook; remote access is revoked",
        answer=WebhookRecord,
    ),
    *credential_routes(
        "webhook",
        "/webhook/{id}/credentials",
        service.reveal,
        service.rotate,
        body=ChosenSecretBody,
        from_interface=False,
    ),
)
