"""Everybody's inbox: what a member was told, and what of it was read."""

from collections.abc import Sequence

import msgspec

from belvedere import events
from belvedere.access import Actor, require_person
from belvedere.base.clock import DAY, Millis
from belvedere.base.errors import NotFound
from belvedere.base.ids import new_id
from belvedere.db import Tx, columns
from belvedere.notifications import wishes
from belvedere.notifications.model import Told
from belvedere.rest.listing import Field, Kind, Listable, Listing
from belvedere.rest.listing_sql import clauses

KEPT: Millis = 30 * DAY
BATCH = 500

NOTIFICATIONS = Listable(
    fields={
        "id": Field("id"),
        "kind": Field("kind"),
        "object": Field("object"),
        "object_id": Field("object_id"),
        "severity": Field("severity"),
        "read": Field("(case when read_at is null then 0 else 1 end)", Kind.BOOL),
        "creation_date": Field("created_at", Kind.TIME),
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


_ROW = columns(Notification)
_MINE = "customer_id = ? and user_id = ?"


def put(tx: Tx, told: Sequence[Told]) -> None:
    """Into the inbox of everybody whom it concerns and who wants it."""
    muted = wishes.muted_by(tx, told)
    rows = [
        (
            *(new_id(), one.customer_id, user_id, one.notice.kind, one.notice.object),
            *(one.notice.object_id, one.notice.severity.value, one.notice.title),
            *(one.notice.text, None, one.notice.at),
        )
        for one in told
        for user_id in one.people
        if (one.customer_id, user_id, one.notice.kind) not in muted
    ]
    if not rows:
        return
    marks = ", ".join("?" for _ in Notification.__struct_fields__)
    tx.many(f"insert into notifications ({_ROW}) values ({marks})", rows)
    # Says only that there is something new, to everybody: whose it is each inbox knows.
    for customer_id in sorted({row[1] for row in rows}):
        events.append(tx, customer_id, "notification.created", customer_id)


def listed(tx: Tx, actor: Actor, listing: Listing) -> tuple[list[Notification], int | None]:
    require_person(actor)
    sql = clauses(listing)
    mine = (actor.customer_id, actor.user_id)
    counted = f"select count(*) from notifications where {_MINE}{sql.where}"
    total = int(tx.value(counted, *mine, *sql.params)) if listing.count else None
    rows = tx.all(
        Notification,
        f"select {_ROW} from notifications where {_MINE}{sql.where}{sql.page}",
        *(*mine, *sql.params, *sql.page_params),
    )
    return rows, total


def read(tx: Tx, actor: Actor, notification_id: str, *, is_read: bool) -> Notification:
    """Mark one of mine as read, or as new again."""
    require_person(actor)
    found = tx.one(
        Notification,
        "update notifications set read_at = case when ? = 0 then null"
        f" else coalesce(read_at, ?) end where id = ? and {_MINE} returning {_ROW}",
        int(is_read),
        tx.now,
        notification_id,
        actor.customer_id,
        actor.user_id,
    )
    if found is None:
        raise NotFound("There is no such notification.", code="notification_not_found")
    return found


def read_all(tx: Tx, actor: Actor) -> int:
    """How many were new."""
    require_person(actor)
    return tx.run(
        f"update notifications set read_at = ? where {_MINE} and read_at is null",
        tx.now,
        actor.customer_id,
        actor.user_id,
    )


def forget_old(tx: Tx) -> bool:
    """Drop a batch of old ones, read or not; whether there may be more."""
    gone = tx.run(
        "delete from notifications where id in"
        " (select id from notifications where created_at < ? limit ?)",
        tx.now - KEPT,
        BATCH,
    )
    return gone == BATCH
