"""The budget of the event log: how many events an organization keeps of each object.

The events of jobs are not part of it: they are deleted with their job. Events are counted with a
cursor in the log, not when they are appended, so that a request does not pay for it.
"""

from collections.abc import Sequence

from belvedere.base.clock import Millis
from belvedere.db import Tx
from belvedere.db.interface import Row
from belvedere.events import cursors
from belvedere.events.log import LIFE

# The name of the cursor.
COUNTER = "event counts"
# Events that one step counts.
STEP = 5_000

_ADD = (
    "insert into event_counts (customer_id, object, events) values (?, ?, ?)"
    " on conflict (customer_id, object) do update set"
    " events = event_counts.events + excluded.events"
)
_LOWER = "update event_counts set events = events - ? where customer_id = ? and object = ?"
_NOTE = (
    "update event_counts set deleted_at = ?, deleted_xid = ?, deleted_id = ? where customer_id = ?"
    " and object = ? and (deleted_id is null or (deleted_xid, deleted_id) < (?, ?))"
)


def count_step(tx: Tx) -> bool:
    """Count the next events of the log; whether there may be more."""
    start = cursors.lock(tx, COUNTER)
    end, is_full = _end_of_step(tx, start)
    if end is None:
        return False
    rows = tx.rows(
        f"select customer_id, object, count(*) from events where {tx.dialect.beyond_cursor}"
        f" and {tx.dialect.up_to_cursor} and object not in ('job', '')"
        " group by customer_id, object order by customer_id, object",
        *start,
        *end,
    )
    tx.execute_many(_ADD, rows)
    cursors.save(tx, COUNTER, end)
    return is_full


def _end_of_step(tx: Tx, start: tuple[int, int]) -> tuple[tuple[int, int] | None, bool]:
    """The last event of the step, if there is any, and whether the step is complete."""
    newer = f"{tx.dialect.beyond_cursor} and xid < {tx.dialect.xid_horizon}"
    row = tx.row(
        f"select xid, id from events where {newer} order by {tx.dialect.in_order} limit 1 offset ?",
        *start,
        STEP - 1,
    )
    if row is not None:
        return (row[0], row[1]), True
    row = tx.row(
        f"select xid, id from events where {newer} order by {tx.dialect.newest_first} limit 1",
        *start,
    )
    return (None if row is None else (row[0], row[1])), False


def start_over(tx: Tx) -> None:
    """Count the whole log again: servers of an earlier version delete events without counting."""
    tx.execute("update event_counts set events = 0")
    cursors.save(tx, COUNTER, cursors.BEGINNING)


def over_budget(tx: Tx, budget: int) -> list[tuple[str, str]]:
    """(organization, object) with more events than the budget."""
    rows = tx.rows(
        "select customer_id, object from event_counts where events > ? order by events", budget
    )
    return [(customer_id, name) for customer_id, name in rows]


def delete_excess(
    tx: Tx, customer_id: str, name: str, budget: int, passed: tuple[int, int], limit: int
) -> int:
    """Delete a batch of the oldest events over the budget that all consumers have processed."""
    events = tx.value(
        f"select events from event_counts where customer_id = ? and object = ?"
        f"{tx.dialect.lock_rows}",
        customer_id,
        name,
    )
    excess = min(limit, (events or 0) - budget)
    if excess <= 0:
        return 0
    rows = tx.rows(
        "delete from events where id in (select id from events where customer_id = ? and object = ?"
        f" and object <> 'job' and not {tx.dialect.beyond_cursor} order by id limit ?)"
        " returning customer_id, object, at, xid, id",
        customer_id,
        name,
        *passed,
        excess,
    )
    note_deleted(tx, rows)
    return len(rows)


def note_deleted(tx: Tx, rows: Sequence[Row]) -> None:
    """Events that retention has deleted: (organization, object, time, xid, id) of each."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row[0], row[1]), []).append(row)
    if not groups:
        return
    # In the order of keys, so that two servers cannot deadlock.
    pairs = sorted(groups)
    tx.execute_many(_LOWER, [(len(groups[pair]), *pair) for pair in pairs])
    newest = {pair: max(groups[pair], key=lambda row: tuple(row[3:])) for pair in pairs}
    tx.execute_many(_NOTE, [(*row[2:], *pair, *row[3:]) for pair, row in newest.items()])


def kept_since(tx: Tx, customer_id: str, name: str) -> Millis:
    """From when on the log has every event of an organization and an object."""
    deleted_at = tx.value(
        "select deleted_at from event_counts where customer_id = ? and object = ?",
        customer_id,
        name,
    )
    return max(tx.now - LIFE, 0 if deleted_at is None else deleted_at + 1)


def has_deleted_after(
    tx: Tx, customer_id: str, names: frozenset[str], cursor: tuple[int, int]
) -> bool:
    """Whether retention has deleted events of these objects after the cursor; no name: of any."""
    rows = tx.rows(
        "select object, deleted_xid, deleted_id from event_counts"
        " where customer_id = ? and deleted_id is not null",
        customer_id,
    )
    return any((xid, at) > cursor for name, xid, at in rows if not names or name in names)
