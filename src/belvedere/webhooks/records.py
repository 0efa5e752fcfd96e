"""Webhooks and deliveries as the API returns them."""

from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from belvedere.access import Actor
from belvedere.base.clock import iso, iso_or_none
from belvedere.base.errors import Refused
from belvedere.base.text import json_text, request_masking
from belvedere.tasks.model import MASK
from belvedere.webhooks.deliveries import payload
from belvedere.webhooks.model import Delivery, StartedJob
from belvedere.webhooks.service import WebhookView


class WebhookRecord(msgspec.Struct):
    id: str
    kind: str = msgspec.field(name="_type")
    name: str
    enable: bool
    tasks: list[str]
    workflows: list[str]
    signature: str
    trigger_count: int
    last_triggered: str | None
    version: int
    customer_id: str
    customer_name: str
    creation_date: str
    last_update: str


class DeliveryRecord(msgspec.Struct):
    """An authorized call. Lists do not contain the body."""

    id: str
    kind: str = msgspec.field(name="_type")
    webhook_id: str
    date: str
    address: str
    # What authorized it: token, secret, signature or replay; `user` is who used it.
    door: str
    user: str
    # accepted, duplicate, challenge, or the code of the error.
    verdict: str
    # The sender's own id of the delivery.
    delivery: str | None
    replay_of: str | None
    jobs: list[StartedJob]
    content_type: str
    headers: dict[str, str]
    size: int
    body: str | UnsetType = UNSET


class Triggered(msgspec.Struct):
    """What a call started."""

    message: str
    jobs: list[StartedJob]


def webhook(view: WebhookView, actor: Actor) -> WebhookRecord:
    row = view.row
    return WebhookRecord(
        row.id,
        "Webhook",
        row.name,
        bool(row.enabled),
        view.attached.get("task", []),
        view.attached.get("workflow", []),
        row.signature,
        row.trigger_count,
        iso_or_none(row.triggered_at),
        row.version,
        row.customer_id,
        actor.customer_name,
        iso(row.created_at),
        iso(row.updated_at),
    )


def delivery(row: Delivery, body: str | None = None) -> DeliveryRecord:
    return DeliveryRecord(
        row.id,
        "Delivery",
        row.webhook_id,
        iso(row.at),
        row.address,
        row.door,
        row.username,
        row.verdict,
        row.delivery_key,
        row.replay_of,
        msgspec.json.decode(row.jobs, type=list[StartedJob]),
        row.content_type,
        msgspec.json.decode(row.headers, type=dict[str, str]),
        row.size,
        UNSET if body is None else _masked(row, body),
    )


def _masked(row: Delivery, body: str) -> str:
    """The body as admins see it: without masked arguments and without the values of names that
    look like credentials."""
    hidden = msgspec.json.decode(row.masked, type=set[int])
    is_wrapped = body.startswith("payload=")
    text = _mask_elements(row, body, hidden) if body and (hidden or is_wrapped) else body
    return str(request_masking.mask({"body": text})["body"])


def _mask_elements(row: Delivery, body: str, hidden: set[int]) -> str:
    elements: list[Any] | Refused = payload.read(row.content_type, body.encode())
    if isinstance(elements, Refused):
        # It is not known which part of it has to be hidden.
        return MASK
    return json_text.compact(
        [MASK if n in hidden else element for n, element in enumerate(elements)]
    )
