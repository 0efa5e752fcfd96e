"""The event log: one row per change, written in the transaction that made it."""

from collections.abc import Sequence
from typing import Any

import msgspec

from belvedere.base.clock import DAY, Millis
from belvedere.db import Tx, columns
from belvedere.db.interface import Row
from belvedere.db.signals import event_recorded
from belvedere.events.kinds import KINDS

_encode = msgspec.json.Encoder().encode
# The object of each kind: its first word.
OBJECTS = {kind: kind.partition(".")[0] for kind in KINDS}
# For events of monitors, hosts, members and the like; those of a job are deleted with it.
LIFE: Millis = 30 * DAY


class Event(msgspec.Struct, frozen=True):
    """A row of the event log."""

    id: int
    xid: int
    at: int
    customer_id: str
    # job.created, job.assigned, … : `<object>.<what>`; docs/reference/events.md lists them all
    kind: str
    object: str
    object_id: str
    data: str


def append(
    tx: Tx, customer_id: str, kind: str, object_id: str, data: dict[str, Any] | None = None
) -> None:
    """Append an event; its object is the first word of the kind. Signals after the commit."""
    append_all(tx, kind, [(customer_id, object_id, data or {})])


def append_all(tx: Tx, kind: str, entries: Sequence[tuple[str, str, dict[str, Any]]]) -> None:
    """Append several events of one kind: (customer, object, data) of each."""
    append_each(tx, [(kind, *entry) for entry in entries])


def append_each(tx: Tx, entries: Sequence[tuple[str, str, str, dict[str, Any]]]) -> None:
    """Append events of any kind, in this order: (kind, customer, object, data) of each."""
    if not entries:
        return
    tx.execute_many(
        "insert into events (xid, at, customer_id, kind, object, object_id, data)"
        f" values ({tx.dialect.current_xid}, ?, ?, ?, ?, ?, ?)",
        [
            (tx.now, customer_id, kind, OBJECTS[kind], object_id, _encode(data).decode())
            for kind, customer_id, object_id, data in entries
        ],
    )
    tx.signals.update([event_recorded(kind) for kind, *_ in entries])


def after(tx: Tx, xid: int, event_id: int, limit: int = 500) -> list[Event]:
    """Events after a cursor, oldest first, up to the first that may still change."""
    return tx.all(
        Event,
        f"select {columns(Event)} from events"
        f" where {tx.dialect.beyond_cursor} and xid < {tx.dialect.xid_horizon}"
        f" order by {tx.dialect.in_order} limit ?",
        xid,
        event_id,
        limit,
    )


def delete_for(tx: Tx, object_ids: Sequence[str]) -> None:
    """Delete the events of objects that are deleted themselves."""
    tx.execute(
        f"delete from events where object_id in {tx.dialect.in_texts}",
        _encode(object_ids).decode(),
    )


def delete_old(tx: Tx, passed: tuple[int, int], limit: int) -> list[Row]:
    """Delete a batch of old events before this cursor; those of a job are deleted with the job.
    Returns (organization, object, time, xid, id) of each."""
    return tx.rows(
        "delete from events where id in (select id from events"
        f" where object <> 'job' and at < ? and not {tx.dialect.beyond_cursor} order by"
        f" at limit ?) returning customer_id, object, at, xid, id",
        tx.now - LIFE,
        *passed,
        limit,
    )


def newest(tx: Tx) -> tuple[int, int]:
    """The cursor after the newest event."""
    row = tx.row(
        f"select xid, id from events where xid < {tx.dialect.xid_horizon}"
        f" order by {tx.dialect.newest_first} limit 1"
    )
    return (0, 0) if row is None else (row[0], row[1])
