"""When a monitor came into which state: its turns, as they were written down when they happened.

Samples are folded into longer and longer steps, so they show neither the moment of an old turn nor
a failure that stayed below the threshold; the event log has each turn once.
"""

import msgspec

from belvedere import events
from belvedere.access import Actor
from belvedere.base.clock import Millis, iso
from belvedere.db import Tx
from belvedere.monitors import service

MOST = 500
_OF = "select at, data from events where object_id = ? and kind = 'monitor.state'"


class Turn(msgspec.Struct):
    at: str
    state: str
    before: str = msgspec.field(name="from")
    # What the check said that made it turn.
    message: str


class Turns(msgspec.Struct):
    """`kept`: turns before this time are forgotten. `whole`: false where there are more than these
    since the time that was asked for."""

    id: str
    kept: str
    whole: bool
    turns: list[Turn]


def turns(tx: Tx, actor: Actor, monitor_id: str, since: Millis | None) -> Turns:
    """For whoever may see the monitor, newest first; the last one is the turn into the state that
    it was in at `since`, so that nothing has to be guessed."""
    service.show(tx, actor, monitor_id)
    kept = tx.now - events.LIFE
    start = max(kept, since or 0)
    rows = tx.rows(f"{_OF} and at >= ? order by id desc limit ?", monitor_id, start, MOST + 1)
    is_whole = len(rows) <= MOST
    if is_whole:
        rows += tx.rows(
            f"{_OF} and at < ? and at >= ? order by id desc limit 1", monitor_id, start, kept
        )
    return Turns(monitor_id, iso(kept), is_whole, [_turn(at, data) for at, data in rows[:MOST]])


def _turn(at: Millis, data: str) -> Turn:
    said = msgspec.json.decode(data)
    return Turn(iso(at), said["state"], said["from"], said["message"])
