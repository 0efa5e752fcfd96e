"""Cursors of event consumers: each event is read once and in order, across all servers."""

from collections.abc import Mapping, Sequence

import msgspec

from belvedere.base.clock import Millis
from belvedere.db import Tx, columns
from belvedere.events.log import Event, newest

# Where a consumer without a cursor begins: also before events that were renumbered below zero.
BEGINNING = (-(1 << 62), 0)
# A cursor skips events of other kinds once it lags this far behind.
SLACK = 1_000


def take(tx: Tx, name: str, kinds: frozenset[str], limit: int = 100) -> list[Event]:
    """The next events of these kinds. Locks the cursor, so that no other server reads them too."""
    xid, event_id = lock(tx, name)
    return _next_events(tx, xid, event_id, kinds, limit)


def lock(tx: Tx, name: str) -> tuple[int, int]:
    """The position of a consumer, which may be new, locked until the end of the transaction."""
    tx.execute(
        "insert into cursors (name, xid, id) values (?, ?, ?) on conflict (name) do nothing",
        name,
        *BEGINNING,
    )
    row = tx.row(f"select xid, id from cursors where name = ?{tx.dialect.lock_rows}", name)
    assert row is not None
    return row[0], row[1]


def _next_events(tx: Tx, xid: int, event_id: int, kinds: frozenset[str], limit: int) -> list[Event]:
    words = ", ".join("?" for _ in kinds)
    return tx.all(
        Event,
        f"select {columns(Event)} from events where {tx.dialect.beyond_cursor}"
        f" and xid < {tx.dialect.xid_horizon} and kind in ({words})"
        f" order by {tx.dialect.in_order} limit ?",
        xid,
        event_id,
        *sorted(kinds),
        limit,
    )


def passed_by_all(tx: Tx, names: Sequence[str]) -> tuple[int, int]:
    """(xid, id) up to which every one of these consumers has processed the log."""
    rows = tx.rows(
        f"select xid, id from cursors where name in {tx.dialect.in_texts} order by"
        f" {tx.dialect.in_order}",
        msgspec.json.encode(names).decode(),
    )
    # A consumer without a cursor has processed nothing yet.
    return (rows[0][0], rows[0][1]) if len(rows) == len(names) else BEGINNING


def processed_by_all(tx: Tx, consumers: Mapping[str, frozenset[str]]) -> tuple[int, int]:
    """(xid, id) before the first event that waits for one of these consumers (name and kinds). The
    cursor of a consumer of rare kinds may be far before it."""
    end = newest(tx)
    for name, kinds in consumers.items():
        waiting = _next_events(tx, *(position(tx, name) or BEGINNING), kinds, 1)
        end = min([end, *((event.xid, event.id - 1) for event in waiting)])
    return end


def position(tx: Tx, name: str) -> tuple[int, int] | None:
    """(xid, id) of the last event that this consumer has processed; None before the first."""
    row = tx.row("select xid, id from cursors where name = ?", name)
    return None if row is None else (row[0], row[1])


def save(tx: Tx, name: str, reached: tuple[int, int]) -> None:
    """Set the position of a consumer, which may be new."""
    tx.execute(
        "insert into cursors (name, xid, id) values (?, ?, ?)"
        " on conflict (name) do update set xid = excluded.xid, id = excluded.id",
        name,
        *reached,
    )


def move(tx: Tx, name: str, event: Event) -> None:
    tx.execute("update cursors set xid = ?, id = ? where name = ?", event.xid, event.id, name)


def backlog(tx: Tx, name: str, kinds: frozenset[str]) -> tuple[bool, bool]:
    """Whether there are events to process, and whether the cursor lags behind events of other
    kinds."""
    xid, at = position(tx, name) or BEGINNING
    return bool(_next_events(tx, xid, at, kinds, 1)), newest(tx)[1] - int(at) > SLACK


def oldest_waiting(tx: Tx, name: str, kinds: frozenset[str]) -> Millis | None:
    """The time of the oldest event that this consumer has not processed; None if there is none."""
    xid, at = position(tx, name) or BEGINNING
    waiting = _next_events(tx, xid, at, kinds, 1)
    return waiting[0].at if waiting else None


def waiting_objects(tx: Tx, name: str, kinds: frozenset[str], limit: int) -> list[str]:
    """The objects of the next events that this consumer has not processed, also of those that may
    not be processed yet."""
    rows = tx.rows(
        f"select object_id from events where {tx.dialect.beyond_cursor}"
        f" and kind in ({', '.join('?' for _ in kinds)}) order by {tx.dialect.in_order} limit ?",
        *(*(position(tx, name) or BEGINNING), *sorted(kinds), limit),
    )
    return [object_id for (object_id,) in rows]


def skip(tx: Tx, name: str, kinds: frozenset[str]) -> None:
    """Move the cursor over events of other kinds, so that the next query stays short."""
    # First: another server may process events after an end that was read before it.
    lock(tx, name)
    end = newest(tx)
    if not take(tx, name, kinds, limit=1):
        tx.execute("update cursors set xid = ?, id = ? where name = ?", *end, name)


def set_aside(tx: Tx, name: str, event: Event, fault: str) -> None:
    """Set aside an event that its consumer cannot process, and continue after it. Its copy
    stays when the event itself is deleted."""
    tx.execute(
        "insert into parked (reaction, event_id, at, fault, kind, object_id, data)"
        " values (?, ?, ?, ?, ?, ?, ?) on conflict (reaction, event_id) do nothing",
        *(name, event.id, tx.now, fault, event.kind, event.object_id, event.data),
    )
    move(tx, name, event)


def renumber(tx: Tx) -> int:
    """After a dump was loaded into another PostgreSQL cluster. Events are read below the oldest
    running transaction; the numbers of another cluster may be above it, and such events would not
    be seen for a long time. All of them are shifted below zero. Their order stays, so that each
    cursor has the same events before and behind it."""
    last: int | None = tx.value("select max(xid) from events")
    if last is None or last <= tx.value(f"select {tx.dialect.current_xid}"):
        return 0
    tx.execute("set local statement_timeout = 0")
    tx.execute("set local lock_timeout = 0")
    tx.execute("update cursors set xid = xid - ?", last + 1)
    tx.execute("update event_counts set deleted_xid = deleted_xid - ?", last + 1)
    return tx.execute("update events set xid = xid - ?", last + 1)
