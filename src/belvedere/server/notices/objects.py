"""Notices about monitors, indicators, hosts, members, tokens and undeliverable messages."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from belvedere.access import Level, may_see
from belvedere.events import Event
from belvedere.notifications.model import AddressedNotice, NoticeSeverity
from belvedere.server.notices import accounts
from belvedere.server.notices.batch import NoticeBatch, make_notice, tags_of


@dataclass(frozen=True, slots=True)
class AlertKind:
    """How notices about monitors, or about indicators, are built."""

    # Titles of the event kinds that are alerts.
    alerts: dict[str, str]
    table: str
    severity: str
    # The text below the title.
    text: Callable[[dict[str, Any]], str]
    open_when_empty: bool = False


ALERT_KINDS = {
    "monitor": AlertKind(
        {
            "monitor.failure": "{} fails",
            "monitor.recovered": "{} is normal again",
            "monitor.updates_stopped": "{} stopped reporting",
            "monitor.updates_started": "{} reports again",
            "monitor.flapping": "{} is flapping: it fails and recovers too often",
        },
        "monitors",
        "failure_severity",
        lambda data: str(data.get("message", "")),
        open_when_empty=True,
    ),
    "indicator": AlertKind(
        {
            "indicator.failed": "{} changed to failure",
            "indicator.recovered": "{} is normal again",
            "indicator.stale": "{} has not been updated for too long",
        },
        "indicators",
        "severity",
        lambda data: f"Its value is {data['value']}." if "value" in data else "",
    ),
}


# The host gets no jobs until somebody acts.
HOST_ALERTS = frozenset({"host.disk_full", "host.journal_refused"})


def state_notice(batch: NoticeBatch, event: Event, data: dict[str, Any]) -> AddressedNotice | None:
    """None for a muted object, and no alert for a disabled one."""
    kind = ALERT_KINDS[event.object]
    title = kind.alerts.get(event.kind)
    is_mute = data.get("alerts") is False or (title and data.get("enable") is False)
    if is_mute or not (title or batch.is_named(event)):
        return None
    acl = batch.acl(event.customer_id, event.object, event.object_id)
    people = batch.people(
        event.customer_id, lambda member: may_see(member, acl, open_when_empty=kind.open_when_empty)
    )
    return make_notice(
        batch,
        event,
        data,
        title=title.format(data.get("name") or data.get("title")) if title else "",
        text=kind.text(data) if title else "",
        severity=data.get(kind.severity, NoticeSeverity.LOW),
        page=kind.table,
        is_alert=title is not None,
        about=(data.get("host_id"),),
        tags=tags_of(
            batch.tx.value(f"select tags from {kind.table} where id = ?", event.object_id)
        ),
        people=people if title else (),
    )


def member_notice(batch: NoticeBatch, event: Event, data: dict[str, Any]) -> AddressedNotice | None:
    """Managers learn of a forgotten password, to create a link; the rest is for the member."""
    if event.kind in accounts.TITLES:
        return accounts.account_notice(batch, event, data)
    if event.kind != "member.recovery_asked":
        return plain_notice(batch, event, data)
    return make_notice(
        batch,
        event,
        data,
        title=f"{data['email']} forgot the password and requests a link",
        people=batch.people(event.customer_id, lambda member: member.level.reaches(Level.MANAGER)),
    )


def token_notice(batch: NoticeBatch, event: Event, data: dict[str, Any]) -> AddressedNotice | None:
    """Its creator is notified, in case it was somebody else."""
    is_own = event.kind in accounts.TITLES
    return (
        accounts.account_notice(batch, event, data) if is_own else plain_notice(batch, event, data)
    )


def message_notice(
    batch: NoticeBatch, event: Event, data: dict[str, Any]
) -> AddressedNotice | None:
    """Only in the inbox: a message about an undeliverable message might fail as well. None if the
    message was deleted with its channel."""
    if batch.tx.value("select 1 from messages where id = ?", event.object_id) is None:
        return None
    return make_notice(
        batch,
        event,
        data,
        title="A message could not be delivered",
        text=str(data.get("fault", "")),
        severity=NoticeSeverity.HIGH,
        people=batch.people(event.customer_id, lambda member: member.level.reaches(Level.ADMIN)),
    )


def host_notice(batch: NoticeBatch, event: Event, data: dict[str, Any]) -> AddressedNotice | None:
    """With what the agent reported, such as the folder whose disk is full."""
    is_alert = event.kind in HOST_ALERTS
    if not (is_alert or batch.is_named(event)):
        return None
    return make_notice(
        batch,
        event,
        data,
        text=str(data.get("message", "")),
        severity=NoticeSeverity.HIGH if is_alert else NoticeSeverity.LOW,
        page="hosts",
        is_alert=is_alert,
        tags=tags_of(batch.tx.value("select tags from hosts where id = ?", event.object_id)),
    )


def plain_notice(batch: NoticeBatch, event: Event, data: dict[str, Any]) -> AddressedNotice | None:
    """Every other event that a rule names."""
    return make_notice(batch, event, data) if batch.is_named(event) else None
