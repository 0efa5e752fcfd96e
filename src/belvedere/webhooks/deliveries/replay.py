"""Reading the inbox, and replaying a delivery."""

import msgspec

from belvedere.access import Actor, Level, require
from belvedere.access.crypto.keyring import Keyring
from belvedere.db import Tx
from belvedere.rest.listing import Listing
from belvedere.webhooks import store
from belvedere.webhooks.deliveries import payload
from belvedere.webhooks.deliveries import store as inbox
from belvedere.webhooks.deliveries.receive import Call
from belvedere.webhooks.model import CallAuthorization, Delivery


def list_page(
    tx: Tx, actor: Actor, webhook_id: str, listing: Listing
) -> tuple[list[Delivery], int | None]:
    """A page of deliveries, newest first."""
    require(actor, Level.ADMIN)
    store.find(tx, actor.customer_id, webhook_id)
    total = inbox.count_rows(tx, actor.customer_id, webhook_id, listing) if listing.count else None
    return inbox.select_page(tx, actor.customer_id, webhook_id, listing), total


def show(tx: Tx, actor: Actor, webhook_id: str, delivery_id: str) -> tuple[Delivery, str]:
    require(actor, Level.ADMIN)
    store.find(tx, actor.customer_id, webhook_id)
    return inbox.find(tx, actor.customer_id, webhook_id, delivery_id)


def replay_call(tx: Tx, keys: Keyring, actor: Actor, webhook_id: str, delivery_id: str) -> Call:
    """The call that replays a delivery; without a delivery id, so that it is no duplicate."""
    delivery, body = show(tx, actor, webhook_id, delivery_id)
    raw = body.encode()
    return Call(
        actor=actor,
        webhook_id=webhook_id,
        authorization=CallAuthorization.REPLAY,
        keys=keys,
        raw=raw,
        content_type=delivery.content_type,
        headers={},
        redacted=msgspec.json.encode({}).decode(),
        payload=payload.read(delivery.content_type, raw),
        replay_of=delivery.id,
    )
