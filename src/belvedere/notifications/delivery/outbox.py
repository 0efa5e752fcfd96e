"""The outbox: notices are collected into messages, and messages are sent until delivered or dead.

A server claims a message for the length of a lease and then records the result. If it crashes in
between, another server claims the message after the lease. So a receiver gets each message at
least once, always under the same id.
"""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import zip_longest

import msgspec

from belvedere import events
from belvedere.base.clock import MINUTE, Millis
from belvedere.db import Tx
from belvedere.egress.lanes import LaneKind, LaneUsage
from belvedere.egress.messages import EgressResult
from belvedere.notifications.delivery import messages
from belvedere.notifications.delivery.messages import ROW, DeliveryAttempt, Message, encode
from belvedere.notifications.model import (
    MAX_NOTICES,
    MessageState,
    Notice,
    NoticeSeverity,
    Rule,
    retry_delay,
)

# Longer than any attempt can take.
LEASE_MS: Millis = 2 * MINUTE
MAX_RECORDED_ATTEMPTS = 20
# Waiting messages of one rule to one channel; further notices are only counted in the newest one.
MAX_WAITING = 500
WAITING, SENT, DEAD = MessageState.WAITING, MessageState.SENT, MessageState.DEAD


def collect(
    tx: Tx, rule: Rule, channel_id: str, notice: Notice, after: Millis, due: Millis
) -> None:
    """Add the notice to a message of this rule that is due between `after` and `due`, or create
    one."""
    message = _open_message(tx, rule, channel_id, max(after, tx.now), due)
    if message is None and _is_full(tx, rule, channel_id):
        # Only counted: a receiver that accepts nothing must not fill the database.
        _count_more(tx, rule, channel_id)
        return
    if message is None:
        target = {"rule_id": rule.id, "channel_id": channel_id}
        messages.insert(tx, rule.customer_id, [notice], due_at=due, **target)
        return
    notices = message.notice_list
    if len(notices) < MAX_NOTICES:
        notices.append(notice)
    else:
        message.more += 1
    tx.execute(
        "update messages set notices = ?, more = ?, severity = ? where id = ?",
        encode(notices).decode(),
        message.more,
        max(NoticeSeverity(message.severity), notice.severity, key=lambda s: s.rank).value,
        message.id,
    )


def _is_full(tx: Tx, rule: Rule, channel_id: str) -> bool:
    waiting = tx.value(
        "select count(*) from (select 1 from messages where rule_id = ? and channel_id = ?"
        " and state = 'waiting' limit ?) q",
        rule.id,
        channel_id,
        MAX_WAITING,
    )
    return bool(waiting >= MAX_WAITING)


def _count_more(tx: Tx, rule: Rule, channel_id: str) -> None:
    tx.execute(
        "update messages set more = more + 1 where id = (select max(id) from messages"
        " where rule_id = ? and channel_id = ? and state = 'waiting')",
        rule.id,
        channel_id,
    )


def _open_message(
    tx: Tx, rule: Rule, channel_id: str, after: Millis, due: Millis
) -> Message | None:
    # Locked: a server that is about to claim the row waits, and a claim that was made is visible.
    return tx.one(
        Message,
        f"select {ROW} from messages where state = 'waiting' and rule_id = ? and channel_id = ?"
        f" and attempts = 0 and due_at > ? and due_at <= ? order by id desc limit 1"
        f"{tx.dialect.lock_rows}",
        rule.id,
        channel_id,
        after,
        due,
    )


_DUE = (
    "state = 'waiting' and due_at <= ? and (claimed_until is null or claimed_until <= ?)"
    " and (channel_id is null or exists"
    " (select 1 from channels c where c.id = m.channel_id and c.enabled = 1))"
    " and exists (select 1 from customers o where o.id = m.customer_id and o.enabled = 1)"
    # One at a time per receiver: messages arrive in order, and a slow receiver delays no other.
    " and not exists (select 1 from messages b where b.channel_id = m.channel_id"
    " and b.state = 'waiting' and b.claimed_until > ?)"
)


# Mails of the installation have no channel.
_LANE = {LaneKind.MAIL: "m.channel_id is null", LaneKind.CHANNEL: "m.channel_id is not null"}


def any_due(tx: Tx) -> bool:
    now = tx.now
    return tx.row(f"select 1 from messages m where {_DUE} limit 1", now, now, now) is not None


def claim_fairly(tx: Tx, lanes: Sequence[LaneUsage]) -> list[list[Message]]:
    """Claim the next messages of each lane: organizations take turns, and none gets more than its
    share. No other server claims these messages until the lease ends."""
    return [[claim(tx, message) for message in _next_messages(tx, lane)] for lane in lanes]


def _next_messages(tx: Tx, lane: LaneUsage) -> list[Message]:
    """The first message of each organization, then the second of each, as far as there is room."""
    planned, selected, queues = lane.copy(), [], []
    for customer_id in _customers_due(tx, lane):
        if not planned.free:
            break
        if planned.has_room(customer_id):
            messages_due = _due_for(tx, lane.kind, customer_id, lane.share)
            selected += _plan(planned, messages_due[:1])
            queues.append(messages_due[1:])
    later = [message for turn in zip_longest(*queues) for message in turn if message is not None]
    return selected + _plan(planned, later)


def _plan(planned: LaneUsage, candidates: list[Message]) -> list[Message]:
    """The messages that still have room, counted."""
    selected = []
    for message in candidates:
        if planned.has_room(message.customer_id):
            planned.begin(message.customer_id)
            selected.append(message)
    return selected


def _customers_due(tx: Tx, lane: LaneUsage) -> list[str]:
    """Organizations with due messages, starting after the one that was served last."""
    rows = tx.rows(
        "select o.id from customers o where o.enabled = 1 and exists (select 1 from messages m"
        f" where m.customer_id = o.id and m.state = 'waiting' and {_LANE[lane.kind]}"
        " and m.due_at <= ?) order by o.id",
        tx.now,
    )
    customer_ids = [customer_id for (customer_id,) in rows]
    start = bisect_right(customer_ids, lane.last)
    return customer_ids[start:] + customer_ids[:start]


def _due_for(tx: Tx, kind: LaneKind, customer_id: str, limit: int) -> list[Message]:
    """The next messages of an organization, one per receiver."""
    now = tx.now
    rows = tx.all(
        Message,
        f"select {ROW} from messages m where m.customer_id = ? and {_LANE[kind]} and {_DUE}"
        f" order by due_at, id limit ?{tx.dialect.skip_locked}",
        *(customer_id, now, now, now, limit),
    )
    first = {message.channel_id or message.id: message for message in reversed(rows)}
    return list(reversed(list(first.values())))


def waiting_mails(tx: Tx, customer_id: str) -> int:
    return int(
        tx.value(
            "select count(*) from messages where customer_id = ? and state = 'waiting'"
            " and channel_id is null",
            customer_id,
        )
    )


def claim(tx: Tx, message: Message) -> Message:
    """This server sends the message now; others leave it alone until the lease ends."""
    message.attempts += 1
    message.claimed_until = tx.now + LEASE_MS
    tx.execute(
        "update messages set attempts = ?, claimed_until = ? where id = ?",
        message.attempts,
        message.claimed_until,
        message.id,
    )
    return message


def complete(tx: Tx, message: Message, outcome: EgressResult, chance: float) -> Message | None:
    """Record the result of an attempt; None if another server has claimed the message since."""
    current = tx.one(
        Message,
        f"select {ROW} from messages where id = ? and attempts = ? and state = 'waiting'"
        + tx.dialect.lock_rows,
        message.id,
        message.attempts,
    )
    if current is None:
        return None
    tries = msgspec.json.decode(current.tries, type=list[DeliveryAttempt])
    tries.append(DeliveryAttempt(tx.now, outcome.fault))
    current.tries = encode(tries[-MAX_RECORDED_ATTEMPTS:]).decode()
    current.claimed_until = None
    attempts = current.attempts - current.counted_from
    delay = None if outcome.for_good else retry_delay(attempts, chance)
    if outcome.is_done:
        current.state, current.sent_at, current.box = SENT.value, tx.now, None
    elif delay is None:
        current.state = DEAD.value
        data = {"title": current.title, "channel_id": current.channel_id, "fault": outcome.fault}
        events.append(tx, current.customer_id, "message.dead", current.id, data)
    else:
        current.due_at = tx.now + delay
    messages.save(tx, current)
    return current


def requeue(tx: Tx, message: Message) -> Message:
    """Queue a dead message again: due now, with as many attempts as a new one."""
    message.state, message.due_at = WAITING.value, tx.now
    message.counted_from = message.attempts
    messages.save(tx, message)
    return message
