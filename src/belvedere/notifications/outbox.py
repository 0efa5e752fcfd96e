"""Messages: gathered in the transaction that tells them, sent until somebody took them.

A server claims a message for a while and reports what came of it; one that dies in between leaves
it to the next. So a receiver gets each message at least once, always under the same id.
"""

import msgspec

from belvedere import events
from belvedere.base.clock import MINUTE, Millis
from belvedere.db import Tx
from belvedere.notifications import messages
from belvedere.notifications.messages import ROW, Message, Try, encode
from belvedere.notifications.model import (
    MAX_NOTICES,
    MessageState,
    Notice,
    Rule,
    Severity,
    pause,
)
from belvedere.notifications.parcel import Outcome

# Longer than any try can take.
LEASE: Millis = 2 * MINUTE
MAX_TRIES_KEPT = 20
WAITING, SENT, DEAD = MessageState.WAITING, MessageState.SENT, MessageState.DEAD


def gather(tx: Tx, rule: Rule, channel_id: str, notice: Notice, after: Millis, due: Millis) -> None:
    """Add it to a message of this rule that goes out between the two moments, or begin one."""
    open_one = _gathering(tx, rule, channel_id, max(after, tx.now), due)
    if open_one is None:
        whose = {"rule_id": rule.id, "channel_id": channel_id}
        messages.insert(tx, rule.customer_id, [notice], due_at=due, **whose)
        return
    notices = open_one.notice_list
    if len(notices) < MAX_NOTICES:
        notices.append(notice)
    else:
        open_one.more += 1
    tx.run(
        "update messages set notices = ?, more = ?, severity = ? where id = ?",
        encode(notices).decode(),
        open_one.more,
        max(Severity(open_one.severity), notice.severity, key=lambda one: one.rank).value,
        open_one.id,
    )


def _gathering(tx: Tx, rule: Rule, channel_id: str, after: Millis, due: Millis) -> Message | None:
    # Held: a server that is about to claim it waits, and one that has claimed it is seen.
    return tx.one(
        Message,
        f"select {ROW} from messages where state = 'waiting' and rule_id = ? and channel_id = ?"
        f" and attempts = 0 and due_at > ? and due_at <= ? order by id desc limit 1"
        f"{tx.sql.lock_rows}",
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
        f"select {ROW} from messages m where {_DUE} order by due_at, id limit ?"
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
        f"select {ROW} from messages where id = ? and attempts = ? and state = 'waiting'"
        + tx.sql.lock_rows,
        message.id,
        message.attempts,
    )
    if now is None:
        return None
    tries = msgspec.json.decode(now.tries, type=list[Try])
    now.tries = encode([*tries, Try(tx.now, outcome.fault)][-MAX_TRIES_KEPT:]).decode()
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
    messages.save(tx, now)
    return now


def again(tx: Tx, message: Message) -> Message:
    """From the dead: tried at once, and as often as a new one."""
    message.state, message.due_at = WAITING.value, tx.now
    message.counted_from = message.attempts
    messages.save(tx, message)
    return message
