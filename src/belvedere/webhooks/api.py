"""Webhooks over HTTP: making them, and their secrets."""

from belvedere.access.api.api_secret import RotateBody, credential_routes
from belvedere.rest import listing as filters
from belvedere.rest import pagination
from belvedere.rest.route import Ask, Reply, Route
from belvedere.rest.searches import run_search
from belvedere.webhooks import service, store
from belvedere.webhooks.records import WebhookRecord, webhook
from belvedere.webhooks.service import Shown, WebhookBody


class GivenSecretBody(RotateBody, forbid_unknown_fields=True):
    """The same, or the secret that the caller gave you; Stripe and Slack choose theirs."""

    secret: str | None = None


def _record(ask: Ask, shown: Shown) -> WebhookRecord:
    return webhook(shown, ask.actor)


async def list_webhooks(ask: Ask) -> Reply:
    listing = filters.read(ask.query, store.WEBHOOKS)
    found, total = await run_search(ask, service.listed, ask.actor, listing)
    return pagination.answer(ask, listing, [_record(ask, one) for one in found], total)


async def show(ask: Ask) -> WebhookRecord:
    return _record(ask, await ask.house.db.read(service.show, ask.actor, ask.path["id"]))


async def create(ask: Ask) -> WebhookRecord:
    made = await ask.house.db.write(service.create, ask.house.keys, ask.actor, ask.body)
    return _record(ask, made)


async def replace(ask: Ask) -> WebhookRecord:
    return await _change(ask, needs_name=True)


async def change(ask: Ask) -> WebhookRecord:
    return await _change(ask, needs_name=False)


async def _change(ask: Ask, *, needs_name: bool) -> WebhookRecord:
    changed = await ask.house.db.write(
        service.change, ask.actor, ask.path["id"], ask.body, ask.if_match, needs_name=needs_name
    )
    return _record(ask, changed)


async def delete(ask: Ask) -> WebhookRecord:
    return _record(ask, await ask.house.db.write(service.delete, ask.actor, ask.path["id"]))


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
        "Make a webhook",
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
        body=GivenSecretBody,
        known=False,
    ),
)
