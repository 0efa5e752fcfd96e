"""The event consumer that sends notices: each object has a function that builds them."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from belvedere.base.clock import DAY, Millis
from belvedere.db import Tx
from belvedere.events import Event
from belvedere.notifications import routing, store
from belvedere.notifications.model import NOTIFIABLE_KINDS, AddressedNotice
from belvedere.server.notices import jobs, mails, objects
from belvedere.server.notices.batch import NoticeBatch
from belvedere.server.runtime import ServerRuntime

MAX_AGE: Millis = 1 * DAY
KINDS = NOTIFIABLE_KINDS | {"message.dead"}

NOTICE_BUILDERS: dict[
    str, Callable[[NoticeBatch, Event, dict[str, Any]], AddressedNotice | None]
] = {
    "job": jobs.job_notice,
    "monitor": objects.state_notice,
    "indicator": objects.state_notice,
    "host": objects.host_notice,
    "member": objects.member_notice,
    "token": objects.token_notice,
    "message": objects.message_notice,
}


def notify(tx: Tx, runtime: ServerRuntime, recorded: Sequence[Event]) -> None:
    """Send the notices of these events, in order, except those that are too old by now."""
    recent = [event for event in recorded if event.at > tx.now - MAX_AGE]
    rules = store.active_rules(tx, {event.customer_id for event in recent})
    batch = NoticeBatch(tx, runtime.settings.base_url, rules)
    notices = (_notice(batch, event) for event in recent)
    routing.route(tx, [notice for notice in notices if notice is not None], rules)
    mails.write(tx, runtime, recent)


def _notice(batch: NoticeBatch, event: Event) -> AddressedNotice | None:
    build = NOTICE_BUILDERS.get(event.object, objects.plain_notice)
    return build(batch, event, msgspec.json.decode(event.data))
