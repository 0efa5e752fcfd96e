"""Messages: gathered in the transaction that tells them, sent until somebody took them.

A server claims a message for a while and reports what came of it; one that dies in between leaves
it to the next. So a receiver gets each message at least once, always under the same id.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

import msgspec

from belvedere import events
from belvedere.base.clock import MINUTE, Millis
from belvedere.db import Tx
from belvedere.egress.lanes import Kind
from belvedere.egress.messages import Outcome
from belvedere.notifications.delivery import messages
from belvedere.notifications.delivery.messages import ROW, Message, Try, encode
from belvedere.notifications.model import MAX_NOTICES, MessageState, Notice, Rule, Severity, pause

# Longer than any try can take.
LEASE: Millis = 2 * MINUTE
MAX_TRIES_KEPT = 20
# Messages of one rule to one channel that wait; further notices are only counted in the newest.
MAX_WAITING = 500
WAITING, SENT, DEAD = MessageState.WAITING, MessageState.SENT, MessageState.DEAD


def gather(tx: Tx, rule: Rule, channel_id: str, notice: Notice, after: Millis, due: Millis) -> None:
    """Add it to a message of this rule that goes out between the two moments, or begin one."""
    open_one = _gathering(tx, rule, channel_id, max(after, tx.now), due)
    if open_one is None and _is_full(tx, rule, channel_id):
        # Counted, not kept: a receiver that takes nothing must not fill the database.
        _count_more(tx, rule, channel_id)
        return
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
    tx.run(
        "update messages set more = more + 1 where id = (select max(id) from messages"
        " where rule_id = ? and channel_id = ? and state = 'waiting')",
        rule.id,
        channel_id,
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


# Mails of the installation have no channel.
_LANE = {Kind.MAIL: "m.channel_id is null", Kind.CHANNEL: "m.channel_id is not null"}


def any_due(tx: Tx) -> bool:
    now = tx.now
    return tx.row(f"select 1 from messages m where {_DUE} limit 1", now, now, now) is not None


@dataclass(slots=True)
class Room:
    """What this server sends now of one lane, and how much more it may claim."""

    kind: Kind
    sending: Counter[str] = field(default_factory=Counter)
    # The organization that was served last: the next turn begins behind it.
    last: str = ""

    @property
    def free(self) -> int:
        return max(0, self.kind.places - self.sending.total())

    def share_of(self, customer_id: str) -> int:
        return max(0, self.kind.share - self.sending[customer_id])

    def begin(self, customer_id: str) -> None:
        self.sending[customer_id] += 1
        self.last = customer_id

    def end(self, customer_id: str) -> None:
        self.sending[customer_id] -= 1


def claim_fairly(tx: Tx, rooms: Sequence[Room]) -> list[list[Message]]:
    """For each room what comes next: organizations take turns, and none has more than its share.
    Nobody else has these messages until the lease is over."""
    return [[hold(tx, message) for message in _turns(tx, room)] for room in rooms]


def _turns(tx: Tx, room: Room) -> list[Message]:
    """One of each organization, then the second of each, as many as there are places."""
    queues: list[list[Message]] = []
    for customer_id in _organizations(tx, room):
        most = min(room.share_of(customer_id), room.free)
        if most and (found := _of_organization(tx, room.kind, customer_id, most)):
            queues.append(found)
        if len(queues) == room.free:
            break
    turns = [one for turn in zip_longest(*queues) for one in turn if one is not None]
    return turns[: room.free]


def _organizations(tx: Tx, room: Room) -> list[str]:
    """Those with something due, beginning behind the one that was served last."""
    rows = tx.rows(
        "select o.id from customers o where o.enabled = 1 and exists (select 1 from messages m"
        f" where m.customer_id = o.id and m.state = 'waiting' and {_LANE[room.kind]}"
        " and m.due_at <= ?) order by o.id",
        tx.now,
    )
    found = [customer_id for (customer_id,) in rows]
    start = bisect_right(found, room.last)
    return found[start:] + found[:start]


def _of_organization(tx: Tx, kind: Kind, customer_id: str, most: int) -> list[Message]:
    """The next, one for each receiver."""
    now = tx.now
    found = tx.all(
        Message,
        f"select {ROW} from messages m where m.customer_id = ? and {_LANE[kind]} and {_DUE}"
        f" order by due_at, id limit ?{tx.sql.skip_locked}",
        *(customer_id, now, now, now, most),
    )
    first = {message.channel_id or message.id: message for message in reversed(found)}
    return list(reversed(list(first.values())))


def waiting_mails(tx: Tx, customer_id: str) -> int:
    return int(
        tx.value(
            "select count(*) from messages where customer_id = ? and state = 'waiting'"
            " and channel_id is null",
            customer_id,
        )
    )


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
