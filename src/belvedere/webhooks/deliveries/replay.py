"""Reading deliveries, and replaying one."""

import msgspec

from belvedere.access import Actor, Level, require
from belvedere.access.crypto.keyring import Keyring
from belvedere.db import Tx
from belvedere.rest.listing import Listing
from belvedere.rest.pagination import ListPage
from belvedere.webhooks import store
from belvedere.webhooks.deliveries import payload
from belvedere.webhooks.deliveries import store as inbox
from belvedere.webhooks.deliveries.receive import Call
from belvedere.webhooks.model import CallAuthorization, Delivery


def read_page(
    tx: Tx,
    actor: Actor,
    webhook_id: str,
    listing: Listing,
    count_limit: int | None,
    row_limit: int | None,
    size: int = 0,
) -> ListPage[Delivery]:
    """One step of a list of deliveries; see `searches.read_list`."""
    require(actor, Level.ADMIN)
    store.find(tx, actor.customer_id, webhook_id)
    limits = (count_limit, row_limit, size)
    return inbox.read_page(tx, actor.customer_id, webhook_id, listing, *limits)


def show(tx: Tx, actor: Actor, webhook_id: str, delivery_id: str) -> tuple[Delivery, str]:
    require(actor, Level.ADMIN)
    store.find(tx, actor.customer_id, webhook_id)
    return inbox.find(tx, actor.customer_id, webhook_id, delivery_id)


def replay_call(tx: Tx, keys: Keyring, actor: Actor, webhook_id: str, delivery_id: str) -> Call:
    """The call that replays a delivery; without a delivery id, so it is not a duplicate."""
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
