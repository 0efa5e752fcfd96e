"""What is known while a batch of events is told: rules, organizations, and who belongs to them."""

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
class Turn:
    tx: Tx
    base_url: str
    rules: Sequence[Rule]
    _customers: dict[str, Customer] = field(default_factory=dict)
    _members: dict[str, list[Actor]] = field(default_factory=dict)

    def is_named(self, event: Event) -> bool:
        """Whether a rule of the organization names this kind."""
        return any(
            rule.customer_id == event.customer_id and rule.names(event.kind) for rule in self.rules
        )

    def customer(self, customer_id: str) -> Customer:
        if customer_id not in self._customers:
            self._customers[customer_id] = service.find(self.tx, customer_id)
        return self._customers[customer_id]

    def people(self, customer_id: str, are_told: Callable[[Actor], bool]) -> tuple[str, ...]:
        """User ids of the members for whom this is true."""
        return tuple(one.user_id for one in self.members(customer_id) if are_told(one))

    def members(self, customer_id: str) -> list[Actor]:
        """Everybody who can sign in."""
        if customer_id not in self._members:
            customer = self.customer(customer_id)
            self._members[customer_id] = [
                memberships.actor_for(one, customer.name)
                for one in memberships.list_members(self.tx, service.operator(customer))
                if one.enabled and one.user_enabled and one.invited_at is None
            ]
        return self._members[customer_id]

    def acl(self, customer_id: str, object: str, object_id: str) -> list[str]:
        return acl_of(self.tx, customer_id, object, object_id)

    def link(self, event: Event, place: str = "") -> str:
        """Where the console shows it."""
        if not place:
            return ""
        name = self.customer(event.customer_id).name
        return f"{self.base_url}/ui/{name}/{place}/{event.object_id}"


# Where events keep what people call their object.
_NAMES = ("name", "title", "hostname", "email")


def told(
    turn: Turn,
    event: Event,
    data: dict[str, Any],
    *,
    title: str = "",
    text: str = "",
    severity: str = NoticeSeverity.LOW,
    place: str = "",
    is_alert: bool = False,
    about: Sequence[str | None] = (),
    tags: Sequence[str] = (),
    people: tuple[str, ...] = (),
) -> AddressedNotice:
    """The notice of an event; what nobody found words for is said in the words of its kind."""
    name = next((str(data[key]) for key in _NAMES if key in data), event.object)
    said = title or f"{name}: {KINDS[event.kind]}"
    notice = Notice(
        event.kind,
        event.object,
        event.object_id,
        message_text.one_line(said),
        event.at,
        NoticeSeverity(severity),
        str(data.get("state", "")),
        message_text.one_line(text, MAX_NOTICE_TEXT),
        turn.link(event, place),
    )
    return AddressedNotice(
        event.customer_id,
        notice,
        is_alert,
        frozenset(one for one in (event.object_id, *about) if one),
        frozenset(tag.lower() for tag in tags),
        people,
    )


def tags_of(text: str | None) -> list[str]:
    return msgspec.json.decode(text or "[]", type=list[str])
