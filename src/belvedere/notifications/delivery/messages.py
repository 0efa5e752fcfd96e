"""The rows of messages: insert, read, save, purge."""

from collections.abc import Sequence

import msgspec

from belvedere.access import history_lists
from belvedere.access.history_lists import HistoryScope, HistoryTable
from belvedere.access.id_ranges import TimeField
from belvedere.base.clock import DAY, ClockStep, Millis
from belvedere.base.errors import NotFound
from belvedere.base.ids import new_id
from belvedere.db import Tx, columns
from belvedere.notifications.model import MessageState, Notice, NoticeSeverity
from belvedere.rest.listing import Field, FieldKind, Listable, Listing
from belvedere.rest.pagination import ListPage

RETENTION: Millis = 30 * DAY
PURGE_BATCH_SIZE = 200

MESSAGES = Listable(
    fields={
        "id": Field("id"),
        "state": Field("state"),
        "channel_id": Field("channel_id"),
        "rule_id": Field("rule_id"),
        "severity": Field("severity"),
        "due": Field("due_at", FieldKind.TIME),
        "creation_date": Field("created_at", FieldKind.TIME),
    },
    newest_first=True,
    most=1_000,
)


class Message(msgspec.Struct):
    """A row of `messages`, in the order of the select."""

    id: str
    customer_id: str
    rule_id: str | None
    channel_id: str | None
    recipient: str
    state: str
    severity: str
    title: str
    notices: str
    more: int
    box: str | None
    due_at: Millis
    attempts: int
    counted_from: int
    claimed_until: Millis | None
    tries: str
    sent_at: Millis | None
    created_at: Millis

    @property
    def notice_list(self) -> list[Notice]:
        return msgspec.json.decode(self.notices, type=list[Notice])


class DeliveryAttempt(msgspec.Struct):
    """When an attempt ended, and its error; an empty `fault` means delivered."""

    at: Millis
    fault: str = ""


ROW = columns(Message)
encode = msgspec.json.Encoder().encode


def insert(
    tx: Tx,
    customer_id: str,
    notices: Sequence[Notice],
    *,
    title: str = "",
    rule_id: str | None = None,
    channel_id: str | None = None,
    recipient: str = "",
    box: str | None = None,
    due_at: Millis | None = None,
    message_id: str = "",
) -> Message:
    message = Message(
        id=message_id or new_id(),
        customer_id=customer_id,
        rule_id=rule_id,
        channel_id=channel_id,
        recipient=recipient,
        state=MessageState.WAITING.value,
        severity=_highest_severity(notices).value,
        title=title,
        notices=encode(list(notices)).decode(),
        more=0,
        box=box,
        due_at=tx.now if due_at is None else due_at,
        attempts=0,
        counted_from=0,
        claimed_until=None,
        tries="[]",
        sent_at=None,
        created_at=tx.now,
    )
    marks = ", ".join("?" for _ in Message.__struct_fields__)
    tx.execute(f"insert into messages ({ROW}) values ({marks})", *msgspec.structs.astuple(message))
    return message


def _highest_severity(notices: Sequence[Notice]) -> NoticeSeverity:
    severities = (notice.severity for notice in notices)
    return max(severities, key=lambda severity: severity.rank, default=NoticeSeverity.LOW)


def save(tx: Tx, message: Message) -> None:
    tx.execute(
        "update messages set state = ?, sent_at = ?, box = ?, due_at = ?, claimed_until = ?,"
        " counted_from = ?, tries = ? where id = ?",
        message.state,
        message.sent_at,
        message.box,
        message.due_at,
        message.claimed_until,
        message.counted_from,
        message.tries,
        message.id,
    )


def find(tx: Tx, customer_id: str, message_id: str, *, lock: bool = False) -> Message:
    message = tx.one(
        Message,
        f"select {ROW} from messages where id = ? and customer_id = ?"
        f"{tx.dialect.lock_rows if lock else ''}",
        message_id,
        customer_id,
    )
    if message is None:
        raise NotFound("There is no such message.", code="message_not_found")
    return message


_TABLE = HistoryTable(
    Message,
    "messages",
    ("customer_id",),
    TimeField("creation_date"),
    size="octet_length(notices) + octet_length(tries)",
)


def read_page(
    tx: Tx,
    customer_id: str,
    listing: Listing,
    count_limit: int | None,
    row_limit: int | None,
    size: int = 0,
) -> ListPage[Message]:
    """One step of a list; see `searches.read_list`."""
    scope = HistoryScope((customer_id,))
    return history_lists.read_page(tx, _TABLE, scope, listing, count_limit, row_limit, size)


def delete_for_channel(tx: Tx, channel_id: str) -> None:
    tx.execute("delete from messages where channel_id = ?", channel_id)


def purge_old(tx: Tx) -> bool:
    """Delete a batch of old messages that are sent or dead; True if there may be more."""
    deleted = tx.execute(
        "delete from messages where id in (select id from messages where state <> 'waiting'"
        " and created_at < ? limit ?)",
        tx.now - RETENTION,
        PURGE_BATCH_SIZE,
    )
    return deleted == PURGE_BATCH_SIZE


def shift_times(tx: Tx, step: ClockStep) -> None:
    """The clock was set: messages wait as long as before. Retries and collected notices wait for a
    duration; the end of quiet hours is a date."""
    tx.execute(
        "update messages set due_at = due_at + ? where state = 'waiting' and (attempts > 0"
        " or rule_id is null or rule_id not in (select id from rules where quiet <> '{}'))",
        step.delta,
    )
    tx.execute(
        "update messages set claimed_until = claimed_until + ? where claimed_until is not null",
        step.delta,
    )
