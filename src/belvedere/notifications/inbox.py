"""The inbox of each member, and which kinds of events appear in it."""

from collections.abc import Collection, Sequence

import msgspec

from belvedere import events
from belvedere.access import Actor, history_lists, require_person
from belvedere.access.history_lists import HistoryScope, HistoryTable
from belvedere.access.id_ranges import TimeField
from belvedere.base.clock import DAY, HOUR, Millis
from belvedere.base.errors import Fault, Invalid, NotFound
from belvedere.base.ids import new_id
from belvedere.db import Tx, columns
from belvedere.notifications.model import AddressedNotice
from belvedere.rest.listing import Field, FieldKind, Listable, Listing
from belvedere.rest.pagination import ListPage

RETENTION: Millis = 30 * DAY
PURGE_BATCH_SIZE = 500

NOTIFICATIONS = Listable(
    fields={
        "id": Field("id"),
        "kind": Field("kind"),
        "object": Field("object"),
        "object_id": Field("object_id"),
        "severity": Field("severity"),
        "read": Field("(case when read_at is null then 0 else 1 end)", FieldKind.BOOL),
        "creation_date": Field("created_at", FieldKind.TIME),
    },
    newest_first=True,
    most=1_000,
)


class Notification(msgspec.Struct):
    """A row of `notifications`, in the order of the select."""

    id: str
    customer_id: str
    user_id: str
    kind: str
    object: str
    object_id: str
    severity: str
    title: str
    body: str
    read_at: Millis | None
    created_at: Millis
    group_id: str


_ROW = columns(Notification)
_OWN = "customer_id = ? and user_id = ?"


def deliver(tx: Tx, notices: Sequence[AddressedNotice]) -> None:
    """Write the notices to the inboxes of their recipients, except for muted kinds."""
    muted = _muted_by(tx, notices)
    rows = [
        (
            *(new_id(), addressed.customer_id, user_id, notice.kind, notice.object),
            *(notice.object_id, notice.severity.value, notice.title),
            *(notice.text, None, notice.at, addressed.group_id or notice.object_id),
        )
        for addressed in notices
        for notice in (addressed.notice,)
        for user_id in addressed.people
        if (addressed.customer_id, user_id, notice.kind) not in muted
    ]
    if not rows:
        return
    marks = ", ".join("?" for _ in Notification.__struct_fields__)
    tx.execute_many(f"insert into notifications ({_ROW}) values ({marks})", rows)
    # The event says only that some inbox of the customer has something new.
    for customer_id in sorted({row[1] for row in rows}):
        events.append(tx, customer_id, "notification.created", customer_id)


_TABLE = HistoryTable(
    Notification,
    "notifications",
    ("user_id", "customer_id"),
    # A row has the time of its event.
    TimeField("creation_date", exact=False),
    size="octet_length(title) + octet_length(body)",
)


def read_page(
    tx: Tx,
    actor: Actor,
    listing: Listing,
    count_limit: int | None,
    row_limit: int | None,
    size: int = 0,
) -> ListPage[Notification]:
    """One step of a list; see `searches.read_list`."""
    require_person(actor)
    scope = HistoryScope((actor.user_id, actor.customer_id))
    return history_lists.read_page(tx, _TABLE, scope, listing, count_limit, row_limit, size)


def mark_read(tx: Tx, actor: Actor, notification_id: str, *, is_read: bool) -> Notification:
    """Mark a notification of the caller as read or unread."""
    require_person(actor)
    row = tx.one(
        Notification,
        "update notifications set read_at = case when ? = 0 then null"
        f" else coalesce(read_at, ?) end where id = ? and {_OWN} returning {_ROW}",
        int(is_read),
        tx.now,
        notification_id,
        actor.customer_id,
        actor.user_id,
    )
    if row is None:
        raise NotFound("There is no such notification.", code="notification_not_found")
    return row


def mark_all_read(tx: Tx, actor: Actor) -> int:
    """Mark the whole inbox as read; returns how many were unread."""
    require_person(actor)
    return tx.execute(
        f"update notifications set read_at = ? where {_OWN} and read_at is null",
        tx.now,
        actor.customer_id,
        actor.user_id,
    )


def delete_for_channel(tx: Tx, customer_id: str, channel_id: str) -> None:
    """Delete the reports of failed messages of a channel, while its messages still exist: nobody
    can retry a message whose channel is deleted."""
    oldest = tx.value(
        "select min(id) from messages where channel_id = ? and state = 'dead'", channel_id
    )
    if oldest is None:
        return
    # Only inboxes of this organization are read, from the time of that message on. The clocks of
    # servers, and so the times in ids, may differ.
    since = f"{max(int(oldest[:12], 16) - HOUR, 0):012x}"
    members = tx.dialect.in_subquery.format("select user_id from members where customer_id = ?")
    tx.execute(
        f"delete from notifications where user_id {members} and customer_id = ? and id >= ?"
        " and kind = 'message.dead'"
        " and object_id in (select id from messages where channel_id = ?)",
        *(customer_id, customer_id, since, channel_id),
    )


def purge_old(tx: Tx) -> bool:
    """Delete a batch of old notifications, read or not; True if there may be more."""
    deleted = tx.execute(
        "delete from notifications where id in"
        " (select id from notifications where created_at < ? limit ?)",
        tx.now - RETENTION,
        PURGE_BATCH_SIZE,
    )
    return deleted == PURGE_BATCH_SIZE


# Preferences

# Every kind of event that appears in an inbox, and its description.
KINDS = {
    "job.created": "a job waits for approval or input, or a notification task ran",
    "job.finished": "a job failed",
    "job.lost": "the outcome of a job is unknown",
    "job.expired": "a job expired",
    "job.voided": "an approval became void",
    "monitor.failure": "a monitor fails",
    "monitor.recovered": "a monitor is normal again",
    "monitor.updates_stopped": "a monitor stopped reporting",
    "monitor.updates_started": "a monitor reports again",
    "monitor.flapping": "a monitor fails and recovers too often",
    "indicator.failed": "an indicator is in failure",
    "indicator.recovered": "an indicator is normal again",
    "indicator.stale": "an indicator has not been updated for too long",
    "member.recovery_asked": "a member asked for a password reset",
    "message.dead": "a message could not be delivered",
}


class InboxPreferences(msgspec.Struct):
    """The kinds that a member has muted, and all kinds with their descriptions."""

    muted: list[str]
    kinds: dict[str, str]


def preferences(tx: Tx, actor: Actor) -> InboxPreferences:
    require_person(actor)
    muted = tx.value(
        "select muted from inboxes where user_id = ? and customer_id = ?",
        actor.user_id,
        actor.customer_id,
    )
    return InboxPreferences(msgspec.json.decode(muted or "[]", type=list[str]), KINDS)


def change_preferences(tx: Tx, actor: Actor, muted: Sequence[str]) -> InboxPreferences:
    """Mute exactly these kinds from now on; the inbox keeps what it contains."""
    require_person(actor)
    _check_kinds(muted)
    kinds = sorted(set(muted))
    tx.execute(
        "insert into inboxes (customer_id, user_id, muted, updated_at) values (?, ?, ?, ?)"
        " on conflict (user_id, customer_id) do update set muted = excluded.muted,"
        " updated_at = excluded.updated_at",
        actor.customer_id,
        actor.user_id,
        msgspec.json.encode(kinds).decode(),
        tx.now,
    )
    return InboxPreferences(kinds, KINDS)


def _check_kinds(muted: Sequence[str]) -> None:
    faults = tuple(
        Fault(f"muted[{n}]", "Events of this kind never appear in an inbox.")
        for n, kind in enumerate(muted)
        if kind not in KINDS
    )
    if faults:
        raise Invalid(f"{faults[0].field}: {faults[0].message}", faults=faults)


def _muted_by(tx: Tx, notices: Collection[AddressedNotice]) -> set[tuple[str, str, str]]:
    """(customer, user, kind) that do not appear."""
    user_ids = sorted({user_id for addressed in notices for user_id in addressed.people})
    if not user_ids:
        return set()
    rows = tx.rows(
        f"select customer_id, user_id, muted from inboxes where user_id in {tx.dialect.in_texts}",
        msgspec.json.encode(user_ids).decode(),
    )
    return {
        (customer_id, user_id, kind)
        for customer_id, user_id, muted in rows
        for kind in msgspec.json.decode(muted, type=list[str])
    }


def move(tx: Tx, customer_id: str, former_id: str, user_id: str) -> None:
    """The inbox of one account in this organization, with its settings, belongs to another now."""
    tx.execute("delete from inboxes where user_id = ? and customer_id = ?", user_id, customer_id)
    for table in ("notifications", "inboxes"):
        sql = f"update {table} set user_id = ? where user_id = ? and customer_id = ?"
        tx.execute(sql, user_id, former_id, customer_id)
