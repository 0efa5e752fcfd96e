"""Messages: gathered in the transaction that tells them, sent until somebody took them.

A server claims a message for a while and reports what came of it; one that dies in between leaves
it to the next. So a receiver gets each message at least once, always under the same id.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from belvedere import events
from belvedere.base.clock import DAY, MINUTE, Millis
from belvedere.base.errors import NotFound
from belvedere.base.ids import new_id
from belvedere.db import Tx, columns
from belvedere.notifications.model import (
    MAX_NOTICES,
    MessageState,
    Notice,
    Rule,
    Severity,
    pause,
)
from belvedere.notifications.parcel import Outcome
from belvedere.rest.clauses import clauses
from belvedere.rest.filters import Field, Kind, Listable, Listing

# Longer than any try can take.
LEASE: Millis = 2 * MINUTE
KEPT: Millis = 30 * DAY
MAX_TRIES_KEPT = 20
BATCH = 200
WAITING, SENT, DEAD = MessageState.WAITING, MessageState.SENT, MessageState.DEAD

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


_ROW = columns(Message)
_encode = msgspec.json.Encoder().encode


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
        state=WAITING.value,
        severity=_worst(notices).value,
        title=title,
        notices=_encode(list(notices)).decode(),
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
    tx.run(f"insert into messages ({_ROW}) values ({marks})", *msgspec.structs.astuple(message))
    return message


def gather(tx: Tx, rule: Rule, channel_id: str, notice: Notice, after: Millis, due: Millis) -> None:
    """Add it to a message of this rule that goes out between the two moments, or begin one."""
    open_one = _gathering(tx, rule, channel_id, max(after, tx.now), due)
    if open_one is None:
        whose = {"rule_id": rule.id, "channel_id": channel_id}
        insert(tx, rule.customer_id, [notice], due_at=due, **whose)
        return
    notices = open_one.notice_list
    if len(notices) < MAX_NOTICES:
        notices.append(notice)
    else:
        open_one.more += 1
    tx.run(
        "update messages set notices = ?, more = ?, severity = ? where id = ?",
        _encode(notices).decode(),
        open_one.more,
        max(Severity(open_one.severity), notice.severity, key=lambda one: one.rank).value,
        open_one.id,
    )


def _gathering(tx: Tx, rule: Rule, channel_id: str, after: Millis, due: Millis) -> Message | None:
    # Held: a server that is about to claim it waits, and one that has claimed it is seen.
    return tx.one(
        Message,
        f"select {_ROW} from messages where state = 'waiting' and rule_id = ? and channel_id = ?"
        f" and attempts = 0 and due_at > ? and due_at <= ? order by id desc limit 1"
        f"{tx.sql.lock_rows}",
        rule.id,
        channel_id,
        after,
        due,
    )


def _worst(notices: Sequence[Notice]) -> Severity:
    return max((one.severity for one in notices), key=lambda one: one.rank, default=Severity.LOW)


# Sending


_DUE = (
    "state = 'waiting' and due_at <= ? and (claimed_until is null or claimed_until <= ?)"
    " and (channel_id is null or exists"
    " (select 1 from channels c where c.id = m.channel_id and c.enabled = 1))"
    " and exists (select 1 from customers o where o.id = m.customer_id and o.enabled = 1)"
    # One at a time for each receiver: what came first arrives first, and a slow one holds up
    # nobody else.
    " and not exists (select 1 from messages b where b.channel_id = m.channel_id"
    " and b.state = 'waiting' and b.claimed_until > ?)"
)


def any_due(tx: Tx) -> bool:
    now = tx.now
    return tx.row(f"select 1 from messages m where {_DUE} limit 1", now, now, now) is not None


def claim(tx: Tx, most: int) -> list[Message]:
    """Take the next, one for each receiver; nobody else has them until the lease is over."""
    now = tx.now
    found = tx.all(
        Message,
        f"select {_ROW} from messages m where {_DUE} order by due_at, id limit ?"
        f"{tx.sql.skip_locked}",
        *(now, now, now, most),
    )
    first = {message.channel_id or message.id: message for message in reversed(found)}
    return [hold(tx, message) for message in reversed(list(first.values()))]


def hold(tx: Tx, message: Message) -> Message:
    """This server sends it now."""
    message.attempts += 1
    message.claimed_until = tx.now + LEASE
    tx.run(
        "update messages set attempts = ?, claimed_until = ? where id = ?",
        message.attempts,
        message.claimed_until,
        message.id,
    )
    return message


def settle(tx: Tx, message: Message, outcome: Outcome, chance: float) -> Message | None:
    """Write down what came of a try; None when somebody else has it by now."""
    now = tx.one(
        Message,
        f"select {_ROW} from messages where id = ? and attempts = ? and state = 'waiting'"
        + tx.sql.lock_rows,
        message.id,
        message.attempts,
    )
    if now is None:
        return None
    tries = msgspec.json.decode(now.tries, type=list[Try])
    now.tries = _encode([*tries, Try(tx.now, outcome.fault)][-MAX_TRIES_KEPT:]).decode()
    now.claimed_until = None
    wait = None if outcome.for_good else pause(now.attempts - now.counted_from, chance)
    if outcome.is_done:
        now.state, now.sent_at, now.box = SENT.value, tx.now, None
    elif wait is None:
        now.state = DEAD.value
        told = {"title": now.title, "channel_id": now.channel_id, "fault": outcome.fault}
        events.append(tx, now.customer_id, "message.dead", now.id, told)
    else:
        now.due_at = tx.now + wait
    _save(tx, now)
    return now


def again(tx: Tx, message: Message) -> Message:
    """From the dead: tried at once, and as often as a new one."""
    message.state, message.due_at = WAITING.value, tx.now
    message.counted_from = message.attempts
    _save(tx, message)
    return message


def _save(tx: Tx, message: Message) -> None:
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


# Looking


def find(tx: Tx, customer_id: str, message_id: str, *, hold: bool = False) -> Message:
    found = tx.one(
        Message,
        f"select {_ROW} from messages where id = ? and customer_id = ?"
        f"{tx.sql.lock_rows if hold else ''}",
        message_id,
        customer_id,
    )
    if found is None:
        raise NotFound("There is no such message.", code="message_not_found")
    return found


def page(tx: Tx, customer_id: str, listing: Listing) -> list[Message]:
    sql = clauses(listing)
    params: list[Any] = [customer_id, *sql.params, *sql.page_params]
    return tx.all(
        Message,
        f"select {_ROW} from messages where customer_id = ?{sql.where}{sql.page}",
        *params,
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
