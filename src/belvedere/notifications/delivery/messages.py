"""The rows of messages."""

from collections.abc import Sequence

import msgspec

from belvedere.base.clock import DAY, Millis
from belvedere.base.errors import NotFound
from belvedere.base.ids import new_id
from belvedere.db import Tx, columns
from belvedere.notifications.model import MessageState, Notice, Severity
from belvedere.rest import response_budget
from belvedere.rest.listing import Field, Kind, Listable, Listing
from belvedere.rest.listing_sql import clauses

KEPT: Millis = 30 * DAY
BATCH = 200

MESSAGES = Listable(
    fields={
        "id": Field("id"),
        "state": Field("state"),
        "channel_id": Field("channel_id"),
        "rule_id": Field("rule_id"),
        "severity": Field("severity"),
        "due": Field("due_at", Kind.TIME),
        "creation_date": Field("created_at", Kind.TIME),
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


class Try(msgspec.Struct):
    """One attempt: when it ended, and what went wrong."""

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
        severity=_worst(notices).value,
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
    tx.run(f"insert into messages ({ROW}) values ({marks})", *msgspec.structs.astuple(message))
    return message


def _worst(notices: Sequence[Notice]) -> Severity:
    return max((one.severity for one in notices), key=lambda one: one.rank, default=Severity.LOW)


def save(tx: Tx, message: Message) -> None:
    tx.run(
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


def find(tx: Tx, customer_id: str, message_id: str, *, hold: bool = False) -> Message:
    found = tx.one(
        Message,
        f"select {ROW} from messages where id = ? and customer_id = ?"
        f"{tx.sql.lock_rows if hold else ''}",
        message_id,
        customer_id,
    )
    if found is None:
        raise NotFound("There is no such message.", code="message_not_found")
    return found


def fitted(tx: Tx, customer_id: str, listing: Listing) -> Listing:
    """The same page, no longer than an answer may be."""
    sql = clauses(listing)
    rows = tx.rows(
        "select octet_length(notices) + octet_length(tries) from messages"
        f" where customer_id = ?{sql.where}{sql.page}",
        *(customer_id, *sql.params, *sql.page_params),
    )
    return response_budget.fitted(
        listing, (size for (size,) in rows), response_budget.MAX_PAGE_BYTES
    )


def page(tx: Tx, customer_id: str, listing: Listing) -> list[Message]:
    sql = clauses(listing)
    return tx.all(
        Message,
        f"select {ROW} from messages where customer_id = ?{sql.where}{sql.page}",
        *(customer_id, *sql.params, *sql.page_params),
    )


def total(tx: Tx, customer_id: str, listing: Listing) -> int:
    sql = clauses(listing)
    counted = f"select count(*) from messages where customer_id = ?{sql.where}"
    return int(tx.value(counted, customer_id, *sql.params))


def forget_of(tx: Tx, channel_id: str) -> None:
    tx.run("delete from messages where channel_id = ?", channel_id)


def forget_old(tx: Tx) -> bool:
    """Drop a batch of those that are over since long; whether there may be more."""
    gone = tx.run(
        "delete from messages where id in (select id from messages where state <> 'waiting'"
        " and created_at < ? limit ?)",
        tx.now - KEPT,
        BATCH,
    )
    return gone == BATCH
