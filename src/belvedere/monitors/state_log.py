"""State changes of a monitor, read from the event log.

Samples are aggregated into longer and longer steps, so they show neither the exact time of an old
change nor whether a failure stayed below the threshold; the event log has every change once.
"""

import msgspec

from belvedere.access import Actor
from belvedere.base.clock import Millis, iso
from belvedere.db import Tx
from belvedere.events import budget
from belvedere.monitors import service

MAX_ENTRIES = 500
_SELECT = "select at, data from events where object_id = ? and kind = 'monitor.state'"


class StateLogEntry(msgspec.Struct):
    at: str
    state: str
    before: str = msgspec.field(name="from")
    # The message of the check that caused the change.
    message: str


class StateLog(msgspec.Struct):
    """`kept`: older changes were deleted. `whole`: false if there are more changes since the
    requested time than are listed."""

    id: str
    kept_since: str = msgspec.field(name="kept")
    is_complete: bool = msgspec.field(name="whole")
    entries: list[StateLogEntry] = msgspec.field(name="turns")


def read_state_log(tx: Tx, actor: Actor, monitor_id: str, since: Millis | None) -> StateLog:
    """State changes for everybody who may see the monitor, newest first. The last one is the change
    into the state that the monitor had at `since`."""
    service.show(tx, actor, monitor_id)
    kept_since = budget.kept_since(tx, actor.customer_id, "monitor")
    start = max(kept_since, since or 0)
    rows = tx.rows(
        f"{_SELECT} and at >= ? order by id desc limit ?", monitor_id, start, MAX_ENTRIES + 1
    )
    is_complete = len(rows) <= MAX_ENTRIES
    if is_complete:
        rows += tx.rows(
            f"{_SELECT} and at < ? and at >= ? order by id desc limit 1",
            monitor_id,
            start,
            kept_since,
        )
    return StateLog(
        monitor_id,
        iso(kept_since),
        is_complete,
        [_entry(at, data) for at, data in rows[:MAX_ENTRIES]],
    )


def _entry(at: Millis, data: str) -> StateLogEntry:
    event = msgspec.json.decode(data)
    return StateLogEntry(iso(at), event["state"], event["from"], event["message"])
