"""Monitors and indicators that fail and recover, members who need help, messages that died."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from belvedere.access import Level, may_see
from belvedere.events import Event
from belvedere.notifications.model import AddressedNotice, NoticeSeverity
from belvedere.server.notices import accounts
from belvedere.server.notices.batch import Turn, tags_of, told


@dataclass(frozen=True, slots=True)
class Watched:
    """How one kind of thing that can fail is told of."""

    # The kinds that are alerts, in words.
    alerts: dict[str, str]
    table: str
    severity: str
    # What it says beside its name.
    text: Callable[[dict[str, Any]], str]
    open_when_empty: bool = False


WATCHED = {
    "monitor": Watched(
        {
            "monitor.failure": "{} fails",
            "monitor.recovered": "{} is normal again",
            "monitor.updates_stopped": "{} says nothing any more",
            "monitor.updates_started": "{} speaks again",
            "monitor.flapping": "{} fails and recovers too often to be told each time",
        },
        "monitors",
        "failure_severity",
        lambda data: str(data.get("message", "")),
        open_when_empty=True,
    ),
    "indicator": Watched(
        {
            "indicator.failed": "{} is in failure",
            "indicator.recovered": "{} is normal again",
            "indicator.stale": "{} has not been updated for too long",
        },
        "indicators",
        "severity",
        lambda data: f"Its value is {data['value']}." if "value" in data else "",
    ),
}


def tell_watched(turn: Turn, event: Event, data: dict[str, Any]) -> AddressedNotice | None:
    """Nothing of what is mute, and no alert of what is disabled."""
    how = WATCHED[event.object]
    words = how.alerts.get(event.kind)
    is_mute = data.get("alerts") is False or (words and data.get("enable") is False)
    if is_mute or not (words or turn.is_named(event)):
        return None
    acl = turn.acl(event.customer_id, event.object, event.object_id)
    people = turn.people(
        event.customer_id, lambda one: may_see(one, acl, open_when_empty=how.open_when_empty)
    )
    return told(
        turn,
        event,
        data,
        title=words.format(data.get("name") or data.get("title")) if words else "",
        text=how.text(data) if words else "",
        severity=data.get(how.severity, NoticeSeverity.LOW),
        place=how.table,
        is_alert=words is not None,
        about=(data.get("host_id"),),
        tags=tags_of(turn.tx.value(f"select tags from {how.table} where id = ?", event.object_id)),
        people=people if words else (),
    )


def tell_member(turn: Turn, event: Event, data: dict[str, Any]) -> AddressedNotice | None:
    """Whoever forgot a password needs somebody who makes a link; the rest is for the member."""
    if event.kind in accounts.TITLES:
        return accounts.tell(turn, event, data)
    if event.kind != "member.recovery_asked":
        return tell_plain(turn, event, data)
    return told(
        turn,
        event,
        data,
        title=f"{data['email']} forgot the password and asks for a link",
        people=turn.people(event.customer_id, lambda one: one.level.reaches(Level.MANAGER)),
    )


def tell_token(turn: Turn, event: Event, data: dict[str, Any]) -> AddressedNotice | None:
    """Who made it learns of it, in case it was somebody else."""
    is_own = event.kind in accounts.TITLES
    return accounts.tell(turn, event, data) if is_own else tell_plain(turn, event, data)


def tell_message(turn: Turn, event: Event, data: dict[str, Any]) -> AddressedNotice | None:
    """In the inbox only: what could not be sent must not be sent about."""
    return told(
        turn,
        event,
        data,
        title="A message could not be delivered",
        text=str(data.get("fault", "")),
        severity=NoticeSeverity.HIGH,
        people=turn.people(event.customer_id, lambda one: one.level.reaches(Level.ADMIN)),
    )


def tell_plain(turn: Turn, event: Event, data: dict[str, Any]) -> AddressedNotice | None:
    """Anything else that a rule names."""
    return told(turn, event, data) if turn.is_named(event) else None
