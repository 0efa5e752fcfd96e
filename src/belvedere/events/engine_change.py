"""The numbers of events and cursors after the database was copied to the other engine.

PostgreSQL orders events by the transaction that wrote them, then by id; SQLite by id alone. On
SQLite the number of the transaction is 0, and so it is for events that come from there.
"""

from belvedere.db import Tx
from belvedere.events.cursors import BEGINNING

# In place of columns, while rows are copied.
EXPRESSIONS = {
    "events": {"xid": "0"},
    "event_counts": {"deleted_xid": "case when deleted_xid is not null then 0 end"},
}


def continue_numbers(source: Tx, target: Tx) -> None:
    if target.dialect.orders_by_xid:
        _continue_by_xid(source, target)
    else:
        _continue_by_id(source, target)


def _continue_by_xid(source: Tx, target: Tx) -> None:
    """The newest event is never deleted on SQLite, so the next id follows it."""
    target.execute("update cursors set xid = 0 where id > 0")
    newest = source.value("select max(id) from events")
    if newest is not None:
        target.value(
            "select setval(pg_get_serial_sequence('events', 'id'), ?::bigint)", int(newest)
        )


def _continue_by_id(source: Tx, target: Tx) -> None:
    """The events that a consumer has processed must be those up to the id of its cursor. Where the
    order by transaction differs from that by id, the same ids are assigned in the other order."""
    rows = source.rows("select name, xid, id from cursors")
    new_ids = _order_by_transaction(source, min((row[1:] for row in rows), default=BEGINNING))
    last_id = _last_id(source)
    for name, xid, event_id in rows:
        first = _first_new_id(source, new_ids, (xid, event_id))
        reached = last_id if first is None else first - 1
        target.execute("update cursors set xid = 0, id = ? where name = ?", reached, name)
    _renumber(target, new_ids)
    if last_id > (target.value("select max(id) from events") or 0):
        # SQLite continues after the newest event, so an empty one keeps the place of those that
        # were deleted.
        target.execute(
            "insert into events (id, xid, at, customer_id, kind, object, object_id, data)"
            " values (?, 0, 0, '', '', '', '', '{}')",
            last_id,
        )


def _order_by_transaction(source: Tx, cursor: tuple[int, int]) -> dict[int, int]:
    """New ids, where they differ, of all events from the first that some consumer has not
    processed."""
    rows = source.rows(
        "select id from events where id >= (select min(id) from events where (xid, id) > (?, ?))"
        " order by xid, id",
        *cursor,
    )
    ids: list[int] = [event_id for (event_id,) in rows]
    pairs = zip(ids, sorted(ids), strict=True)
    return {event_id: new_id for event_id, new_id in pairs if event_id != new_id}


def _first_new_id(source: Tx, new_ids: dict[int, int], cursor: tuple[int, int]) -> int | None:
    """The new id of the first event after a cursor."""
    row = source.row(
        "select id from events where (xid, id) > (?, ?) order by xid, id limit 1", *cursor
    )
    return None if row is None else new_ids.get(row[0], row[0])


def _last_id(source: Tx) -> int:
    sequence = source.value(
        "select pg_sequence_last_value(pg_get_serial_sequence('events', 'id')::regclass)"
    )
    return max(int(sequence or 0), int(source.value("select max(id) from events") or 0))


def _renumber(target: Tx, new_ids: dict[int, int]) -> None:
    # Below zero first: each id exists once.
    target.execute_many(
        "update events set id = ? where id = ?",
        [(-new_id, event_id) for event_id, new_id in new_ids.items()],
    )
    target.execute("update events set id = -id where id < 0")
    for reaction, event_id in target.rows("select reaction, event_id from parked"):
        new_id = new_ids[event_id] if event_id in new_ids else int(event_id)
        target.execute(
            "update parked set event_id = ? where reaction = ? and event_id = ?",
            *(-new_id, reaction, event_id),
        )
    target.execute("update parked set event_id = -event_id where event_id < 0")
