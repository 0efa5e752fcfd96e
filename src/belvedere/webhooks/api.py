"""Webhooks over HTTP: making them, and their secrets."""

import msgspec

from belvedere.rest import filters, lists
from belvedere.rest.route import Ask, Reply, Route
from belvedere.webhooks import service, store
from belvedere.webhooks.record import WebhookRecord, webhook
from belvedere.webhooks.service import Shown, WebhookBody


class Credentials(msgspec.Struct):
    """A webhook's secret: it triggers this webhook, and signs its calls."""

    id: str
    secret: str


class RotateBody(msgspec.Struct, forbid_unknown_fields=True):
    """For how many seconds the old secret still works."""

    overlap: int = 0


def _record(ask: Ask, shown: Shown) -> WebhookRecord:
    return webhook(shown, ask.actor)


async def list_webhooks(ask: Ask) -> Reply:
    listing = filters.read(ask.query, store.WEBHOOKS)
    found, total = await ask.house.db.read(service.listed, ask.actor, listing)
    return lists.answer(ask, listing, [_record(ask, one) for one in found], total)


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


async def reveal(ask: Ask) -> Credentials:
    webhook_id = ask.path["id"]
    secret = await ask.house.db.write(service.reveal, ask.house.keys, ask.actor, webhook_id)
    return Credentials(webhook_id, secret)


async def rotate(ask: Ask) -> Credentials:
    webhook_id = ask.path["id"]
    secret = await ask.house.db.write(
        service.rotate, ask.house.keys, ask.actor, webhook_id, ask.body.overlap
    )
    return Credentials(webhook_id, secret)


ROUTES: tuple[Route, ...] = (
    Route(
        "GET",
        "/webhook",
        "viewer",
        list_webhooks,
        "List webhooks",
        answer=list[WebhookRecord],
        query=lists.QUERY,
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
    Route(
        "GET",
        "/webhook/{id}/credentials",
        "admin",
        reveal,
        "Read a webhook's secret; the reading is audited",
        answer=Credentials,
        known=False,
    ),
    Route(
        "POST",
        "/webhook/{id}/credentials/rotate",
        "admin",
        rotate,
        "Change a webhook's secret",
        body=RotateBody,
        answer=Credentials,
        known=False,
    ),
)
