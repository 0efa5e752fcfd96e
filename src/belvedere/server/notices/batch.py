"""Rules, organizations and members, read once for a batch of events."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from belvedere.access import Actor, acl_of
from belvedere.access.customers import service
from belvedere.access.customers.service import Customer
from belvedere.access.people import memberships
from belvedere.db import Tx
from belvedere.events import Event
from belvedere.events.kinds import KINDS
from belvedere.notifications.delivery import message_text
from belvedere.notifications.model import (
    MAX_NOTICE_TEXT,
    AddressedNotice,
    Notice,
    NoticeSeverity,
    Rule,
)


@dataclass(slots=True)
class NoticeBatch:
    tx: Tx
    base_url: str
    rules: Sequence[Rule]
    _customers: dict[str, Customer] = field(default_factory=dict)
    _members: dict[str, list[Actor]] = field(default_factory=dict)

    def is_named(self, event: Event) -> bool:
        """Whether a rule of the organization names the kind of the event."""
        return any(
            rule.customer_id == event.customer_id and rule.names(event.kind) for rule in self.rules
        )

    def customer(self, customer_id: str) -> Customer:
        if customer_id not in self._customers:
            self._customers[customer_id] = service.find(self.tx, customer_id)
        return self._customers[customer_id]

    def people(self, customer_id: str, is_recipient: Callable[[Actor], bool]) -> tuple[str, ...]:
        """User ids of the members for whom this is true."""
        return tuple(member.user_id for member in self.members(customer_id) if is_recipient(member))

    def members(self, customer_id: str) -> list[Actor]:
        """The members who can sign in."""
        if customer_id not in self._members:
            customer = self.customer(customer_id)
            self._members[customer_id] = [
                memberships.actor_for(member, customer.name)
                for member in memberships.list_members(self.tx, service.operator(customer))
                if member.enabled and member.user_enabled and member.invited_at is None
            ]
        return self._members[customer_id]

    def acl(self, customer_id: str, object: str, object_id: str) -> list[str]:
        return acl_of(self.tx, customer_id, object, object_id)

    def link(self, event: Event, page: str = "") -> str:
        """The address of the object in the console."""
        if not page:
            return ""
        name = self.customer(event.customer_id).name
        return f"{self.base_url}/ui/{name}/{page}/{event.object_id}"


# Fields of events with the name of the object.
_NAMES = ("name", "title", "hostname", "email")


def make_notice(
    batch: NoticeBatch,
    event: Event,
    data: dict[str, Any],
    *,
    title: str = "",
    text: str = "",
    severity: str = NoticeSeverity.LOW,
    page: str = "",
    is_alert: bool = False,
    about: Sequence[str | None] = (),
    tags: Sequence[str] = (),
    people: tuple[str, ...] = (),
    group_id: str | None = None,
) -> AddressedNotice:
    """The notice of an event; without a title it gets the description of its kind."""
    name = next((str(data[key]) for key in _NAMES if key in data), event.object)
    notice_title = title or f"{name}: {KINDS[event.kind]}"
    notice = Notice(
        event.kind,
        event.object,
        event.object_id,
        message_text.one_line(notice_title),
        event.at,
        NoticeSeverity(severity),
        str(data.get("state", "")),
        message_text.one_line(text, MAX_NOTICE_TEXT),
        batch.link(event, page),
    )
    return AddressedNotice(
        event.customer_id,
        notice,
        is_alert,
        frozenset(object_id for object_id in (event.object_id, *about) if object_id),
        frozenset(tag.lower() for tag in tags),
        people,
        group_id or event.object_id,
    )


def tags_of(text: str | None) -> list[str]:
    return msgspec.json.decode(text or "[]", type=list[str])
