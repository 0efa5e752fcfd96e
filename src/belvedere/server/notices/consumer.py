"""The reaction that tells: each kind of object has somebody who knows the words for it."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from belvedere.base.clock import DAY, Millis
from belvedere.db import Tx
from belvedere.events import Event
from belvedere.notifications import routing, store
from belvedere.notifications.model import NOTIFIABLE_KINDS, AddressedNotice
from belvedere.server.notices import jobs, mails, objects
from belvedere.server.notices.batch import Turn
from belvedere.server.runtime import ServerRuntime

OLD: Millis = 1 * DAY
KINDS = NOTIFIABLE_KINDS | {"message.dead"}

TELLERS: dict[str, Callable[[Turn, Event, dict[str, Any]], AddressedNotice | None]] = {
    "job": jobs.tell,
    "monitor": objects.tell_watched,
    "indicator": objects.tell_watched,
    "member": objects.tell_member,
    "token": objects.tell_token,
    "message": objects.tell_message,
}


def tell(tx: Tx, runtime: ServerRuntime, found: Sequence[Event]) -> None:
    """Tell a batch, in order; not what is old news after a long silence."""
    found = [event for event in found if event.at > tx.now - OLD]
    rules = store.active_rules(tx, {event.customer_id for event in found})
    turn = Turn(tx, runtime.settings.base_url, rules)
    said = (_told(turn, event) for event in found)
    routing.route(tx, [one for one in said if one is not None], rules)
    mails.write(tx, runtime, found)


def _told(turn: Turn, event: Event) -> AddressedNotice | None:
    teller = TELLERS.get(event.object, objects.tell_plain)
    return teller(turn, event, msgspec.json.decode(event.data))
