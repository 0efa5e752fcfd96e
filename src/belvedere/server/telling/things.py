"""Monitors and indicators that fail and recover, members who need help, messages that died."""

from typing import Any

from belvedere.access import Level, may_see
from belvedere.events import Event
from belvedere.notifications.model import Severity, Told
from belvedere.server.telling.turn import Turn, tags_of, told

_MONITOR = {
    "monitor.failure": "{} fails",
    "monitor.recovered": "{} is normal again",
    "monitor.updates_stopped": "{} says nothing any more",
    "monitor.updates_started": "{} speaks again",
    "monitor.flapping": "{} fails and recovers too often to be told each time",
}
_INDICATOR = {
    "indicator.failed": "{} is in failure",
    "indicator.recovered": "{} is normal again",
    "indicator.stale": "{} has not been updated for too long",
}


def tell_monitor(turn: Turn, event: Event, data: dict[str, Any]) -> Told | None:
    words = _MONITOR.get(event.kind)
    if data.get("alerts") is False or not (words or turn.is_named(event)):
        return None
    acl = turn.acl(event.customer_id, "monitor", event.object_id)
    tags = turn.tx.value("select tags from monitors where id = ?", event.object_id)
    return told(
        turn,
        event,
        data,
        title=words.format(data["name"]) if words else "",
        text=str(data.get("message", "")),
        severity=data.get("failure_severity", Severity.LOW),
        place="monitors",
        is_alert=words is not None,
        about=(data.get("host_id"),),
        tags=tags_of(tags),
        people=turn.people(event.customer_id, lambda one: may_see(one, acl, open_when_empty=True))
        if words
        else (),
    )


def tell_indicator(turn: Turn, event: Event, data: dict[str, Any]) -> Told | None:
    words = _INDICATOR.get(event.kind)
    is_mute = data.get("alerts") is False or data.get("enable") is False
    if is_mute or not (words or turn.is_named(event)):
        return None
    acl = turn.acl(event.customer_id, "indicator", event.object_id)
    tags = turn.tx.value("select tags from indicators where id = ?", event.object_id)
    return told(
        turn,
        event,
        data,
        title=words.format(data["title"]) if words else "",
        text=f"Its value is {data['value']}." if words and "value" in data else "",
        severity=data.get("severity", Severity.LOW),
        place="indicators",
        is_alert=words is not None,
        tags=tags_of(tags),
        people=turn.people(event.customer_id, lambda one: may_see(one, acl)) if words else (),
    )


def tell_member(turn: Turn, event: Event, data: dict[str, Any]) -> Told | None:
    """Whoever forgot a password needs somebody who makes a link."""
    if event.kind != "member.recovery_asked":
        return tell_plain(turn, event, data)
    return told(
        turn,
        event,
        data,
        title=f"{data['email']} forgot the password and asks for a link",
        people=turn.people(event.customer_id, lambda one: one.level.reaches(Level.MANAGER)),
    )


def tell_message(turn: Turn, event: Event, data: dict[str, Any]) -> Told | None:
    """In the inbox only: what could not be sent must not be sent about."""
    return told(
        turn,
        event,
        data,
        title="A message could not be delivered",
        text=str(data.get("fault", "")),
        severity=Severity.HIGH,
        people=turn.people(event.customer_id, lambda one: one.level.reaches(Level.ADMIN)),
    )


def tell_plain(turn: Turn, event: Event, data: dict[str, Any]) -> Told | None:
    """Anything else that a rule names."""
    return told(turn, event, data) if turn.is_named(event) else None
