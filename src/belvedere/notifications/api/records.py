"""Channels, rules, messages and notifications as the API returns them."""

import msgspec

from belvedere.access import Actor
from belvedere.base.clock import SECOND, iso, iso_or_none
from belvedere.notifications import quiet_hours
from belvedere.notifications.delivery.message_text import hint_for
from belvedere.notifications.delivery.messages import DeliveryAttempt, Message
from belvedere.notifications.inbox import Notification
from belvedere.notifications.model import ChannelRow, RuleRow, quiet_hours_of


class ChannelRecord(msgspec.Struct):
    id: str
    name: str
    enable: bool
    # The kind of receiver, as Apprise names it.
    service: str
    # The part of the address that may be shown.
    url: str
    customer_id: str
    customer_name: str
    version: int
    creation_date: str
    last_update: str


class RecipientRecord(msgspec.Struct):
    """A channel that a failure is sent to."""

    name: str


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
    # Empty: it was delivered.
    fault: str
    # What to change so that it is delivered.
    hint: str


class NoticeRecord(msgspec.Struct):
    kind: str
    object: str
    object_id: str
    title: str
    severity: str
    date: str


class MessageRecord(msgspec.Struct):
    """A waiting, sent or dead message. The receiver gets the same id."""

    id: str
    state: str
    channel_id: str | None
    rule_id: str | None
    # The address of a mail that the installation itself sends.
    recipient: str
    severity: str
    events: list[NoticeRecord]
    more: int
    attempts: int
    tries: list[TryRecord]
    # The next attempt, while the message waits.
    due: str | None
    sent_at: str | None = msgspec.field(name="sent")
    creation_date: str


class NotificationRecord(msgspec.Struct):
    """One entry of my inbox. `group_id` is the same for entries that belong together: of a job it
    is the task or the workflow, else the object."""

    id: str
    kind: str
    object: str
    object_id: str
    group_id: str
    severity: str
    title: str
    body: str
    read: bool
    creation_date: str


class ReadCount(msgspec.Struct):
    """How many notifications were unread."""

    count: int


class ChannelCredentials(msgspec.Struct):
    """The secret that signs the calls of a webhook channel."""

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
    hours = quiet_hours_of(row)
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
            quiet_hours.format_minute(hours.start),
            quiet_hours.format_minute(hours.end),
            hours.zone,
            hours.but_critical,
        ),
        group=row.window_ms // SECOND,
        customer_id=row.customer_id,
        customer_name=actor.customer_name,
        version=row.version,
        creation_date=iso(row.created_at),
        last_update=iso(row.updated_at),
    )


def message(row: Message) -> MessageRecord:
    return MessageRecord(
        id=row.id,
        state=row.state,
        channel_id=row.channel_id,
        rule_id=row.rule_id,
        recipient=row.recipient,
        severity=row.severity,
        events=[
            NoticeRecord(
                *(notice.kind, notice.object, notice.object_id, notice.title),
                *(notice.severity, iso(notice.at)),
            )
            for notice in row.notice_list
        ],
        more=row.more,
        attempts=row.attempts,
        tries=[
            TryRecord(iso(attempt.at), attempt.fault, hint_for(attempt.fault))
            for attempt in msgspec.json.decode(row.tries, type=list[DeliveryAttempt])
        ],
        due=iso(row.due_at) if row.state == "waiting" else None,
        sent_at=iso_or_none(row.sent_at),
        creation_date=iso(row.created_at),
    )


def notification(row: Notification) -> NotificationRecord:
    return NotificationRecord(
        row.id,
        row.kind,
        row.object,
        row.object_id,
        row.group_id or row.object_id,
        row.severity,
        row.title,
        row.body,
        row.read_at is not None,
        iso(row.created_at),
    )
