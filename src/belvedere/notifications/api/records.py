"""The shapes in which channels, rules, messages and notifications leave the server."""

import msgspec

from belvedere.access import Actor
from belvedere.base.clock import SECOND, iso, iso_or_none
from belvedere.notifications import quiet_hours as quiet
from belvedere.notifications.delivery.messages import Message, Try
from belvedere.notifications.inbox import Notification
from belvedere.notifications.model import ChannelRow, RuleRow, quiet_of


class ChannelRecord(msgspec.Struct):
    id: str
    name: str
    enable: bool
    # What kind of receiver it is.
    service: str
    # As much of the address as may be seen.
    url: str
    customer_id: str
    customer_name: str
    version: int
    creation_date: str
    last_update: str


class QuietRecord(msgspec.Struct, rename={"start": "from", "end": "to"}):
    start: str
    end: str
    zone: str
    but_critical: bool


class RuleRecord(msgspec.Struct):
    id: str
    name: str
    enable: bool
    channels: list[str]
    kinds: list[str]
    objects: list[str]
    states: list[str]
    tags: list[str]
    severity: str
    quiet: QuietRecord | None
    group: int
    customer_id: str
    customer_name: str
    version: int
    creation_date: str
    last_update: str


class TryRecord(msgspec.Struct):
    date: str
    # Empty: it was taken.
    fault: str


class NoticeRecord(msgspec.Struct):
    kind: str
    object: str
    object_id: str
    title: str
    severity: str
    date: str


class MessageRecord(msgspec.Struct):
    """A message on its way, sent, or dead; its id is what the receiver was given as such."""

    id: str
    state: str
    channel_id: str | None
    rule_id: str | None
    # Of a mail by the installation: to whom.
    recipient: str
    severity: str
    events: list[NoticeRecord]
    more: int
    attempts: int
    tries: list[TryRecord]
    # When it is tried next, while it waits.
    due: str | None
    sent: str | None
    creation_date: str


class NotificationRecord(msgspec.Struct):
    """One line of my inbox."""

    id: str
    kind: str
    object: str
    object_id: str
    severity: str
    title: str
    body: str
    read: bool
    creation_date: str


class Read(msgspec.Struct):
    """How many notifications were new."""

    count: int


class Credentials(msgspec.Struct):
    """The secret that signs what a channel posts."""

    id: str
    secret: str


def channel(row: ChannelRow, actor: Actor) -> ChannelRecord:
    return ChannelRecord(
        row.id,
        row.name,
        bool(row.enabled),
        row.service,
        row.shown,
        row.customer_id,
        actor.customer_name,
        row.version,
        iso(row.created_at),
        iso(row.updated_at),
    )


def rule(row: RuleRow, actor: Actor) -> RuleRecord:
    hours = quiet_of(row)
    lists = (row.channels, row.kinds, row.objects, row.states, row.tags)
    channels, kinds, objects, states, tags = (
        msgspec.json.decode(text, type=list[str]) for text in lists
    )
    return RuleRecord(
        id=row.id,
        name=row.name,
        enable=bool(row.enabled),
        channels=channels,
        kinds=kinds,
        objects=objects,
        states=states,
        tags=tags,
        severity=row.severity,
        quiet=None
        if hours is None
        else QuietRecord(
            quiet.shown(hours.start), quiet.shown(hours.end), hours.zone, hours.but_critical
        ),
        group=row.window_ms // SECOND,
        customer_id=row.customer_id,
        customer_name=actor.customer_name,
        version=row.version,
        creation_date=iso(row.created_at),
        last_update=iso(row.updated_at),
    )


def message(found: Message) -> MessageRecord:
    return MessageRecord(
        id=found.id,
        state=found.state,
        channel_id=found.channel_id,
        rule_id=found.rule_id,
        recipient=found.recipient,
        severity=found.severity,
        events=[
            NoticeRecord(one.kind, one.object, one.object_id, one.title, one.severity, iso(one.at))
            for one in found.notice_list
        ],
        more=found.more,
        attempts=found.attempts,
        tries=[
            TryRecord(iso(one.at), one.fault)
            for one in msgspec.json.decode(found.tries, type=list[Try])
        ],
        due=iso(found.due_at) if found.state == "waiting" else None,
        sent=iso_or_none(found.sent_at),
        creation_date=iso(found.created_at),
    )


def notification(found: Notification) -> NotificationRecord:
    return NotificationRecord(
        found.id,
        found.kind,
        found.object,
        found.object_id,
        found.severity,
        found.title,
        found.body,
        found.read_at is not None,
        iso(found.created_at),
    )
